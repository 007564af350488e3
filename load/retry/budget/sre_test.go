package budget_test

import (
	"math"
	"testing"
	"time"

	"stormtest/load/retry/budget"
)

// First attempts are rejected with p = (R - K*A) / (R + 1) (domain 3.6, 6.4): after ten requests of which nothing was
// accepted with 10/11, and of a hundred H_100 = 5.19 are sent.
//
// 20,000 accounts with fixed streams; bounds of five standard errors, 6e-7 for a new seed. A p of R/(R+2) would miss them
// by 30 and 100.
func TestSRERejectsFirstAttempts(t *testing.T) {
	const accounts, requests = 20_000, 100
	bank := budget.NewBank(changed(budget.SRE, nil), accounts, stream, budget.Series{})
	var sent, eleventh, refused int64
	for i := range accounts {
		a := bank.Account(i)
		for n := range requests {
			var op budget.Ticket
			wait, ok := a.Admit(0, time.Hour, &op)
			switch {
			case wait != 0:
				t.Fatalf("an attempt waits %v", wait)
			case !ok:
				refused++
				if n == 10 {
					eleventh++
				}
				continue
			}
			sent++
			a.Leave(0, &op)
			a.End(0, budget.Broken, &op)
		}
	}
	var mean, variance float64
	for r := 1.0; r <= requests; r++ {
		mean += 1 / r
		variance += 1/r - 1/(r*r)
	}
	if got, bound := float64(sent)/accounts, 5*math.Sqrt(variance/accounts); math.Abs(got-mean) > bound {
		t.Errorf("%v of %d sent, want %v +- %v", got, requests, mean, bound)
	}
	const p = 10.0 / 11
	if got, bound := float64(eleventh)/accounts, 5*math.Sqrt(p*(1-p)/accounts); math.Abs(got-p) > bound {
		t.Errorf("the eleventh was refused with %v, want %v +- %v", got, p, bound)
	}
	if l := bank.Ledger(0); l.RefusedFirst != refused || l.Deposits != sent || l.Refused != 0 || l.Taken != 0 || refused+sent != accounts*requests {
		t.Errorf("ledger %+v, want %d refused and %d deposits", l, refused, sent)
	}
}

// Where the target accepts, nobody is rejected; half of what it was asked suffices.
func TestSRELetsOutWhatIsAccepted(t *testing.T) {
	a := account(t, changed(budget.SRE, nil))
	for i := range 1000 {
		var op budget.Ticket
		if _, ok := a.Admit(0, time.Hour, &op); !ok {
			t.Fatalf("request %d was refused", i)
		}
		a.Leave(0, &op)
		o := budget.Succeeded
		if i%2 == 1 {
			o = budget.Broken
		}
		a.End(0, o, &op)
	}
}

// The rule beside it: retries only while fewer than a tenth of the attempts are retries, so one for nine first attempts.
func TestSREBoundsRetries(t *testing.T) {
	a := account(t, changed(budget.SRE, func(c *budget.Config) { c.Ratio, c.TTL = 0.1, 12*second }))
	for i, want := range []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 2} { // the tenth pays for another
		run(t, a, nil, budget.Succeeded)
		if got := balance(a, 0); got != want {
			t.Errorf("after %d first attempts %d retries are certain, want %d", i+1, got, want)
		}
	}
	ops := open(a, 0, 8) // 18 first attempts
	if got := ask(a, 0, ops[:4]); got != 2 {
		t.Errorf("%d retries of 18 first attempts were allowed, want 2", got)
	}
	a.Cancel(0, &ops[0])
	if got := ask(a, 0, ops[4:6]); got != 1 {
		t.Errorf("%d retries were allowed after one was cancelled, want that one", got)
	}
	if got := balance(a, 12*second); got != 0 {
		t.Errorf("%d retries are certain when all has been forgotten, want 0: of no attempts nothing is a tenth", got)
	}
}

// A bar takes nothing from anybody: what was taken is returned, a first attempt pays nothing in, and the operation asks
// and ends as any other.
func TestBarredAttemptsCostNothing(t *testing.T) {
	for _, k := range kinds() {
		c := changed(k, nil)
		if k == budget.SRE {
			c.K = 1000
		}
		a := account(t, c)
		run(t, a, nil, budget.Succeeded)
		run(t, a, nil, budget.Succeeded)
		before := a.Ledger(0)
		var op budget.Ticket
		a.Bar(0, &op)
		for range 3 {
			if !a.Ask(0, budget.Failed, &op) {
				t.Fatalf("%v: a retry after a bar was refused", k)
			}
			a.Bar(0, &op)
		}
		if !a.Ask(0, budget.Failed, &op) {
			t.Fatalf("%v: the last retry was refused", k)
		}
		a.Cancel(0, &op)
		var other budget.Ticket
		a.Bar(0, &other)
		a.End(0, budget.Failed, &other)
		var gone budget.Ticket
		a.Bar(0, &gone)
		a.Cancel(0, &gone)
		l := a.Ledger(0)
		if l.Taken != 4 || l.Returned != 4 || l.Spent != 0 || l.Deposits != before.Deposits || l.Last != before.Last || l.Refused != 0 {
			t.Errorf("%v: ledger %+v after %+v, want 4 taken and returned and nothing else", k, l, before)
		}
	}
}
