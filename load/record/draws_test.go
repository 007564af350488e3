package record

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Every delay is in the bin that its two digits say: at each edge, beside it, and anywhere.
func TestDrawIndex(t *testing.T) {
	edges := DrawEdges()
	if len(edges) != 902 || edges[0] != 0 || edges[1] != time.Microsecond || edges[2] != 1100 || edges[901] != 10_000*time.Second || !slices.IsSorted(edges) {
		t.Fatalf("%d edges from %v, %v, %v to %v", len(edges), edges[0], edges[1], edges[2], edges[len(edges)-1])
	}
	check := func(d time.Duration, want int) {
		t.Helper()
		if got := drawIndex(d); got != want {
			t.Errorf("drawIndex(%d) = %d, want %d, from %d on", d, got, want, edges[want])
		}
	}
	for i, edge := range edges {
		check(edge, i)
		if i > 0 {
			check(edge-1, i-1)
		}
		if 0 < i && i < len(edges)-1 && (binOf(int64(edge)) != int64(edge) || BinEnd(int64(edge)) != int64(edges[i+1])) {
			t.Errorf("bin %d is [%d, %d), want [%d, %d)", i, edge, edges[i+1], binOf(int64(edge)), BinEnd(int64(edge)))
		}
	}
	check(-1, 0)
	check(math.MinInt64, 0)
	check(math.MaxInt64, len(edges)-1)
	rng := seeded(1)
	for range 200_000 {
		d := time.Duration(rng.Int64N(2e13) >> rng.IntN(44))
		i, found := slices.BinarySearch(edges, d)
		if !found {
			i--
		}
		check(d, i)
	}
}

// What was drawn stands under its retry: in exact bins, unlike what comes from a histogram of three digits.
func TestDrawsByRetry(t *testing.T) {
	c := fullConfig(3)
	r := New(c)
	for client := range uint32(5) {
		r.Delay(client, Delay{Retry: 0, Planned: 7 * time.Second, Draw: 5*time.Second - 1})
		r.Delay(client, Delay{Retry: 1, Planned: 7 * time.Second, Draw: 5 * time.Second})
		r.Delay(client, Delay{Retry: 10, Planned: 7 * time.Second, Draw: 0})
		r.Delay(client, Delay{Retry: 11 + int(client), Planned: 7 * time.Second, Draw: 3 * time.Hour})
		r.OperationEnded(client, Operation{Attempts: 3, Drawn: true, Draw: 2 * time.Second}) // its third retry was forbidden
		r.OperationEnded(client, Operation{Attempts: 4, Draw: 2 * time.Second})
	}
	want := []Draws{
		{Retry: 0, Count: 5, Bins: Bins{From: []int64{4.9e9}, Count: []int64{5}}},
		{Retry: 1, Count: 5, Bins: Bins{From: []int64{5e9}, Count: []int64{5}}},
		{Retry: 2, Count: 5, Bins: Bins{From: []int64{2e9}, Count: []int64{5}}},
		{Retry: 10, Count: 5, Bins: Bins{From: []int64{0}, Count: []int64{5}}},
		{Retry: 11, Beyond: true, Count: 5, Bins: Bins{From: []int64{1e13}, Count: []int64{5}}},
	}
	check := func(what string, run Run, want []Draws) {
		t.Helper()
		got := run.Detail.Draws
		same := len(got) == len(want)
		for i := 0; same && i < len(want); i++ {
			g, w := got[i], want[i]
			same = g.Retry == w.Retry && g.Beyond == w.Beyond && g.Count == w.Count && slices.Equal(g.Bins.From, w.Bins.From) && slices.Equal(g.Bins.Count, w.Bins.Count)
		}
		if err := run.CheckDetail(); !same || err != nil {
			t.Errorf("%s: draws = %+v, want %+v; %v", what, got, want, err)
		}
	}
	check("so far", r.Interim(End{At: time.Second}), want)
	check("at the end", r.Summarise(End{At: time.Second}), want)
	r.Reset(c)
	check("of another run", r.Summarise(End{At: time.Second}), []Draws{})
	c.Detail = false
	r.Reset(c)
	r.Delay(0, Delay{})
	if run := r.Summarise(End{At: time.Second}); run.Detail != nil {
		t.Errorf("detail = %+v, want none where none is wanted", run.Detail)
	}
}
