package retry_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
)

// ms is what most test times are written in.
const ms = time.Millisecond

// params are the guides' defaults.
func params() backoff.Params { return backoff.Defaults() }

// policyOf returns the default policy around one entry of backoff.Table: unlimited retries,
// hints honoured and spread by the strategy's draw.
func policyOf(e backoff.Entry, p backoff.Params) retry.Policy {
	return retry.Policy{
		Strategy:         e.New(p),
		MaxRetries:       retry.Unlimited,
		HonourRetryAfter: true,
		RetryAfterJitter: retry.StrategyDraw,
		RetryOn:          retry.DefaultSet(),
	}
}

// policyFor is policyOf the entry with that name.
func policyFor(t *testing.T, name string, p backoff.Params) retry.Policy {
	t.Helper()
	e, ok := backoff.Lookup(name)
	if !ok {
		t.Fatalf("backoff.Lookup(%q) found nothing", name)
	}
	policy := policyOf(e, p)
	if faults := policy.Validate(); faults != nil {
		t.Fatalf("policy of %s: %v", name, faults)
	}
	return policy
}

// parseSet returns the set that text lists.
func parseSet(text string) retry.Set {
	s, err := retry.ParseSet(text)
	if err != nil {
		panic(err)
	}
	return s
}

// stream returns a source of chance of its own for each client and purpose.
func stream(seed, client uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, client)) }

// clientOf returns a client with streams of its own.
func clientOf(p *retry.Policy, seed, number uint64) *retry.Client {
	var c retry.Client
	c.Init(p, stream(seed, 2*number), stream(seed, 2*number+1))
	return &c
}

// An answer is what the scripted target does with one attempt.
type answer struct {
	outcome retry.Outcome
	after   time.Duration // how long the attempt took
}

// status returns an instant answer.
func status(code int) answer {
	return answer{outcome: retry.Outcome{Status: code}}
}

// hinted returns an instant answer with a valid Retry-After.
func hinted(code int, after time.Duration) answer {
	h := retry.Hint{After: after, Valid: true, Seen: true}
	return answer{outcome: retry.Outcome{Status: code, Hint: h}}
}

// A trace is what one operation did.
type trace struct {
	starts    []time.Duration // of every attempt
	decisions []retry.Decision
	ended     time.Duration // of the last decision
}

func (tr trace) retries() int { return len(tr.starts) - 1 }

func (tr trace) reason() retry.Reason { return tr.decisions[len(tr.decisions)-1].Reason }

// run plays one operation in virtual time against the script, whose last answer is repeated
// for ever, up to attemptsMax attempts.
func run(c *retry.Client, begin time.Duration, script []answer, attemptsMax int) trace {
	var tr trace
	c.Begin(begin)
	for now, n := begin, 0; n < attemptsMax; n++ {
		tr.starts = append(tr.starts, now)
		a := script[min(n, len(script)-1)]
		now += a.after
		d := c.Decide(now, a.outcome)
		tr.decisions = append(tr.decisions, d)
		tr.ended = now
		if !d.Retry {
			break
		}
		now += d.Delay
	}
	return tr
}

// A fake is a strategy that needs no chance: a function, and the retry index from which on
// it calls its delays jittered.
type fake struct {
	delay        func(a backoff.Attempt) time.Duration
	jitteredFrom int
}

func (f fake) Delay(_ *rand.Rand, a backoff.Attempt) time.Duration { return f.delay(a) }

func (f fake) Range(a backoff.Attempt) (lo, hi time.Duration) {
	if a.Retry >= f.jitteredFrom {
		return 0, time.Hour
	}
	return 0, 0
}

func (fake) Ceiling(int) time.Duration { return time.Hour }

// always returns a fake with one delay.
func always(d time.Duration) fake {
	return fake{delay: func(backoff.Attempt) time.Duration { return d }}
}
