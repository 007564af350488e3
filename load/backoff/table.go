package backoff

import (
	"math"
	"time"
)

// An Entry is one strategy as flags, help, README and tests see it.
type Entry struct {
	// Name is the word of flags, files and results.
	Name string
	// Formula gives the delay in the words of the package comment, with d for the delay.
	Formula string
	// Summary says in one line what it is and what goes wrong; no full stop at its end.
	Summary string
	// Source is where the formula or its reading was published.
	Source string
	// Jittered says that delays are random as a rule. Jittered (the function) says it of
	// one delay: a jittered strategy may have exact ones, and CapRandom makes the capped
	// delays of the others random.
	Jittered bool
	// PassesCap says that outside CapClamp a delay may be longer than the cap.
	PassesCap bool
	// Chained says that the formula takes in more of an operation than the number of its retries: what it drew before.
	Chained bool
	// New returns the strategy with parameters that Validate has no fault in.
	New func(Params) Ranged
}

// Table holds every strategy, in the order of the help. It is read only.
//
// A new strategy is one file, one line here and one row of testdata/delays_ms.golden.
var Table = []Entry{
	{
		Name: "none", Formula: "d = c",
		Summary: "pure exponential; everyone who failed together returns together",
		Source:  "most libraries", New: newNone,
	},
	{
		Name: "none-late", Formula: "d = 0 for the first retry, then c",
		Summary: "no wait before the first retry, pure exponential from the second; twice the load at once, then convoys",
		Source:  "urllib3, azure-core for Python", New: newNoneLate,
	},
	{
		Name: "fixed", Formula: "d = max(0, c + U[-noise, noise))", Jittered: true, PassesCap: true,
		Summary: "noise of one width, 50 ms; does not grow with the delay, so the convoy stays",
		Source:  "avast/retry-go, ioredis, nats.go", New: newFixed,
	},
	{
		Name: "fixed-up", Formula: "d = c + U[0, noise)", Jittered: true, PassesCap: true,
		Summary: "the same noise upwards only; half the spread, twice the convoy",
		Source:  "tenacity", New: newFixedUp,
	},
	{
		Name: "equal", Formula: "d = c/2 + U[0, c/2)", Jittered: true,
		Summary: "at least half the ceiling; one wave more above capacity than full",
		Source:  "AWS Architecture Blog, 2015", New: newEqual,
	},
	{
		Name: "equal-clamp", Formula: "d = max(floor, c/2 + U[0, c/2))", Jittered: true,
		Summary: "equal, clamped up to a least wait; with the base as floor every first retry is exactly that",
		Source:  "Stripe SDKs", New: newEqualClamp,
	},
	{
		Name: "equal-late", Formula: "d = b for the first retry, then c/2 + U[0, c/2)", Jittered: true,
		Summary: "equal, but everyone's first retry comes after exactly the base",
		Source:  "Finagle 24.5, equalJittered", New: newEqualLate,
	},
	{
		Name: "full", Formula: "d = U[0, c)", Jittered: true,
		Summary: "anywhere below the ceiling; some clients hardly wait",
		Source:  "AWS Architecture Blog, 2015", New: newFull,
	},
	{
		Name: "full-floor", Formula: "d = U[floor, max(floor, c))", Jittered: true,
		Summary: "full, drawn above a least wait; no pile-up at the floor",
		Source:  "the guides, as a range", New: newFullFloor,
	},
	{
		Name: "full-clamp", Formula: "d = max(floor, U[0, c))", Jittered: true,
		Summary: "full, clamped up to a least wait; floor/c of the clients wait exactly that",
		Source:  "the guides, as a clamp", New: newFullClamp,
	},
	{
		Name: "full-above", Formula: "d = floor + U[0, c)", Jittered: true, PassesCap: true,
		Summary: "full, on top of a least wait",
		Source:  "go-redis", New: newFullAbove,
	},
	{
		Name: "full-mersenne", Formula: "d = U[0, min(cap, b*(1 + m + ... + m^n)))", Jittered: true,
		Summary: "full under ceilings of 1, 3, 7, 15, ... times the base",
		Source:  "Envoy documentation", New: newFullMersenne,
	},
	{
		Name: "mersenne-scaled", Formula: "d = min(cap, b*(1 + m + ... + m^n)*U[0.8, 1.3))", Jittered: true,
		Summary: "1, 3, 7, 15, ... times the base, a fifth less to three tenths more; the last sit on the cap",
		Source:  "Azure SDK for Go", New: func(p Params) Ranged { return &MersenneScaled{p} },
	},
	{
		Name: "decorrelated", Formula: "d = U[b, max(b, min(cap, 3*previous)))", Jittered: true, Chained: true,
		Summary: "between the base and three times the delay before; never below the base, heavy tail",
		Source:  "AWS Architecture Blog, 2015", New: func(p Params) Ranged { return &Decorrelated{p} },
	},
	{
		Name: "proportional", Formula: "d = c*(1 + U[-spread, spread))", Jittered: true, PassesCap: true,
		Summary: "a share of the delay either way, 20 %; the first wave is only 2*spread*base wide",
		Source:  "gRPC A6, Kafka, cenkalti/backoff", New: newProportional,
	},
	{
		Name: "proportional-late", Formula: "d = b for the first retry, then c*(1 + U[-spread, spread))", Jittered: true, PassesCap: true,
		Summary: "proportional, but everyone's first retry comes after exactly the base",
		Source:  "gRPC connection backoff", New: newProportionalLate,
	},
	{
		Name: "proportional-clamp", Formula: "d = min(cap, c*(1 + U[-spread, spread)))", Jittered: true,
		Summary: "proportional, capped before its jitter and after it; half of the fleet ends on the cap",
		Source:  "Apache Kafka", New: newProportionalClamp,
	},
	{
		Name: "subtractive", Formula: "d = c - U[0, spread*c)", Jittered: true,
		Summary: "a share of the delay off it, 20 %; as proportional with half the width",
		Source:  "OpenAI SDKs", New: newSubtractive,
	},
	{
		Name: "quadratic-clamp", Formula: "d = max(floor, c - U[0, spread*c)), c = min(cap, b*(1 + n^2))", Jittered: true,
		Summary: "grows as 1, 2, 5, 10, ..., clamped up to a least wait; with the base as floor every first retry is exactly that",
		Source:  "Stripe SDK for Go", New: newQuadraticClamp,
	},
	{
		Name: "additive", Formula: "d = c + U[0, spread*c)", Jittered: true, PassesCap: true,
		Summary: "a share of the delay on top, 20 %; as proportional with half the width",
		Source:  "Kubernetes wait.Backoff", New: newAdditive,
	},
	{
		Name: "exponent", Formula: "d = min(cap, b*m^U[0, n))", Jittered: true,
		Summary: "a random exponent; no jitter in the first retry, ends on the cap",
		Source:  "the guides, first reading", New: newExponent,
	},
	{
		Name: "exponent-noisy", Formula: "d = min(cap, b*m^(n + U[-1, 1)))", Jittered: true,
		Summary: "the exponent one up or down; good until the whole fleet ends on the cap",
		Source:  "the guides, second reading", New: newExponentNoisy,
	},
	{
		Name: "constant", Formula: "d = b",
		Summary: "the base, always; keeps the convoy and never lowers the load",
		Source:  "Spring FixedBackOff, resilience4j, curl", New: func(p Params) Ranged { return &Constant{p} },
	},
	{
		Name: "constant-full", Formula: "d = U[0, min(cap, 2*b))", Jittered: true,
		Summary: "the base on average, always; no convoy, and still a storm",
		Source:  "a control case", New: newConstantFull,
	},
	{
		Name: "linear", Formula: "d = min(cap, (n+1)*b)",
		Summary: "grows by the base; as none, more slowly",
		Source:  "most libraries", New: newLinear,
	},
	{
		Name: "fibonacci", Formula: "d = min(cap, F(n+1)*b)",
		Summary: "grows as 1, 1, 2, 3, 5, ...; as none, more slowly",
		Source:  "sethvargo/go-retry", New: newFibonacci,
	},
	{
		Name: "immediate", Formula: "d = 0",
		Summary: "no wait; multiplies the load inside one round trip",
		Source:  "urllib3, nginx, Ribbon", New: func(p Params) Ranged { return &Immediate{p} },
	},
	{
		Name: "polly", Formula: "d = min(cap, b/1.4*(p(n+u) - p(n-1+u'))), p(t) = 2^t*tanh(sqrt(4t))", Jittered: true, Chained: true,
		Summary: "waves that tile time without gaps; the first begins at 0, the last sit on the cap",
		Source:  "Polly 8.7, DecorrelatedJitterBackoffV2", New: func(p Params) Ranged { return &Polly{p} },
	},
	{
		Name: "linear-jitter", Formula: "d = U[(n+1)*b, (n+1)*wait-max)", Jittered: true, PassesCap: true,
		Summary: "a wide wait times the number of retries; no cap, so it grows for ever",
		Source:  "hashicorp/go-retryablehttp", New: func(p Params) Ranged { return &LinearJitter{p} },
	},
}

