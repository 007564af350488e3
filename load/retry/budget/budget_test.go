package budget_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"stormtest/load/retry/budget"
)

const second = time.Second

// The golden numbers of Finagle's rule (domain 3.4): what n first attempts and the reserve are
// worth, all asked for at once.
func TestFinagleAllows(t *testing.T) {
	tests := []struct {
		name   string
		config budget.Config
		opened int
		want   int
	}{
		{"the reserve is worth 100 retries", finagle(nil), 200, 100 + 40},
		{"five first attempts pay for one retry", finagle(func(c *budget.Config) { c.Min = 0 }), 5, 1},
		{"four do not", finagle(func(c *budget.Config) { c.Min = 0 }), 4, 0},
		{"20 % of a thousand", finagle(func(c *budget.Config) { c.Min = 0 }), 1000, 200},
		{"a ratio of 30 % costs int(1000/0.3) = 3333", finagle(func(c *budget.Config) { c.Min, c.Ratio = 0, 0.3 }), 1000, 300},
		{"so 10,000 pay for 30 % exactly", finagle(func(c *budget.Config) { c.Min, c.Ratio = 0, 0.3 }), 10000, 3000},
		{"and 33,334 for one more", finagle(func(c *budget.Config) { c.Min, c.Ratio = 0, 0.3 }), 33334, 10001},
		// In binary 1000/0.00128 is a little less, and 253 of these are cheaper by more than what is missing.
		{"a ratio of 0.128 % costs 781,250", finagle(func(c *budget.Config) { c.Min, c.Ratio = 0, 0.00128 }), 197_656, 252},
		{"a ratio of 1000 costs 1", finagle(func(c *budget.Config) { c.Min, c.Ratio = 0, 1000 }), 7, 7},
		{"a ratio of 0 leaves the reserve", finagle(func(c *budget.Config) { c.Ratio = 0 }), 1000, 100},
		{"reserve of 60 s", finagle(func(c *budget.Config) { c.Ratio, c.TTL, c.Min = 0, 60*second, 3 }), 1000, 180},
		{"nothing at all", finagle(func(c *budget.Config) { c.Ratio, c.Min = 0, 0 }), 1000, 0},
		{"all largest", finagle(func(c *budget.Config) { c.Ratio, c.Min, c.TTL = budget.RatioMin, budget.MinMax, budget.TTLMax }), 1000, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := account(t, tt.config)
			if got := ask(a, 0, open(a, 0, tt.opened)); got != tt.want {
				t.Errorf("%d of %d retries allowed, want %d", got, tt.opened, tt.want)
			}
		})
	}
}

// What first attempts paid in is worth something for nine to ten tenths of the TTL, and what
// was withdrawn comes back after as long. The slots count from t0.
func TestFinagleWindow(t *testing.T) {
	a := account(t, finagle(func(c *budget.Config) { c.Min = 0 }))
	open(a, 500*time.Millisecond, 50)
	for _, tt := range []struct {
		at   time.Duration
		want int64
	}{
		{500 * time.Millisecond, 10},
		{10*second - 1, 10}, // the slot of 0..1s is the oldest of ten
		{10 * second, 0},
	} {
		if got := balance(a, tt.at); got != tt.want {
			t.Errorf("balance at %v = %d, want %d", tt.at, got, tt.want)
		}
	}

	a = account(t, finagle(func(c *budget.Config) { c.Ratio, c.Min = 0, 1 })) // ten retries in ten seconds
	tickets := open(a, 0, 30)
	if got := ask(a, 3*second, tickets[:20]); got != 10 {
		t.Errorf("%d allowed at 3s, want the whole reserve of 10", got)
	}
	if got := ask(a, 13*second-1, tickets[20:25]); got != 0 {
		t.Errorf("%d allowed just before 13s, want 0", got)
	}
	if got := ask(a, 13*second, tickets[25:]); got != 5 {
		t.Errorf("%d of 5 allowed at 13s, want all: the withdrawals have expired", got)
	}
	if got := balance(a, 1000*second); got != 10 {
		t.Errorf("balance long after = %d, want the reserve of 10", got)
	}
}

