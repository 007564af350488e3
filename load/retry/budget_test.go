package retry_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/backoff"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
)

// accountOf returns an account of a kind's defaults, changed.
func accountOf(k budget.Kind, change func(*budget.Config)) *budget.Account {
	c := budget.Table[k].Defaults
	if change != nil {
		change(&c)
	}
	return single(c)
}

// single returns the account of a bank of one client.
func single(c budget.Config) *budget.Account {
	chance := func(account uint32) *rand.Rand { return stream(5, uint64(account)) }
	return budget.NewBank(c, 1, chance, budget.Series{}).Account(0)
}

// kinds returns the kinds that are a budget, in the order of the table.
func kinds() []budget.Kind {
	var all []budget.Kind
	for k := range budget.KindCount {
		if k != budget.None {
			all = append(all, k)
		}
	}
	return all
}

// under runs one operation of an always failing target under an account, attempts taking no
// time, and returns what it did in up to 20 attempts.
func under(c *retry.Client, a *budget.Account, begin time.Duration) trace {
	c.Under(a)
	var tr trace
	c.Begin(begin)
	for now := begin; len(tr.starts) < 20; {
		tr.starts = append(tr.starts, now)
		c.Leave(now)
		d := c.Decide(now, retry.Outcome{Status: 503})
		tr.decisions = append(tr.decisions, d)
		tr.ended = now
		if !d.Retry {
			break
		}
		now += d.Delay
	}
	return tr
}

// The budget is asked when the retry is planned, so that a refused operation ends at once, with
// its last status.
func TestBudgetRefusesBeforeTheSleep(t *testing.T) {
	p := policyFor(t, "constant", backoff.Params{Base: 500 * ms, Cap: 500 * ms, Multiplier: 2})
	a := accountOf(budget.Finagle, func(c *budget.Config) { c.Ratio, c.Min, c.TTL = 0, 1, 2*time.Second })
	c := clientOf(&p, 1, 1)
	tr := under(c, a, 0)
	if tr.retries() != 2 || tr.reason() != retry.RefusedByBudget || tr.ended != time.Second {
		t.Errorf("%d retries, ended at %v for %v; want 2, 1s, refused_by_budget", tr.retries(), tr.ended, tr.reason())
	}
	if c.Last() != (retry.Outcome{Status: 503}) {
		t.Errorf("Last() = %v, want 503", c.Last())
	}
	if l := a.Ledger(time.Second); l.Taken != 2 || l.Spent != 2 || l.Refused != 1 || l.Deposits != 1 {
		t.Errorf("ledger = %+v, want 2 taken and spent, 1 refused, 1 deposit", l)
	}
}

// What another limit forbids takes nothing from the budget.
func TestBudgetIsAskedLast(t *testing.T) {
	for name, change := range map[string]func(p *retry.Policy){
		"max_retries":    func(p *retry.Policy) { p.MaxRetries = 0 },
		"max_elapsed":    func(p *retry.Policy) { p.MaxElapsed = 50 * ms },
		"not_retryable":  func(p *retry.Policy) { p.RetryOn = retry.Set{} },
		"not_idempotent": func(p *retry.Policy) { p.Method = "POST" },
	} {
		p := policyFor(t, "none", params())
		change(&p)
		a := accountOf(budget.Envoy, nil)
		tr := under(clientOf(&p, 1, 1), a, 0)
		if l := a.Ledger(0); l.Taken != 0 || l.Refused != 0 || l.Last != 3 || tr.reason().String() != name {
			t.Errorf("%s: ended for %v with ledger %+v, want nothing taken or refused", name, tr.reason(), l)
		}
	}
}

