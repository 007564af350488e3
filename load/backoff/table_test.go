package backoff_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// every calls f once for each strategy and cap mode, with p's other parameters.
func every(t *testing.T, p backoff.Params, f func(t *testing.T, e backoff.Entry, p backoff.Params)) {
	t.Helper()
	for _, e := range backoff.Table {
		for _, word := range backoff.CapModes() {
			mode, err := backoff.ParseCapMode(word)
			if err != nil {
				t.Fatal(err)
			}
			p := p
			p.CapMode = mode
			t.Run(e.Name+"/"+word, func(t *testing.T) { f(t, e, p) })
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, e := range backoff.Table {
		if seen[e.Name] {
			t.Errorf("Table[%d]: name %q appears twice", i, e.Name)
		}
		seen[e.Name] = true
		for _, field := range []struct{ name, text string }{
			{"Name", e.Name}, {"Formula", e.Formula}, {"Summary", e.Summary}, {"Source", e.Source},
		} {
			if field.text == "" {
				t.Errorf("Table[%d] %s: %s is empty", i, e.Name, field.name)
			}
		}
		if got, ok := backoff.Lookup(e.Name); !ok || got.Formula != e.Formula {
			t.Errorf("Lookup(%q) = %q, %v, want the entry", e.Name, got.Formula, ok)
		}
		if got := backoff.Names()[i]; got != e.Name {
			t.Errorf("Names()[%d] = %q, want %q", i, got, e.Name)
		}
	}
	for _, name := range []string{"", "Full", "full ", "expo"} {
		if _, ok := backoff.Lookup(name); ok {
			t.Errorf("Lookup(%q) found something", name)
		}
	}
}

// What an entry says of itself agrees with its ranges: with the guides' parameters a
// strategy is jittered if one of its first delays is, and passes the cap if one of its
// ranges does.
func TestEntriesKeepTheirWord(t *testing.T) {
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, p backoff.Params) {
		s := e.New(p)
		jittered, passes := false, false
		for k := range 20 {
			_, hi := s.Range(backoff.Attempt{Retry: k})
			passes = passes || hi > p.Cap
			jittered = jittered || k < 4 && backoff.Jittered(s, backoff.Attempt{Retry: k})
		}
		if jittered != e.Jittered {
			t.Errorf("one of the first 4 delays is random = %v, Entry.Jittered = %v", jittered, e.Jittered)
		}
		if p.CapMode == backoff.CapClamp && passes {
			t.Error("a delay passes the cap in the clamp mode")
		}
		if p.CapMode == backoff.CapCeiling && passes != e.PassesCap {
			t.Errorf("a delay passes the cap = %v, Entry.PassesCap = %v", passes, e.PassesCap)
		}
		if passes && !e.PassesCap {
			t.Error("a delay passes the cap, Entry.PassesCap = false")
		}
	})
}

func TestDelayAndJitteredDoNotAllocate(t *testing.T) {
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, p backoff.Params) {
		p.Multiplier = 1.7 // the slower path of the ladder too
		for _, s := range []backoff.Ranged{e.New(backoff.Defaults()), e.New(p)} {
			r, carry, prev, k := client(1, 0), 0.0, time.Duration(0), 0
			jittered := 0
			allocs := testing.AllocsPerRun(200, func() {
				a := backoff.Attempt{Retry: k, Prev: prev, Carry: &carry}
				if backoff.Jittered(s, a) {
					jittered++
				}
				prev = s.Delay(r, a)
				k++
			})
			if allocs != 0 {
				t.Errorf("Delay and Jittered allocate %v times, want 0", allocs)
			}
		}
	})
}

