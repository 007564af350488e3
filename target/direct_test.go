package target_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"stormtest/target"
	"stormtest/target/station"
)

// Without connections the target admits, answers and forgets as its station does, and every
// piece of work is answered once or was for nobody.
func TestDirect(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		var arrivals, served, wasted int
		tgt, err := target.New(target.Config{
			Station:   station.Config{PerSecond: 100, Queue: 2, CancelAbandoned: cancel},
			OnArrival: func(target.Arrival) { arrivals++ },
			OnServed: func(w target.Served) {
				served++
				if w.Wasted {
					wasted++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		d := tgt.Direct()
		if at := d.Next(); at >= 0 {
			t.Errorf("an empty target has something to do at %v", at)
		}
		var calls [5]target.Call
		var kinds []station.Kind
		for i := range calls[:4] {
			kinds = append(kinds, d.Attempt(0, target.Attempt{Client: uint32(i)}, &calls[i]).Kind)
		}
		if want := []station.Kind{station.Accepted, station.Accepted, station.Accepted, station.Rejected}; !slices.Equal(kinds, want) {
			t.Errorf("admissions = %v, want %v", kinds, want)
		}
		if at := d.Next(); at != 10*time.Millisecond {
			t.Errorf("the first is done at %v, want 10ms", at)
		}
		d.Leave(5*time.Millisecond, &calls[1])
		d.Leave(5*time.Millisecond, &calls[1]) // it has left already
		d.Leave(10*time.Millisecond, &calls[0])
		if got := fmt.Sprint(d.Answered(10 * time.Millisecond)); got != "[{0 200 0s}]" {
			t.Errorf("answered = %s, want 0, whose work was done when it left", got)
		}
		if got := fmt.Sprint(d.Answered(time.Second)); got != "[{2 200 0s}]" {
			t.Errorf("answered = %s, want 2 alone", got)
		}
		want := map[bool][3]int{false: {4, 3, 1}, true: {4, 2, 0}}[cancel]
		if got := [3]int{arrivals, served, wasted}; got != want {
			t.Errorf("cancel %v: arrivals, served, wasted = %v, want %v", cancel, got, want)
		}
	}
}

// A token bucket serves at once, and Next says that there is an answer.
func TestDirectTokenBucket(t *testing.T) {
	tgt, err := target.New(target.Config{Station: station.Config{PerSecond: 100, Model: station.TokenBucket}})
	if err != nil {
		t.Fatal(err)
	}
	d := tgt.Direct()
	var c target.Call
	if adm := d.Attempt(time.Second, target.Attempt{Client: 7}, &c); adm.Kind != station.Accepted || d.Next() > time.Second {
		t.Errorf("admission %v, next %v; want accepted, and an answer by 1s", adm.Kind, d.Next())
	}
	if got := fmt.Sprint(d.Answered(time.Second)); got != "[{7 200 0s}]" || d.Next() >= 0 {
		t.Errorf("answered = %s, next %v; want 7 and nothing more", got, d.Next())
	}
}

func TestDirectDoesNotAllocate(t *testing.T) {
	tgt, err := target.New(target.Config{Station: station.Config{PerSecond: 1000, Queue: 10}})
	if err != nil {
		t.Fatal(err)
	}
	d := tgt.Direct()
	calls := make([]target.Call, 20)
	var now time.Duration
	round := func() {
		for i := range calls {
			if i%3 == 0 {
				d.Leave(now, &calls[i])
			}
			now += time.Millisecond / 2
			d.Attempt(now, target.Attempt{Client: uint32(i)}, &calls[i])
			d.Answered(now)
		}
		now += time.Second
		d.Answered(now)
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
}
