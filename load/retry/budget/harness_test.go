package budget_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/retry/budget"
)

// Accounts for the tests: the defaults of a kind, changed.
func finagle(change func(*budget.Config)) budget.Config { return changed(budget.Finagle, change) }

func envoy(change func(*budget.Config)) budget.Config { return changed(budget.Envoy, change) }

func changed(k budget.Kind, change func(*budget.Config)) budget.Config {
	c := budget.Table[k].Defaults
	if change != nil {
		change(&c)
	}
	return c
}

func account(t *testing.T, c budget.Config) *budget.Account {
	t.Helper()
	if faults := c.Validate(); faults != nil {
		t.Fatalf("%+v: %v", c, faults)
	}
	return single(c, 0, 0)
}

// single returns the account of a bank of one client, which draws from stream(0).
func single(c budget.Config, width time.Duration, intervals int) *budget.Account {
	return budget.NewBank(c, 1, stream, budget.Series{Width: width, Intervals: intervals}).Account(0)
}

// stream is the chance of one account.
func stream(account uint32) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(account))) }

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

// open lets the first attempts of n operations leave.
func open(a *budget.Account, now time.Duration, n int) []budget.Ticket {
	tickets := make([]budget.Ticket, n)
	for i := range tickets {
		a.Leave(now, &tickets[i])
	}
	return tickets
}

// ask asks for a retry of each operation and returns how many were allowed.
func ask(a *budget.Account, now time.Duration, tickets []budget.Ticket) int {
	allowed := 0
	for i := range tickets {
		if a.Ask(now, budget.Failed, &tickets[i]) {
			allowed++
		}
	}
	return allowed
}

// run lets one operation fail at 0 as fails says, be allowed each retry, and end.
func run(t *testing.T, a *budget.Account, fails []budget.Outcome, end budget.Outcome) {
	t.Helper()
	var op budget.Ticket
	a.Leave(0, &op)
	for i, o := range fails {
		if !a.Ask(0, o, &op) {
			t.Fatalf("retry %d was refused", i)
		}
		a.Leave(0, &op)
	}
	a.End(0, end, &op)
}

func balance(a *budget.Account, now time.Duration) int64 { return a.Ledger(now).Last }
