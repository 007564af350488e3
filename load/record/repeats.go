package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Repeats says how the figures of a run differ from one seed to the next.
type Repeats struct {
	Asked int64 `json:"asked"` // seeds that the plan wanted; more than Count where the run was cut. 0 in files from before it was kept
	Count int64 `json:"count"` // seeds that came to their end; 0 where the first was cut
	// Seeds are the first and the last of Count, and those between follow each other; the first twice where
	// Count is 0.
	Seeds [2]uint64 `json:"seeds"`
	// Each are all of them where they do not follow each other, ascending: those of results that were merged.
	Each []uint64 `json:"each,omitempty"`
	// Verdicts counts the seeds by what [Run.Headline] says of each.
	Verdicts map[Verdict]int64 `json:"verdicts"`
	// Figures are by the name of the Metric, with every one of them, and of a Family those that some seed counted; none
	// where Count is 0.
	Figures map[string]Spread `json:"figures"`
}

// A Spread is what one figure was over several seeds: its mean, and the 5th and 95th percentile, each the
// value of a seed, by nearest rank: the smallest that at least 5 % (95 %) of the values do not
// exceed, with n of them the value at rank n·5/100 (n·95/100), rounded up. Durations are in ns.
//
// Count is how many seeds had a value; the others are in no figure. Where none had one all are nil, and of words, of which
// there is no mean, all but Values.
type Spread struct {
	Mean  *float64 `json:"mean"`
	P5    *float64 `json:"p5"`
	P95   *float64 `json:"p95"`
	Count int64    `json:"count"`
	// Values are those of every seed in the order of the seeds, nil for one without; empty in a file from before
	// they were kept.
	Values []*float64 `json:"values,omitempty"`
}

// A Seed is what a Repeats takes from the run of one seed.
type Seed struct {
	Figures []float64        // as the function Figures returns them
	Counts  map[string]int64 // by the metric of a Family, those above 0
	Verdict Verdict          // the run's Headline
}

// SeedOf returns what a Repeats takes from a run.
func SeedOf(run *Run) Seed {
	return Seed{Figures: Figures(run), Counts: keyed(run), Verdict: run.Headline()}
}

// RepeatsOf returns what the seeds that came to their end have in common: those from first on, of as many as were
// asked for.
func RepeatsOf(first uint64, asked int, seeds []Seed) *Repeats {
	rows := make([][]float64, len(seeds))
	verdicts := map[Verdict]int64{}
	for i, s := range seeds {
		rows[i] = s.Figures
		verdicts[s.Verdict]++
	}
	r := Repeated(first, rows)
	if r == nil {
		r = &Repeats{Seeds: [2]uint64{first, first}, Figures: map[string]Spread{}}
	}
	r.Asked, r.Verdicts = int64(asked), verdicts
	r.addCounts(seeds)
	return r
}

// addCounts adds what some of the seeds counted by key.
func (r *Repeats) addCounts(seeds []Seed) {
	var names, others []string
	for _, s := range seeds {
		for name := range s.Counts {
			switch {
			case strings.HasSuffix(name, "_"+otherKey):
				others = append(others, name)
			default:
				names = append(names, name)
			}
		}
	}
	slices.Sort(others)
	slices.Sort(names)
	for _, name := range slices.Concat(slices.Compact(others), slices.Compact(names)) { // the others first: they say what is not known of the rest
		m, ok := MetricNamed(name)
		if !ok {
			continue
		}
		column := make([]float64, len(seeds))
		for i, absent := range r.uncounted(m) {
			column[i] = math.NaN()
			if n, counted := seeds[i].Counts[name]; counted {
				column[i] = float64(n)
			} else if absent != nil {
				column[i] = *absent
			}
		}
		r.Figures[name] = spreadOf(column)
	}
}

// Figures returns the values of [Metrics] in their order, NaN where the run has none or knows only that
// it is beyond a histogram: a mean over such values would be too low.
func Figures(run *Run) []float64 {
	values := make([]float64, len(metrics))
	for i := range metrics {
		values[i] = math.NaN()
		if v := metrics[i].Value(run); v != nil {
			values[i] = *v
		}
	}
	return values
}

// Repeated returns what the figures of several seeds have in common. Row i is what [Figures]
// returned of the run with seed first+i, where the largest seed is followed by 0. It is the same whatever the
// order in which the runs ended, since sums go by the rows. No rows give nil.
// The rows are not changed. [RepeatsOf] adds what was asked for and the verdicts. O(n log n) for each metric.
func Repeated(first uint64, rows [][]float64) *Repeats {
	if len(rows) == 0 {
		return nil
	}
	r := Repeats{Count: int64(len(rows)), Seeds: [2]uint64{first, first + uint64(len(rows)-1)}, Figures: map[string]Spread{}}
	for k := range metrics {
		column := make([]float64, len(rows))
		for i, row := range rows {
			if k >= len(row) {
				panic(fmt.Sprintf("record: BUG: row %d has %d figures", i, len(row)))
			}
			column[i] = row[k]
		}
		s := spreadOf(column)
		if metrics[k].Unit == UnitWord {
			s.Mean, s.P5, s.P95 = nil, nil, nil
		}
		r.Figures[metrics[k].Name] = s
	}
	return &r
}

// spreadOf returns the spread of a figure of every seed, NaN where it has none. It keeps all.
func spreadOf(all []float64) Spread {
	s := Spread{Values: make([]*float64, len(all))}
	sorted := make([]float64, 0, len(all))
	var sum float64
	for i, v := range all {
		if math.IsNaN(v) {
			continue
		}
		s.Values[i] = &all[i]
		sorted = append(sorted, v)
		sum += v
	}
	n := len(sorted)
	if n == 0 {
		return s
	}
	slices.Sort(sorted)
	at := func(percent int) *float64 { return ptr(sorted[(n*percent+99)/100-1]) }
	mean := min(max(sum/float64(n), sorted[0]), sorted[n-1]) // of equal values it can end beside them
	s.Mean, s.P5, s.P95, s.Count = &mean, at(5), at(95), int64(n)
	return s
}