// The numbers of Envoy's rule (domain 3.5): so many of n operations under way may retry.
func TestEnvoyAllows(t *testing.T) {
	ratio := func(r float64, least int) budget.Config {
		return envoy(func(c *budget.Config) { c.Ratio, c.Min = r, least })
	}
	tests := []struct {
		name   string
		config budget.Config
		opened int
		want   int
	}{
		{"a fifth of a thousand", envoy(nil), 1000, 200},
		{"three at least", envoy(nil), 10, 3},
		{"the first whole number that is not below 3.2", envoy(nil), 16, 4},
		{"exactly a fifth", envoy(nil), 20, 4},
		{"7 % of 100 is 7, in binary too", ratio(0.07, 0), 100, 7},
		{"29 % of 100 is 29", ratio(0.29, 0), 100, 29},
		{"without a ratio", ratio(0, 3), 1000, 3},
		{"without anything", ratio(0, 0), 1000, 0},
		{"everything", ratio(1, 0), 1000, 1000},
		{"fewer than the least", ratio(0, 3), 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := account(t, tt.config)
			tickets := open(a, 0, tt.opened)
			allowed := 0
			for i := range tickets {
				if a.Ask(0, budget.Failed, &tickets[i]) {
					allowed++
				} else {
					break // a refused operation has ended, and lowers the limit
				}
			}
			if allowed != tt.want {
				t.Errorf("%d of %d retries allowed, want %d", allowed, tt.opened, tt.want)
			}
		})
	}
}

// D-09: a retry that sleeps counts, and one that has its outcome does not. The operation counts
// to its end.
func TestEnvoyCountsSleepers(t *testing.T) {
	a := account(t, envoy(nil))
	tickets := open(a, 0, 20)
	if !a.Ask(0, budget.Failed, &tickets[0]) || !a.Ask(0, budget.Failed, &tickets[1]) || !a.Ask(0, budget.Failed, &tickets[2]) || !a.Ask(0, budget.Failed, &tickets[3]) {
		t.Fatal("a retry was refused, want a fifth of 20 allowed")
	}
	if got := balance(a, second); got != 0 {
		t.Errorf("balance while four sleep = %d, want 0", got)
	}
	a.Leave(second, &tickets[0])
	if got := balance(a, second); got != 0 {
		t.Errorf("balance while one of four is under way = %d, want 0", got)
	}
	a.End(second, budget.Succeeded, &tickets[0]) // 19 operations, so the limit is still 4
	if got := balance(a, second); got != 1 {
		t.Errorf("balance after one of four ended = %d, want 1", got)
	}
	a.Leave(second, &tickets[1])
	if !a.Ask(second, budget.Failed, &tickets[1]) {
		t.Error("a retry that failed was refused another, want it allowed: it counts no more itself")
	}
	a.Cancel(second, &tickets[2])
	a.Cancel(second, &tickets[5])
	if l := a.Ledger(second); l.Taken != 5 || l.Spent != 2 || l.Returned != 1 || l.Refused != 0 || l.Deposits != 20 {
		t.Errorf("ledger = %+v, want 5 taken, 2 spent, 1 returned, 20 deposits", l)
	}
}

// D-08: a retry that is cancelled in its sleep gives back exactly what it took, and nothing
// where that has expired.
func TestCancelReturnsWhatWasTaken(t *testing.T) {
	for _, at := range []time.Duration{0, 3 * second, 9 * second, 10*second - 1, 10 * second, 25 * second} {
		with, without := account(t, finagle(func(c *budget.Config) { c.Min = 1 })), account(t, finagle(func(c *budget.Config) { c.Min = 1 }))
		tickets := open(with, 0, 10)
		open(without, 0, 10)
		ask(with, 0, tickets[:1])
		with.Cancel(at, &tickets[0])
		for _, later := range []time.Duration{at, 10*second - 1, 10 * second, 20 * second, 40 * second} {
			if later < at {
				continue
			}
			if got, want := balance(with, later), balance(without, later); got != want {
				t.Errorf("returned at %v: balance at %v = %d, want %d as if it had not been taken", at, later, got, want)
			}
		}
		if l := with.Ledger(at); l.Taken != 1 || l.Returned != 1 || l.Spent != 0 {
			t.Errorf("ledger = %+v, want one taken and returned", l)
		}
	}
}

