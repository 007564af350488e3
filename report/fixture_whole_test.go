package report_test

import (
	"slices"
	"strconv"
	"time"

	"stormtest/load/record"
)

// Fixed results of whole policies and whole incidents: a preset with all that a client has beside its delays, a mixed
// fleet, and a chain of services.

// phasesOf are the phases of a run with one outage [from, to), by the buckets that begin in them.
func phasesOf(run *record.Run, from, to time.Duration) []record.Phase {
	list := []record.Phase{{Name: "before", To: from}, {Name: "outage", From: from, To: to}, {Name: "after", From: to, To: run.Duration}}
	for i := range list {
		p := &list[i]
		for _, b := range run.Buckets {
			if b.At >= p.From && b.At < p.To {
				p.Arrivals += b.Arrivals
				p.First += b.First
				p.Retries += b.Retries
				p.Served += b.Served
				p.Wasted += b.Wasted
				p.Rejected += b.Rejected
			}
		}
		p.GoodputPerSecond = ptr(float64(p.Served-p.Wasted) / (p.To - p.From).Seconds())
		if p.First > 0 {
			p.Amplification = ptr(float64(p.Arrivals) / float64(p.First))
		}
		if p.Served > 0 {
			p.WastedShare = ptr(float64(p.Wasted) / float64(p.Served))
		}
	}
	return list
}

// shortOutage is a load of 50/s on a target for 100/s, which is down for a second of three.
func shortOutage(strategy string, clients int, every int64) record.Run {
	run := storm{strategy: strategy, clients: clients, service: 10_000, length: 3_000_000, outage: [2]int64{1_000_000, 2_000_000}, every: every, delay: strategies[strategy]}.run()
	run.Operations.Unstarted = ptr(int64(0))
	run.Phases = phasesOf(&run, time.Second, 2*time.Second)
	return run
}

// addWhole gives a run everything that a policy can have, and a target that does not come back.
func addWhole(run *record.Run) {
	run.Preset = &record.Preset{Name: "aws-standard", Source: "AWS SDK for Go v2", Version: "v1.41.0", Hazards: []string{"the first retry may come at once", "clients share no budget"}}
	run.Breaker = &record.Breaker{Kind: "rate", Parameters: "failures=50%,open=5s", Breakers: 40, Opened: 40, Reopened: 121, Closed: 3, Probes: 124, ShortCircuited: 456, OpenAtEnd: 37, OpenShare: ptr(0.625)}
	run.Hedging = &record.Hedging{Sent: 30, Won: 7, Cancelled: 29, Withheld: 2}
	run.Effects = &record.Effects{Done: 100, Duplicated: 12, Extra: 15}
	run.Dropped = &record.Dropped{Expired: 20, Shed: 3}
	run.Budget = &record.Budget{Kind: "aws-adaptive", Parameters: "beta=0.7", Accounts: 40, Deposits: 100, Taken: 60, Returned: 10, Spent: 50, Refused: 17,
		RefusedFirst: 5, Delayed: 40, DelayTotal: 10 * time.Second, BalanceHighest: 20, BalanceLast: 4, FloorPerSecond: ptr(400.0), FloorOverCapacity: ptr(4.0)}
	run.Attempts.Hedges, run.Attempts.ShortCircuited = 30, 461
	run.Recovery = record.Recovery{GoodputBefore: ptr(50.0), GoodputLast: ptr(1.25), Watched: 130 * time.Second, WatchNeeded: 120 * time.Second,
		AmplificationLast: ptr(2.97), WastedShareLast: ptr(0.975)}
	run.Convoy.Flags = []string{record.FlagMetastable}
	run.Buckets = slices.Clone(run.Buckets)
	for i := range run.Buckets {
		run.Buckets[i].Dropped = int64(i % 3)
	}
}

const openPlan = `{"clients":60,"rate":"50/s","capacity":"100/s","workers":1,"queue":0,"model":"slots","service":"fixed","abandoned":"process","outage":["1s..2s"]}`

// wholeResult is a preset whose target stays down, and one that was not watched for long enough to say.
func wholeResult() *record.Result {
	down, short := shortOutage("full", 150, 20_000), shortOutage("equal", 150, 20_000)
	addWhole(&down)
	short.Recovery = record.Recovery{GoodputBefore: ptr(50.0), GoodputLast: ptr(20.0), Watched: 15 * time.Second, AmplificationLast: ptr(3.5), WastedShareLast: ptr(0.0)}
	return resultOf(openPlan, down, short)
}

