// Machine prints everything that a result is made of, a line for each thing: what it prints must
// not depend on the machine for which it was compiled, nor on the one on which it runs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
	"stormtest/target/exact"
	"stormtest/target/station"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	functions(out)
	delays(out)
	arrivals(out)
	services(out)
	for _, s := range scenarios {
		runs(out, s)
	}
}

// sum is one number for many.
type sum struct{ values []uint64 }

func (s *sum) float(x float64) { s.values = append(s.values, math.Float64bits(x)) }
func (s *sum) moments(all ...time.Duration) {
	for _, d := range all {
		s.values = append(s.values, uint64(d))
	}
}

func (s *sum) String() string {
	h := fnv.New64a()
	for _, v := range s.values {
		fmt.Fprintf(h, "%x,", v)
	}
	return fmt.Sprintf("%d values %016x", len(s.values), h.Sum64())
}

// functions are those of package exact, at a hundred thousand points each.
func functions(out *bufio.Writer) {
	r := rand.New(rand.NewPCG(1, 1))
	var e, e2, l, l2, pow, exponential, normal sum
	for range 100_000 {
		x := 1400 * (r.Float64() - 0.5)
		e.float(exact.Exp(x))
		e2.float(exact.Exp2(x))
		l.float(exact.Log(exact.Exp(x)))
		l2.float(exact.Log2(exact.Exp(x)))
		pow.float(exact.Pow(1+r.Float64(), r.IntN(100)))
		exponential.float(exact.ExpFloat64(r))
		normal.float(exact.NormFloat64(r))
	}
	fmt.Fprintf(out, "functions: %v %v %v %v %v %v %v\n", &e, &e2, &l, &l2, &pow, &exponential, &normal)
}

// delays are those of every strategy under every cap mode, with multipliers that have a fraction and
// ones that have none.
func delays(out *bufio.Writer) {
	for _, e := range backoff.Table {
		for mode := range backoff.CapModes() {
			for _, m := range []float64{1, 1.1, 1.5, math.E, 3} {
				p := backoff.Defaults()
				p.CapMode, p.Multiplier = backoff.CapMode(mode), m
				p.SpreadShare, p.CapJitterShare = 0.3, 0.7
				s := e.New(p)
				var all sum
				for client := range uint32(100) {
					r, carry, prev := seed.Stream(3, seed.Backoff, client), 0.0, time.Duration(0)
					for k := range 70 {
						a := backoff.Attempt{Retry: k, Prev: prev, Carry: &carry}
						lo, hi := s.Range(a)
						prev = s.Delay(r, a)
						all.moments(lo, hi, prev, s.Ceiling(k))
						all.float(carry)
					}
				}
				fmt.Fprintf(out, "delays of %s, %v, multiplier %v: %v\n", e.Name, p.CapMode, m, &all)
			}
		}
	}
}

func arrivals(out *bufio.Writer) {
	for _, perSecond := range []float64{0.3, 1000.0 / 3, 1e6} {
		s := pace.NewSchedule(pace.Config{PerSecond: perSecond, Poisson: true}, seed.Stream(4, seed.Arrivals, 0))
		var all sum
		for range 100_000 {
			at, _ := s.Next()
			all.moments(at)
		}
		fmt.Fprintf(out, "arrivals at %v/s: %v\n", perSecond, &all)
	}
}

func services(out *bufio.Writer) {
	c := station.Config{PerSecond: 1000.0 / 3, Workers: 7, Queue: 20, ServiceExp: true, Outages: []station.Outage{
		{From: time.Second, To: 2 * time.Second, Mode: station.ModeSlow, Factor: 1.7},
	}}
	s := station.New(c, seed.Stream(5, seed.Service, 0))
	var all sum
	for now := time.Duration(0); now < 20*time.Second; now += 1_234_567 {
		s.Arrive(now, 0)
		for d, ok := s.Finish(now); ok; d, ok = s.Finish(now) {
			all.moments(d.Started, d.At)
		}
	}
	fmt.Fprintf(out, "services: %v\n", &all)
}

// scenarios are plans between which everything is used that draws or sums.
var scenarios = []struct{ name, text string }{
	{"start together", "clients: 300"},
	{"outage, exponential service", "clients: 300\noutage: [20s..25s]\nrate: 90/s\narrivals: poisson\nservice: exp\nworkers: 3\nqueue: 10\nsend-retry-after: auto"},
	{"network", "clients: 300\nlatency: 10ms~7ms\nloss: 3%\ntimeout: 500ms\nmultiplier: 1.7"},
	{"row", "clients: 60\nmodel: occ\nlatency: 10ms~2ms\nbase: 5ms\ncap: 2s"},
	{"budget by chance", "clients: 300\nbudget: sre\nmax-elapsed: 20s\ncap-mode: random-cap"},
}

// runs prints the result of every strategy.
func runs(out *bufio.Writer, scenario struct{ name, text string }) {
	p, err := plan.Decode(scenario.name, []byte(scenario.text+"\nseed: 6\nduration: 60s\nmax-retries: 40\ncapacity: 150/s\n"))
	if err != nil {
		panic(err)
	}
	for _, e := range backoff.Table {
		run := measure(&p, e)
		b, err := json.Marshal(run)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s, %s: %s\n", scenario.name, e.Name, b)
	}
}

func measure(p *plan.Plan, e backoff.Entry) record.Run {
	c := record.Config{
		Bucket: p.Bucket, Duration: p.Duration, CapacityPerSecond: &p.CapacityPerSecond, OpenLoop: p.RatePerSecond > 0,
		Cap: p.Cap, Floor: e.Floor(p.Params()), FirstDelayJittered: true, StartTogether: p.RatePerSecond == 0,
		Period: time.Second, PeriodFrom: 2 * time.Second, PeriodTo: p.Duration,
		KindNames: names(retry.KindCount), ReasonNames: names(retry.ReasonCount), LostNames: sim.LostNames,
		Shards: 1,
	}
	c.WindowFrom, c.WindowTo = p.ConvoyWindow()
	for _, o := range p.Outages {
		c.Triggers = []record.Trigger{{From: o.From, To: o.To}}
	}
	rec := record.New(c)
	chance := func(account uint32) *rand.Rand { return seed.Stream(6, seed.Budget, account) }
	bank := budget.NewBank(p.Budget, p.Clients, chance, budget.Series{})
	stats := sim.Run(context.Background(), sim.Config{Plan: p, Strategy: e.Name, Seed: 6, Budget: bank, Recorder: rec})
	return rec.Summarise(record.End{
		At: stats.End, InFlight: stats.InFlight, Unfinished: stats.Unfinished, Unstarted: stats.Unstarted,
		Strategy: e.Name, Engine: record.EngineVirtual, ArrivalsMeasuredAt: "target",
	})
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