// One at the end of each interval, what happens at that moment left to the next one.
func TestSeries(t *testing.T) {
	a := single(finagle(func(c *budget.Config) { c.Min, c.TTL = 0, second }), 400*time.Millisecond, 4)
	open(a, 0, 10)
	open(a, 400*time.Millisecond, 5)
	open(a, 1300*time.Millisecond, 20)
	l := a.Ledger(1300 * time.Millisecond)
	if got, want := l.Balance, []int64{2, 3, 1}; !equal(got, want) {
		t.Errorf("balances = %v, want %v", got, want)
	}
	if l.Lowest != 0 || l.Highest != 5 || l.Last != 5 {
		t.Errorf("lowest %d, highest %d, last %d; want 0, 5, 5", l.Lowest, l.Highest, l.Last)
	}
	if got, want := a.Ledger(100*second).Balance, []int64{2, 3, 1, 4}; !equal(got, want) {
		t.Errorf("balances of the end = %v, want %v", got, want)
	}
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestBank(t *testing.T) {
	if b := budget.NewBank(budget.Config{}, 5, nil, budget.Series{Width: second, Intervals: 10}); b != nil || b.Account(3) != nil {
		t.Error("no budget has a bank")
	}
	own, shared := finagle(func(c *budget.Config) { c.Min = 1 }), finagle(func(c *budget.Config) { c.Min, c.Shared = 1, true })
	for _, tt := range []struct {
		name            string
		config          budget.Config
		accounts, taken int64
		highest         int64
	}{{"one each", own, 3, 3 * (10 + 4), 10 + 4}, {"shared", shared, 1, 10 + 12, 10 + 12}} {
		b := budget.NewBank(tt.config, 3, nil, budget.Series{Width: second, Intervals: 4})
		var tickets [3][]budget.Ticket
		for client := range tickets {
			tickets[client] = open(b.Account(client), 0, 20)
		}
		for client := range tickets {
			ask(b.Account(client), 0, tickets[client])
		}
		l := b.Ledger(2 * second)
		if l.Taken != tt.taken || l.Deposits != 60 || l.Refused != 60-tt.taken || l.Lowest != 0 || l.Highest != tt.highest || b.Accounts() != tt.accounts {
			t.Errorf("%s: %d accounts, ledger %+v; want %d accounts, %d taken of 60, highest %d", tt.name, b.Accounts(), l, tt.accounts, tt.taken, tt.highest)
		}
		if len(l.Balance) != 2 {
			t.Errorf("%s: balances %v, want those of two seconds", tt.name, l.Balance)
		}
	}
	if l := budget.NewBank(own, 1000, nil, budget.Series{Width: second, Intervals: 3000}).Ledger(second); l.Balance != nil || l.Last != 10000 {
		t.Errorf("a bank of three million balances has %d, and %d at the end; want none, and 10000", len(l.Balance), l.Last)
	}
}

func TestFull(t *testing.T) {
	want := [budget.KindCount]int64{budget.Finagle: 100, budget.Envoy: 3, budget.AWS: 35, budget.AWSLegacy: 100, budget.AWSAdaptive: 35, budget.GRPC: 4, budget.SRE: 1}
	for k, row := range budget.Table {
		if got := row.Defaults.Full(); got != want[k] {
			t.Errorf("%s is worth %d retries at the start, want %d", row.Name, got, want[k])
		}
	}
}

func TestValidate(t *testing.T) {
	for _, row := range budget.Table {
		if faults := row.Defaults.Validate(); faults != nil {
			t.Errorf("defaults of %s: %v", row.Name, faults)
		}
	}
	bad := []budget.Config{
		{Min: 1},
		{Kind: budget.KindCount},
		finagle(func(c *budget.Config) { c.TTL = 0 }),
		finagle(func(c *budget.Config) { c.TTL = 61 * second }),
		finagle(func(c *budget.Config) { c.TTL = 1500 * time.Millisecond }),
		finagle(func(c *budget.Config) { c.Ratio = -0.1 }),
		finagle(func(c *budget.Config) { c.Ratio = 1e-6 }),
		finagle(func(c *budget.Config) { c.Ratio = 1000.5 }),
		finagle(func(c *budget.Config) { c.Ratio = 1.0 / 3 }),
		finagle(func(c *budget.Config) { c.Ratio = math.NaN() }),
		finagle(func(c *budget.Config) { c.Ratio = math.Inf(1) }),
		finagle(func(c *budget.Config) { c.Min = -1 }),
		finagle(func(c *budget.Config) { c.Min = budget.MinMax + 1 }),
		envoy(func(c *budget.Config) { c.Ratio = 1.1 }),
		envoy(func(c *budget.Config) { c.TTL = second }),
		{Shared: true},
		changed(budget.AWS, func(c *budget.Config) { c.Size = 0 }),
		changed(budget.AWS, func(c *budget.Config) { c.Size = budget.QuotaMax + 1 }),
		changed(budget.AWS, func(c *budget.Config) { c.Cost = 0 }),
		changed(budget.AWS, func(c *budget.Config) { c.CostThrottled = 0 }),
		changed(budget.AWS, func(c *budget.Config) { c.CostTimeout = 10 }),
		changed(budget.AWS, func(c *budget.Config) { c.Credit = -1 }),
		changed(budget.AWSLegacy, func(c *budget.Config) { c.CostTimeout = budget.QuotaMax + 1 }),
		changed(budget.AWSLegacy, func(c *budget.Config) { c.CostThrottled = 5 }),
		changed(budget.GRPC, func(c *budget.Config) { c.Size = 1001 }),
		changed(budget.GRPC, func(c *budget.Config) { c.Ratio = 0 }),
		changed(budget.GRPC, func(c *budget.Config) { c.Ratio = 0.0001 }),
		changed(budget.GRPC, func(c *budget.Config) { c.Ratio = 0.1234 }),
		changed(budget.GRPC, func(c *budget.Config) { c.Ratio = math.NaN() }),
		changed(budget.GRPC, func(c *budget.Config) { c.Min = 3 }),
		changed(budget.SRE, func(c *budget.Config) { c.K = 0.999 }),
		changed(budget.SRE, func(c *budget.Config) { c.K = math.Inf(1) }),
		changed(budget.SRE, func(c *budget.Config) { c.TTL = time.Hour + second }),
		changed(budget.SRE, func(c *budget.Config) { c.Ratio = 0 }),
		changed(budget.SRE, func(c *budget.Config) { c.Ratio = 1.1 }),
		changed(budget.SRE, func(c *budget.Config) { c.Min = 1 }),
		changed(budget.AWSAdaptive, func(c *budget.Config) { c.CostThrottled = 0 }),
		changed(budget.AWSAdaptive, func(c *budget.Config) { c.CostTimeout = 1 }),
	}
	for _, c := range bad {
		if faults := c.Validate(); len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), "budget: ") {
			t.Errorf("%+v: faults %v, want one", c, faults)
		}
	}
}

