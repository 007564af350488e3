package budget_test

import (
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

// single returns the account of a bank of one client.
func single(c budget.Config, width time.Duration, intervals int) *budget.Account {
	return budget.NewBank(c, 1, width, intervals).Account(0)
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
		if a.Ask(now, &tickets[i]) {
			allowed++
		}
	}
	return allowed
}

func balance(a *budget.Account, now time.Duration) int64 { return a.Ledger(now).Last }
