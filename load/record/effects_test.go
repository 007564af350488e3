package record

import (
	"math/rand/v2"
	"testing"
)

func TestEffectTally(t *testing.T) {
	type work struct {
		client    uint32
		operation int64
	}
	for _, c := range []struct {
		name      string
		work      []work
		want      Effects
		forgotten int64
	}{
		{name: "nothing"},
		{"once each", []work{{0, 0}, {1, 0}, {0, 1}}, Effects{Done: 3}, 0},
		{"twice", []work{{0, 0}, {0, 0}}, Effects{Done: 1, Duplicated: 1, Extra: 1}, 0},
		{"three times", []work{{0, 5}, {0, 5}, {0, 5}}, Effects{Done: 1, Duplicated: 1, Extra: 2}, 0},
		{"late, for the operation before", []work{{0, 0}, {0, 1}, {0, 0}}, Effects{Done: 2, Duplicated: 1, Extra: 1}, 0},
		{"for the first time, late", []work{{0, 1}, {0, 0}}, Effects{Done: 2}, 0},
		{"the last that is remembered", []work{{0, 0}, {0, 31}, {0, 0}}, Effects{Done: 2, Duplicated: 1, Extra: 1}, 0},
		{"forgotten", []work{{0, 0}, {0, 32}, {0, 0}}, Effects{Done: 2}, 1},
		{"far on", []work{{0, 0}, {0, 0}, {0, 1_000_000_000}, {0, 1_000_000_000}}, Effects{Done: 2, Duplicated: 2, Extra: 2}, 0},
		{"a client that there is not", []work{{2, 0}, {^uint32(0), 0}, {0, -1}}, Effects{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := NewEffectTally(2)
			for _, w := range c.work {
				tally.Done(w.client, w.operation)
			}
			if got := tally.Sums(); got != c.want || tally.Forgotten != c.forgotten {
				t.Errorf("got %+v, %d forgotten; want %+v, %d", got, tally.Forgotten, c.want, c.forgotten)
			}
		})
	}
}

// A tally counts what a map of all operations counts, as long as it remembers them.
func TestEffectTallyIsAMap(t *testing.T) {
	const clients = 3
	r := rand.New(rand.NewPCG(1, 1))
	tally := NewEffectTally(clients)
	times := map[[2]int64]int64{}
	var newest [clients]int64
	for range 20_000 {
		c := r.IntN(clients)
		if r.IntN(3) == 0 {
			newest[c] += int64(r.IntN(3))
		}
		operation := max(0, newest[c]-int64(r.IntN(effectsRemembered)))
		if w := tally.clients[c]; w.done != 0 && int64(w.newest)-operation >= effectsRemembered {
			continue
		}
		tally.Done(uint32(c), operation)
		times[[2]int64{int64(c), operation}]++
	}
	want := Effects{Done: int64(len(times))}
	for _, n := range times {
		want.Extra += n - 1
		if n > 1 {
			want.Duplicated++
		}
	}
	if got := tally.Sums(); got != want || tally.Forgotten != 0 {
		t.Errorf("got %+v, %d forgotten; want %+v", got, tally.Forgotten, want)
	}
}

func TestEffectTallyAllocatesNothing(t *testing.T) {
	tally, n := NewEffectTally(1), int64(0)
	if allocs := testing.AllocsPerRun(100, func() { tally.Done(0, n); n++ }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
