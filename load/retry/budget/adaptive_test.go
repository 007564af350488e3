package budget_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/retry/budget"
)

// A cubicModel is the limiter of aws-adaptive for one caller at a time, as its source has it: in float seconds, with
// objects that know nothing of each other. Its caller sleeps and looks again, where an account says the whole wait at once.
type cubicModel struct {
	on bool
	// what the source calls RateClocker
	lastBucket, measured float64
	count                int
	// CubicCalculator
	wMax, lastFail float64
	// TokenBucket
	fill, capacity, current, stamp float64
}

func newCubicModel() *cubicModel { return &cubicModel{fill: 1, capacity: 1} }

func (m *cubicModel) record(t float64) {
	bucket := math.Floor(t*2) / 2
	m.count++
	if bucket > m.lastBucket {
		rate := float64(m.count) / (bucket - m.lastBucket)
		m.measured = rate*0.8 + m.measured*0.2
		m.count, m.lastBucket = 0, bucket
	}
}

func (m *cubicModel) refill(t float64) {
	m.current = math.Min(m.capacity, m.current+(t-m.stamp)*m.fill)
	m.stamp = t
}

func (m *cubicModel) received(t float64, throttled bool) {
	m.record(t)
	var rate float64
	if throttled {
		m.wMax = m.measured
		if m.on {
			m.wMax = math.Min(m.measured, m.fill)
		}
		m.lastFail, m.on = t, true
		rate = m.wMax * 0.7
	} else {
		k := math.Cbrt(m.wMax * 0.3 / 0.4)
		x := t - m.lastFail - k
		rate = 0.4*x*x*x + m.wMax
	}
	rate = math.Min(rate, 2*m.measured)
	m.refill(t)
	m.fill, m.capacity = math.Max(rate, 0.5), math.Max(rate, 1)
	m.current = math.Min(m.current, m.capacity)
}

// acquire returns when the attempt that asks at t leaves.
func (m *cubicModel) acquire(t float64) float64 {
	if !m.on {
		return t
	}
	m.refill(t)
	for m.current < 1-1e-9 {
		t += (1 - m.current) / m.fill
		m.refill(t)
	}
	m.current--
	return t
}

// The account of one client makes its attempts wait as the source does, whatever outcomes come when: to within
// rounding, 2 µs over some minutes.
func TestAdaptiveFollowsTheSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, m := single(changed(budget.AWSAdaptive, func(c *budget.Config) { c.Size = budget.QuotaMax }), 0, 0), newCubicModel()
		var op budget.Ticket
		now := time.Duration(0)
		waits := 0
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now += time.Duration(rapid.SampledFrom([]int64{0, 1, 40, 90, 250, 500, 700, 5000}).Draw(t, "pause")) * time.Millisecond
			wait, ok := a.Admit(now, time.Hour, &op)
			left := m.acquire(now.Seconds())
			if got := (now + wait).Seconds(); !ok || math.Abs(got-left) > 2e-6 {
				t.Fatalf("an attempt that is due at %v leaves at %vs, want %vs", now, got, left)
			}
			if wait > 0 {
				waits++
			}
			now += wait
			a.Leave(now, &op)
			now += time.Duration(rapid.SampledFrom([]int64{0, 3, 20, 300}).Draw(t, "latency")) * time.Millisecond
			o := rapid.SampledFrom([]budget.Outcome{budget.Succeeded, budget.Succeeded, budget.Throttled, budget.Failed, budget.TimedOut, budget.Curbed, budget.Final}).Draw(t, "outcome")
			m.received(now.Seconds(), o == budget.Throttled || o == budget.Curbed)
			if !o.Retryable() || !a.Ask(now, o, &op) {
				a.End(now, o, &op)
			}
		}
		if l := a.Ledger(now); l.Delayed != int64(waits) || (l.DelayTotal > 0) != (waits > 0) {
			t.Fatalf("ledger %+v, want %d delayed", l, waits)
		}
	})
}

// The numbers of the rule (domain 3.2), by hand. Ten outcomes a second are measured as 0.8*10 = 8/s in the first half second
// that is complete, and as 0.8*10 + 0.2*8 = 9.6/s in the second. Throttled then, fill is 0.7*9.6 = 6.72/s.
func TestAdaptiveByHand(t *testing.T) {
	a := account(t, changed(budget.AWSAdaptive, nil))
	send := func(at time.Duration, o budget.Outcome) {
		t.Helper()
		var op budget.Ticket
		if wait, ok := a.Admit(at, time.Hour, &op); wait != 0 || !ok {
			t.Fatalf("an attempt at %v waits %v, want none before the first throttling", at, wait)
		}
		a.Leave(at, &op)
		a.End(at, o, &op)
	}
	for i := range 10 { // at 100 ms ... 1 s, five in each half second: the one on its edge closes it
		o := budget.Succeeded
		if i == 9 {
			o = budget.Throttled
		}
		send(time.Duration(i+1)*100*time.Millisecond, o)
	}
	var tickets [8]budget.Ticket
	var first time.Duration // tokens there, then one every 1/6.72 s
	for i := range tickets {
		wait, ok := a.Admit(second, time.Hour, &tickets[i])
		if !ok {
			t.Fatal("an attempt was refused, want it to wait")
		}
		want := first + time.Duration(math.Ceil(float64(i)*1e9/6.72))
		if i == 0 {
			first = wait
			continue
		}
		if d := wait - want; d < -2 || d > 2 {
			t.Errorf("attempt %d waits %v, want %v", i, wait, want)
		}
	}
	if wait, _ := a.Admit(second, second, new(budget.Ticket)); wait < second {
		t.Errorf("the ninth would wait %v, want more than a second", wait)
	}
	again, _ := a.Admit(second, time.Hour, new(budget.Ticket))
	if want := first + time.Duration(math.Ceil(8e9/6.72)); again < want-2 || again > want+2 {
		t.Errorf("the one after it waits %v, want %v: it took no token", again, want)
	}
}

// Nothing waits, or is refused, of accounts that are no gate.
func TestOthersAdmitEverything(t *testing.T) {
	for _, k := range kinds() {
		bank := budget.NewBank(changed(k, nil), 1, stream, budget.Series{})
		want := k == budget.SRE || k == budget.AWSAdaptive
		if bank.Gates() != want {
			t.Errorf("%v: gates %v, want %v", k, bank.Gates(), want)
		}
		if want {
			continue
		}
		for range 100 {
			if wait, ok := bank.Account(0).Admit(0, 0, new(budget.Ticket)); wait != 0 || !ok {
				t.Errorf("%v: an attempt waits %v, let out %v; want it to leave", k, wait, ok)
			}
		}
	}
}
