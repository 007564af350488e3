package record

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// A recording makes the calls that the fleet and the target make for one client's attempts, over and over.
type recording struct {
	recorder *Recorder
	client   uint32
	attempts int // of each operation; all but the last are refused
	rng      *rand.Rand

	at      time.Duration
	attempt int
}

// recordingEnd is when a recording's moments begin again, so that storage is there after a while.
const recordingEnd = 10 * time.Second

// attemptEnds makes every call of the next attempt, the target's and the client's, and what falls to it
// of its operation's.
func (x *recording) attemptEnds() {
	if x.at += time.Duration(x.rng.Int64N(int64(20 * time.Millisecond))); x.at >= recordingEnd {
		x.at -= recordingEnd
	}
	due, last := x.at, x.attempt == x.attempts-1
	late := time.Duration(x.rng.Int64N(int64(5 * time.Millisecond)))
	latency := late + time.Duration(x.rng.Int64N(int64(50*time.Millisecond)))
	r, status := x.recorder, 503
	if x.attempt == 0 {
		r.OperationStarted(x.client)
	}
	r.Arrival(Arrival{At: due + late, Attempt: x.attempt, Opening: x.attempt == 0, Rejected: !last})
	if last {
		r.Served(due+latency, false)
		status = 200
	}
	r.Sent(x.client, Sent{Attempt: x.attempt, Due: due, At: due + late})
	r.Outcome(x.client, Sample{Key: StatusKey(status), Answered: true, Latency: latency})
	if last {
		r.OperationEnded(x.client, Operation{At: due + latency, Elapsed: due, Attempts: x.attempts, Succeeded: true})
		x.attempt = 0
		return
	}
	r.Delay(x.client, Delay{Retry: x.attempt, Planned: 3 * latency, Draw: 3 * latency})
	x.attempt++
}

func newRecording(r *Recorder, client uint32, attempts int) *recording {
	return &recording{recorder: r, client: client, attempts: attempts, rng: seeded(uint64(client))}
}

// recordingKinds are the shapes of operations that are measured: a storm's, of many refusals, and those of
// a healthy closed loop, each of which has one attempt and so pays for all of its operation's calls.
var recordingKinds = []struct {
	name     string
	attempts int
}{{"of 8", 8}, {"of 1", 1}}

func TestAttemptDoesNotAllocate(t *testing.T) {
	for _, kind := range recordingKinds {
		x := newRecording(New(fullConfig(2)), 1, kind.attempts)
		for range 100_000 { // every bucket's histogram has found its size
			x.attemptEnds()
		}
		if got := testing.AllocsPerRun(1000, x.attemptEnds); got != 0 {
			t.Errorf("an attempt of an operation %s allocates %v times, want 0", kind.name, got)
		}
	}
}

// BenchmarkAttempt is all recording of one attempt, by one goroutine.
func BenchmarkAttempt(b *testing.B) {
	for _, kind := range recordingKinds {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			x := newRecording(New(fullConfig(0)), 1, kind.attempts)
			for range 100_000 {
				x.attemptEnds()
			}
			for b.Loop() {
				x.attemptEnds()
			}
		})
	}
}

// BenchmarkAttemptParallel is the same by as many goroutines as there are processors, each a client.
func BenchmarkAttemptParallel(b *testing.B) {
	for _, kind := range recordingKinds {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			r := New(fullConfig(0))
			var clients atomic.Uint32
			b.RunParallel(func(p *testing.PB) {
				x := newRecording(r, clients.Add(1), kind.attempts)
				for p.Next() {
					x.attemptEnds()
				}
			})
		})
	}
}