// An operation that its run breaks off, or that the next one replaces, gives back what it took
// for a retry that did not leave, and only that.
func TestCancelledOperationReturnsItsToken(t *testing.T) {
	p := policyFor(t, "none", params())
	for _, how := range []string{"cancel", "begin"} {
		a := accountOf(budget.Envoy, nil)
		c := clientOf(&p, 1, 1)
		c.Under(a)
		end := func(now time.Duration) {
			if how == "cancel" {
				c.Cancel(now)
				c.Cancel(now) // once is enough
				return
			}
			c.Begin(now)
		}
		c.Begin(0)
		end(0) // nothing has left
		c.Begin(0)
		c.Leave(0)
		c.Decide(0, retry.Outcome{Status: 503})
		end(50 * ms) // asleep
		c.Begin(50 * ms)
		c.Leave(50 * ms)
		c.Decide(50*ms, retry.Outcome{Status: 503})
		c.Leave(150 * ms)
		end(200 * ms) // under way
		l := a.Ledger(200 * ms)
		if l.Taken != 2 || l.Returned != 1 || l.Spent != 1 || l.Last != 3 || l.Deposits != 2 {
			t.Errorf("%s: ledger = %+v, want 2 taken, 1 returned, 1 spent, all 3 there again", how, l)
		}
	}
}

// What each end of an attempt means to a budget: a quota of 100 tokens whose costs and credit tell
// them apart.
func TestOutcomesAsABudgetSeesThem(t *testing.T) {
	aws := func(c *budget.Config) { c.Size, c.Cost, c.CostThrottled, c.Credit = 100, 1, 10, 2 }
	legacy := func(c *budget.Config) { c.Size, c.Cost, c.CostTimeout, c.Credit = 100, 1, 20, 2 }
	grpc := func(c *budget.Config) { c.Size, c.Ratio = 200, 1 }
	sre := func(c *budget.Config) { c.K = 1000 } // an accept is worth a thousand requests
	post := func(p *retry.Policy) { p.Method = "POST" }
	once := func(p *retry.Policy) { p.MaxRetries = 0 }
	tests := []struct {
		name    string
		kind    budget.Kind
		numbers func(*budget.Config)
		policy  func(*retry.Policy)
		first   []retry.Outcome // each followed by a retry
		last    retry.Outcome
		want    int64 // balance in the end
	}{
		{"503", budget.AWS, aws, nil, []retry.Outcome{{Status: 503}}, retry.Outcome{Status: 404}, 99},
		{"429 is throttling", budget.AWS, aws, nil, []retry.Outcome{{Status: 429}}, retry.Outcome{Status: 404}, 90},
		{"a timeout is not", budget.AWS, aws, nil, []retry.Outcome{{Kind: retry.Timeout}}, retry.Outcome{Status: 404}, 99},
		{"legacy: 429", budget.AWSLegacy, legacy, nil, []retry.Outcome{{Status: 429}}, retry.Outcome{Status: 404}, 99},
		{"legacy: a timeout", budget.AWSLegacy, legacy, nil, []retry.Outcome{{Kind: retry.Timeout}}, retry.Outcome{Status: 404}, 80},
		{"legacy: a timeout of the connection", budget.AWSLegacy, legacy, nil, []retry.Outcome{{Kind: retry.ConnectTimeout}}, retry.Outcome{Status: 404}, 80},
		{"legacy: nobody listens", budget.AWSLegacy, legacy, nil, []retry.Outcome{{Kind: retry.Refused}}, retry.Outcome{Status: 404}, 99},
		{"a retry that succeeds gets back what it took", budget.AWS, aws, nil, []retry.Outcome{{Status: 503}, {Status: 429}}, retry.Outcome{Status: 200}, 99},
		{"redirected is served", budget.AWS, aws, nil, []retry.Outcome{{Status: 429}}, retry.Outcome{Status: 302}, 100},

		{"a failure that is retried", budget.GRPC, grpc, nil, []retry.Outcome{{Status: 503}, {Kind: retry.Timeout}}, retry.Outcome{Status: 404}, 97},
		{"the last failure counts, too", budget.GRPC, grpc, once, nil, retry.Outcome{Status: 503}, 98},
		{"and where it must not be repeated", budget.GRPC, grpc, post, nil, retry.Outcome{Status: 503}, 98},
		{"a failure that is never retried does not", budget.GRPC, grpc, nil, nil, retry.Outcome{Status: 500}, 99},
		{"a success is worth a token", budget.GRPC, grpc, nil, []retry.Outcome{{Status: 503}, {Status: 503}}, retry.Outcome{Status: 200}, 98},

		{"accepted: 200", budget.SRE, sre, nil, nil, retry.Outcome{Status: 200}, 1000},
		{"accepted: 404 is the request's own fault", budget.SRE, sre, nil, nil, retry.Outcome{Status: 404}, 1000},
		{"not accepted: 500, retried or not", budget.SRE, sre, nil, nil, retry.Outcome{Status: 500}, 0},
		{"not accepted: nobody listens", budget.SRE, sre, once, nil, retry.Outcome{Kind: retry.Refused}, 0},
		{"not accepted: reset", budget.SRE, sre, nil, nil, retry.Outcome{Kind: retry.Reset}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policyFor(t, "none", params())
			if tt.policy != nil {
				tt.policy(&p)
			}
			a := accountOf(tt.kind, tt.numbers)
			c := clientOf(&p, 1, 1)
			c.Under(a)
			c.Begin(0)
			for _, o := range tt.first {
				c.Leave(0)
				if d := c.Decide(0, o); !d.Retry {
					t.Fatalf("%v ended the operation for %v", o, d.Reason)
				}
			}
			c.Leave(0)
			if d := c.Decide(0, tt.last); d.Retry {
				t.Fatalf("%v was followed by a retry", tt.last)
			}
			if got := a.Ledger(0).Last; got != tt.want {
				t.Errorf("balance = %d, want %d", got, tt.want)
			}
		})
	}
}

