package plan

import (
	"cmp"
	"slices"
)

// A Deal says which part of a fleet each of its clients is of.
type Deal struct {
	// Of and Place are by client: its part, and its place among the part's clients.
	Of    []uint8
	Place []uint32
	// Members are the clients of each part, in the order of their numbers.
	Members [][]uint32
}

// Counts returns how many of so many clients each part gets: its share, by largest remainder, of which the first of equals
// is served first. They add up to the clients.
func (v Variant) Counts(clients int) []int {
	counts := make([]int, len(v.Parts))
	rests := make([]float64, len(v.Parts))
	left := clients
	for i, part := range v.Parts {
		const rounding = 1e-6 // 70 % of 10 clients is 7, whatever binary numbers say
		exact := float64(part.Share * float64(clients))
		counts[i] = min(int(exact+rounding), left)
		rests[i] = exact - float64(counts[i])
		left -= counts[i]
	}
	order := make([]int, len(v.Parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rests[b], rests[a]) })
	for i := 0; left > 0; i, left = i+1, left-1 {
		counts[order[i%len(order)]]++
	}
	return counts
}

// Deal deals so many clients to the parts of the variant, so that of the first n clients every part has its share of n,
// rounded down or up, whatever n is: any stretch of clients is such a mixture.
//
// It is the quota method of apportionment, of which one seat after another is given away: to the part with the most
// members for each seat that it would then have, among those that would not have more than their share rounded up.
//
// Source: Balinski and Young, "The quota method of apportionment", American Mathematical Monthly 82 (1975).
func (v Variant) Deal(clients int) Deal {
	counts := v.Counts(clients)
	d := Deal{Of: make([]uint8, clients), Place: make([]uint32, clients), Members: make([][]uint32, len(counts))}
	for i, n := range counts {
		d.Members[i] = make([]uint32, 0, n)
	}
	for client := range clients {
		best := -1
		for i, n := range counts {
			has := len(d.Members[i])
			if has*clients >= n*(client+1) { // it has its share of all so far, so that one more were above it rounded up
				continue
			}
			if best < 0 || n*(len(d.Members[best])+1) > counts[best]*(has+1) {
				best = i
			}
		}
		d.Of[client], d.Place[client] = uint8(best), uint32(len(d.Members[best]))
		d.Members[best] = append(d.Members[best], uint32(client))
	}
	return d
}