// Whether one delay is random, by cap mode, at the retries before and at the cap of 20 s:
// the raw delay is 12.8 s at k = 7, 25.6 s at k = 8, 51.2 s at k = 9.
func TestJitteredAt(t *testing.T) {
	tests := []struct {
		name  string
		mode  backoff.CapMode
		fixed []int // exact at these k
		drawn []int // random at these k
	}{
		{"none", backoff.CapCeiling, []int{0, 7, 8, 1000}, nil},
		{"none", backoff.CapRandom, []int{0, 7}, []int{8, 1000}},
		{"full", backoff.CapCeiling, nil, []int{0, 7, 8, 1000}},
		{"full", backoff.CapClamp, []int{1000}, []int{0, 7, 8, 20}},
		{"full", backoff.CapFixed, []int{8, 9, 1000}, []int{0, 7}},
		{"equal", backoff.CapClamp, []int{9, 1000}, []int{0, 7, 8}},
		{"proportional", backoff.CapClamp, []int{8, 1000}, []int{0, 7}},
		// 1.5, 3.1, 6.3, 12.7, 25.5 s: 0.8 of the last is beyond the cap.
		{"mersenne-scaled", backoff.CapCeiling, []int{7, 1000}, []int{0, 5, 6}},
		{"mersenne-scaled", backoff.CapFixed, []int{7, 1000}, []int{0, 6}},
		{"decorrelated", backoff.CapCeiling, nil, []int{0, 7, 8, 1000}},
		{"exponent", backoff.CapCeiling, []int{0}, []int{1, 8, 1000}},
		{"exponent-noisy", backoff.CapCeiling, []int{9, 1000}, []int{0, 7, 8}},
		{"polly", backoff.CapCeiling, []int{1000}, []int{0, 7, 8}},
		{"constant", backoff.CapRandom, []int{0, 1000}, nil},
		{"constant-full", backoff.CapFixed, nil, []int{0, 1000}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.name, "/", test.mode), func(t *testing.T) {
			p := backoff.Defaults()
			p.CapMode = test.mode
			s := lookup(t, test.name).New(p)
			for _, k := range test.fixed {
				if backoff.Jittered(s, backoff.Attempt{Retry: k}) {
					t.Errorf("Jittered at k = %d = true, want false", k)
				}
			}
			for _, k := range test.drawn {
				if !backoff.Jittered(s, backoff.Attempt{Retry: k}) {
					t.Errorf("Jittered at k = %d = false, want true", k)
				}
			}
		})
	}
}

// The previous delay decides the range of a strategy that has one.
func TestRangeKnowsThePreviousDelay(t *testing.T) {
	tests := []struct {
		name   string
		mode   backoff.CapMode
		a      backoff.Attempt
		lo, hi time.Duration
	}{
		{"first", backoff.CapCeiling, backoff.Attempt{}, 100 * ms, 300*ms - 1},
		{"known", backoff.CapCeiling, backoff.Attempt{Retry: 3, Prev: 150 * ms}, 100 * ms, 450*ms - 1},
		{"unknown", backoff.CapCeiling, backoff.Attempt{Retry: 3}, 100 * ms, 8100*ms - 1},
		{"unknown, at the cap", backoff.CapCeiling, backoff.Attempt{Retry: 30}, 100 * ms, 20_000*ms - 1},
		{"clamp at the cap", backoff.CapClamp, backoff.Attempt{Retry: 9, Prev: 20_000 * ms}, 100 * ms, 20_000 * ms},
		{"fixed at the cap", backoff.CapFixed, backoff.Attempt{Retry: 9, Prev: 20_000 * ms}, 20_000 * ms, 20_000 * ms},
		{"fixed, unknown", backoff.CapFixed, backoff.Attempt{Retry: 9}, 100 * ms, 20_000 * ms},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := backoff.Defaults()
			p.CapMode = test.mode
			lo, hi := lookup(t, "decorrelated").Range(p, test.a)
			if lo != test.lo || hi != test.hi {
				t.Errorf("Range(%+v) = %v, %v, want %v, %v", test.a, lo, hi, test.lo, test.hi)
			}
		})
	}
}

