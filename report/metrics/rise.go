package metrics

import (
	"maps"
	"slices"

	"stormtest/load/record"
)

// rise keeps what counts from falling or going, and its classes from becoming ever more: which attempts have arrived
// and which were refused is not read at one moment, and a class may leave the most frequent ones.
func (s *slot) rise(list []Family) {
	for i := range list {
		f := &list[i]
		if !f.Kind.cumulative() {
			continue
		}
		if f.Kind == Counter && len(f.Labels) == 2 {
			f.Samples = settled(f.Samples, s.shown[i])
		}
		f.Samples = risen(f.Samples, s.shown[i])
		s.shown[i] = make(map[string]Sample, len(f.Samples))
		for j := range f.Samples {
			s.shown[i][f.Samples[j].key()] = f.Samples[j].clone()
		}
	}
}

// risen returns the samples with no count below what it was before, and with those that are gone.
func risen(samples []Sample, before map[string]Sample) []Sample {
	places := placesOf(samples)
	for _, key := range slices.Sorted(maps.Keys(before)) {
		was := before[key]
		if k, there := places[key]; there {
			samples[k].raise(&was)
		} else {
			samples = append(samples, was.clone())
		}
	}
	return samples
}

// settled returns one strategy's counters by class with the classes that were there before, and as many new ones as
// there is room for. What is in none of them is in the class of all others.
func settled(samples []Sample, before map[string]Sample) []Sample {
	var list []Sample
	var all, told float64
	places := placesOf(samples)
	keep := func(s Sample) {
		list = append(list, s)
		told += s.Value
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		s := before[key]
		if k, there := places[key]; there {
			s.Value = max(s.Value, samples[k].Value)
		}
		if s.Labels[1] != other {
			keep(s)
		}
	}
	for _, s := range samples {
		all += s.Value
		if _, known := before[s.key()]; !known && s.Labels[1] != other && len(list) < record.OutcomesMax {
			keep(s)
		}
	}
	if all > told {
		list = append(list, Sample{Labels: []string{samples[0].Labels[0], other}, Value: all - told})
	}
	return list
}
