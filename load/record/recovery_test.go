package record

import (
	"testing"
	"time"
)

// served returns a goodput with so many answers in each second, placed evenly.
func served(perSecond ...int) *goodput {
	g := &goodput{}
	for second, n := range perSecond {
		for i := range n {
			g.add(time.Duration(second)*time.Second + time.Second*time.Duration(i)/time.Duration(n))
		}
	}
	return g
}

// repeated returns n times the rate.
func repeated(rate, n int) []int {
	rates := make([]int, n)
	for i := range rates {
		rates[i] = rate
	}
	return rates
}

// series joins rates by second.
func series(parts ...[]int) []int {
	var all []int
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func TestRecovery(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name           string
		perSecond      []int
		from, to, end  time.Duration
		before, last   *float64
		recovered      *time.Duration
		metastableAt60 bool
	}{
		{
			name:      "back at once",
			perSecond: series(repeated(100, 12), repeated(0, 3), repeated(100, 10)),
			from:      12 * second, to: 15 * second, end: 25 * second,
			before: ptr(100.0), last: ptr(100.0), recovered: ptr(0 * second),
		},
		{
			name:      "back after 4 s, at just nine tenths",
			perSecond: series(repeated(100, 10), repeated(0, 2), repeated(89, 4), repeated(90, 6)),
			from:      10 * second, to: 12 * second, end: 22 * second,
			before: ptr(100.0), last: ptr(90.0), recovered: ptr(4 * second),
		},
		{
			name:      "four good seconds are not five",
			perSecond: series(repeated(100, 10), repeated(100, 4), repeated(0, 1), repeated(100, 4)),
			from:      9 * second, to: 10 * second, end: 19 * second,
			before: ptr(100.0), last: ptr(80.0),
		},
		{
			name:      "five good seconds must have been watched whole",
			perSecond: series(repeated(100, 10), repeated(0, 1), repeated(100, 5)),
			from:      10 * second, to: 11 * second, end: 16*second - 1,
			before: ptr(100.0), last: ptr(100.0),
		},
		{
			name:      "only the ten seconds before count",
			perSecond: series(repeated(10, 10), repeated(100, 10), repeated(0, 1), repeated(50, 60)),
			from:      20 * second, to: 21 * second, end: 81 * second,
			before: ptr(100.0), last: ptr(50.0), metastableAt60: true,
		},
		{
			name:      "dead for 60 s",
			perSecond: series(repeated(100, 10), repeated(0, 62)),
			from:      10 * second, to: 12 * second, end: 72 * second,
			before: ptr(100.0), last: ptr(0.0), metastableAt60: true,
		},
		{
			name:      "dead, but not watched for 60 s",
			perSecond: series(repeated(100, 10), repeated(0, 62)),
			from:      10 * second, to: 12 * second, end: 72*second - 1,
			before: ptr(100.0), last: ptr(0.0),
		},
		{
			name:      "no healthy second before",
			perSecond: repeated(100, 20),
			from:      999 * time.Millisecond, to: 2 * second, end: 20 * second,
		},
		{
			name:      "nothing served before",
			perSecond: series(repeated(0, 10), repeated(100, 10)),
			from:      10 * second, to: 11 * second, end: 20 * second,
		},
		{
			name:      "watched for less than a second",
			perSecond: repeated(100, 20),
			from:      10 * second, to: 19 * second, end: 19*second + 999*time.Millisecond,
			before: ptr(100.0),
		},
		{
			name:      "the run ended in the outage",
			perSecond: repeated(100, 5),
			from:      3 * second, to: 9 * second, end: 5 * second,
			before: ptr(100.0),
		},
		{
			name:      "seconds count from the end of the outage",
			perSecond: series(repeated(100, 10), repeated(0, 2), repeated(100, 7)),
			from:      10 * second, to: 11500 * time.Millisecond, end: 19 * second,
			before: ptr(100.0), last: ptr(100.0), recovered: ptr(second),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := served(c.perSecond...).recovery(c.from, c.to, c.end)
			same(t, "before", got.GoodputBefore, c.before)
			same(t, "last", got.GoodputLast, c.last)
			same(t, "recovered", got.RecoveredAt, c.recovered)
			if want := max(0, c.end-c.to); got.Watched != want {
				t.Errorf("watched = %v, want %v", got.Watched, want)
			}
			if m := got.metastable(time.Minute); m != c.metastableAt60 {
				t.Errorf("metastable = %t, want %t", m, c.metastableAt60)
			}
		})
	}
}

// same fails the test unless both are nil or both hold equal numbers, to nine digits.
func same[T int | int64 | float64 | time.Duration](t *testing.T, what string, got, want *T) {
	t.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil:
		t.Errorf("%s = nil, want %v", what, *want)
	case want == nil:
		t.Errorf("%s = %v, want nil", what, *got)
	case float64(*got)-float64(*want) > 1e-9*float64(max(*want, 1)) || float64(*want)-float64(*got) > 1e-9*float64(max(*want, 1)):
		t.Errorf("%s = %v, want %v", what, *got, *want)
	}
}

// An open loop that stays dead after its outage is METASTABLE once it was watched for long enough; a closed one never
// is, and says nothing of recovery.
func TestMetastableFlag(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name  string
		open  bool
		watch time.Duration
		end   time.Duration
		want  bool
	}{
		{"dead for 120 s, by default", true, 0, 132 * second, true},
		{"1 ns short of 120 s", true, 0, 132*second - 1, false},
		{"as long as was asked for", true, 20 * second, 32 * second, true},
		{"closed", false, 20 * second, 200 * second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Config{
				Shards: 1, Duration: c.end, Triggers: []Trigger{{From: 10 * second, To: 12 * second}},
				OpenLoop: c.open, RecoveryWatch: c.watch,
			})
			for i := range 1000 {
				r.Served(time.Duration(i)*10*time.Millisecond, false)
			}
			for at := 12 * second; at < c.end; at += 10 * time.Millisecond {
				r.Served(at, true) // the target works, for clients that have gone
			}
			run := r.Summarise(End{At: c.end})
			if got := len(run.Convoy.Flags) == 1 && run.Convoy.Flags[0] == FlagMetastable; got != c.want {
				t.Errorf("flags = %v, want METASTABLE %t", run.Convoy.Flags, c.want)
			}
			if !c.open && (run.Recovery.GoodputBefore != nil || run.Recovery.GoodputLast != nil || run.Recovery.RecoveredAt != nil) {
				t.Errorf("recovery of a closed loop = %+v, want nothing but what was watched", run.Recovery)
			}
			if want := c.end - 12*second; run.Recovery.Watched != want {
				t.Errorf("watched = %v, want %v", run.Recovery.Watched, want)
			}
		})
	}
}
