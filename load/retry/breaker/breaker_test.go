package breaker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/retry/breaker"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

func chance(b uint32) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(b))) }

// one returns the breaker of one client.
func one(c breaker.Config) *breaker.Breaker { return breaker.NewBank(c, 1, chance).Breaker(0) }

// of returns a kind's defaults, changed.
func of(k breaker.Kind, change func(*breaker.Config)) breaker.Config {
	c := breaker.Table[k].Defaults
	if change != nil {
		change(&c)
	}
	return c
}

// A step is so many attempts at one moment, one after another, or all at once where they only leave.
type step struct {
	at   time.Duration
	what string // "ok" and "fail" leave and end so; "leave" stays under way, "cancel" and "late ok", "late fail" end the oldest of those
	n    int
	want int // how many were let out
}

// play takes a breaker through steps.
func play(t *testing.T, b *breaker.Breaker, steps []step) {
	t.Helper()
	var underway []breaker.Ticket
	for i, s := range steps {
		let := 0
		for range s.n {
			var ticket breaker.Ticket
			switch s.what {
			case "ok", "fail", "leave":
				if !b.Allow(s.at, &ticket) {
					continue
				}
				let++
				if s.what == "leave" {
					underway = append(underway, ticket)
					continue
				}
				b.Report(s.at, s.what == "fail", &ticket)
			case "cancel":
				b.Cancel(s.at, &underway[0])
				underway = underway[1:]
			case "late ok", "late fail":
				b.Report(s.at, s.what == "late fail", &underway[0])
				underway = underway[1:]
			default:
				t.Fatalf("no step %q", s.what)
			}
		}
		if let != s.want {
			t.Fatalf("step %d: %d x %s at %v: %d were let out, want %d", i, s.n, s.what, s.at, let, s.want)
		}
	}
}

