package record

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"
)

// soloCases are what the equality tests run under: the moments go to about span, and where far says so also far beyond
// the end, which makes a bucket of everything up to there.
var soloCases = []struct {
	name   string
	bucket time.Duration
	span   time.Duration
	far    bool
}{
	{"100 ms", 100 * time.Millisecond, 12 * time.Second, true},
	{"1.237 ms", 1237 * time.Microsecond, 3 * time.Second, false},
	{"0.777 s", 777*time.Millisecond + 1, 12 * time.Second, true},
	{"1 us", BucketMin, 3 * time.Millisecond, false},
	{"30 s", 30 * time.Second, 10 * time.Minute, true},
}

// pairOf is a Recorder, and another with its Solo, that get the same calls.
type pairOf struct {
	plain, other *Recorder
	solo         *Solo
}

func newPair(c Config) *pairOf {
	p := &pairOf{plain: New(c), other: New(c)}
	p.solo = p.other.Solo()
	return p
}

// call makes one random call at about the given moment on both.
func (p *pairOf) call(r *rand.Rand, at time.Duration) {
	rec, solo := p.plain, p.solo
	length := []time.Duration{0, ms(1), time.Duration(r.Int64N(int64(time.Second))), time.Duration(r.Int64()) >> r.IntN(60)}[r.IntN(4)]
	k, yes, no := r.IntN(14)-1, r.IntN(2) == 0, r.IntN(3) == 0
	key := StatusKey(200 + k)
	if no {
		key = KindKey(k)
	}
	switch r.IntN(12) {
	case 0, 1:
		a := Arrival{At: at, Attempt: k, Unknown: r.IntN(20) == 0, Opening: yes, Rejected: no}
		rec.Arrival(a)
		solo.Arrival(a)
	case 2:
		rec.Served(at, yes)
		solo.Served(at, yes)
	case 3:
		x := Sent{Attempt: max(k, 0), Due: at, At: at + length, Early: no}
		rec.Sent(0, x)
		solo.Sent(x)
	case 4:
		x := Sample{Key: key, Answered: yes, Latency: length}
		rec.Outcome(0, x)
		solo.Outcome(x)
	case 5:
		rec.Lost(0, k)
		solo.Lost(k)
	case 6:
		d := Delay{Retry: max(k, 0), Planned: length, Draw: []time.Duration{length, 400 * time.Millisecond, time.Millisecond}[r.IntN(3)]}
		rec.Delay(0, d)
		solo.Delay(d)
	case 7:
		rec.Hint(0, Hint{Valid: yes, Obeyed: no})
		solo.Hint(Hint{Valid: yes, Obeyed: no})
	case 8:
		rec.OperationStarted(0)
		solo.OperationStarted()
		o := Operation{At: at, Elapsed: length, Attempts: k + 2, Succeeded: yes, Reason: k, Drawn: no, Draw: length}
		rec.OperationEnded(0, o)
		solo.OperationEnded(o)
	default:
		x := Refusal{At: at, Attempt: max(k, 0), Key: key, Opening: yes, Planned: length, Draw: length}
		rec.Sent(0, Sent{Attempt: x.Attempt, Due: at, At: at})
		rec.Arrival(Arrival{At: at, Attempt: x.Attempt, Opening: yes, Rejected: true})
		rec.Outcome(0, Sample{Key: key, Answered: true})
		rec.Delay(0, Delay{Retry: x.Attempt, Planned: x.Planned, Draw: x.Draw})
		solo.Refused(x)
	}
}

// same compares everything that can be read of both.
func (p *pairOf) same(t *testing.T, what string, span time.Duration) {
	t.Helper()
	p.solo.Flush()
	if got, want := p.other.Totals(), p.plain.Totals(); got != want {
		t.Fatalf("%s: totals = %+v, want %+v", what, got, want)
	}
	end := End{At: span, InFlight: 3, Unfinished: 4, Unstarted: 5}
	got, err := json.Marshal(p.other.Summarise(end))
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(p.plain.Summarise(end))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Fatalf("%s: the run is\n%s\nwant\n%s", what, got, want)
	}
}

// Whatever is called in whatever order, a Solo gives what its Recorder would have given, byte for byte: with moments that go
// on, stand still, jump, and now and then step back or leave the range; flushed and handed out at any time.
func TestSoloIsTheRecorder(t *testing.T) {
	seeds := uint64(20)
	if raceDetector {
		seeds = 5
	}
	for _, c := range soloCases {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds {
				config := fullConfig(1)
				config.Bucket, config.Duration, config.StartTogether = c.bucket, c.span, seed%3 > 0
				x := soloWalk{newPair(config), seeded(seed), c.span, c.far}
				x.run(t, int(seed*seed)*20)
				config.Bucket += time.Duration(seed%3) * time.Microsecond
				config.Cap, config.StartTogether = ms(200), true
				x.other.Reset(config)
				x.plain = New(config)
				x.run(t, int(seed)*10)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// A soloWalk makes random calls at moments that mostly go on.
type soloWalk struct {
	*pairOf
	rng  *rand.Rand
	span time.Duration
	far  bool
}

func (x soloWalk) run(t *testing.T, calls int) {
	r := x.rng
	step := int64(x.span)/int64(calls+1)*3 + 1
	var at time.Duration
	for range calls {
		if r.IntN(3) > 0 {
			at += time.Duration(r.Int64N(step))
		}
		moment := at
		switch r.IntN(80) {
		case 0:
			moment -= time.Duration(r.Int64N(int64(x.span)))
		case 1:
			if x.far {
				moment += 20 * time.Minute
			}
		case 2:
			moment -= time.Duration(r.Int64N(step))
		case 3:
			x.solo.Flush()
		case 4:
			x.sameIntervals(t, at-time.Duration(r.Int64N(int64(x.span))))
		}
		x.call(r, moment)
		if r.IntN(calls) == 0 {
			x.same(t, "on the way", x.span)
		}
	}
	x.same(t, "at the end", x.span)
	x.sameIntervals(t, at)
}

// sameIntervals compares the lines of a histogram log of everything that ended by until, and of what came later.
func (x soloWalk) sameIntervals(t *testing.T, until time.Duration) {
	t.Helper()
	x.solo.Flush()
	var e HLogEncoder
	lines := func(r *Recorder) (b []byte) {
		for i, ok := r.Export(until); ok; i, ok = r.Export(until) {
			if i.Arrivals() > 0 || i.At%(1000*i.Width) == 0 {
				b = e.Interval(b, i)
			}
		}
		for _, i := range r.ExportLate() {
			b = e.Interval(b, i)
		}
		return b
	}
	if got, want := lines(x.other), lines(x.plain); string(got) != string(want) {
		t.Fatalf("intervals until %v:\n%s\nwant\n%s", until, got, want)
	}
}
