package retry_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
)

// A reasonTest is one Decide of a client with a constant delay of 100 ms.
type reasonTest struct {
	name    string
	change  func(p *retry.Policy)
	retries int           // used up before
	at      time.Duration // since Begin
	outcome retry.Outcome
	want    retry.Reason
}

func (tt reasonTest) run(t *testing.T) {
	// Begin is not 0, so that a confusion of moments and elapsed times shows.
	const begin = time.Hour
	p := policyFor(t, "constant", params())
	if tt.change != nil {
		tt.change(&p)
	}
	c := clientOf(&p, 1, 1)
	c.Begin(begin)
	for range tt.retries {
		if d := c.Decide(begin, retry.Outcome{Status: 503}); !d.Retry {
			t.Fatalf("earlier Decide = %+v, want a retry", d)
		}
	}
	d := c.Decide(begin+tt.at, tt.outcome)
	if d.Reason != tt.want || d.Retry != (tt.want == retry.Retrying) {
		t.Errorf("Decide(%v, %v) = %+v, want reason %v", tt.at, tt.outcome, d, tt.want)
	}
	nothing := retry.Decision{Verdict: retry.Verdict{Reason: tt.want}}
	if tt.want.Drew() {
		nothing.Draw = p.Strategy.Delay(nil, backoff.Attempt{}) // constant
	}
	if !d.Retry && d != nothing {
		t.Errorf("Decide(%v, %v) = %+v, want nothing planned, and %v drawn", tt.at, tt.outcome, d, nothing.Draw)
	}
	last := retry.Outcome{Kind: tt.outcome.Kind, Status: tt.outcome.Status}
	if got := c.Last(); got != last {
		t.Errorf("Last() = %v, want %v", got, last)
	}
}

var (
	reset   = retry.Outcome{Kind: retry.Reset}
	refused = retry.Outcome{Kind: retry.Refused}
)

