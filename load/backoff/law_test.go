package backoff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// lawEdges are the edges at which laws are looked at: dense, of two digits, and with the cap and its neighbours.
func lawEdges(p backoff.Params) []time.Duration {
	edges := []time.Duration{0, 1, p.Cap, p.Cap + 1}
	for step := int64(100); step < 1e12; step *= 10 {
		for n := range int64(90) {
			edges = append(edges, time.Duration((n+10)*step))
		}
	}
	slices.Sort(edges)
	return edges
}

// lawGap returns the largest difference between a law and a sample at any edge.
func lawGap(below []float64, edges, sample []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(sample))
	gap := 0.0
	for i, x := range edges {
		n, _ := slices.BinarySearch(sorted, x)
		gap = max(gap, math.Abs(below[i]-float64(n)/float64(len(sorted))))
	}
	return gap
}

// lawSamples and lawBound: the gap is at most that of Kolmogorov, whose false-positive rate is 1e-9 here (DKW bound, any n), 1e-6
// over the thousand of gaps that a test looks at. A law that is wrong by twice the bound somewhere, 0.074, is missed at the
// same rate.
const lawSamples = 8000

var lawBound = math.Sqrt(math.Log(2/1e-9) / (2 * lawSamples))

// lawParams are other than the guides' in everything, one after the other.
var lawParams = []struct {
	name   string
	change func(p *backoff.Params)
}{
	{"defaults", func(*backoff.Params) {}},
	{"slow, and beyond the noise", func(p *backoff.Params) {
		p.Multiplier, p.Noise, p.SpreadShare, p.Cap = 1.3, 300*ms, 0.7, 400*ms
		p.FirstExponent, p.CapJitterShare, p.WaitMax = 1, 0.9, 250*ms
	}},
	{"no growth at all", func(p *backoff.Params) { p.Multiplier, p.Cap = 1, 100*ms }},
}

// Of every strategy, in every cap mode and at early and late retries, what is drawn is spread as its law says.
func TestDelaysFollowTheirLaw(t *testing.T) {
	for _, c := range lawParams {
		p := backoff.Defaults()
		c.change(&p)
		edges := lawEdges(p)
		every(t, p, func(t *testing.T, e backoff.Entry, p backoff.Params) {
			s := e.New(p)
			r := client(1, 0)
			walks := make([][]time.Duration, lawSamples)
			for i := range walks {
				walks[i] = walk(s, r, 12)
			}
			for _, k := range []int{0, 1, 2, 7, 11} {
				sample := make([]time.Duration, lawSamples)
				for i := range sample {
					sample[i] = walks[i][k]
				}
				below := s.(backoff.Lawful).Below(k, edges)
				checkLaw(t, below)
				if gap := lawGap(below, edges, sample); gap > lawBound {
					t.Errorf("%s, k = %d: distance from the law = %.4f, want <= %.4f", c.name, k, gap, lawBound)
				}
			}
		})
	}
}

// checkLaw checks what every law is: from 0 up to 1, and never back.
func checkLaw(t *testing.T, below []float64) {
	t.Helper()
	for i, share := range below {
		if !(share >= 0 && share <= 1) || i > 0 && share < below[i-1]-1e-12 {
			t.Fatalf("share %d below is %v, after %v", i, share, below[max(0, i-1)])
		}
	}
	if below[0] != 0 {
		t.Errorf("a share of %v is below 0", below[0])
	}
}

// The test above sees a strategy that is another than its law says: each against the law of every other, and against its own with
// a retry more or another base, wherever the two laws are 0.074 apart or more.
func TestAnotherLawIsSeen(t *testing.T) {
	const k = 3
	p := backoff.Defaults()
	edges := lawEdges(p)
	later, longer := p, p
	later.FirstExponent = 1
	longer.Base = 115 * ms
	seen := 0
	for _, e := range backoff.Table {
		own := e.New(p)
		r := client(2, 0)
		sample := make([]time.Duration, lawSamples)
		for i := range sample {
			sample[i] = walk(own, r, k+1)[k]
		}
		laws := map[string]backoff.Lawful{"one retry more": e.New(later).(backoff.Lawful), "a base 15 % longer": e.New(longer).(backoff.Lawful)}
		for _, other := range backoff.Table {
			laws[other.Name] = other.New(p).(backoff.Lawful)
		}
		for name, law := range laws {
			apart := 0.0
			below := law.Below(k, edges)
			for i, share := range own.(backoff.Lawful).Below(k, edges) {
				apart = max(apart, math.Abs(share-below[i]))
			}
			if apart < 2*lawBound {
				continue
			}
			if seen++; lawGap(below, edges, sample) <= lawBound {
				t.Errorf("%s is taken for %s", e.Name, name)
			}
		}
	}
	if n := len(backoff.Table); seen < n*(n-3) {
		t.Errorf("%d laws were told apart, want most of the %d pairs", seen, n*(n-1))
	}
}