// Ceilings, floors and the point where a schedule settles, by hand: 25.5 s is
// 0.1 + 0.2 + ... + 12.8 s.
func TestSchedule(t *testing.T) {
	tests := []struct {
		name     string
		change   func(p *backoff.Params)
		ceilings []time.Duration // from k = 0 on
		floor    time.Duration
		period   time.Duration
		from     time.Duration
	}{
		{"none", nil, list(100, 200, 400, 800, 1600, 3200, 6400, 12_800, 20_000, 20_000), 100 * ms, 20_000 * ms, 25_500 * ms},
		{"full", func(p *backoff.Params) { p.FirstExponent = 1 }, list(200, 400), 0, 20_000 * ms, 25_400 * ms},
		{"equal", nil, list(100, 200), 50 * ms, 20_000 * ms, 25_500 * ms},
		{"fixed", nil, list(100, 200), 50 * ms, 20_000 * ms, 25_500 * ms},
		{"fixed", func(p *backoff.Params) { p.Noise = 150 * ms }, list(100, 200), 0, 20_000 * ms, 25_500 * ms},
		{"full-clamp", func(p *backoff.Params) { p.Floor = 30 * ms }, list(100, 200), 30 * ms, 20_000 * ms, 25_500 * ms},
		{"proportional", nil, list(100, 200), 80 * ms, 20_000 * ms, 25_500 * ms},
		{"full-mersenne", nil, list(100, 300, 700, 1500, 3100, 6300, 12_700, 20_000), 0, 20_000 * ms, 24_700 * ms},
		{"full-mersenne", func(p *backoff.Params) { p.Multiplier = 3 }, list(100, 400, 1300, 4000, 12_100, 20_000), 0, 20_000 * ms, 17_900 * ms},
		{"full-mersenne", func(p *backoff.Params) { p.Multiplier = 1.5 }, list(100, 250, 475, 812.5, 1318.75), 0, 20_000 * ms, 49_098_535_156},
		{"mersenne-scaled", func(p *backoff.Params) { p.Cap = 200 * ms }, list(100, 200, 200), 80 * ms, 200 * ms, 100 * ms},
		{"equal-clamp", func(p *backoff.Params) { p.Floor = 100 * ms }, list(100, 200), 100 * ms, 20_000 * ms, 25_500 * ms},
		{"decorrelated", nil, list(300, 900, 2700, 8100, 20_000), 100 * ms, 20_000 * ms, 12_000 * ms},
		{"linear", nil, list(100, 200, 300, 400, 500), 100 * ms, 20_000 * ms, 1_990_000 * ms},
		{"linear", func(p *backoff.Params) { p.FirstExponent = 1 }, list(200, 300, 400), 200 * ms, 20_000 * ms, 1_989_900 * ms},
		{"fibonacci", nil, list(100, 100, 200, 300, 500, 800, 1300, 2100, 3400, 5500, 8900, 14_400, 20_000), 100 * ms, 20_000 * ms, 37_600 * ms},
		{"constant", nil, list(100, 100), 100 * ms, 100 * ms, 0},
		{"constant-full", nil, list(200, 200), 0, 200 * ms, 0},
		{"constant-full", func(p *backoff.Params) { p.Cap = 150 * ms }, list(150, 150), 0, 150 * ms, 0},
		{"immediate", nil, list(0, 0), 0, 0, forever},
		{"polly", func(p *backoff.Params) { p.Multiplier = 9 }, list(100, 200, 400), 0, 20_000 * ms, 25_500 * ms},
		{"linear-jitter", func(p *backoff.Params) { p.WaitMax = 300 * ms }, list(300, 600, 900), 100 * ms, 0, forever},
		{"linear-jitter", func(p *backoff.Params) { p.WaitMax = 300 * ms; p.CapMode = backoff.CapClamp }, list(300, 600, 900), 100 * ms, 20_000 * ms, 663_300 * ms},
		{"linear-jitter", func(p *backoff.Params) { p.WaitMax = 10 * ms }, list(100, 200, 300), 100 * ms, 0, forever},
		{"none", func(p *backoff.Params) { p.Multiplier = 1 }, list(100, 100, 100), 100 * ms, 100 * ms, 0},
		{"none", func(p *backoff.Params) { p.Multiplier = 1.5 }, list(100, 150, 225, 337.5, 506.25), 100 * ms, 20_000 * ms, 58_185_852_051},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := backoff.Defaults()
			if test.change != nil {
				test.change(&p)
			}
			e := lookup(t, test.name)
			for k, want := range test.ceilings {
				if got := e.Ceiling(p, k); got != want {
					t.Errorf("Ceiling(%d) = %v, want %v", k, got, want)
				}
			}
			if got := e.Floor(p); got != test.floor {
				t.Errorf("Floor = %v, want %v", got, test.floor)
			}
			if got := e.Period(p); got != test.period {
				t.Errorf("Period = %v, want %v", got, test.period)
			}
			// Up to half a ns a step where the multiplier has a fraction.
			if got := e.PeriodFrom(p); (got - test.from).Abs() > 10 {
				t.Errorf("PeriodFrom = %v, want %v", got, test.from)
			}
		})
	}
}

func list(inMs ...float64) []time.Duration {
	delays := make([]time.Duration, len(inMs))
	for i, x := range inMs {
		delays[i] = time.Duration(math.Round(x * float64(ms)))
	}
	return delays
}

func TestNegativeRetryIsABug(t *testing.T) {
	for _, e := range backoff.Table {
		s := e.New(backoff.Defaults())
		carry := 0.0
		panicked := func() (message any) {
			defer func() { message = recover() }()
			s.Delay(client(1, 0), backoff.Attempt{Retry: -1, Carry: &carry})
			return nil
		}()
		if m, ok := panicked.(string); panicked != nil && (!ok || m != "backoff: BUG: retry index -1 is negative") {
			t.Errorf("%s: Delay at retry -1 panics with %v", e.Name, panicked)
		}
	}
}

