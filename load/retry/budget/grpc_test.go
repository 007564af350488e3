package budget_test

import (
	"testing"

	"stormtest/load/retry/budget"
)

func grpc(tokens int, ratio float64) budget.Config {
	return changed(budget.GRPC, func(c *budget.Config) { c.Size, c.Ratio = tokens, ratio })
}

// How many of so many failures in a row may be followed by a retry (domain 6.4: of 10 tokens the
// first four, and not the fifth).
func TestGRPCAllows(t *testing.T) {
	tests := []struct {
		name   string
		config budget.Config
		want   int64
	}{
		{"four of 10", grpc(10, 0.1), 4},
		{"two of 5: the half is 2.5", grpc(5, 0.1), 2},
		{"one of 3", grpc(3, 0.1), 1},
		{"none of 2: 1 is not more than half", grpc(2, 0.1), 0},
		{"none of 1", grpc(1, 0.1), 0},
		{"499 of 1000", grpc(1000, 0.1), 499},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := account(t, tt.config)
			if got := balance(a, 0); got != tt.want {
				t.Errorf("balance at the start = %d, want %d", got, tt.want)
			}
			for i, ticket := range open(a, 0, 600) {
				if got, want := a.Ask(0, budget.Failed, &ticket), int64(i) < tt.want; got != want {
					t.Fatalf("retry after failure %d allowed = %v, want %v", i+1, got, want)
				}
			}
		})
	}
}

// What fills and empties the tokens: each outcome of an attempt, first or retry, also the last of an
// operation. With 9 of 20 gone one more failure is refused.
func TestGRPCCounts(t *testing.T) {
	fail9 := func(t *testing.T) *budget.Account {
		a := account(t, grpc(20, 0.5))
		for range 9 {
			run(t, a, nil, budget.Failed)
		}
		if got := balance(a, 0); got != 0 {
			t.Fatalf("balance after 9 failures = %d, want 0", got)
		}
		return a
	}
	tests := []struct {
		name  string
		fails []budget.Outcome
		ends  []budget.Outcome // of operations one after another
		want  int64
	}{
		{"a success brings half a token: 11.5 less one is more than 10", nil, []budget.Outcome{budget.Succeeded}, 1},
		{"12 less two is not", nil, []budget.Outcome{budget.Succeeded, budget.Succeeded}, 1},
		{"four successes", nil, []budget.Outcome{budget.Succeeded, budget.Succeeded, budget.Succeeded, budget.Succeeded}, 2},
		{"failures that nobody repeats count nothing", nil, []budget.Outcome{budget.Final, budget.Broken, budget.Succeeded, budget.Succeeded}, 1},
		{"throttled and timed out count as failed", nil, []budget.Outcome{budget.Succeeded, budget.Succeeded, budget.Succeeded, budget.Succeeded, budget.Throttled, budget.TimedOut, budget.Succeeded, budget.Succeeded}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := fail9(t)
			for _, end := range tt.ends {
				run(t, a, tt.fails, end)
			}
			if got := balance(a, 0); got != tt.want {
				t.Errorf("balance = %d, want %d", got, tt.want)
			}
		})
	}

	a := account(t, grpc(20, 1))
	run(t, a, []budget.Outcome{budget.Failed, budget.Failed}, budget.Succeeded)
	if got := balance(a, 0); got != 8 {
		t.Errorf("balance after two failures and a success of one operation = %d, want 8 of 9", got)
	}
	var op budget.Ticket
	a.Leave(0, &op)
	a.Ask(0, budget.Failed, &op)
	a.Cancel(0, &op)
	if got := balance(a, 0); got != 7 {
		t.Errorf("balance after a retry was cancelled = %d, want 7: the failure stays one", got)
	}
	for range 100 {
		run(t, a, nil, budget.Failed)
	}
	for range 10 {
		run(t, a, nil, budget.Succeeded)
	}
	if got := balance(a, 0); got != 0 {
		t.Errorf("balance after ten successes from empty = %d, want 0: 10 tokens are not more than half", got)
	}
	run(t, a, nil, budget.Succeeded)
	run(t, a, nil, budget.Succeeded)
	if got := balance(a, 0); got != 1 {
		t.Errorf("balance of 12 tokens = %d, want 1", got)
	}
}

// In thousandths nothing is lost: 0.1 ten times is 1, and 0.001 a thousand times.
func TestGRPCIsExact(t *testing.T) {
	for _, ratio := range []float64{0.1, 0.001, 0.007, 0.3, 0.7} {
		a := account(t, grpc(1000, ratio))
		for range 499 {
			run(t, a, nil, budget.Failed)
		}
		successes := 0
		for ; balance(a, 0) < 70; successes++ { // 70.001 tokens above the half and one to fail with
			run(t, a, nil, budget.Succeeded)
		}
		// From 501 tokens to the first number above 570 that failures in a row leave above 500.
		want := 0
		for thousandths := 501_000; thousandths <= 570_000; want++ {
			thousandths += int(ratio*1000 + 0.5)
		}
		if successes != want {
			t.Errorf("ratio %v: %d successes, want %d", ratio, successes, want)
		}
	}
}
