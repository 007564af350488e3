package budget

import (
	"math"
	"time"

	"stormtest/target/exact"
)

// An adaptive is a quota with a limit of the client's own on how often it sends, which is CUBIC, as of TCP. It is off
// until the first answer that was given for too many requests; from then on every attempt, first or retry, takes
// a token, or waits for what is missing, (1 - tokens) / fill:
//
//	tokens    grow by fill a second, up to max(1, rate)
//	fill      max(0.5/s, rate)
//	rate      min(new, 2 measured), after every outcome
//	measured  0.8 (outcomes a second since the last step) + 0.2 measured, in steps of 0.5 s
//	new       after such an answer 0.7 Wmax, where Wmax = measured (when on: min(measured, fill)), K = cbrt(0.3 Wmax / 0.4)
//	          and t0 = now; after every other outcome 0.4 (now - t0 - K)^3 + Wmax
//
// Whoever waits has its token for certain, and a rate that changes meanwhile does not change its wait. For a client with
// one attempt at a time and an account of its own this is what the source does; where a fleet shares one, those who
// wait leave one after another at the rate of when they came, while in the source they look again at each change.
//
// Which outcomes are throttling is as for the quota: of a status alone only 429 is. Every other outcome, failures and
// timeouts too, counts as the source's success.
// Source: botocore, retries/adaptive.py, throttling.py and bucket.py, whose limiter begins without a token and fills by
// 1/s; the domain reference, 3.2.
type adaptive struct {
	quota
	on bool

	step     int64   // number of the half second of the last measurement, counted from t0
	outcomes int64   // since then
	measured float64 // outcomes a second

	lastMax, zero float64       // Wmax, and K in seconds
	last          time.Duration // t0

	fill, most, tokens float64
	filled             time.Duration // up to when tokens is
}

// The constants of the source.
const (
	adaptiveStep   = 500 * time.Millisecond
	adaptiveSmooth = 0.8
	adaptiveBeta   = 0.7
	adaptiveScale  = 0.4
	adaptiveAbove  = 2 // times measured
	adaptiveLeast  = 0.5
)

func newAdaptive(c Config) *adaptive { return &adaptive{quota: *newQuota(c), fill: 1, most: 1} }

func (a *adaptive) note(now time.Duration, e event, o Outcome, t *Ticket) {
	a.quota.note(now, e, o, t)
	if e != answered {
		return
	}
	a.measure(now)
	rate := min(a.cubic(now, o), float64(adaptiveAbove*a.measured))
	a.refill(now)
	a.fill, a.most = max(adaptiveLeast, rate), max(1, rate)
	a.tokens = min(a.tokens, a.most)
}

// measure counts an outcome.
func (a *adaptive) measure(now time.Duration) {
	a.outcomes++
	step := int64(now / adaptiveStep)
	if step <= a.step {
		return
	}
	current := float64(a.outcomes) / (time.Duration(step-a.step) * adaptiveStep).Seconds()
	a.measured = float64(current*adaptiveSmooth) + float64(a.measured*(1-adaptiveSmooth))
	a.outcomes, a.step = 0, step
}

// cubic returns the new rate.
func (a *adaptive) cubic(now time.Duration, o Outcome) float64 {
	if o != Throttled && o != Curbed {
		x := (now - a.last).Seconds() - a.zero
		return float64(float64(adaptiveScale*x)*float64(x*x)) + a.lastMax
	}
	a.lastMax = a.measured
	if a.on {
		a.lastMax = min(a.measured, a.fill)
	}
	a.zero = cbrt(float64(a.lastMax*(1-adaptiveBeta)) / adaptiveScale)
	a.last, a.on = now, true
	return float64(a.lastMax * adaptiveBeta)
}

func (a *adaptive) refill(now time.Duration) {
	a.tokens = min(a.most, a.tokens+float64((now-a.filled).Seconds()*a.fill))
	a.filled = now
}

// admit takes a token, or the next one that will be there.
func (a *adaptive) admit(now, most time.Duration, _ *Ticket) time.Duration {
	if !a.on {
		return 0
	}
	a.refill(now)
	var wait time.Duration
	if a.tokens < 1 {
		wait = time.Duration(math.Ceil(float64((1 - a.tokens) / a.fill * float64(time.Second))))
	}
	if wait < most {
		a.tokens--
	}
	return wait
}

// cbrt returns the cube root of x, 0 where x is not above 0: the same bits on every machine.
func cbrt(x float64) float64 {
	if x <= 0 {
		return 0
	}
	y := exact.Exp(exact.Log(x) / 3)
	for range 2 { // each doubles the digits that are right
		y -= (float64(float64(y*y)*y) - x) / float64(float64(y*y)*3)
	}
	return y
}
