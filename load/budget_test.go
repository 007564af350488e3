package load_test

import (
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
)

// checkBudget checks what holds for the budget of every run that came to its end, or to an
// end: nothing is lost, and it counts what the fleet counts.
func checkBudget(t *testing.T, run *record.Run) *record.Budget {
	t.Helper()
	b := run.Budget
	if b == nil {
		t.Fatal("the result has no budget")
	}
	if b.Taken-b.Returned-b.Spent != 0 {
		t.Errorf("taken %d - returned %d - spent %d = %d, want 0", b.Taken, b.Returned, b.Spent, b.Taken-b.Returned-b.Spent)
	}
	if b.Spent != run.Attempts.Retries || b.Deposits != run.Attempts.First || b.Refused+b.RefusedFirst != run.Operations.GaveUp["refused_by_budget"] {
		t.Errorf("budget %+v, want %d spent, %d deposits, %d refused, as the fleet counts", b,
			run.Attempts.Retries, run.Attempts.First, run.Operations.GaveUp["refused_by_budget"])
	}
	if b.BalanceLowest < 0 || b.BalanceLast < 0 {
		t.Errorf("balance: lowest %d, last %d; want none below 0", b.BalanceLowest, b.BalanceLast)
	}
	return b
}

// within returns the first attempts and the retries that left in [from, to).
func within(rows []attempt, from, to time.Duration) (first, retries int) {
	for _, r := range rows {
		switch {
		case r.sent < from || r.sent >= to:
		case r.number == 0:
			first++
		default:
			retries++
		}
	}
	return first, retries
}

// D-08: two outages of two seconds, eight seconds apart, in an open loop of 500 operations a
// second. The store of unused retries, and the floor that every window allows, are stated for
// each budget; what is in the budget is back at its full height before the second outage.
func TestCaseD08BudgetRefills(t *testing.T) {
	tests := []struct {
		name, budget string
		store        int   // unused retries that the budget holds before an outage, with its floor
		full         int64 // balance at 2 s and at 10 s
		accounts     int64
	}{
		// 2 s of 500 first attempts a second are worth 200 retries.
		{"finagle, whole fleet", "finagle:ratio=20%,min=0/s,ttl=2s,scope=fleet", 200, 200, 1},
		{"finagle with its floor", "finagle:ratio=20%,min=10/s,ttl=2s,scope=fleet", 220, 220, 1},
		// Each of 200 clients begins 5 operations in 2 s, worth one retry.
		{"finagle, each client", "finagle:ratio=20%,min=0/s,ttl=2s,scope=client", 200, 200, 200},
		// Three at a time, of 100 ms each, are 60 in 2 s.
		{"envoy", "envoy", 60 + 3, 3, 1},
		{"envoy without a ratio", "envoy:ratio=0%,min=8", 160 + 8, 8, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, rows := bubble(t, scenario(t, "clients: 200", "rate: 500/s", "strategy: constant", "base: 100ms", "max-retries: 3",
				"capacity: 10000/s", "workers: 10", "outage: ['2s..4s', '10s..12s']", "duration: 14s", "budget: '"+tt.budget+"'"), 0)
			b := checkBudget(t, &result.Runs[0])
			first1, retries1 := within(rows, 2*time.Second, 4*time.Second+100*time.Millisecond)
			first2, retries2 := within(rows, 10*time.Second, 12*time.Second+100*time.Millisecond)
			for i, n := range [][2]int{{first1, retries1}, {first2, retries2}} {
				if most := n[0]/5 + tt.store; n[0] != 1050 || n[1] == 0 || n[1] > most {
					t.Errorf("outage %d: %d retries of %d first attempts, want 1..%d", i+1, n[1], n[0], most)
				}
			}
			if d := retries2 - retries1; 5*d > retries1 || -5*d > retries1 {
				t.Errorf("%d retries in the first outage, %d in the second, want them within 20 %%", retries1, retries2)
			}
			balance := func(at time.Duration) int64 { return b.Balance[at/(100*time.Millisecond)-1] }
			if balance(2*time.Second) != tt.full || balance(10*time.Second) != tt.full {
				t.Errorf("balance %d before the first outage, %d before the second, want both %d", balance(2*time.Second), balance(10*time.Second), tt.full)
			}
			if low := balance(3 * time.Second); low > tt.full/10 {
				t.Errorf("balance %d in the outage, want it spent", low)
			}
			if most := tt.full / tt.accounts; b.BalanceHighest > most || b.Accounts != tt.accounts {
				t.Errorf("highest balance %d of %d accounts, want at most %d of %d", b.BalanceHighest, b.Accounts, most, tt.accounts)
			}
		})
	}
}

