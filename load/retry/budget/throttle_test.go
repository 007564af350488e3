package budget_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/retry/budget"
)

func TestRejectShare(t *testing.T) {
	tests := []struct {
		requests, accepts int64
		k, want           float64
	}{
		{10, 0, 2, 10.0 / 11}, // domain 6.4
		{0, 0, 2, 0},
		{1, 0, 2, 0.5},
		{100, 100, 2, 0},
		{100, 50, 2, 0},
		{100, 49, 2, 2.0 / 101},
		{100, 50, 1, 50.0 / 101},
		{5, 10, 2, 0}, // accepts of requests that have left the window
	}
	for _, tt := range tests {
		if got := budget.RejectShare(tt.requests, tt.accepts, tt.k); got != tt.want {
			t.Errorf("RejectShare(%d, %d, %v) = %v, want %v", tt.requests, tt.accepts, tt.k, got, tt.want)
		}
		throttle := budget.NewThrottle(2*time.Minute, tt.k)
		for range tt.requests {
			throttle.Request(0)
		}
		for range tt.accepts {
			throttle.Accept(0)
		}
		if got := throttle.RejectShare(0); got != tt.want {
			t.Errorf("after %d requests, %d accepts, K = %v: p = %v, want %v", tt.requests, tt.accepts, tt.k, got, tt.want)
		}
		// The chance at which it turns is p to the last bit.
		share := new(big.Rat).SetFrac64(max(0, tt.requests*1000-int64(tt.k*1000)*tt.accepts), (tt.requests+1)*1000)
		share.Mul(share, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
		for _, chance := range []uint64{0, 1, math.MaxUint64 / 11 * 10, turn(share) - 1, turn(share), turn(share) + 1, math.MaxUint64} {
			u := new(big.Rat).SetInt(new(big.Int).SetUint64(chance))
			if got, want := throttle.Rejects(0, chance), u.Cmp(share) < 0; got != want {
				t.Errorf("Rejects with chance %d of p = %v: %v, want %v", chance, tt.want, got, want)
			}
		}
	}
}

// turn is the first whole number that is not below x.
func turn(x *big.Rat) uint64 {
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Uint64()
}

// A target that accepts nothing is sent H_R of R requests on average: 2.93, 5.19, 7.49 of 10, 100,
// 1000 (domain 3.6). Each request is let through by itself, the i-th with probability 1/i, so the
// variance is the sum of (1 - 1/i)/i. 4,000 fleets with a fixed seed; false-positive rate 1e-6 each
// (normal); it misses a mean off by less than 0.2.
func TestThrottleSendsHarmonically(t *testing.T) {
	const fleets, z = 4000, 4.892
	for _, requests := range []int{10, 100, 1000} {
		r := rand.New(rand.NewPCG(7, uint64(requests)))
		sent := 0
		for range fleets {
			throttle := budget.NewThrottle(2*time.Minute, 2)
			for range requests {
				if !throttle.Rejects(0, r.Uint64()) {
					sent++
				}
				throttle.Request(0)
			}
		}
		mean, variance := 0.0, 0.0
		for i := 1; i <= requests; i++ {
			share := 1 / float64(i)
			mean += share
			variance += share * (1 - share)
		}
		if got, bound := float64(sent)/fleets, z*math.Sqrt(variance/fleets); math.Abs(got-mean) > bound {
			t.Errorf("%.3f of %d requests sent, want %.3f +- %.3f", got, requests, mean, bound)
		}
	}
}

// Against a target that accepts one in ten, half of what is sent is accepted in the long run:
// it is asked K times what it accepts.
func TestThrottleAsksForKTimesWhatIsAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	throttle := budget.NewThrottle(10*time.Second, 2)
	sent, accepted := 0, 0
	for i := range 200_000 { // 100 a second, of which the target accepts 10 at most
		now := time.Duration(i) * 10 * time.Millisecond
		rejected := throttle.Rejects(now, r.Uint64())
		throttle.Request(now)
		if rejected {
			continue
		}
		if sent++; accepted < i/10 {
			accepted++
			throttle.Accept(now)
		}
	}
	if ratio := float64(sent) / float64(accepted); ratio < 1.9 || ratio > 2.1 {
		t.Errorf("%d sent, %d accepted: %.3f, want about 2", sent, accepted, ratio)
	}
}

// What was counted lasts for eleven to twelve twelfths of the window.
func TestThrottleWindow(t *testing.T) {
	throttle := budget.NewThrottle(2*time.Minute, 2)
	for range 9 {
		throttle.Request(15 * second)
	}
	throttle.Accept(125 * second)
	for _, tt := range []struct {
		at   time.Duration
		want float64
	}{
		{125 * second, 7.0 / 10},
		{130*second - 1, 7.0 / 10}, // the slot of 10..20 s is the oldest of twelve
		{130 * second, 0},
		{240 * second, 0},
		{1000 * second, 0},
	} {
		if got := throttle.RejectShare(tt.at); got != tt.want {
			t.Errorf("p at %v = %v, want %v", tt.at, got, tt.want)
		}
	}
}

// Of the retries of a fleet, whose first attempts all failed, the budget allows what the throttle
// would, a cancelled one is taken back, and what is the request's own fault counts as accepted.
func TestSRECounts(t *testing.T) {
	a := account(t, changed(budget.SRE, nil))
	if got := balance(a, 0); got != 1 {
		t.Errorf("balance at the start = %d, want 1: no request yet, p = 0", got)
	}
	run(t, a, nil, budget.Succeeded)
	run(t, a, nil, budget.Final)
	if got := balance(a, 0); got != 3 { // R = 2, A = 2: R <= 4 is certain
		t.Errorf("balance after two accepts = %d, want 3", got)
	}
	run(t, a, nil, budget.Broken)
	if got := balance(a, 0); got != 2 {
		t.Errorf("balance after a failure that nobody repeats = %d, want 2", got)
	}
	var op budget.Ticket
	a.Leave(0, &op)
	if !a.Ask(0, budget.Failed, &op) {
		t.Fatal("the retry was refused, want it allowed: R = 4, A = 2, p = 0")
	}
	if got := balance(a, 0); got != 0 {
		t.Errorf("balance while the retry sleeps = %d, want 0", got)
	}
	a.Cancel(0, &op)
	if got := balance(a, 0); got != 1 {
		t.Errorf("balance after it was cancelled = %d, want 1", got)
	}
}

// Two accounts of one bank have streams of their own, and another bank of the same streams decides
// the same.
func TestSREDrawsFromItsOwnStream(t *testing.T) {
	decisions := func() [2][64]bool {
		b := budget.NewBank(changed(budget.SRE, nil), 2, stream, budget.Series{})
		var allowed [2][64]bool
		for client := range allowed {
			a := b.Account(client)
			for i := range allowed[client] {
				var op budget.Ticket
				a.Leave(0, &op)
				if allowed[client][i] = a.Ask(0, budget.Failed, &op); allowed[client][i] {
					a.Leave(0, &op)
					a.End(0, budget.Final, &op)
				}
			}
		}
		return allowed
	}
	first := decisions()
	if first != decisions() {
		t.Error("the same streams decided otherwise")
	}
	if first[0] == first[1] {
		t.Error("two accounts decided alike 64 times")
	}
}
