package station_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/target/station"
)

// stations are loads that a driver turn keeps going: one arrival, one completion and one
// cancel each.
var stations = []struct {
	name   string
	config station.Config
}{
	{"reject-if-busy", station.Config{PerSecond: 1000}},
	{"10 workers, queue 10000", station.Config{PerSecond: 1000, Workers: 10, Queue: 10_000}},
	{"10000 workers, exp", station.Config{PerSecond: 1e6, Workers: 10_000, ServiceExp: true}},
	{"cancel, outages", station.Config{PerSecond: 1000, Workers: 10, Queue: 100, CancelAbandoned: true,
		RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto},
		Outages: []station.Outage{
			{From: 0, To: time.Second}, {From: time.Second, To: 1000 * time.Hour, Mode: station.ModeSlow, Factor: 3},
		}}},
	{"lifo", station.Config{PerSecond: 1000, Workers: 10, Queue: 10_000, Discipline: station.LIFO}},
	{"adaptive-lifo-codel, expired", station.Config{PerSecond: 1000, Workers: 10, Queue: 10_000,
		Discipline: station.AdaptiveLIFOCoDel, DropExpired: true, CancelAbandoned: true}},
	{"contention, shed cost", station.Config{PerSecond: 1000, Workers: 10, Queue: 100, Contention: 0.1, Coherency: 0.01, ShedCost: 0.3, CancelAbandoned: true}},
	{"token bucket", station.Config{Model: station.TokenBucket, PerSecond: 1000, Burst: 10}},
}

// turn is a driver that comes every half mean gap: the station stays full.
func turn(s *station.Station, c station.Config, now time.Duration) time.Duration {
	now += time.Duration(5e8 / c.PerSecond)
	a := s.ArriveBy(now, 1, now+time.Second)
	if now%16 == 0 {
		s.Cancel(now, a.Job)
	}
	for {
		if at, ok := s.Next(); !ok || at > now {
			return now
		}
		s.Finish(now)
	}
}

// TestHotPathAllocatesNothing runs each station until it has grown, then counts.
func TestHotPathAllocatesNothing(t *testing.T) {
	for _, test := range stations {
		t.Run(test.name, func(t *testing.T) {
			s := station.New(test.config, rand.New(rand.NewPCG(1, 1)))
			var now time.Duration
			for range 100_000 {
				now = turn(s, test.config, now)
			}
			// One run of many turns, since an average a turn would hide a leak.
			got := testing.AllocsPerRun(1, func() {
				for range 100_000 {
					now = turn(s, test.config, now)
				}
			})
			if got != 0 {
				t.Errorf("allocations in 100000 turns = %v, want 0", got)
			}
		})
	}
}

func BenchmarkTurn(b *testing.B) {
	for _, test := range stations {
		b.Run(test.name, func(b *testing.B) {
			s := station.New(test.config, rand.New(rand.NewPCG(1, 1)))
			var now time.Duration
			b.ReportAllocs()
			for b.Loop() {
				now = turn(s, test.config, now)
			}
		})
	}
}

// BenchmarkRejected is what a storm does most.
func BenchmarkRejected(b *testing.B) {
	for _, mode := range []station.RetryAfterMode{station.RetryAfterAuto, station.RetryAfterNone} {
		b.Run(fmt.Sprintf("hint=%d", mode), func(b *testing.B) {
			s := station.New(station.Config{PerSecond: 1e-3, RetryAfter: station.RetryAfterRule{Mode: mode}}, nil)
			s.Arrive(0, 0)
			for b.Loop() {
				s.Arrive(1, 0)
			}
		})
	}
}

// BenchmarkServed is one job, admitted and handed out when it is done.
func BenchmarkServed(b *testing.B) {
	s := station.New(station.Config{PerSecond: 1000}, nil)
	var now time.Duration
	for b.Loop() {
		s.Arrive(now, 0)
		now += time.Millisecond
		s.Finish(now)
	}
}

// BenchmarkCancelQueued takes jobs out of the middle of queues of any length.
func BenchmarkCancelQueued(b *testing.B) {
	for _, length := range []int{100, 1_000_000} {
		b.Run(fmt.Sprintf("queue=%d", length), func(b *testing.B) {
			s := station.New(station.Config{PerSecond: 1, Queue: length + 1, CancelAbandoned: true}, nil)
			var middle station.JobID
			for i := range length {
				if j := s.Arrive(0, 0).Job; i == length/2 {
					middle = j
				}
			}
			for b.Loop() {
				s.Cancel(0, middle)
				middle = s.Arrive(0, 0).Job
			}
		})
	}
}