// A shared account is asked by every client's goroutine. The race detector watches.
func TestAccountIsSafeForConcurrentUse(t *testing.T) {
	const clients, operations = 8, 500
	for _, k := range kinds() {
		a := account(t, changed(k, func(c *budget.Config) {
			if k == budget.Finagle {
				c.Min = 0 // so that some are refused
			}
		}))
		var wg sync.WaitGroup
		for id := range clients {
			wg.Go(func() {
				for n := range operations {
					now := time.Duration(n) * time.Millisecond
					var ticket budget.Ticket
					a.Leave(now, &ticket)
					for tries := 0; a.Ask(now, budget.Failed, &ticket); tries++ {
						if (n+id+tries)%3 == 0 {
							a.Cancel(now, &ticket)
							break
						}
						a.Leave(now, &ticket)
					}
				}
			})
		}
		wg.Wait()
		l := a.Ledger(second)
		if l.Deposits != clients*operations || l.Taken != l.Returned+l.Spent || l.Taken == 0 || l.Lowest < 0 {
			t.Errorf("%v: ledger %+v, want %d deposits and taken = returned + spent", k, l, clients*operations)
		}
	}
}

func TestAccountAllocatesNothing(t *testing.T) {
	for _, k := range kinds() {
		a := single(changed(k, nil), 100*time.Millisecond, 100)
		var now time.Duration
		var ticket budget.Ticket
		allocs := testing.AllocsPerRun(100, func() {
			now += 70 * time.Millisecond
			a.Leave(now, &ticket)
			for range 2 {
				if !a.Ask(now, budget.Throttled, &ticket) {
					break
				}
				a.Leave(now, &ticket)
			}
			a.Cancel(now, &ticket)
			a.Leave(now, &ticket)
			a.End(now, budget.Succeeded, &ticket)
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations an operation, want 0", k, allocs)
		}
	}
}

func TestMisuseIsABug(t *testing.T) {
	for name, misuse := range map[string]func(a *budget.Account, t *budget.Ticket){
		"left twice":   func(a *budget.Account, t *budget.Ticket) { a.Leave(0, t); a.Leave(0, t) },
		"asked before": func(a *budget.Account, t *budget.Ticket) { a.Ask(0, budget.Failed, t) },
		"ended before": func(a *budget.Account, t *budget.Ticket) { a.End(0, budget.Succeeded, t) },
		"asked in a sleep": func(a *budget.Account, t *budget.Ticket) {
			a.Leave(0, t)
			a.Ask(0, budget.Failed, t)
			a.Ask(0, budget.Failed, t)
		},
		"asked after a success": func(a *budget.Account, t *budget.Ticket) { a.Leave(0, t); a.Ask(0, budget.Final, t) },
		"of faulty numbers":     func(*budget.Account, *budget.Ticket) { single(budget.Config{Kind: budget.Finagle}, 0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "budget: BUG: ") {
					t.Errorf("panic = %q, want a budget: BUG", r)
				}
			}()
			misuse(account(t, finagle(nil)), new(budget.Ticket))
		})
	}
}