// Ranges to the nanosecond, at both ends of what a time.Duration holds: half-open windows
// leave out their upper end, a drawn cap its lower one, and nothing wraps.
func TestRangesToTheNanosecond(t *testing.T) {
	const longest = forever
	small := backoff.Params{Base: 4, Cap: 10, Multiplier: 2, Noise: 1, SpreadShare: 0.5, Floor: 1, WaitMax: 7}
	large := backoff.Params{Base: longest, Cap: longest, Multiplier: 2, Noise: longest, SpreadShare: 1, CapJitterShare: 1, Floor: longest, WaitMax: longest}
	tests := []struct {
		name   string
		p      backoff.Params
		mode   backoff.CapMode
		k      int
		lo, hi time.Duration
	}{
		{"none", small, backoff.CapCeiling, 1, 8, 8},
		{"none", small, backoff.CapCeiling, 2, 10, 10},
		{"none", small, backoff.CapRandom, 2, 9, 10}, // (8, 10]
		{"fixed", small, backoff.CapCeiling, 0, 3, 4},
		{"fixed-up", small, backoff.CapCeiling, 0, 4, 4},
		{"equal", small, backoff.CapCeiling, 0, 2, 3},
		{"equal", small, backoff.CapRandom, 2, 4, 9}, // c is 9 or 10
		{"full", small, backoff.CapCeiling, 0, 0, 3},
		{"full", small, backoff.CapClamp, 2, 0, 10},
		{"full", small, backoff.CapFixed, 2, 10, 10},
		{"full-floor", small, backoff.CapCeiling, 0, 1, 3},
		{"full-clamp", small, backoff.CapCeiling, 0, 1, 3},
		{"equal-clamp", small, backoff.CapCeiling, 0, 2, 3},
		{"full-mersenne", small, backoff.CapClamp, 1, 0, 10},
		{"mersenne-scaled", small, backoff.CapCeiling, 0, 4, 5},
		{"mersenne-scaled", small, backoff.CapCeiling, 1, 10, 10},
		{"mersenne-scaled", small, backoff.CapRandom, 1, 9, 10},
		{"decorrelated", small, backoff.CapCeiling, 0, 4, 9},
		{"decorrelated", small, backoff.CapClamp, 0, 4, 10},
		{"proportional", small, backoff.CapCeiling, 0, 2, 5},
		{"additive", small, backoff.CapCeiling, 0, 4, 5},
		{"exponent", small, backoff.CapCeiling, 1, 4, 8},
		{"constant-full", small, backoff.CapCeiling, 0, 0, 7},
		{"linear-jitter", small, backoff.CapCeiling, 1, 8, 13},
		{"linear-jitter", small, backoff.CapClamp, 1, 8, 10},
		{"none", large, backoff.CapCeiling, 1, longest, longest},
		{"none", large, backoff.CapRandom, 1, 1, longest},
		{"fixed", large, backoff.CapCeiling, 0, 0, longest},
		{"fixed-up", large, backoff.CapCeiling, 0, longest, longest},
		{"equal", large, backoff.CapCeiling, 1, longest / 2, longest - 1},
		{"full", large, backoff.CapCeiling, 1, 0, longest - 1},
		{"full", large, backoff.CapClamp, 1, longest, longest},
		{"full-floor", large, backoff.CapCeiling, 1, longest, longest},
		{"full-clamp", large, backoff.CapCeiling, 1, longest, longest},
		{"equal-clamp", large, backoff.CapCeiling, 1, longest, longest},
		{"mersenne-scaled", large, backoff.CapCeiling, 1, longest - longest/5, longest},
		{"decorrelated", large, backoff.CapCeiling, 0, longest, longest},
		{"proportional", large, backoff.CapCeiling, 0, 0, longest},
		{"additive", large, backoff.CapCeiling, 0, longest, longest},
		{"exponent-noisy", large, backoff.CapCeiling, 1, longest, longest},
		{"polly", large, backoff.CapFixed, 0, longest, longest},
		{"linear-jitter", large, backoff.CapCeiling, 1, longest, longest},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s/%v/base=%d/k=%d", test.name, test.mode, test.p.Base, test.k), func(t *testing.T) {
			p := test.p
			p.CapMode = test.mode
			a := backoff.Attempt{Retry: test.k}
			if lo, hi := lookup(t, test.name).Range(p, a); lo != test.lo || hi != test.hi {
				t.Errorf("Range = %d..%d ns, want %d..%d", lo, hi, test.lo, test.hi)
			}
		})
	}
	// Rounding to float64 makes no window wider than its delay.
	p := backoff.Params{Base: longest - 1, Cap: longest - 1, Multiplier: 2, CapMode: backoff.CapRandom, CapJitterShare: 1}
	if lo, hi := lookup(t, "none").Range(p, backoff.Attempt{}); lo != 1 || hi != longest-1 {
		t.Errorf("Range of a drawn cap = %d..%d ns, want 1..%d", lo, hi, longest-1)
	}
}