// Laws by hand: shares of the delays below a length, from the formulas in the strategies' comments.
func TestLawsByHand(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		name string
		mode backoff.CapMode
		k    int
		x    time.Duration
		want float64
	}{
		{"none", backoff.CapCeiling, 3, 800 * ms, 0},
		{"none", backoff.CapCeiling, 3, 800*ms + 1, 1},
		{"full", backoff.CapCeiling, 0, 25 * ms, 0.25},
		{"full", backoff.CapClamp, 9, 20_000 * ms, 20 / 51.2},
		{"full", backoff.CapRandom, 20, 16_000 * ms, 16 * math.Log(20./16) / 4}, // the mean of 16/cap over caps of 16 to 20 s
		{"equal", backoff.CapCeiling, 1, 150 * ms, 0.5},
		{"fixed", backoff.CapCeiling, 0, 75 * ms, 0.25},
		{"full-clamp", backoff.CapCeiling, 0, 50 * ms, 0},
		{"full-clamp", backoff.CapCeiling, 0, 50*ms + 1, 0.5},
		{"proportional", backoff.CapCeiling, 0, 110 * ms, 0.75},
		{"exponent", backoff.CapCeiling, 0, 100*ms + 1, 1},
		{"exponent", backoff.CapCeiling, 2, 200 * ms, 0.5},
		{"exponent", backoff.CapCeiling, 13, 20_000 * ms, math.Log2(200) / 13},
		{"exponent-noisy", backoff.CapCeiling, 7, 20_000 * ms, (math.Log2(200) - 6) / 2},
		{"decorrelated", backoff.CapCeiling, 0, 200 * ms, 0.5},
		// P(d < 2b) = E[b/(3p - b)] with p = U[b, 3b): ln(8/2)/6.
		{"decorrelated", backoff.CapCeiling, 1, 200 * ms, math.Log(4) / 6},
		{"decorrelated", backoff.CapClamp, 60, 20_000 * ms, 1 - 0.29}, // stationary: domain 1.1
		{"decorrelated", backoff.CapFixed, 60, 20_000 * ms, 0},
		{"immediate", backoff.CapCeiling, 5, 1, 1},
		{"linear-jitter", backoff.CapCeiling, 1, 20_100 * ms, 0.5},
		{"polly", backoff.CapCeiling, 0, 137_700_000, 0.9998},
		{"polly", backoff.CapCeiling, 4, 800 * ms, 0.5}, // the median is b*2^(k-1)
		{"polly", backoff.CapCeiling, 1000, day, 1},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.name, "/", test.mode, "/", test.k, "/", test.x), func(t *testing.T) {
			p := backoff.Defaults()
			p.CapMode = test.mode
			got := lookup(t, test.name).New(p).(backoff.Lawful).Below(test.k, []time.Duration{0, test.x})
			tolerance := 1e-4
			if test.k == 60 || test.name == "polly" {
				tolerance = 0.002 // the figures of the source have so many digits
			}
			if math.Abs(got[1]-test.want) > tolerance {
				t.Errorf("share below %v = %v, want %v", test.x, got[1], test.want)
			}
		})
	}
}

// Entry.Chained is true where two operations that drew otherwise have different laws for the next delay.
func TestChainedIsWhatDependsOnThePast(t *testing.T) {
	for _, e := range backoff.Table {
		s := e.New(backoff.Defaults())
		chained := false
		for _, past := range []struct {
			prev  time.Duration
			carry float64
		}{{100 * ms, 0.2}, {299 * ms, 1.9}} {
			carry, want := 1.0, 1.0
			d := s.Delay(client(1, 0), backoff.Attempt{Retry: 1, Prev: past.prev, Carry: &carry})
			same := s.Delay(client(1, 0), backoff.Attempt{Retry: 1, Prev: 200 * ms, Carry: &want})
			carry = past.carry
			other := s.Delay(client(1, 0), backoff.Attempt{Retry: 1, Prev: past.prev, Carry: &carry})
			chained = chained || d != same || other != d
		}
		if chained != e.Chained {
			t.Errorf("%s: the delay before changes the next = %v, Entry.Chained = %v", e.Name, chained, e.Chained)
		}
	}
}

func BenchmarkLaw(b *testing.B) {
	edges := lawEdges(backoff.Defaults())
	for _, e := range backoff.Table {
		b.Run(e.Name, func(b *testing.B) {
			s := e.New(backoff.Defaults()).(backoff.Lawful)
			for b.Loop() {
				for k := range 11 {
					s.Below(k, edges)
				}
			}
		})
	}
}
