package record

import "slices"

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