// Lookup returns the entry of the strategy with this name.
func Lookup(name string) (Entry, bool) {
	for _, e := range Table {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Names returns the names of all strategies, in the order of Table.
func Names() []string {
	names := make([]string, len(Table))
	for i, e := range Table {
		names[i] = e.Name
	}
	return names
}

// Range returns what Ranged.Range of the strategy returns. It makes the strategy anew each
// time; on a hot path keep the Ranged that New returned.
func (e Entry) Range(p Params, a Attempt) (lo, hi time.Duration) { return e.New(p).Range(a) }

// Ceiling returns the delay the schedule has reached at retry index k before any jitter,
// capped; Ceiling(p, 0) is the first ceiling of this strategy.
func (e Entry) Ceiling(p Params, k int) time.Duration { return e.New(p).Ceiling(k) }

// Floor returns the least delay that the strategy ever plans. Delays exactly there are a
// pile-up where the strategy is one that clamps, such as full-clamp or fixed.
func (e Entry) Floor(p Params) time.Duration {
	// No range starts lower than the first two: the first is of its own kind where the
	// delay is the distance between two random points.
	s := e.New(p)
	first, _ := s.Range(Attempt{})
	second, _ := s.Range(Attempt{Retry: 1})
	return min(first, second)
}

// Period returns the ceiling on which the schedule settles: the cap where it grows, the
// constant delay where it does not. Arrivals repeat with this lag where delays at that
// ceiling are not jittered, which is for the measure to find out. Zero: there is none,
// because the strategy does not wait or grows for ever.
func (e Entry) Period(p Params) time.Duration {
	if c := e.New(p).Ceiling(math.MaxInt); c != forever {
		return c
	}
	return 0
}

// PeriodFrom returns the elapsed time of an operation at which the schedule without jitter
// plans its first delay of Period: the sum of the ceilings below it. The longest
// time.Duration where there is no Period, or none is reached in 292 years or a million
// retries. It takes up to 0.1 s where growth is very slow.
func (e Entry) PeriodFrom(p Params) time.Duration {
	period := e.Period(p)
	if period == 0 {
		return forever
	}
	return settledAt(e.New(p).Ceiling, period)
}
