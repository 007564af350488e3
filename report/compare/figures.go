package compare

import (
	"math"
	"slices"

	"stormtest/load/record"
)

// A Finding says what is known of the difference of a figure.
type Finding string

// The findings.
const (
	Equal    Finding = "equal"         // no difference
	Beyond   Finding = "beyond_noise"  // the seeds of both sides are not those of one plan
	Within   Finding = "within_noise"  // they could be
	Outside  Finding = "outside_range" // a single run is not among the seeds of the other side
	Inside   Finding = "inside_range"  // it is
	Certain  Finding = "certain"       // there is no chance in it: one plan and seed in virtual time
	Unknown  Finding = "unknown"       // nobody knows: see Pair.Grounds
	NoValue  Finding = "no_value"      // one side has no value, or neither has
	Unjudged Finding = ""              // not yet
)

// Grounds say by what the differences of a pair are judged, or why they cannot be.
type Grounds string

// The grounds.
const (
	BySeeds   Grounds = "seeds"         // both sides have the values of several seeds
	ByRange   Grounds = "range"         // one side has several seeds, the other one
	ByPlan    Grounds = "same_plan"     // virtual time, one plan, one seed: whatever differs is the tool's
	FewSeeds  Grounds = "too_few_seeds" // both have several seeds, and no difference could be told from chance by so few
	OldSeeds  Grounds = "no_values"     // several seeds, and a file from before the values of each were kept
	NoRepeats Grounds = "no_repeats"    // one seed on each side
)

// The words of Figure.Effect.
const (
	Better  = "better"
	Worse   = "worse"
	Neutral = "neutral"
)

// A Figure is one [record.Metric] on both sides.
type Figure struct {
	Metric string      `json:"metric"`
	Unit   record.Unit `json:"unit"`
	Base   Value       `json:"base"`
	Other  Value       `json:"other"`
	// Difference is other minus base, in the unit; Relative is that over the size of the base, nil where the base is 0.
	Difference *float64 `json:"difference"`
	Relative   *float64 `json:"relative_difference"`
	Finding    Finding  `json:"finding"`
	// P is the share of comparisons of a plan with itself in which chance sets some figure or other as far apart; nil where
	// the seeds were not asked.
	P *float64 `json:"p"`
	// CountP is likewise how often chance makes as large a difference in how many of the seeds have a value; nil where
	// as large a share has one on both sides, or nobody knows.
	CountP *float64 `json:"count_p"`
	// Effect is whether the difference is for the better: better, worse, or neutral where there is none, or where it
	// depends.
	Effect string `json:"effect"`
}

// A Value is a figure of one side: the mean over its seeds, with the 5th and 95th percentile, or that of its one run.
type Value struct {
	Value *float64 `json:"value"`
	P5    *float64 `json:"p5"` // nil for one run
	P95   *float64 `json:"p95"`
	Count int64    `json:"count"` // seeds that have a value
	Seeds int64    `json:"seeds"` // seeds that ran

	each []float64 // of every seed, NaN for one without; nil where they are not known
}

// figures compares every metric of two runs, but for the noise and for what is better.
func figures(base, other *record.Run) []Figure {
	list := []Figure{}
	for _, m := range metricsOf(base, other) {
		f := Figure{Metric: m.Name, Unit: m.Unit, Base: valueOf(m, base), Other: valueOf(m, other), Effect: Neutral}
		f.subtract()
		list = append(list, f)
	}
	return list
}

// metricsOf returns all metrics, and those of the families that one of the runs counts something of. A word has
// no distance, and the verdicts stand beside the figures.
func metricsOf(runs ...*record.Run) []record.Metric {
	list := slices.DeleteFunc(record.Metrics(), func(m record.Metric) bool { return m.Unit == record.UnitWord })
	return append(list, record.Counted(runs...)...)
}

