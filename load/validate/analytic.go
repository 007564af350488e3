package validate

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/seed"
)

const (
	// draws is how many delays one law is judged by, and standardErrors how far its mean and deviation
	// may be off; both are the reference's.
	draws          = 100_000
	standardErrors = 4
	// edgeChance is the chance that not one of the draws comes near an end of its range.
	edgeChance = 1e-6
)

// A law is what the delays of one formula must be. Times are in ms.
type law struct {
	strategy string
	label    string // what the parameters are, where they are not the guides'
	change   func(*backoff.Params)
	k        int  // retry index
	chain    bool // the delays before matter
	mean, sd float64
	lo, hi   float64 // of the range [lo, hi); equal for one point
	flat     bool    // the delays are uniform over the range
	// rounded is half a unit of the last digit of what mean and sd are printed with; 0 is a formula.
	rounded float64
}

// uniform returns the law of U[lo, hi).
func uniform(strategy string, k int, lo, hi float64) law {
	return law{strategy: strategy, k: k, lo: lo, hi: hi, mean: (lo + hi) / 2, sd: (hi - lo) / math.Sqrt(12), flat: true}
}

func (l law) with(label string, change func(*backoff.Params)) law {
	l.label, l.change = label, change
	return l
}

// analytic holds the delays of the formulas against what they must be.
func analytic(c Config) []trial {
	var trials []trial
	for i, l := range laws() {
		t := once(func(context.Context) []Check {
			return l.checks(seed.Stream(c.Seed, seed.Backoff, uint32(i)))
		})
		t.cost = costOfDraws / 10
		trials = append(trials, t)
	}
	return append(trials, stationary(c)...)
}

// laws are the rows of the reference that speak of a delay.
func laws() []law {
	return append(append(guideLaws(), shippedLaws()...), catalogueLaws()...)
}

// guideLaws are those with the guides' parameters: 100 ms doubling up to 20 s.
func guideLaws() []law {
	return []law{
		uniform("full", 3, 0, 800),
		uniform("equal", 3, 400, 800),
		uniform("fixed", 5, 3150, 3250),
		uniform("proportional", 8, 16_000, 24_000),
		uniform("decorrelated", 0, 100, 300),
		decorrelatedLaw(1),
		decorrelatedLaw(2),
		{strategy: "polly", k: 0, mean: 87.1, sd: 31.3, lo: 0, hi: pollyEnd(0), rounded: 0.05},
		{strategy: "polly", k: 1, chain: true, mean: 115.7, sd: 52.4, lo: 0, hi: pollyEnd(1), rounded: 0.05},
		{strategy: "polly", k: 2, chain: true, mean: 208.1, sd: 92.4, lo: 0, hi: pollyEnd(2), rounded: 0.05},
	}
}

// decorrelatedLaw is the closed form of the k-th uncapped delay, domain 1.1.
func decorrelatedLaw(k int) law {
	n := float64(k + 1)
	return law{
		strategy: "decorrelated", k: k, chain: true, lo: 100, hi: 100 * math.Pow(3, n),
		mean: 200*math.Pow(1.5, n) - 100,
		sd:   100 * math.Sqrt(2*math.Pow(3, n)-4*math.Pow(2.25, n)+8.0/3*math.Pow(1.5, n)-2.0/3),
	}
}

// pollyEnd is the upper end of polly's k-th delay with a base of 100 ms.
func pollyEnd(k int) float64 {
	level := func(t float64) float64 { return math.Exp2(t) * math.Tanh(math.Sqrt(4*t)) }
	end := level(float64(k + 1))
	if k > 0 {
		end -= level(float64(k - 1))
	}
	return 100 / 1.4 * end
}

// shippedLaws are the delays of SDKs and proxies by the strategies of their shape.
func shippedLaws() []law {
	params := func(base, limit time.Duration) func(*backoff.Params) {
		return func(p *backoff.Params) { p.Base, p.Cap = base, limit }
	}
	azure := params(800*time.Millisecond, time.Minute)
	envoy := params(25*time.Millisecond, 250*time.Millisecond)
	aws := params(50*time.Millisecond, 20*time.Second)
	throttled := params(time.Second, 20*time.Second)
	cenkalti := func(p *backoff.Params) {
		p.Base, p.Cap, p.Multiplier, p.SpreadShare = 500*time.Millisecond, time.Minute, 1.5, 0.5
	}
	stripe := func(p *backoff.Params) {
		p.Base, p.Cap, p.Floor = 500*time.Millisecond, 5*time.Second, 500*time.Millisecond
	}
	laws := []law{
		uniform("mersenne-scaled", 0, 640, 1040).with("Azure Go n=1", azure),
		uniform("mersenne-scaled", 1, 1920, 3120).with("Azure Go n=2", azure),
		uniform("mersenne-scaled", 2, 4480, 7280).with("Azure Go n=3", azure),
		{strategy: "equal-clamp", label: "Stripe n=1", change: stripe, mean: 500, lo: 500, hi: 500},
		uniform("full", 0, 0, 50).with("AWS 2026 n=1", aws),
		uniform("full", 1, 0, 100).with("AWS 2026 n=2", aws),
		uniform("full", 0, 0, 1000).with("AWS 2026 throttled n=1", throttled),
		uniform("full", 1, 0, 2000).with("AWS 2026 throttled n=2", throttled),
	}
	for k, end := range []float64{25, 50, 100, 200, 250} {
		laws = append(laws, uniform("full", k, 0, end).with("Envoy n="+strconv.Itoa(k+1), envoy))
	}
	for k := range 4 {
		c := 500 * math.Pow(1.5, float64(k))
		laws = append(laws, uniform("proportional", k, c/2, 1.5*c).with("cenkalti n="+strconv.Itoa(k+1), cenkalti))
	}
	return laws
}

