package station_test

import (
	"math"
	"testing"
	"time"

	"stormtest/target/station"
)

// saturated returns how many jobs a second a station serves whose queue is never empty, over so many.
func saturated(t *testing.T, c station.Config, jobs int) (perSecond float64) {
	t.Helper()
	c.Queue = 1
	s := station.New(c, nil)
	var now time.Duration
	for range jobs {
		for s.Queued() < c.Queue {
			s.Arrive(now, 0)
		}
		at, ok := s.Next()
		if !ok {
			t.Fatal("a station that is full has nothing to do")
		}
		now = at
		s.Finish(now)
	}
	return float64(jobs) / now.Seconds()
}

// With n slots of a second each that are always busy, the Universal Scalability Law gives n/(1 + s(n-1) + q n(n-1)) jobs a
// second, most at n = sqrt((1-s)/q), here 30.
//
// All slots end together, after as many rounds as are asked for, so that the rate is exact but for the last nanosecond.
func TestUniversalScalability(t *testing.T) {
	const contention, coherency, rounds = 0.1, 0.001, 20
	best, most := 0, 0.0
	for n := 1; n <= 60; n++ {
		got := saturated(t, station.Config{PerSecond: float64(n), Workers: n, Contention: contention, Coherency: coherency}, n*rounds)
		if got > most {
			best, most = n, got
		}
		want := float64(n) / (1 + contention*float64(n-1) + coherency*float64(n*(n-1)))
		if math.Abs(got-want) > 1e-8*want {
			t.Errorf("%d slots serve %.9f a second, want %.9f", n, got, want)
		}
	}
	if peak := math.Sqrt((1 - contention) / coherency); best != int(math.Round(peak)) {
		t.Errorf("most are served by %d slots, want sqrt((1-s)/q) = %.1f", best, peak)
	}
}

// A full station of 100 a second rejects 100 a second, each of which costs r/PerSecond: r of its time is missing.
func TestShedCost(t *testing.T) {
	for _, test := range []struct{ cost, want float64 }{{0, 100}, {0.25, 75}, {0.5, 50}, {0.9, 10}, {1, 0}} {
		s := station.New(station.Config{PerSecond: 100, Workers: 4, Queue: 1, ShedCost: test.cost}, nil)
		served := 0
		for now := time.Duration(0); now < 100*time.Second; now += 10 * time.Millisecond {
			for s.Queued() == 0 {
				s.Arrive(now, 0)
			}
			s.Arrive(now, 0) // one too many
			served += len(finished(s, now+10*time.Millisecond))
		}
		if got := float64(served) / 100; math.Abs(got-test.want) > 0.1 {
			t.Errorf("shed cost %v: %v served a second, want %v", test.cost, got, test.want)
		}
	}
}

// What an idle slot pays for slows nobody down.
func TestIdleSlotsPay(t *testing.T) {
	c := station.Config{PerSecond: 20, Workers: 2, ShedCost: 1, Outages: []station.Outage{{From: 0, To: 5}}} // 100 ms a job
	s := station.New(c, nil)
	s.Arrive(0, 1)
	s.Arrive(0, 2) // each fails, and costs 100 ms of a slot, of which there are two
	s.Arrive(10, 3)
	s.Arrive(110*time.Millisecond, 4)
	s.Arrive(110*time.Millisecond, 5)
	s.Arrive(120*time.Millisecond, 6) // is rejected, and costs 50 ms of both
	got := ends(finished(s, time.Second))
	want := map[uint64]time.Duration{
		3: 100*time.Millisecond + 10,
		// Until 10 ns two slots pay, and then one does: half of the 200 ms is left when both are busy, less what was paid.
		4: 0, 5: 0,
	}
	left := 200*time.Millisecond - 2*10 - (100 * time.Millisecond) // after the one slot has paid beside job 3
	left -= 2 * (10*time.Millisecond - 10)                         // both, until 110 ms
	want[4] = 210*time.Millisecond + left/2 + 50*time.Millisecond
	want[5] = want[4]
	for tag, at := range want {
		if got[tag] != at {
			t.Errorf("job %d ended at %v, want %v", tag, got[tag], at)
		}
	}
}
