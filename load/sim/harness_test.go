package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// guide is the guides' model of so many clients, which runs until all are served.
func guide(clients int) plan.Plan {
	p := plan.Default()
	p.Clients = clients
	p.MaxElapsed = 0
	p.Duration = 200 * time.Hour
	return p
}

// scenario is the plan that the lines of a scenario file give.
func scenario(tb testing.TB, lines ...string) plan.Plan {
	tb.Helper()
	text := "seed: 1\n"
	for _, l := range lines {
		text += l + "\n"
	}
	p, err := plan.Decode("test", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// recorder is one for a plan, with everything on that a run can measure.
func recorder(p *plan.Plan) *record.Recorder { return record.New(recording(p)) }

func recording(p *plan.Plan) record.Config {
	from, to := p.ConvoyWindow()
	return record.Config{
		Bucket: p.Bucket, Duration: p.Duration, CapacityPerSecond: &p.CapacityPerSecond,
		OpenLoop: p.RatePerSecond > 0, Cap: p.Cap, Floor: p.Floor,
		StartTogether: p.RatePerSecond == 0 && p.Ramp == 0,
		WindowFrom:    from, WindowTo: to,
		FirstDelayJittered: true,
		KindNames:          names(retry.KindCount), ReasonNames: names(retry.ReasonCount), LostNames: sim.LostNames,
		Shards: 1,
	}
}

func names[T interface {
	~uint8
	fmt.Stringer
}](count T) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = T(i).String()
	}
	return list
}

// bankOf returns the plan's retry budgets.
func bankOf(p *plan.Plan, run uint64) *budget.Bank {
	chance := func(account uint32) *rand.Rand { return seed.Stream(run, seed.Budget, account) }
	return budget.NewBank(p.Budget, p.Clients, chance, budget.Series{Width: p.Bucket, Intervals: int(min(p.Duration/p.Bucket, 1e6))})
}

// breakersOf returns the plan's circuit breakers.
func breakersOf(p *plan.Plan, run uint64) *breaker.Bank {
	return breaker.NewBank(p.Breaker, p.Clients, func(b uint32) *rand.Rand { return seed.Stream(run, seed.Breaker, b) })
}

// broken is what they have done.
func broken(b *breaker.Bank, end time.Duration) *record.Breaker {
	if b == nil {
		return nil
	}
	l := b.Ledger(end)
	return &record.Breaker{
		Breakers: b.Breakers(), Opened: l.Opened, Reopened: l.Reopened, Closed: l.Closed, Probes: l.Probes,
		ShortCircuited: l.ShortCircuited, OpenAtEnd: l.OpenAtEnd,
	}
}

// A measured is all that one run gives.
type measured struct {
	stats sim.Stats
	run   record.Run
	rows  []retry.Row
}

// measure runs one strategy with a recorder and a trace.
func measure(p plan.Plan, strategy string, run uint64) measured {
	var m measured
	rec := recorder(&p)
	bank := bankOf(&p, run)
	breakers := breakersOf(&p, run)
	m.stats = sim.Run(context.Background(), sim.Config{
		Plan: &p, Strategy: strategy, Seed: run, Budget: bank, Breakers: breakers, Recorder: rec,
		Trace: func(r retry.Row) { m.rows = append(m.rows, r) },
	})
	e := end(&m.stats, bank, strategy)
	e.Breaker = broken(breakers, e.At)
	m.run = rec.Summarise(e)
	return m
}

// end is what the recorder is told of a run that is over.
func end(s *sim.Stats, bank *budget.Bank, strategy string) record.End {
	e := record.End{
		At: s.End, InFlight: s.InFlight, Unfinished: s.Unfinished, Unstarted: s.Unstarted,
		Strategy: strategy, Engine: "virtual", ArrivalsMeasuredAt: "target",
	}
	if bank != nil {
		l := bank.Ledger(s.End)
		e.Budget = &record.Budget{
			Accounts: bank.Accounts(), Deposits: l.Deposits, Taken: l.Taken, Returned: l.Returned, Spent: l.Spent,
			Refused: l.Refused, RefusedFirst: l.RefusedFirst, Delayed: l.Delayed, DelayTotal: l.DelayTotal, BalanceLowest: l.Lowest, BalanceHighest: l.Highest, BalanceLast: l.Last, Balance: l.Balance,
		}
	}
	return e
}

// text is the run as a result holds it.
func text(tb testing.TB, r record.Run) string {
	tb.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// waiting lists the strategies that wait at all; without a delay virtual time stands still.
func waiting() []string {
	var list []string
	for _, e := range backoff.Table {
		if e.Ceiling(backoff.Defaults(), 1<<30) > 0 {
			list = append(list, e.Name)
		}
	}
	return list
}

func entryOf(tb testing.TB, name string) backoff.Entry {
	tb.Helper()
	e, ok := backoff.Lookup(name)
	if !ok {
		tb.Fatalf("no strategy %q", name)
	}
	return e
}