// D-08: a client that is cancelled while it sleeps gives back what it took, whether the run ends
// in time or is broken off.
func TestCaseD08CancelledSleepersReturn(t *testing.T) {
	for _, tt := range []struct {
		budget                string
		returned, spent, last int64 // -1: any
	}{
		// 100 first attempts and a floor of 50 let 100 retries leave at 2 s and 50 sleep until 4 s.
		{"finagle:ratio=100%,min=5/s,scope=fleet", 50, 100, 50},
		{"finagle:min=10/s,scope=client", 100, 100, -1},
		{"envoy", -1, -1, 3},
	} {
		for name, until := range map[string]time.Duration{"at its end": 0, "interrupted": 2500 * time.Millisecond} {
			t.Run(tt.budget+" "+name, func(t *testing.T) {
				result, _ := bubble(t, scenario(t, "clients: 100", "strategy: constant", "base: 2s", "capacity: 0", "duration: 3s", "budget: '"+tt.budget+"'"), until)
				b := checkBudget(t, &result.Runs[0])
				differs := func(got, want int64) bool { return want >= 0 && got != want }
				if b.Returned == 0 || differs(b.Returned, tt.returned) || differs(b.Spent, tt.spent) || differs(b.BalanceLast, tt.last) {
					t.Errorf("budget %+v, want %d returned by sleepers that were cancelled, %d spent, %d left", b, tt.returned, tt.spent, tt.last)
				}
			})
		}
	}
}

// D-09: a thousand fail together. Budgets are asked when the retry is planned and count it while
// it sleeps, so no more than the stated number come back.
func TestCaseD09SleepersCount(t *testing.T) {
	tests := []struct {
		name, budget, fail string
		least, most        int64 // retries
	}{
		{"without a budget", "none", "capacity: 0", 3000, 3000},
		{"finagle", "finagle:ratio=20%,min=0/s,scope=fleet", "capacity: 0", 200, 200},
		{"finagle with a floor of 2/s x 10 s", "finagle:ratio=20%,min=2/s,scope=fleet", "capacity: 0", 220, 220},
		{"finagle, all time out at once", "finagle:ratio=20%,min=0/s,scope=fleet", "outage: ['0s..20s=hang']", 200, 200},
		// The last three under way at the end of the wave may use all their retries.
		{"envoy, all time out at once", "envoy", "outage: ['0s..20s=hang']", 206, 206},
		// An operation that is refused counts no more, so fewer are allowed where answers overtake sends.
		{"envoy", "envoy", "capacity: 0", 9, 206},
		{"envoy without its floor", "envoy:min=0", "outage: ['0s..20s=hang']", 200, 206},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, rows := bubble(t, scenario(t, "clients: 1000", "operations: 1000", "strategy: constant", "base: 500ms", "max-retries: 3",
				"timeout: 50ms", tt.fail, "budget: '"+tt.budget+"'"), 0)
			run := &result.Runs[0]
			if a := run.Attempts; a.First != 1000 || a.Retries < tt.least || a.Retries > tt.most {
				t.Errorf("%d first attempts, %d retries; want 1000 and %d..%d", a.First, a.Retries, tt.least, tt.most)
			}
			if n := run.Attempts.First + run.Attempts.Retries; n != run.Books.Arrivals {
				t.Errorf("first attempts + retries = %d, arrivals = %d, want the same", n, run.Books.Arrivals)
			}
			if tt.budget == "none" {
				if run.Budget != nil {
					t.Errorf("budget = %+v, want none in the result", run.Budget)
				}
				return
			}
			checkBudget(t, run)
			for _, bucket := range run.Buckets[1:] {
				if bucket.Arrivals > tt.most {
					t.Errorf("%d arrivals in the bucket at %v, want at most %d", bucket.Arrivals, bucket.At, tt.most)
				}
			}
			atOnce := int64(0)
			for _, r := range rows {
				if r.decision == "refused_by_budget" && r.number == 0 {
					atOnce++
					if r.end > 50*time.Millisecond {
						t.Errorf("client %d was refused at %v, want at once", r.client, r.end)
					}
				}
			}
			if atOnce < 1000-tt.most || atOnce > 1000-9 {
				t.Errorf("%d operations refused without a retry, want about %d", atOnce, 1000-tt.most)
			}
		})
	}
}