// together is the run of a mixed fleet, whose counts are those of its parts.
func together(name string, parts ...record.Part) record.Run {
	run := *parts[0].Run
	run.Strategy, run.Parts = name, parts
	run.Buckets = slices.Clone(run.Buckets)
	for i := range run.Buckets {
		run.Buckets[i].ByAttempt = slices.Clone(run.Buckets[i].ByAttempt)
	}
	run.Attempts.ByOutcome = map[string]int64{}
	run.Operations.Started, run.Operations.Succeeded, run.Attempts.Sent, run.Attempts.First, run.Attempts.Retries = 0, 0, 0, 0, 0
	for n, p := range parts {
		run.Operations.Started += p.Run.Operations.Started
		run.Operations.Succeeded += p.Run.Operations.Succeeded
		run.Attempts.Sent += p.Run.Attempts.Sent
		run.Attempts.First += p.Run.Attempts.First
		run.Attempts.Retries += p.Run.Attempts.Retries
		for key, count := range p.Run.Attempts.ByOutcome {
			run.Attempts.ByOutcome[key] += count
		}
		for i := range run.Buckets {
			if n == 0 {
				break
			}
			b, c := &run.Buckets[i], &p.Run.Buckets[i]
			b.Arrivals += c.Arrivals
			b.First += c.First
			b.Retries += c.Retries
			b.Served += c.Served
			b.Rejected += c.Rejected
			for k := range b.ByAttempt {
				b.ByAttempt[k] += c.ByAttempt[k]
			}
		}
	}
	run.Operations.Unfinished = run.Operations.Started - run.Operations.Succeeded
	run.Completion = nil
	run.Amplification = ptr(float64(run.Attempts.Sent) / float64(run.Operations.Started))
	run.Books = record.Books{AttemptsSent: run.Attempts.Sent, Arrivals: run.Attempts.Sent, Lost: map[string]int64{}, Balanced: true}
	measureWindow(&run, time.Second, 10*time.Second)
	run.Convoy.ConvoyIndex, run.Convoy.Verdict = ptr(0.0612), record.VerdictOverload
	return run
}

// fleetResult is a fleet of which 30 % have no jitter.
func fleetResult() *record.Result {
	full := storm{strategy: "full", clients: 280, service: 5_000, length: 3_000_000, delay: strategies["full"]}.run()
	none := storm{strategy: "none", clients: 120, service: 5_000, length: 3_000_000, delay: strategies["none"]}.run()
	return resultOf(`{"clients":400,"fleet":"full=70%,none=30%","capacity":"200/s","workers":1,"queue":0,"outage":[]}`,
		together("full=70%,none=30%", record.Part{Name: "full", Share: 0.7, Clients: 280, Run: &full}, record.Part{Name: "none", Share: 0.3, Clients: 120, Run: &none}))
}

// service is a service of a chain that refuses what it is asked, as many attempts for each call.
func service(name string, calls, each int64, rejects bool) record.Run {
	const buckets = 10
	run := record.Run{
		Strategy: name, Engine: "virtual", ArrivalsMeasuredAt: "target", Duration: time.Second, Bucket: 100 * time.Millisecond, CapacityPerSecond: ptr(100.0),
		Operations: record.Operations{Started: calls, GaveUp: map[string]int64{"max_retries": calls}},
		Attempts:   record.Attempts{Sent: calls * each, First: calls, Retries: calls * (each - 1), ByOutcome: map[string]int64{"503": calls * each}},
		Buckets:    make([]record.Bucket, buckets), Amplification: ptr(float64(each)),
		Generator: record.Generator{KeptUp: true, TimerSource: "virtual"},
		Books:     record.Books{AttemptsSent: calls * each, Arrivals: calls * each, Lost: map[string]int64{}, Balanced: true},
	}
	for i := range run.Buckets {
		b := record.Bucket{At: time.Duration(i) * run.Bucket, Arrivals: calls * each / buckets, First: calls / buckets, Retries: calls * (each - 1) / buckets, ByAttempt: make([]int64, 9)}
		b.ByAttempt[0], b.ByAttempt[1] = b.First, b.Retries
		if rejects {
			b.Rejected = b.Arrivals
		}
		run.Buckets[i] = b
	}
	measureWindow(&run, 0, time.Second)
	run.Convoy.ConvoyIndex, run.Convoy.RSI, run.Convoy.Verdict = ptr(0.03), ptr(0.02), record.VerdictOverload
	return run
}

// chainResult is three services with four attempts each, of which the last is a dead end.
func chainResult() *record.Result {
	run := service("full", 100, 4, false)
	for i, name := range []string{"orders", "database"} {
		behind := service(name, 400<<(2*i), 4, i == 1)
		run.Layers = append(run.Layers, record.Layer{Name: name, EndToEnd: ptr(float64(int(16) << (2 * i))), Run: &behind})
	}
	return resultOf(`{"clients":100,"capacity":"100/s","workers":1,"queue":0,"max-retries":3,"layer":["orders;max-retries=3","database;max-retries=3;capacity=0"]}`, run)
}

// everything has all of it at once, for hostile texts and integers.
func everything() record.Run {
	run := shortOutage("full", 30, 100_000)
	addWhole(&run)
	part, layer := shortOutage("none", 10, 100_000), service("layer", 10, 2, true)
	part.Notes, layer.Preset = []string{"a note of the part"}, &record.Preset{Name: "p", Source: "s", Version: "v", Hazards: []string{"h"}}
	run.Parts = []record.Part{{Name: "part", Share: 0.5, Clients: 15, Run: &part}}
	run.Layers = []record.Layer{{Name: "layer", EndToEnd: ptr(2.0), Run: &layer}}
	return run
}

// manyParts is a fleet of more parts, and a chain of more services, than a picture has room for.
func manyParts(n int) *record.Result {
	run := everything()
	run.Parts, run.Layers = nil, nil
	for i := range n {
		part := everything()
		run.Parts = append(run.Parts, record.Part{Name: "part " + strconv.Itoa(i), Share: 1 / float64(n), Clients: 1, Run: &part})
		run.Layers = append(run.Layers, record.Layer{Name: "service " + strconv.Itoa(i), EndToEnd: ptr(2.0), Run: &part})
	}
	return resultOf(openPlan, run)
}
