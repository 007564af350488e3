package station_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/target/station"
)

// One worker serves one job in 10 ms, and one comes every 5 ms, so that there is a turn every 10 ms, which is before the
// arrival of its moment. At 10 ms job 1 leaves the queue empty; from job 2 on, at the same moment, it is not empty, so that
// the turn at 120 ms is the first of a backlog, when jobs 12 to 23 wait.
func TestOrderOfADiscipline(t *testing.T) {
	tests := []struct {
		discipline station.Discipline
		served     []uint64 // the first 14
		dropped    string   // of these and those before
	}{
		{station.FIFO, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, "[]"},
		{station.LIFO, []uint64{0, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25}, "[]"},
		{station.AdaptiveLIFO, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23, 25}, "[]"},
		// Job 23 has waited for 5 ms then, which is allowed, and job 22 for 10. The queue is empty after that, and job 24 may
		// wait for 100 ms.
		{station.CoDel, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23, 24}, "[12 13 14 15 16 17 18 19 20 21 22]"},
		{station.AdaptiveLIFOCoDel, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23, 25}, "[]"},
	}
	for _, test := range tests {
		t.Run(test.discipline.String(), func(t *testing.T) {
			s := station.New(station.Config{PerSecond: 100, Queue: 40, Discipline: test.discipline}, nil)
			var served, dropped []uint64
			last := time.Duration(len(test.served)) * 10 * ms
			for i := range uint64(40) {
				now := min(time.Duration(i)*5*ms, last)
				s.Arrive(now, i)
				note(s, now, &served, &dropped)
			}
			note(s, last, &served, &dropped)
			if got := served[:min(len(served), len(test.served))]; !slices.Equal(got, test.served) || fmt.Sprint(dropped) != test.dropped {
				t.Errorf("served %v, dropped %v; want %v and %v", got, dropped, test.served, test.dropped)
			}
		})
	}
}

// note adds who was served by now and who was dropped.
func note(s *station.Station, now time.Duration, served, dropped *[]uint64) {
	for _, d := range finished(s, now) {
		if d.Dropped == station.Kept {
			*served = append(*served, d.Tag)
		} else {
			*dropped = append(*dropped, d.Tag)
		}
	}
}

// A job whose deadline is the moment of its turn is dropped, and one whose deadline is a nanosecond later is served.
func TestDropExpired(t *testing.T) {
	s := station.New(station.Config{PerSecond: 100, Queue: 4, DropExpired: true, RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: 2 * time.Second}}, nil)
	s.ArriveBy(0, 1, 1) // served at once, though not in time
	s.ArriveBy(0, 2, 10*ms)
	s.ArriveBy(0, 3, 10*ms+1)
	s.ArriveBy(0, 4, 15*ms)
	s.Arrive(0, 5)
	var got []string
	for _, d := range finished(s, time.Second) {
		got = append(got, fmt.Sprintf("%d %v %v %v", d.Tag, d.At, d.Dropped, d.RetryAfter))
	}
	want := []string{"1 10ms kept 0s", "2 10ms expired 2s", "3 20ms kept 0s", "4 20ms expired 2s", "5 30ms kept 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("done = %q, want %q", got, want)
	}
	if a := s.ArriveBy(2*time.Second, 6, 2*time.Second); a.Kind != station.Accepted {
		t.Errorf("an arrival at its deadline is %v", a.Kind)
	} else if d := finished(s, 2*time.Second); len(d) != 1 || d[0].Dropped != station.Expired || d[0].Job != a.Job {
		t.Errorf("an arrival at its deadline = %+v, want it dropped", d)
	}
}

// The hint of a reset is the rest of the clock's window, whatever turned the arrival away.
func TestRetryAfterOfAReset(t *testing.T) {
	c := station.Config{PerSecond: 1, Outages: []station.Outage{{From: 0, To: 3 * time.Second}},
		RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterReset, After: 5 * time.Second}}
	s := station.New(c, nil)
	s.SetClock(1000*time.Second + 1500*ms)
	for _, test := range []struct{ at, want time.Duration }{
		{0, 3500 * ms}, {1, 3500*ms - 1}, {3 * time.Second, 0}, {3 * time.Second, 500 * ms}, {3500*ms - 1, 1}, {3500 * ms, 5 * time.Second},
	} {
		if a := s.Arrive(test.at, 0); a.RetryAfter != test.want {
			t.Errorf("at %v: %v %v, want %v", test.at, a.Kind, a.RetryAfter, test.want)
		}
	}
}

// Every arrival ends as exactly one of served, dropped, turned away, cancelled or still inside, whatever the discipline and
// however late the driver comes.
func TestEveryArrivalEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := station.Config{
			PerSecond: 1000, Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Queue: rapid.IntRange(0, 6).Draw(t, "queue"),
			Discipline:      station.Discipline(rapid.IntRange(0, 4).Draw(t, "discipline")),
			DropExpired:     rapid.Bool().Draw(t, "expired"),
			CancelAbandoned: rapid.Bool().Draw(t, "cancel"),
			Outages:         drawOutages(t, 20*ms),
		}
		s := station.New(c, nil)
		s.SetChance(rand.New(rand.NewPCG(3, 4)))
		ended := map[uint64]int{}
		jobs := map[uint64]station.JobID{}
		var now time.Duration
		var tag, away, cancelled uint64
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now += drawLength(t, "gap", 2*ms)
			if which := rapid.Uint64Range(0, 3*tag+1).Draw(t, "which"); which < tag {
				if s.Cancel(now, jobs[which]) && c.CancelAbandoned {
					ended[which]++
					cancelled++
				}
				continue
			}
			if a := s.ArriveBy(now, tag, now+drawLength(t, "deadline", 2*ms)); a.Kind == station.Accepted {
				jobs[tag] = a.Job
			} else {
				ended[tag]++
				away++
			}
			tag++
			if rapid.Bool().Draw(t, "prompt") {
				for _, d := range finished(s, now) {
					ended[d.Tag]++
				}
			}
		}
		for _, d := range finished(s, 1e5*time.Hour) {
			ended[d.Tag]++
			if d.Arrived > d.Started || d.Started > d.At || d.Dropped != station.Kept && d.Started != d.At {
				t.Fatalf("%+v: its moments are out of order", d)
			}
		}
		if s.Busy()+s.Queued() != 0 {
			t.Fatalf("%d and %d are inside for ever", s.Busy(), s.Queued())
		}
		for i := range tag {
			if ended[i] != 1 {
				t.Fatalf("arrival %d ended %d times (%d turned away, %d cancelled)", i, ended[i], away, cancelled)
			}
		}
	})
}