// Every change of state of every kind, with the numbers that its library ships (domain 3.8).
func TestBreaker(t *testing.T) {
	quick := func(change func(*breaker.Config)) breaker.Config {
		return of(breaker.Consecutive, func(c *breaker.Config) {
			c.Failures, c.Open = 1, second
			if change != nil {
				change(c)
			}
		})
	}
	tests := []struct {
		name   string
		config breaker.Config
		steps  []step
		want   breaker.Ledger // its OpenFor until a minute
	}{
		{"gobreaker: more than 5 failures in a row", of(breaker.GoBreaker, nil), []step{
			{0, "fail", 5, 5}, {0, "ok", 1, 1}, {1 * second, "fail", 5, 5}, {1 * second, "fail", 1, 1}, {2 * second, "ok", 3, 0},
		}, breaker.Ledger{Opened: 1, ShortCircuited: 3, OpenAtEnd: 1, OpenFor: 59 * second}},
		{"gobreaker: 60 s, then one probe, which closes it", of(breaker.GoBreaker, nil), []step{
			{0, "fail", 6, 6}, {60*second - 1, "ok", 1, 0}, {60 * second, "leave", 3, 1}, {60 * second, "late ok", 1, 0}, {60 * second, "leave", 9, 9},
		}, breaker.Ledger{Opened: 1, Closed: 1, Probes: 1, ShortCircuited: 3, OpenFor: 60 * second}},
		{"a failed probe opens it again, for as long", of(breaker.GoBreaker, func(c *breaker.Config) { c.Open = 10 * second }), []step{
			{0, "fail", 6, 6}, {12 * second, "fail", 2, 1}, {22*second - 1, "ok", 1, 0}, {22 * second, "ok", 2, 2}, {22 * second, "fail", 5, 5},
		}, breaker.Ledger{Opened: 1, Reopened: 1, Closed: 1, Probes: 2, ShortCircuited: 2, OpenFor: 22 * second}},
		{"resilience4j: half of 100, not of 99", of(breaker.Resilience4j, nil), []step{
			{0, "fail", 50, 50}, {0, "ok", 49, 49}, {0, "ok", 1, 1}, {0, "ok", 1, 0},
		}, breaker.Ledger{Opened: 1, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"resilience4j: 49 of 100 do not", of(breaker.Resilience4j, nil), []step{
			{0, "fail", 49, 49}, {0, "ok", 51, 51}, {0, "fail", 49, 49}, {0, "ok", 1, 1},
		}, breaker.Ledger{}},
		{"resilience4j: the last 100 count", of(breaker.Resilience4j, nil), []step{
			{0, "ok", 1000, 1000}, {0, "fail", 49, 49}, {0, "fail", 1, 1}, {0, "ok", 1, 0},
		}, breaker.Ledger{Opened: 1, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"resilience4j: four of ten probes may fail", of(breaker.Resilience4j, func(c *breaker.Config) { c.Open = second }), []step{
			{0, "fail", 100, 100}, {second, "leave", 12, 10}, {second, "late fail", 4, 0}, {second, "late ok", 5, 0}, {second, "ok", 1, 0},
			{second, "late ok", 1, 0}, {second, "ok", 1, 1},
		}, breaker.Ledger{Opened: 1, Closed: 1, Probes: 10, ShortCircuited: 3, OpenFor: second}},
		{"resilience4j: five may not, and it says so when the tenth ends", of(breaker.Resilience4j, func(c *breaker.Config) { c.Open = second }), []step{
			{0, "fail", 100, 100}, {second, "fail", 5, 5}, {second, "ok", 4, 4}, {second, "ok", 1, 1}, {second, "ok", 1, 0},
		}, breaker.Ledger{Opened: 1, Reopened: 1, Probes: 10, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"polly: a tenth of 100 in 30 s", of(breaker.Polly, nil), []step{
			{0, "ok", 90, 90}, {0, "fail", 9, 9}, {0, "fail", 1, 1}, {5*second - 1, "ok", 1, 0}, {5 * second, "leave", 2, 1}, {6 * second, "late ok", 1, 0},
		}, breaker.Ledger{Opened: 1, Closed: 1, Probes: 1, ShortCircuited: 2, OpenFor: 6 * second}},
		{"polly: a success does not open it, the failure after it does", of(breaker.Polly, nil), []step{
			{0, "fail", 50, 50}, {0, "ok", 50, 50}, {0, "fail", 1, 1}, {0, "ok", 1, 0},
		}, breaker.Ledger{Opened: 1, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"polly: what is older does not count", of(breaker.Polly, nil), []step{
			{0, "fail", 99, 99}, {30 * second, "fail", 99, 99},
		}, breaker.Ledger{}},
		{"and what is younger does", of(breaker.Polly, nil), []step{
			{0, "fail", 99, 99}, {30*second - 1, "fail", 1, 1}, {31 * second, "ok", 1, 0},
		}, breaker.Ledger{Opened: 1, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 30*second + 1}},
		{"two probes at a time, three successes", quick(func(c *breaker.Config) { c.Probes, c.Successes = 2, 3 }), []step{
			{0, "fail", 1, 1}, {second, "leave", 3, 2}, {second, "late ok", 1, 0}, {second, "leave", 2, 1}, {second, "late ok", 2, 0}, {second, "leave", 5, 5},
		}, breaker.Ledger{Opened: 1, Closed: 1, Probes: 3, ShortCircuited: 2, OpenFor: second}},
		{"a failure after two successes opens", quick(func(c *breaker.Config) { c.Probes, c.Successes = 2, 3 }), []step{
			{0, "fail", 1, 1}, {second, "ok", 2, 2}, {second, "fail", 1, 1}, {2*second - 1, "ok", 1, 0}, {2 * second, "ok", 3, 3}, {2 * second, "leave", 9, 9},
		}, breaker.Ledger{Opened: 1, Reopened: 1, Closed: 1, Probes: 6, ShortCircuited: 1, OpenFor: 2 * second}},
		{"a client that goes away gives its probe back", quick(nil), []step{
			{0, "fail", 1, 1}, {second, "leave", 2, 1}, {2 * second, "cancel", 1, 0}, {2 * second, "leave", 2, 1},
		}, breaker.Ledger{Opened: 1, Probes: 2, ShortCircuited: 2, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"and not one of a probe that is another's by now", quick(func(c *breaker.Config) { c.Probes = 2 }), []step{
			{0, "fail", 1, 1}, {second, "leave", 2, 2}, {second, "late fail", 1, 0}, {2 * second, "leave", 2, 2}, {2 * second, "cancel", 1, 0}, {2 * second, "leave", 1, 0},
		}, breaker.Ledger{Opened: 1, Reopened: 1, Probes: 4, ShortCircuited: 1, OpenAtEnd: 1, OpenFor: 60 * second}},
		{"an outcome of an attempt from before does not count", quick(nil), []step{
			{0, "leave", 3, 3}, {0, "late fail", 1, 0}, {second, "late ok", 1, 0}, {second, "leave", 2, 1}, {second, "late fail", 1, 0}, {second, "late ok", 1, 0}, {second, "ok", 1, 1},
		}, breaker.Ledger{Opened: 1, Closed: 1, Probes: 1, ShortCircuited: 1, OpenFor: second}},
		{"a moment before the latest is the latest", quick(nil), []step{
			{5 * second, "fail", 1, 1}, {0, "ok", 1, 0}, {6 * second, "ok", 1, 1}, {0, "fail", 1, 1}, {7 * second, "ok", 1, 1},
		}, breaker.Ledger{Opened: 2, Closed: 2, Probes: 2, ShortCircuited: 1, OpenFor: 2 * second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := one(tt.config)
			play(t, b, tt.steps)
			if got := b.Ledger(60 * second); got != tt.want {
				t.Errorf("ledger = %+v, want %+v", got, tt.want)
			}
		})
	}
}