// A thousand fail together and go on failing: tokens are worth what the numbers of their kind say, to
// the retry. What is left to chance stays within a bound that is broken with probability 1e-6.
func TestTokensOfAFleetThatFailsTogether(t *testing.T) {
	tests := []struct {
		budget, status string
		accounts       int64
		least, most    int64 // retries
	}{
		{"aws:scope=fleet", "503", 1, 35, 35},
		{"aws:scope=fleet", "429", 1, 100, 100},
		{"aws:size=1000,scope=fleet", "503", 1, 71, 71},
		{"aws:size=28", "503", 1000, 2000, 2000},
		{"aws-legacy:scope=fleet", "503", 1, 100, 100},
		{"grpc:scope=fleet", "503", 1, 4, 4},
		{"grpc:tokens=4", "503", 1000, 1000, 1000}, // 3 after the first failure, 2 after the second
		// Of the first attempts, which all come before any answer, the i-th is let out with probability 1/i, and a retry is asked
		// for when a thousand have come: 0.007 of them are allowed on average.
		{"sre:scope=fleet", "503", 1, 0, 2},
		// Each client's first retry with probability 1/2, the second with 1/3, the third with 1/4:
		// 1/2 + 1/6 + 1/24 = 0.708 of each, deviation 0.84.
		{"sre", "503", 1000, 708 - 130, 708 + 130},
	}
	for _, tt := range tests {
		t.Run(tt.budget+" "+tt.status, func(t *testing.T) {
			result, _ := bubble(t, scenario(t, "clients: 1000", "operations: 1000", "strategy: constant", "base: 500ms", "max-retries: 3", "seed: 7",
				"timeout: 50ms", "outage: ['0s..20s']", "status: "+tt.status, "retry-on: '+429'", "budget: '"+tt.budget+"'"), 0)
			run := &result.Runs[0]
			b := checkBudget(t, run)
			if b.Spent < tt.least || b.Spent > tt.most || b.Accounts != tt.accounts {
				t.Errorf("%d retries sent of %d accounts, want %d..%d of %d", b.Spent, b.Accounts, tt.least, tt.most, tt.accounts)
			}
			// 7.49 on average, deviation 2.4.
			if first := run.Attempts.First; (b.RefusedFirst > 0 || first != 1000) != (tt.budget == "sre:scope=fleet") || b.RefusedFirst > 0 && (first > 20 || first+b.RefusedFirst != 1000) {
				t.Errorf("%d first attempts were sent and %d refused, want all sent, or 1..20 of the fleet's sre", first, b.RefusedFirst)
			}
			if got := run.Operations.GaveUp["refused_by_budget"] + run.Operations.GaveUp["max_retries"]; got != 1000 {
				t.Errorf("%d operations were refused or out of retries, want all", got)
			}
		})
	}
}

// One seed decides what is left to chance, and another decides otherwise.
func TestBudgetsChanceIsOfTheSeed(t *testing.T) {
	spent := func(seed string) string {
		_, rows := bubble(t, scenario(t, "clients: 200", "operations: 200", "strategy: constant", "base: 500ms", "max-retries: 1", "seed: "+seed,
			"outage: ['0s..20s']", "budget: sre"), 0)
		allowed := make([]byte, 200)
		for i := range allowed {
			allowed[i] = '-'
		}
		for _, r := range rows {
			if r.number == 1 {
				allowed[r.client] = '+'
			}
		}
		return string(allowed)
	}
	first := spent("1")
	if again := spent("1"); again != first {
		t.Errorf("seed 1 allowed\n%s and then\n%s", first, again)
	}
	if other := spent("2"); other == first {
		t.Errorf("seeds 1 and 2 both allowed %s", first)
	}
}

// The floor of a budget for each client lets every one through, and the run says so (domain
// 3.4).
func TestFloorOfEachClientIsNoBudget(t *testing.T) {
	result, _ := bubble(t, scenario(t, "clients: 1000", "strategy: constant", "base: 500ms", "max-retries: 3", "capacity: 100/s", "budget: finagle"), 0)
	run := &result.Runs[0]
	b := checkBudget(t, run)
	if b.Refused != 0 || b.FloorPerSecond == nil || *b.FloorPerSecond != 10000 || b.FloorOverCapacity == nil || *b.FloorOverCapacity != 100 {
		t.Errorf("budget = %+v, want nothing refused under a floor of 10,000/s, 100x the capacity", b)
	}
	const want = "budget finagle: its floor is for each client: 1000 clients x 10/s may send 10000 retries/s whatever the ratio, 100x the capacity of 100/s"
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("notes = %q, want %q", notes, want)
	}
}