// Style rule 26: for one client and fixed outcomes a larger budget never allows fewer retries.
// Of several operations, one after another, every one is given the same moments to fail at.
func TestPropertyLargerBudgetNeverFewer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policyOf(rapid.SampledFrom(backoff.Table).Draw(t, "strategy"), params())
		p.MaxRetries = rapid.IntRange(0, 8).Draw(t, "maxRetries")
		less, more := twoBudgets(t)
		seed := rapid.Uint64().Draw(t, "seed")
		a := under(clientOf(&p, seed, 0), single(less), 0)
		b := under(clientOf(&p, seed, 0), single(more), 0)
		if a.retries() > b.retries() {
			t.Fatalf("%d retries under %+v, only %d under %+v", a.retries(), less, b.retries(), more)
		}
		for i, at := range a.starts {
			if b.starts[i] != at {
				t.Fatalf("attempt %d at %v and %v, want the same as far as both go", i, at, b.starts[i])
			}
		}
	})
}

// twoBudgets draws a budget and one of the same kind that is larger, or the same.
func twoBudgets(t *rapid.T) (less, more budget.Config) {
	less = budget.Table[rapid.SampledFrom(kinds()).Draw(t, "kind")].Defaults
	few := func(name string) int { return rapid.IntRange(0, 2).Draw(t, name) }
	ratio := func(name string) float64 { return rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, name) }
	switch less.Kind {
	case budget.Finagle, budget.Envoy:
		less.Ratio, less.Min = ratio("ratio"), few("min")
		more = less
		more.Min += few("moreMin")
		more.Ratio = max(more.Ratio, ratio("otherRatio"))
	case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive:
		less.Size = 1 + 30*few("size")
		more = less
		more.Size += 20 * few("moreSize")
	case budget.GRPC: // one operation fails throughout, so more tokens are more
		less.Size = 1 + 4*few("size")
		more = less
		more.Size += few("moreSize")
	case budget.SRE:
		less.K = 1 + float64(few("k"))/2
		more = less
		more.K += float64(few("moreK"))
	}
	return less, more
}

func TestDecideUnderABudgetAllocatesNothing(t *testing.T) {
	p := policyFor(t, "full", params())
	for _, kind := range kinds() {
		c := clientOf(&p, 1, 1)
		c.Under(accountOf(kind, nil))
		allocs := testing.AllocsPerRun(100, func() {
			c.Begin(0)
			for range 3 {
				c.Leave(0)
				if !c.Decide(0, retry.Outcome{Status: 503}).Retry {
					return
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations an operation, want 0", kind, allocs)
		}
	}
}