// catalogueLaws are the other formulas, by the catalogue and its table of 3.2 s.
func catalogueLaws() []law {
	half := func(p *backoff.Params) { p.SpreadShare = 0.5 }
	wide := func(p *backoff.Params) { p.WaitMax = 300 * time.Millisecond }
	point := func(strategy string, k int, at float64) law {
		return law{strategy: strategy, k: k, mean: at, lo: at, hi: at}
	}
	laws := []law{
		point("none", 5, 3200),
		uniform("proportional", 5, 2560, 3840),
		uniform("proportional", 5, 1600, 4800).with("50% k=5", half),
		uniform("equal", 5, 1600, 3200),
		uniform("full", 5, 0, 3200),
		uniform("fixed-up", 5, 3200, 3250),
		uniform("full-floor", 3, 50, 800),
		{
			strategy: "full-clamp", k: 0, lo: 50, hi: 100,
			mean: 62.5, sd: math.Sqrt(1250 + 875_000/300.0 - 62.5*62.5), // half of them exactly the floor
		},
		uniform("full-mersenne", 2, 0, 700),
		uniform("additive", 5, 3200, 3840),
		point("exponent", 0, 100),
		point("constant", 7, 100),
		uniform("constant-full", 7, 0, 200),
		point("linear", 6, 700),
		point("fibonacci", 6, 1300),
		point("immediate", 6, 0),
		uniform("linear-jitter", 2, 300, 900).with("wait-max 300ms k=2", wide),
	}
	for k := 1.0; k <= 6; k++ {
		mean := 100 * (math.Exp2(k) - 1) / (k * math.Ln2)
		second := 1e4 * (math.Exp2(2*k) - 1) / (2 * k * math.Ln2)
		laws = append(laws, law{
			strategy: "exponent", k: int(k), lo: 100, hi: 100 * math.Exp2(k),
			mean: mean, sd: math.Sqrt(second - mean*mean),
		})
	}
	noisy := 1.5 / (2 * math.Ln2) // the integral of 2^x over [-1, 1), halved
	return append(laws, law{
		strategy: "exponent-noisy", k: 5, lo: 1600, hi: 6400,
		mean: 3200 * noisy, sd: 3200 * math.Sqrt(3.75/(4*math.Ln2)-noisy*noisy),
	})
}

// checks draws from the strategy and returns mean, deviation and ends.
func (l law) checks(r *rand.Rand) []Check {
	name := l.strategy + " k=" + strconv.Itoa(l.k)
	if l.label != "" {
		name = l.strategy + ", " + l.label
	}
	check := func(figure string) Check {
		return Check{Name: name + ": " + figure, Unit: "ms"}
	}
	s := l.draw(r)
	if l.lo == l.hi {
		return []Check{
			check("min").exact(l.lo).judged(s.min),
			check("max").exact(l.hi).judged(s.max),
		}
	}
	n := math.Sqrt(draws)
	kurtosis := s.kurtosis
	if l.flat {
		kurtosis = 1.8
	}
	list := []Check{
		check("mean").around(l.mean, standardErrors*l.sd/n+l.rounded).judged(s.mean),
		check("sd").around(l.sd, standardErrors*l.sd*math.Sqrt((kurtosis-1)/4)/n+l.rounded).judged(s.sd),
	}
	const ns = 1e-6
	minMost, maxLeast := l.mean, l.mean
	if l.flat {
		reach := -math.Log(edgeChance) / draws * (l.hi - l.lo)
		minMost, maxLeast = l.lo+reach, l.hi-reach
	}
	return append(list,
		check("min").within(l.lo, l.lo-ns/2, minMost).judged(s.min),
		check("max").within(l.hi, maxLeast, l.hi-ns/2).judged(s.max))
}

// A sample is what was drawn, in ms.
type sample struct{ mean, sd, kurtosis, min, max float64 }

// draw returns the moments of as many delays, each of an operation of its own.
func (l law) draw(r *rand.Rand) sample {
	s := strategyOf(l.strategy, l.change)
	delays := make([]float64, draws)
	out := sample{min: math.Inf(1)}
	for i := range delays {
		x := l.delay(s, r)
		delays[i] = x
		out.mean += x / draws
		out.min, out.max = min(out.min, x), max(out.max, x)
	}
	var second, fourth float64
	for _, x := range delays {
		d := (x - out.mean) * (x - out.mean)
		second += d / draws
		fourth += d * d / draws
	}
	out.sd, out.kurtosis = math.Sqrt(second), fourth/(second*second)
	return out
}

// delay draws one delay in ms; with chain those before it are drawn first.
func (l law) delay(s backoff.Ranged, r *rand.Rand) float64 {
	var carry float64
	a := backoff.Attempt{Retry: l.k, Carry: &carry}
	if l.chain {
		for k := range l.k {
			a.Prev = s.Delay(r, backoff.Attempt{Retry: k, Prev: a.Prev, Carry: &carry})
		}
	}
	return milliseconds(s.Delay(r, a))
}

// strategyOf returns a strategy with the guides' parameters and a change to them.
func strategyOf(name string, change func(*backoff.Params)) backoff.Ranged {
	p := backoff.Defaults()
	if change != nil {
		change(&p)
	}
	e, ok := backoff.Lookup(name)
	if faults := p.Validate(); !ok || len(faults) > 0 {
		panic("validate: BUG: no strategy " + name + " with these parameters")
	}
	return e.New(p)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
