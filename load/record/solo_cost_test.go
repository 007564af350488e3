package record

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A soloStorm makes the calls of an engine for a storm: per arrival one retry that is refused, at moments that go on by step
// on average; every 8th is served instead.
type soloStorm struct {
	solo   *Solo
	plain  *Recorder // in its place, where set
	rng    *rand.Rand
	step   int64
	end    time.Duration
	again  func() // at the end
	at     time.Duration
	number int
}

func newSoloStorm(step time.Duration) *soloStorm {
	c := fullConfig(1)
	c.Duration = 10 * time.Minute
	r := New(c)
	return &soloStorm{solo: r.Solo(), rng: seeded(1), step: int64(2 * step), end: c.Duration, again: func() { r.Reset(c) }}
}

func (x *soloStorm) next() (Refusal, bool) {
	if x.at += time.Duration(x.rng.Int64N(x.step)); x.at >= x.end {
		x.again()
		x.at = 0
	}
	x.number++
	delay := time.Duration(x.rng.Int64N(int64(100*time.Millisecond))) << (x.number % 8)
	return Refusal{At: x.at, Attempt: x.number % 8, Key: StatusKey(503), Planned: delay, Draw: delay}, x.number%8 == 7
}

func (x *soloStorm) refused() {
	a, _ := x.next()
	x.solo.Refused(a)
}

func (x *soloStorm) attempt() {
	a, served := x.next()
	if !served {
		x.solo.Refused(a)
		return
	}
	x.solo.OperationStarted()
	x.solo.Sent(Sent{Attempt: a.Attempt, Due: a.At, At: a.At})
	x.solo.Arrival(Arrival{At: a.At, Attempt: a.Attempt})
	x.solo.Served(a.At+1e6, false)
	x.solo.Outcome(Sample{Key: StatusKey(200), Answered: true, Latency: 1e6})
	x.solo.OperationEnded(Operation{At: a.At + 1e6, Elapsed: a.At, Attempts: a.Attempt + 1, Succeeded: true})
}

func (x *soloStorm) attemptOnRecorder() {
	a, served := x.next()
	r, key := x.plain, a.Key
	if served {
		r.OperationStarted(0)
	}
	r.Sent(0, Sent{Attempt: a.Attempt, Due: a.At, At: a.At})
	r.Arrival(Arrival{At: a.At, Attempt: a.Attempt, Rejected: !served})
	if !served {
		r.Outcome(0, Sample{Key: key, Answered: true})
		r.Delay(0, Delay{Retry: a.Attempt, Planned: a.Planned, Draw: a.Draw})
		return
	}
	r.Served(a.At+1e6, false)
	r.Outcome(0, Sample{Key: StatusKey(200), Answered: true, Latency: 1e6})
	r.OperationEnded(0, Operation{At: a.At + 1e6, Elapsed: a.At, Attempts: a.Attempt + 1, Succeeded: true})
}

func (x *soloStorm) nothing() { x.next() }

// soloSteps are mean distances of arrivals: of a storm of a million clients, of a thousand, and of its last ones.
var soloSteps = []struct {
	name string
	step time.Duration
}{{"30000 a second", 33 * time.Microsecond}, {"1000 a second", time.Millisecond}, {"10 a second", 100 * time.Millisecond}}

func TestSoloDoesNotAllocate(t *testing.T) {
	for _, s := range soloSteps {
		x := newSoloStorm(s.step)
		for range 200_000 {
			x.attempt()
		}
		for name, call := range map[string]func(){"a refused attempt": x.refused, "an attempt of any kind": x.attempt} {
			if got := testing.AllocsPerRun(1000, call); got != 0 {
				t.Errorf("%s at %s allocates %v times, want 0", name, s.name, got)
			}
		}
	}
}

// BenchmarkSolo is the recording of one refused attempt, and of what else a storm has: "nothing" is the cost of the
// moment and the delay that are given to it.
func BenchmarkSolo(b *testing.B) {
	for _, s := range soloSteps {
		for _, what := range []struct {
			name string
			call func(*soloStorm)
		}{
			{"nothing", (*soloStorm).nothing}, {"Refused", (*soloStorm).refused}, {"mixed", (*soloStorm).attempt}, {"mixed on Recorder", (*soloStorm).attemptOnRecorder},
		} {
			b.Run(what.name+" "+s.name, func(b *testing.B) {
				b.ReportAllocs()
				x := newSoloStorm(s.step)
				x.plain = x.solo.r
				for b.Loop() {
					what.call(x)
				}
			})
		}
	}
}

// BenchmarkSoloRepeat is what recording costs a repeat of a small storm, of 5000 attempts in 25 s.
func BenchmarkSoloRepeat(b *testing.B) {
	b.ReportAllocs()
	c := fullConfig(1)
	c.Duration = 25 * time.Second
	r := New(c)
	x := newSoloStorm(5 * time.Millisecond)
	x.solo = r.Solo()
	for b.Loop() {
		r.Reset(c)
		x.at = 0
		for range 5000 {
			x.attempt()
		}
		r.Summarise(End{At: 25 * time.Second})
	}
}
