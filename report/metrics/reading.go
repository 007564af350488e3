package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"stormtest/load/record"
	"stormtest/report/literal"
)

// A point is a sample before the labels that all of a run have.
type point struct {
	labels []string
	sample Sample
}

// A reading is a run, looked at.
type reading struct{ *record.Run }

// ours says that the clients were ours, so that what only clients know has a value.
func (r reading) ours() bool { return r.Outside == nil && r.FromLog == nil }

// underWay says that the run has not ended.
func (r reading) underWay() bool {
	return len(r.Books.Faults) == 1 && r.Books.Faults[0] == record.UnderWay
}

// measured says that there is something that figures could be of.
func (r reading) measured() bool {
	return r.ours() && r.Operations.Started > 0 || !r.ours() && r.Books.Arrivals > 0
}

// atTarget says that the target told what it did.
func (r reading) atTarget() bool { return r.FromLog == nil && r.ArrivalsMeasuredAt != "client" }

// realTime says that the run had a clock to be late by.
func (r reading) realTime() bool { return r.ours() && r.Engine != record.EngineVirtual }

// figure returns one of the run's figures by its name.
func (r reading) figure(name string) []point {
	m, ok := record.MetricNamed(name)
	if !ok {
		panic("metrics: BUG: no figure " + name)
	}
	return optional(m.Value(r.Run))
}

// seconds returns a figure that is a length of time.
func (r reading) seconds(name string) []point {
	list := r.figure(name)
	for i := range list {
		list[i].sample.Value /= 1e9
	}
	return list
}

// of returns a figure of the whole run, where anything was measured.
func (r reading) of(v *float64) []point {
	if !r.measured() {
		return nil
	}
	return optional(v)
}

// sum adds up what every bucket counts.
func (r reading) sum(of func(*record.Bucket) int64) int64 {
	var n int64
	for i := range r.Buckets {
		n += of(&r.Buckets[i])
	}
	return n
}

func one(v float64) []point { return []point{{sample: Sample{Value: v}}} }

func count(n int64) []point { return one(float64(n)) }

func yes(b bool) []point {
	if b {
		return one(1)
	}
	return one(0)
}

// when returns list where it holds.
func when(holds bool, list func() []point) []point {
	if !holds {
		return nil
	}
	return list()
}

// optional returns v, or nothing where that is no number.
func optional(v *float64) []point {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return one(*v)
}

// nanoseconds returns v in seconds.
func nanoseconds[T ~int64](v *T) []point {
	if v == nil {
		return nil
	}
	return one(float64(*v) / 1e9)
}

// labelled returns one value with one label.
func labelled(label string, v float64) point {
	return point{labels: []string{label}, sample: Sample{Value: v}}
}

// other is the class of all classes that have none.
const other = "other"

// by returns counters by their class: the most frequent, and the others as one.
func by(counters map[string]int64) []point {
	all := map[string]int64{}
	for name, n := range counters {
		all[cmp.Or(literal.Text(name), "unnamed")] += n
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return name == other })
	var list []point
	for i, name := range names {
		if i < record.OutcomesMax {
			list = append(list, labelled(name, float64(all[name])))
		} else {
			all[other] += all[name]
		}
	}
	if n, there := all[other]; there {
		list = append(list, labelled(other, float64(n)))
	}
	return list
}

// words returns 1 for each of the words that holds, and 0 for the others.
func words[T ~string](all []T, holds func(T) bool) []point {
	var list []point
	for _, word := range all {
		p := labelled(string(word), 0)
		if holds(word) {
			p.sample.Value = 1
		}
		list = append(list, p)
	}
	return list
}
