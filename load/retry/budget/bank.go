package budget

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// seriesMost bounds the balances that a bank keeps, 8 bytes each.
const seriesMost = 2 << 20

// A Bank holds the accounts of one fleet: one for all clients, one each, or some that they share. nil is a bank
// without accounts. Safe for concurrent use.
type Bank struct {
	shared   bool
	accounts []Account
}

// A Series is what an account keeps of its balance over time: one at the end of each of so many
// intervals of one width. The zero Series keeps none.
type Series struct {
	Width     time.Duration
	Intervals int
}

// A Chance returns a stream of its own for each account. It is called while the bank is made,
// and only for kinds that leave something to chance; nil is one for all other kinds.
type Chance func(account uint32) *rand.Rand

// NewBank returns the bank of so many clients, nil where c is no budget. Its accounts keep the
// series, or none where clients with an account each would have more than two million balances.
// c must be without faults.
func NewBank(c Config, clients int, chance Chance, s Series) *Bank {
	if c.Kind == None {
		return nil
	}
	if faults := c.Validate(); len(faults) > 0 {
		panic(fmt.Sprintf("budget: BUG: no bank for %+v: %v", c, faults))
	}
	b := &Bank{shared: c.Shared, accounts: make([]Account, clients)}
	switch {
	case c.Shared:
		b.accounts = b.accounts[:min(clients, 1)]
	case c.Processes > 0:
		b.accounts = b.accounts[:min(clients, c.Processes)]
	}
	if s.Intervals > seriesMost/max(len(b.accounts), 1) {
		s = Series{}
	}
	for i := range b.accounts {
		var stream *rand.Rand
		if Table[c.Kind].chance {
			stream = chance(uint32(i))
		}
		b.accounts[i].init(c, stream, s)
	}
	return b
}

// Account returns the account of a client, nil of a nil bank.
func (b *Bank) Account(client int) *Account {
	switch {
	case b == nil:
		return nil
	case b.shared:
		return &b.accounts[0]
	}
	return &b.accounts[client%len(b.accounts)]
}

// Gates reports whether the accounts are asked before an attempt leaves, too.
func (b *Bank) Gates() bool { return b != nil && len(b.accounts) > 0 && b.accounts[0].gated }

// Accounts is how many there are.
func (b *Bank) Accounts() int64 { return int64(len(b.accounts)) }

// Ledger returns the sum of all accounts at the end of the run. Lowest and Highest are those
// of the one account that had them. Call it when no operation is under way.
func (b *Bank) Ledger(end time.Duration) Ledger {
	sum := b.accounts[0].Ledger(end)
	sum.Balance = append([]int64(nil), sum.Balance...)
	for i := range b.accounts[1:] {
		l := b.accounts[i+1].Ledger(end)
		sum.Deposits += l.Deposits
		sum.Taken += l.Taken
		sum.Returned += l.Returned
		sum.Spent += l.Spent
		sum.Refused += l.Refused
		sum.RefusedFirst += l.RefusedFirst
		sum.Delayed += l.Delayed
		sum.DelayTotal += l.DelayTotal
		sum.Lowest = min(sum.Lowest, l.Lowest)
		sum.Highest = max(sum.Highest, l.Highest)
		sum.Last += l.Last
		for k := range sum.Balance {
			sum.Balance[k] += l.Balance[k]
		}
	}
	return sum
}
