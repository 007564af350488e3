package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// A layerTrial is one service behind the first, for either engine: what is recorded of it, and the budget of the service
// that calls it.
type layerTrial struct {
	trial
	link   plan.Link
	number int // 1 is the first behind the clients' service
}

// layerTrials returns one for each layer of the trial's plan, without recorders.
func (t *trial) layerTrials() []*layerTrial {
	links := t.policy().Chain()
	var list []*layerTrial
	for i, link := range links[1:] {
		l := &layerTrial{trial: *t, link: link, number: i + 1}
		l.plan = *link.Plan
		l.plan.Seed = t.plan.Seed
		name := t.variant.Name
		if strategy := link.Plan.Strategies[0]; strategy != links[0].Plan.Strategies[0] {
			name = strategy
		}
		l.variant = plan.Variant{Name: name, Parts: []plan.Part{{Name: name, Share: 1, Plan: link.Plan}}}
		l.capacity, l.recorder, l.effects = &link.Plan.CapacityPerSecond, nil, nil // effects are the clients'
		l.newBank()
		list = append(list, l)
	}
	return list
}

// newBank opens the one budget and the one breaker of the calling service.
func (l *layerTrial) newBank() {
	p := &l.plan
	stream := func(of seed.Purpose) func(uint32) *rand.Rand {
		return func(uint32) *rand.Rand { return seed.Stream(p.Seed.Value, of, uint32(l.number)) }
	}
	l.budget = budget.NewBank(p.Budget, 1, stream(seed.LayerBudget), budget.Series{Width: p.Bucket, Intervals: int(p.Duration / p.Bucket)})
	l.breakers = breaker.NewBank(p.Breaker, 1, stream(seed.LayerBreaker))
}

// recording is that of a trial, but that calls come when they come, as in an open loop, and that whatever fails in the
// chain is a trigger for all of it.
func (l *layerTrial) recording(chain []plan.Link, lost []string) record.Config {
	p := *l.link.Plan
	p.Outages, p.Surges = nil, nil
	for _, link := range chain {
		p.Outages = slices.Concat(p.Outages, link.Plan.Outages)
	}
	p.Surges = chain[0].Plan.Surges
	of := trial{plan: p, capacity: l.capacity, detail: l.detail, variant: plan.Variant{Parts: []plan.Part{{Plan: &p}}}}
	c := of.recording(lost)
	c.OpenLoop, c.StartTogether = true, false
	return c
}

// layersOf puts the layers' runs into that of the clients and the first service.
func layersOf(run *record.Run, trials []*layerTrial, runs []record.Run) {
	for i, l := range trials {
		layer := record.Layer{Name: l.link.Name, Run: &runs[i]}
		if started := run.Operations.Started; started > 0 {
			endToEnd := float64(runs[i].Attempts.Sent) / float64(started)
			layer.EndToEnd = &endToEnd
		}
		run.Layers = append(run.Layers, layer)
	}
}

// A chained is what a run of a chain in virtual time left beside the figures of its clients.
type chained struct {
	hedging *record.Hedging
	layers  []*layerTrial
	stats   []sim.LinkStats // of the links, the clients' first
}

// simulateChain runs the chain of the trial's plan, with the recorders of an earlier run for the layers where there
// are any.
func (t *trial) simulateChain(ctx context.Context, c sim.Config, recorders []*record.Recorder) (sim.Stats, chained) {
	links := t.policy().Chain()
	layers := t.layerTrials()
	config := sim.ChainConfig{
		Links: links, Seed: c.Seed, Effects: c.Effects, Trace: c.Trace, Beat: c.Beat,
		Accounts: []sim.LinkAccounts{{Budget: c.Budget, Breakers: c.Breakers, Recorder: c.Recorder}},
	}
	for i, l := range layers {
		config.Accounts = append(config.Accounts, sim.LinkAccounts{Budget: l.budget, Breakers: l.breakers})
		if !t.detail {
			continue // of the layers the first seed is shown, and of the others nothing is kept
		}
		recording := l.recording(links, sim.LostNames)
		recording.Shards = 1
		if recorders[i] == nil {
			recorders[i] = record.New(recording)
		} else {
			recorders[i].Reset(recording)
		}
		l.recorder = recorders[i]
		config.Accounts[i+1].Recorder = l.recorder
	}
	s := sim.RunChain(ctx, config)
	first := &s.Links[0]
	return sim.Stats{
		End: s.End, Attempts: first.Attempts, Arrivals: first.Arrivals, Succeeded: first.Succeeded, GaveUp: first.GaveUp,
		Unfinished: first.Unfinished, InFlight: first.InFlight, Unstarted: first.Unstarted, Completion: first.Completion, Events: s.Events,
	}, chained{hedging: hedged(t.policy(), first.Hedging), layers: layers, stats: s.Links}
}

// summarise puts the layers into the run of the clients.
func (c *chained) summarise(run *record.Run, end time.Duration) {
	runs := make([]record.Run, len(c.layers))
	for i, l := range c.layers {
		s := &c.stats[i+1]
		runs[i] = l.summarise(record.End{
			At: end, InFlight: s.InFlight, Unfinished: s.Unfinished, Unstarted: s.Unstarted,
			TimerSource: timerVirtual, Hedging: hedged(l.link.Plan, s.Hedging),
		})
		runs[i].Whole = run.Whole
		if s.Unstarted > 0 {
			run.Notes = append(run.Notes, callsOver(s.Unstarted, l.link.Name))
		}
	}
	layersOf(run, c.layers, runs)
}

// count puts into the run of the clients what alone is kept of the layers of a seed that is not shown: how many attempts
// each got. So a gate on what is end to end is one on every seed.
func (c *chained) count(run *record.Run) {
	runs := make([]record.Run, len(c.layers))
	for i := range runs {
		runs[i].Attempts.Sent = c.stats[i+1].Attempts
	}
	layersOf(run, c.layers, runs)
}

// callsOver says that so many calls to a layer were too many.
func callsOver(calls int64, layer string) string {
	return fmt.Sprintf("%d calls to %s were not made and failed at once: %d were under way", calls, layer, plan.CallsMost)
}

// hedged returns what there is to say of hedges, nil where the plan of a link sends none.
func hedged(p *plan.Plan, h record.Hedging) *record.Hedging {
	if p.Hedge.Most == 0 {
		return nil
	}
	return &h
}