// valueOf returns the value of a metric over the seeds of a run.
func valueOf(m record.Metric, run *record.Run) Value {
	r := repeats(run)
	if r == nil {
		v := Value{Seeds: 1, Value: m.Value(run), each: []float64{math.NaN()}}
		if v.Value != nil {
			v.Count, v.each[0] = 1, *v.Value
		}
		return v
	}
	s := r.Spread(m)
	v := Value{Seeds: r.Count, Count: s.Count, Value: finite(s.Mean), P5: finite(s.P5), P95: finite(s.P95)}
	for _, x := range s.Values {
		v.each = append(v.each, orNaN(x))
	}
	return v
}

func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

func orNaN(v *float64) float64 {
	if v = finite(v); v == nil {
		return math.NaN()
	}
	return *v
}

// subtract fills in the difference.
func (f *Figure) subtract() {
	if f.Base.Value == nil || f.Other.Value == nil {
		f.Finding = NoValue
		return
	}
	d := *f.Other.Value - *f.Base.Value
	f.Difference = finite(&d)
	if *f.Base.Value != 0 {
		r := d / math.Abs(*f.Base.Value)
		f.Relative = finite(&r)
	}
	if d == 0 && equalSeeds(f.Base, f.Other) {
		f.Finding = Equal
	}
}

// equalSeeds reports whether the seeds of both sides have the same values, in whatever order.
func equalSeeds(a, b Value) bool {
	if len(a.each) == 0 || len(b.each) == 0 {
		return a.constant() && b.constant()
	}
	x, y := slices.Clone(a.each), slices.Clone(b.each)
	slices.Sort(x)
	slices.Sort(y)
	if len(x) != len(y) { // one value throughout is the same, however often it was seen; NaN is equal to nothing
		return x[0] == x[len(x)-1] && y[0] == y[len(y)-1] && x[0] == y[0]
	}
	return slices.EqualFunc(x, y, func(v, w float64) bool { return v == w || math.IsNaN(v) && math.IsNaN(w) })
}

// constant reports, where the value of each seed is not known, whether they all seem to be one.
func (v *Value) constant() bool {
	if v.Count != v.Seeds || v.Value == nil {
		return false
	}
	return v.Seeds == 1 || v.P5 != nil && v.P95 != nil && *v.P5 == *v.Value && *v.P95 == *v.Value
}

// Lacking reports whether a smaller share of the other's seeds has a value than of the base's: the mean is then of those
// that got so far.
func (f *Figure) Lacking() bool {
	return f.Other.Count*max(1, f.Base.Seeds) < f.Base.Count*max(1, f.Other.Seeds)
}

// CountBeyond reports whether how many seeds have a value differs beyond noise.
func (f *Figure) CountBeyond() bool { return f.CountP != nil && *f.CountP <= FalsePositiveShare }

// grounds says by what the differences of two runs are judged, which were asked the same of the same first seed where
// sameDraw. Whether there are enough seeds comes later.
func grounds(m match2, sameDraw bool) Grounds {
	a, b := repeats(m.base), repeats(m.other)
	switch {
	case sameDraw && m.base.Engine == record.EngineVirtual && m.other.Engine == record.EngineVirtual && sameSeeds(a, b):
		return ByPlan
	case a == nil && b == nil:
		return NoRepeats
	case a != nil && !kept(a) || b != nil && !kept(b):
		return OldSeeds
	case a != nil && b != nil:
		return BySeeds
	}
	return ByRange
}

// sameSeeds reports whether both are of the same seeds, where the first is the same.
func sameSeeds(a, b *record.Repeats) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Count == b.Count && a.Seeds == b.Seeds && slices.Equal(a.Each, b.Each)
}

// kept says that the values of every seed are known.
func kept(r *record.Repeats) bool {
	if len(r.Figures) == 0 || r.Each != nil && int64(len(r.Each)) != r.Count {
		return false
	}
	for _, s := range r.Figures {
		if int64(len(s.Values)) != r.Count {
			return false
		}
	}
	return true
}