func TestDecideOutcomes(t *testing.T) {
	tests := []reasonTest{
		{"success", nil, 0, 0, retry.Outcome{Status: 200}, retry.Succeeded},
		{"success beats every limit", func(p *retry.Policy) { p.MaxRetries, p.MaxElapsed = 0, 1 }, 0, time.Hour, retry.Outcome{Status: 204}, retry.Succeeded},
		{"listed", nil, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"not listed", nil, 0, 0, retry.Outcome{Status: 404}, retry.NotRetryable},
		{"not listed beats the limits", func(p *retry.Policy) { p.MaxRetries, p.MaxElapsed, p.Method = 0, 1, "POST" }, 0, time.Hour, retry.Outcome{Status: 404}, retry.NotRetryable},
		{"zero set", func(p *retry.Policy) { p.RetryOn = retry.Set{} }, 0, 0, refused, retry.NotRetryable},
		{"reset not listed", nil, 0, 0, reset, retry.NotRetryable},
		{"kind that does not exist", nil, 0, 0, retry.Outcome{Kind: 255}, retry.NotRetryable},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestDecideIdempotency(t *testing.T) {
	tests := []reasonTest{
		{"POST may have worked", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, retry.Outcome{Status: 503}, retry.NotIdempotent},
		{"POST and 429", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, retry.Outcome{Status: 429}, retry.NotIdempotent},
		{"POST timed out", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, retry.Outcome{Kind: retry.Timeout}, retry.NotIdempotent},
		{"POST refused", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, refused, retry.Retrying},
		{"POST no connection in time", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, retry.Outcome{Kind: retry.ConnectTimeout}, retry.Retrying},
		{"POST no name", func(p *retry.Policy) { p.Method = "POST" }, 0, 0, retry.Outcome{Kind: retry.ConnectFailed}, retry.Retrying},
		{"POST with a key", func(p *retry.Policy) { p.Method, p.IdempotencyKey = "POST", true }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"POST by the user's word", func(p *retry.Policy) { p.Method, p.RetryNonIdempotent = "POST", true }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"POST reset, listed", func(p *retry.Policy) { p.Method, p.RetryOn = "POST", parseSet("reset") }, 0, 0, reset, retry.NotIdempotent},
		{"POST malformed, listed", func(p *retry.Policy) { p.Method, p.RetryOn = "POST", parseSet("malformed") }, 0, 0, retry.Outcome{Kind: retry.Malformed}, retry.NotIdempotent},
		{"GET reset, listed", func(p *retry.Policy) { p.RetryOn = parseSet("reset") }, 0, 0, reset, retry.Retrying},
		{"PATCH", func(p *retry.Policy) { p.Method = "PATCH" }, 0, 0, retry.Outcome{Status: 503}, retry.NotIdempotent},
		{"methods are case-sensitive", func(p *retry.Policy) { p.Method = "get" }, 0, 0, retry.Outcome{Status: 503}, retry.NotIdempotent},
		{"DELETE", func(p *retry.Policy) { p.Method = "DELETE" }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"PUT", func(p *retry.Policy) { p.Method = "PUT" }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"HEAD", func(p *retry.Policy) { p.Method = "HEAD" }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"OPTIONS", func(p *retry.Policy) { p.Method = "OPTIONS" }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"TRACE", func(p *retry.Policy) { p.Method = "TRACE" }, 0, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"not idempotent beats the limits", func(p *retry.Policy) { p.MaxRetries, p.Method = 0, "POST" }, 0, 0, retry.Outcome{Status: 503}, retry.NotIdempotent},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestDecideLimits(t *testing.T) {
	tests := []reasonTest{
		{"no retries at all", func(p *retry.Policy) { p.MaxRetries = 0 }, 0, 0, retry.Outcome{Status: 503}, retry.MaxRetries},
		{"last retry", func(p *retry.Policy) { p.MaxRetries = 3 }, 2, 0, retry.Outcome{Status: 503}, retry.Retrying},
		{"retries used up", func(p *retry.Policy) { p.MaxRetries = 3 }, 3, 0, retry.Outcome{Status: 503}, retry.MaxRetries},
		{"retries used up beats elapsed", func(p *retry.Policy) { p.MaxRetries, p.MaxElapsed = 3, time.Second }, 3, time.Hour, retry.Outcome{Status: 503}, retry.MaxRetries},

		{"ends 1 ns before the deadline", func(p *retry.Policy) { p.MaxElapsed = time.Second }, 0, 900*ms - 1, retry.Outcome{Status: 503}, retry.Retrying},
		{"ends exactly at the deadline", func(p *retry.Policy) { p.MaxElapsed = time.Second }, 0, 900 * ms, retry.Outcome{Status: 503}, retry.MaxElapsed},
		{"deadline has passed", func(p *retry.Policy) { p.MaxElapsed = time.Second }, 0, math.MaxInt64 - time.Hour, retry.Outcome{Status: 503}, retry.MaxElapsed},
		{"hint passes the deadline", func(p *retry.Policy) { p.MaxElapsed = time.Second }, 0, 0, hinted(503, time.Second).outcome, retry.MaxElapsed},
		{"no deadline, far future", nil, 0, math.MaxInt64 / 2, retry.Outcome{Status: 503}, retry.Retrying},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

// The rule of Policy.RetryAfterJitter, on a constant delay of 100 ms and on full jitter in
// [0, 100 ms).
func TestDecideRetryAfter(t *testing.T) {
	const honour, ignore = true, false
	tests := []struct {
		name       string
		strategy   string
		honour     bool
		jitter     time.Duration
		answer     answer
		from, to   time.Duration // of Delay, [from, to)
		wantHinted bool
		wantSpread bool // Delay differs between clients
	}{
		{"exact, hint above", "constant", honour, retry.StrategyDraw, hinted(503, time.Second), time.Second, time.Second + 1, true, false},
		{"exact, hint below", "constant", honour, retry.StrategyDraw, hinted(503, 50*ms), 100 * ms, 100*ms + 1, false, false},
		{"exact, hint equal", "constant", honour, retry.StrategyDraw, hinted(503, 100*ms), 100 * ms, 100*ms + 1, false, false},
		{"exact, hint zero", "constant", honour, retry.StrategyDraw, hinted(503, 0), 100 * ms, 100*ms + 1, false, false},
		{"jittered, hint", "full", honour, retry.StrategyDraw, hinted(503, time.Second), time.Second, 1100 * ms, true, true},
		{"jittered, hint inside the draw", "full", honour, retry.StrategyDraw, hinted(503, 10*ms), 10 * ms, 110 * ms, true, true},
		{"jittered, hint zero", "full", honour, retry.StrategyDraw, hinted(503, 0), 0, 100 * ms, false, true},
		{"any negative is the draw", "full", honour, -time.Hour, hinted(503, time.Second), time.Second, 1100 * ms, true, true},
		{"J on exact", "constant", honour, 10 * ms, hinted(503, time.Second), time.Second, 1010 * ms, true, true},
		{"J on jittered", "full", honour, 10 * ms, hinted(503, time.Second), time.Second, 1010 * ms, true, true},
		{"J replaces a longer delay", "constant", honour, 10 * ms, hinted(503, 20*ms), 20 * ms, 30 * ms, true, true},
		{"J and hint zero", "constant", honour, 10 * ms, hinted(503, 0), 100 * ms, 100*ms + 1, false, false},
		{"J zero", "full", honour, 0, hinted(503, time.Second), time.Second, time.Second + 1, true, false},
		{"J zero, hint equal", "constant", honour, 0, hinted(503, 100*ms), 100 * ms, 100*ms + 1, true, false},
		{"J one", "full", honour, 1, hinted(503, time.Second), time.Second, time.Second + 1, true, false},
		{"429", "constant", honour, retry.StrategyDraw, hinted(429, time.Second), time.Second, time.Second + 1, true, false},
		{"408", "constant", honour, retry.StrategyDraw, hinted(408, time.Second), time.Second, time.Second + 1, true, false},
		{"504", "constant", honour, retry.StrategyDraw, hinted(504, time.Second), time.Second, time.Second + 1, true, false},
		{"ignored", "constant", ignore, retry.StrategyDraw, hinted(503, time.Second), 100 * ms, 100*ms + 1, false, false},
		{"no hint", "constant", honour, retry.StrategyDraw, status(503), 100 * ms, 100*ms + 1, false, false},
		{
			"invalid", "constant", honour, retry.StrategyDraw,
			answer{outcome: retry.Outcome{Status: 503, Hint: retry.Hint{After: time.Second, Seen: true}}},
			100 * ms, 100*ms + 1, false, false,
		},
		{
			"no answer, no hint", "constant", honour, retry.StrategyDraw,
			answer{outcome: retry.Outcome{Kind: retry.Timeout, Hint: retry.Hint{After: time.Second, Valid: true, Seen: true}}},
			100 * ms, 100*ms + 1, false, false,
		},
		{"negative", "constant", honour, retry.StrategyDraw, hinted(503, -time.Second), 100 * ms, 100*ms + 1, false, false},
		{"negative, jittered", "full", honour, retry.StrategyDraw, hinted(503, -time.Second), 0, 100 * ms, false, true},
		{"longest", "full", honour, retry.StrategyDraw, hinted(503, math.MaxInt64), retry.NoLimit, retry.NoLimit + 1, true, false},
		{"longest J", "full", honour, retry.NoLimit, hinted(503, math.MaxInt64), retry.NoLimit, retry.NoLimit + 1, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policyFor(t, tt.strategy, params())
			p.HonourRetryAfter, p.RetryAfterJitter = tt.honour, tt.jitter
			delays := map[time.Duration]bool{}
			for client := range uint64(50) {
				c := clientOf(&p, 1, client)
				c.Begin(0)
				d := c.Decide(0, tt.answer.outcome)
				if !d.Retry || d.Delay < tt.from || d.Delay >= tt.to || d.Hinted != tt.wantHinted {
					t.Fatalf("Decide(%+v) = %+v, want a delay in [%v, %v), hinted %v", tt.answer.outcome, d, tt.from, tt.to, tt.wantHinted)
				}
				if !d.Hinted && d.Delay != d.Draw {
					t.Fatalf("Decide(%+v) = %+v, want Delay = Draw without a hint", tt.answer.outcome, d)
				}
				delays[d.Delay] = true
			}
			if spread := len(delays) > 1; spread != tt.wantSpread {
				t.Errorf("50 clients got %d different delays, want spread %v", len(delays), tt.wantSpread)
			}
		})
	}
}

func TestAttemptTimeout(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name                string
		timeout, maxElapsed time.Duration
		begin, now          time.Duration
		want, wantLeft      time.Duration
	}{
		{"no limits", 0, 0, s, s, retry.NoLimit, retry.NoLimit},
		{"no limits, later", 0, 0, s, 1000 * time.Hour, retry.NoLimit, retry.NoLimit},
		{"timeout alone", 5 * s, 0, s, 100 * s, 5 * s, retry.NoLimit},
		{"elapsed alone", 0, 60 * s, s, 11 * s, 50 * s, 50 * s},
		{"timeout is less", 5 * s, 60 * s, s, 11 * s, 5 * s, 50 * s},
		{"left is less", 5 * s, 60 * s, s, 58 * s, 3 * s, 3 * s},
		{"last nanosecond", 5 * s, 60 * s, s, 61*s - 1, 1, 1},
		{"at the deadline", 5 * s, 60 * s, s, 61 * s, 0, 0},
		{"after the deadline", 5 * s, 60 * s, s, math.MaxInt64, 0, 0},
		{"before begin", 5 * s, 3 * s, s, 0, 3 * s, 3 * s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policyFor(t, "full", params())
			p.Timeout, p.MaxElapsed = tt.timeout, tt.maxElapsed
			c := clientOf(&p, 1, 1)
			c.Begin(tt.begin)
			if got := c.AttemptTimeout(tt.now); got != tt.want {
				t.Errorf("AttemptTimeout(%v) = %v, want %v", tt.now, got, tt.want)
			}
			if got := c.TimeLeft(tt.now); got != tt.wantLeft {
				t.Errorf("TimeLeft(%v) = %v, want %v", tt.now, got, tt.wantLeft)
			}
			if got, want := c.Elapsed(tt.now), max(tt.now-tt.begin, 0); got != want {
				t.Errorf("Elapsed(%v) = %v, want %v", tt.now, got, want)
			}
		})
	}
}

// The strategy sees k = 0, 1, 2, ..., its own previous draw and a number of its own, and all
// of that anew in the next operation.
func TestAttemptsOfOperations(t *testing.T) {
	var seen []backoff.Attempt
	var carried []float64
	p := retry.Policy{
		Strategy: fake{jitteredFrom: 1, delay: func(a backoff.Attempt) time.Duration {
			carried = append(carried, *a.Carry)
			*a.Carry++
			a.Carry = nil
			seen = append(seen, a)
			return time.Duration(a.Retry+1) * ms
		}},
		MaxRetries:       3,
		HonourRetryAfter: true,
		RetryAfterJitter: retry.StrategyDraw,
		RetryOn:          retry.DefaultSet(),
	}
	c := clientOf(&p, 1, 1)
	for operation := range 2 {
		seen, carried = nil, nil
		tr := run(c, time.Duration(operation)*time.Hour, []answer{hinted(503, time.Second)}, 100)
		want := []backoff.Attempt{{Retry: 0}, {Retry: 1, Prev: 1 * ms}, {Retry: 2, Prev: 2 * ms}}
		if !slices.Equal(seen, want) {
			t.Errorf("operation %d: strategy saw %+v, want %+v", operation, seen, want)
		}
		if want := []float64{0, 1, 2}; !slices.Equal(carried, want) {
			t.Errorf("operation %d: strategy carried %v, want %v", operation, carried, want)
		}
		for k, want := range []time.Duration{1000 * ms, 1002 * ms, 1003 * ms} {
			if got := tr.decisions[k].Delay; got != want {
				t.Errorf("operation %d: delay at k = %d is %v, want %v", operation, k, got, want)
			}
		}
		if got := c.Attempt(); got != 3 || tr.reason() != retry.MaxRetries {
			t.Errorf("operation %d: Attempt() = %d and %v, want 3 and max_retries", operation, got, tr.reason())
		}
	}
}

// An operation that was under way when the next one begins leaves nothing behind.
func TestBeginForgets(t *testing.T) {
	p := policyFor(t, "constant", params())
	p.MaxRetries, p.MaxElapsed = 1, time.Minute
	c := clientOf(&p, 1, 1)
	c.Begin(0)
	c.Decide(0, retry.Outcome{Status: 503})
	c.Begin(time.Hour)
	if got := c.Attempt(); got != 0 {
		t.Errorf("Attempt() = %d after Begin, want 0", got)
	}
	if got := c.Last(); got != (retry.Outcome{}) {
		t.Errorf("Last() = %+v after Begin, want the zero Outcome", got)
	}
	if d := c.Decide(time.Hour, retry.Outcome{Status: 503}); !d.Retry {
		t.Errorf("Decide = %+v, want the one retry that this operation has", d)
	}
}

func TestBugsPanic(t *testing.T) {
	fixed := func(d time.Duration) retry.Policy {
		return retry.Policy{
			Strategy: always(d), MaxRetries: 1, RetryOn: retry.DefaultSet(),
		}
	}
	tests := []struct {
		name string
		call func()
	}{
		{"decide before begin", func() {
			p := fixed(0)
			clientOf(&p, 1, 1).Decide(0, retry.Outcome{Status: 503})
		}},
		{"decide after the end", func() {
			p := fixed(0)
			c := clientOf(&p, 1, 1)
			c.Begin(0)
			c.Decide(0, retry.Outcome{Status: 200})
			c.Decide(0, retry.Outcome{Status: 503})
		}},
		{"negative delay", func() {
			p := fixed(-1)
			c := clientOf(&p, 1, 1)
			c.Begin(0)
			c.Decide(0, retry.Outcome{Status: 503})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "retry: BUG: ") {
					t.Errorf("panic(%q), want one that begins with \"retry: BUG: \"", text)
				}
			}()
			tt.call()
		})
	}
}

// A delay that is too long for any clock becomes NoLimit, and now+NoLimit is still a moment.
func TestLongestDelay(t *testing.T) {
	longest := always(math.MaxInt64)
	longest.jitteredFrom = 0
	exact := always(math.MaxInt64)
	exact.jitteredFrom = 1
	for _, strategy := range []fake{longest, exact} {
		for _, a := range []answer{status(503), hinted(503, 1), hinted(503, math.MaxInt64)} {
			p := retry.Policy{
				Strategy: strategy, MaxRetries: retry.Unlimited, RetryOn: retry.DefaultSet(),
				HonourRetryAfter: true, RetryAfterJitter: retry.StrategyDraw,
			}
			c := clientOf(&p, 1, 1)
			c.Begin(0)
			d := c.Decide(retry.NoLimit, a.outcome)
			if !d.Retry || d.Delay != retry.NoLimit || retry.NoLimit+d.Delay < 0 {
				t.Errorf("Decide(%+v) = %+v, want a delay of %v", a.outcome, d, retry.NoLimit)
			}
		}
	}
}

// Same seed, same decisions; another seed or another client, others.
func TestSeeds(t *testing.T) {
	p := policyFor(t, "full", params())
	p.MaxRetries = 20
	delays := func(seed, client uint64) []time.Duration {
		tr := run(clientOf(&p, seed, client), 0, []answer{status(503)}, 100)
		var all []time.Duration
		for _, d := range tr.decisions {
			all = append(all, d.Delay)
		}
		return all
	}
	first := delays(1, 7)
	if again := delays(1, 7); !slices.Equal(first, again) {
		t.Errorf("same seed: delays %v, then %v", first, again)
	}
	for _, other := range [][]time.Duration{delays(2, 7), delays(1, 8)} {
		// Two equal first delays of 1e8 ns have probability 1e-8, and the seeds are fixed.
		if first[0] == other[0] {
			t.Errorf("other stream: first delay %v again", first[0])
		}
	}
}

// Clients in a slice share one policy and nothing else.
func TestClientsByValue(t *testing.T) {
	p := policyFor(t, "decorrelated", params())
	p.MaxRetries = 5
	clients := make([]retry.Client, 3)
	for i := range clients {
		clients[i] = *clientOf(&p, 9, uint64(i))
	}
	script := []answer{status(503)}
	alone := run(clientOf(&p, 9, 1), 0, script, 100)
	for i := range clients {
		clients[i].Begin(0)
	}
	var got []retry.Decision
	for range alone.decisions {
		for i := range clients {
			if d := clients[i].Decide(0, script[0].outcome); i == 1 {
				got = append(got, d)
			}
		}
	}
	if !slices.Equal(got, alone.decisions) {
		t.Errorf("among others client 1 decides %v, alone %v", got, alone.decisions)
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	outcomes := []retry.Outcome{
		{Status: 503}, {Kind: retry.Timeout}, hinted(503, time.Second).outcome, {Status: 200},
	}
	for _, e := range backoff.Table {
		for _, jitter := range []time.Duration{retry.StrategyDraw, 0, time.Second} {
			p := policyOf(e, params())
			p.RetryAfterJitter, p.MaxElapsed, p.Timeout = jitter, time.Hour, time.Second
			c := clientOf(&p, 1, 1)
			allocs := testing.AllocsPerRun(100, func() {
				c.Begin(0)
				for _, o := range outcomes {
					c.AttemptTimeout(0)
					c.Decide(0, o)
				}
			})
			if allocs != 0 {
				t.Errorf("%s, J = %v: %v allocations an operation, want 0", e.Name, jitter, allocs)
			}
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	e, _ := backoff.Lookup("full")
	p := policyOf(e, params())
	c := clientOf(&p, 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Begin(0)
		c.Decide(0, retry.Outcome{Status: 503})
	}
}

// After an answer 429 the other strategy says how long, and after everything else the first one; the number of the retry is
// one for both.
func TestThrottled(t *testing.T) {
	params := backoff.Params{Base: 50 * time.Millisecond, Cap: 20 * time.Second, Multiplier: 2}
	e, _ := backoff.Lookup("none")
	p := retry.Policy{Strategy: e.New(params), MaxRetries: retry.Unlimited, RetryOn: retry.DefaultSet()}
	params.Base = time.Second
	p.Throttled = e.New(params)
	var c retry.Client
	c.Init(&p, nil, nil)
	c.Begin(0)
	for i, step := range []struct {
		outcome retry.Outcome
		want    time.Duration
	}{
		{retry.Outcome{Status: 503}, 50 * time.Millisecond},
		{retry.Outcome{Status: 429}, 2 * time.Second},
		{retry.Outcome{Kind: retry.Timeout, Status: 429}, 200 * time.Millisecond},
		{retry.Outcome{Status: 429}, 8 * time.Second},
	} {
		if d := c.Decide(0, step.outcome); !d.Retry || d.Delay != step.want {
			t.Errorf("retry %d after %v: %+v, want %v", i+1, step.outcome, d, step.want)
		}
	}
}
