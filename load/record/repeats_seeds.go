package record

import (
	"math"
	"slices"
)

// List returns the seeds that came to their end, in the order of the values.
func (r *Repeats) List() []uint64 {
	if r.Each != nil {
		return slices.Clone(r.Each)
	}
	list := make([]uint64, r.Count)
	for i := range list {
		list[i] = r.Seeds[0] + uint64(i)
	}
	return list
}

// SetSeeds says which seeds the figures are of: one or more, ascending.
func (r *Repeats) SetSeeds(seeds []uint64) {
	first, last := seeds[0], seeds[len(seeds)-1]
	r.Seeds, r.Each = [2]uint64{first, last}, nil
	if last-first != uint64(len(seeds)-1) {
		r.Each = slices.Clone(seeds)
	}
}

// Values returns a metric's figure of every seed in their order, nil for one without; nil where they were not kept.
func (r *Repeats) Values(m Metric) []*float64 {
	spread, named := r.Figures[m.Name]
	if !named && m.family != nil {
		return r.uncounted(m)
	}
	if int64(len(spread.Values)) != r.Count {
		return nil
	}
	return spread.Values
}

// uncounted is what each seed has of a key that it did not count: 0, or no value where it may have been among the others,
// or where the seed counted nothing at all. It is nil where the values of the seeds were not kept.
func (r *Repeats) uncounted(m Metric) []*float64 {
	started := r.Figures["attempts_sent"].Values
	if int64(len(started)) != r.Count {
		return nil
	}
	var others []*float64
	if slices.Contains(m.family.Keys, otherKey) && m.key != otherKey {
		others = r.Figures[m.family.Prefix+otherKey].Values
	}
	values := make([]*float64, len(started))
	for i := range values {
		if started[i] != nil && !m.family.atTarget && (i >= len(others) || others[i] == nil || *others[i] == 0) {
			values[i] = count(0)
		}
	}
	return values
}

// Spread returns what a metric was over the seeds; that of a key that no seed counted is of nothing but 0.
func (r *Repeats) Spread(m Metric) Spread {
	spread, named := r.Figures[m.Name]
	if named || m.family == nil {
		return spread
	}
	values := r.uncounted(m)
	column := make([]float64, 0, len(values))
	for _, v := range values {
		column = append(column, orNaN(v))
	}
	return spreadOf(column)
}

// Seed returns what the repeat holds of its i-th seed. It does not hold the verdict of each.
func (r *Repeats) Seed(i int) Seed {
	s := Seed{Figures: make([]float64, len(metrics)), Counts: map[string]int64{}}
	at := func(name string) float64 {
		if values := r.Figures[name].Values; i < len(values) {
			return orNaN(values[i])
		}
		return math.NaN()
	}
	for k := range metrics {
		s.Figures[k] = at(metrics[k].Name)
	}
	for name := range r.Figures {
		if m, ok := MetricNamed(name); ok && m.family != nil {
			if n := at(name); n > 0 {
				s.Counts[name] = int64(n)
			}
		}
	}
	return s
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
