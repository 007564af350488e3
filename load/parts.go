package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// A part is the clients of a mixed fleet that follow one policy, in one trial.
type part struct {
	plan.Part // its Plan has the clients of the part alone
	policy    retry.Policy
	recorder  *record.Recorder
	budget    *budget.Bank
	breakers  *breaker.Bank
}

// A cut is what the end of a run cut short of one part, and what else the fleet alone knows of it.
type cut struct{ inFlight, unfinished, connections, replayed int64 }

// divide deals the clients of a mixed fleet to its parts. A fleet of one policy has none.
func (t *trial) divide() {
	if !t.variant.Mixed() {
		return
	}
	p := &t.plan
	t.deal = t.variant.Deal(p.Clients)
	t.parts = make([]part, len(t.variant.Parts))
	for i := range t.parts {
		own := *t.variant.Parts[i].Plan
		members := t.deal.Members[i]
		own.Clients = len(members)
		x := &t.parts[i]
		x.Part = t.variant.Parts[i]
		x.Plan = &own
		x.policy = own.Policy(own.Strategies[0])
		stream := func(purpose seed.Purpose) func(uint32) *rand.Rand { // of the first client, where the part shares one
			return func(account uint32) *rand.Rand { return seed.Stream(p.Seed.Value, purpose, members[account]) }
		}
		x.budget = budget.NewBank(own.Budget, own.Clients, stream(seed.Budget), t.series())
		x.breakers = breaker.NewBank(own.Breaker, own.Clients, stream(seed.Breaker))
	}
}

// mixture is the fleet as the engines take it; nil where all follow one policy.
func (t *trial) mixture() *retry.Mixture {
	if t.parts == nil {
		return nil
	}
	m := &retry.Mixture{Of: t.deal.Of, Place: t.deal.Place}
	for i := range t.parts {
		x := &t.parts[i]
		m.Parties = append(m.Parties, retry.Party{Policy: &x.policy, Budget: x.budget, Breakers: x.breakers})
	}
	return m
}

// countEffects begins to count what the target does twice.
func (t *trial) countEffects() {
	t.effects = record.NewEffectTally(t.plan.Clients)
	if t.parts != nil {
		t.effects.Split(t.deal.Of, len(t.parts))
	}
}

// policyOf names the policy that a client follows.
func (t *trial) policyOf(client int) string {
	if t.parts == nil {
		return t.variant.Name
	}
	return t.parts[t.deal.Of[client]].Name
}

// split has the parts recorded beside the whole, by the recorders of an earlier trial with as many parts, nil for new ones.
// It returns those that it used.
func (t *trial) split(like record.Config, used []*record.Recorder) []*record.Recorder {
	if t.parts == nil {
		return used
	}
	recorders := make([]*record.Recorder, len(t.parts))
	for i := range t.parts {
		x := &t.parts[i]
		c := t.recordingOf(x.Plan, like.LostNames)
		c.Shards = like.Shards
		c.CapacityPerSecond = nil // it is the whole fleet's, and a part alone may be under it while the fleet is over
		if i < len(used) {
			x.recorder = used[i]
			x.recorder.Reset(c)
		} else {
			x.recorder = record.New(c)
		}
		recorders[i] = x.recorder
	}
	t.recorder.Split(t.deal.Of, recorders)
	return recorders
}

// recording is recordingOf the fleet. What the parts of a mixed one do not have in common, it has not: the delays at the
// cap, the floor or the period of one are nothing to another. Its window is that of all of them.
func (t *trial) recording(lost []string) record.Config {
	c := t.recordingOf(t.policy(), lost)
	for i := range t.variant.Parts {
		other := t.recordingOf(t.variant.Parts[i].Plan, lost)
		if c.Cap != other.Cap {
			c.Cap = 0
		}
		if c.Floor != other.Floor {
			c.Floor = 0
		}
		if c.Period != other.Period || c.PeriodFrom != other.PeriodFrom || c.PeriodTo != other.PeriodTo {
			c.Period, c.PeriodFrom, c.PeriodTo = 0, 0, 0
		}
		c.FirstDelayJittered = c.FirstDelayJittered && other.FirstDelayJittered
		c.WindowFrom, c.WindowTo = min(c.WindowFrom, other.WindowFrom), max(c.WindowTo, other.WindowTo)
	}
	return c
}

// summariseParts returns what was measured of each part, in a run of which e is the whole's end.
func (t *trial) summariseParts(e record.End) []record.Part {
	list := make([]record.Part, len(t.parts))
	for i := range t.parts {
		x := &t.parts[i]
		own := record.End{
			At: e.At, InFlight: t.cuts[i].inFlight, Unfinished: t.cuts[i].unfinished,
			Connections: t.cuts[i].connections, Replayed: t.cuts[i].replayed, TimerSource: e.TimerSource,
			Strategy: x.Name, Engine: e.Engine, ArrivalsMeasuredAt: e.ArrivalsMeasuredAt,
			Budget:  budgeted(x.budget, x.Plan, t.capacity, e.At),
			Breaker: broken(x.breakers, x.Plan, e.At),
		}
		run := x.recorder.Summarise(own)
		if t.effects != nil {
			sums := t.effects.Part(i)
			run.Effects = &sums
		}
		run.Operations.Unstarted = nil // those would have been of whoever had been idle
		run.Preset = presetOf(&x.Part)
		addTheory(&run, x.Plan)
		list[i] = record.Part{Name: x.Name, Share: x.Share, Clients: int64(x.Plan.Clients), Run: &run}
	}
	return list
}

// partNotes says what a reader must know of a mixed fleet: whether a part of it convoys, whatever the whole does.
func partNotes(run *record.Run, openLoop bool) []string {
	var notes []string
	for i := range run.Parts {
		part := &run.Parts[i]
		c := &part.Run.Convoy
		if c.ConvoyIndex == nil {
			continue
		}
		var does string
		switch part.Run.Headline() {
		case record.VerdictConvoy:
			does = "convoys"
		case record.VerdictClumped:
			does = "comes back in clumps"
		default:
			continue
		}
		notes = append(notes, fmt.Sprintf("part %s (%s of the clients) %s: convoy index %.2f", part.Name, percent(part.Share), does, *c.ConvoyIndex))
	}
	notes = append(notes, "the parts of this fleet have figures of their own; the capacity is the whole fleet's, so that of a part there are no waves and no peak over capacity, and its verdict rests on its convoy index alone")
	if slices.ContainsFunc(run.Parts, func(p record.Part) bool { return p.Run.Budget != nil || p.Run.Breaker != nil }) {
		notes = append(notes, "budgets and breakers are each part's own: with scope fleet there is one for each part")
	}
	if openLoop {
		notes = append(notes, "operations go to the client that has been idle longest, whatever part it is of: a part whose operations last longer gets fewer of them than its share")
	}
	return notes
}

// percent writes a share.
func percent(share float64) string {
	return strconv.FormatFloat(float64(int64(share*1e6+0.5))/1e4, 'f', -1, 64) + " %"
}

// markWhole says of a run and its parts whether it came to its end.
func markWhole(run *record.Run, whole bool) {
	run.Whole = whole
	for i := range run.Parts {
		run.Parts[i].Run.Whole = whole
	}
}

// seedsOfParts are the figures of each part of a run.
func seedsOfParts(run *record.Run) []record.Seed {
	var list []record.Seed
	for i := range run.Parts {
		list = append(list, record.SeedOf(run.Parts[i].Run))
	}
	return list
}

// repeated puts the range of the seeds' figures into the run of the first one, and into its parts: ended are those that
// came to their end, parts the same of each one's parts.
func repeated(run *record.Run, p plan.Plan, ended []record.Seed, parts [][]record.Seed) {
	run.Repeats = record.RepeatsOf(p.Seed.Value, p.Repeat, ended)
	run.Parts = slices.Clone(run.Parts) // others may be looking at those of the first seed
	for i := range run.Parts {
		seeds := make([]record.Seed, len(parts))
		for k := range parts {
			seeds[k] = parts[k][i]
		}
		own := *run.Parts[i].Run
		own.Repeats = record.RepeatsOf(p.Seed.Value, p.Repeat, seeds)
		run.Parts[i].Run = &own
	}
}

// cutsOf is what the end cut short of each part, in virtual time.
func cutsOf(stats sim.Stats) []cut {
	cuts := make([]cut, len(stats.Cuts))
	for i, x := range stats.Cuts {
		cuts[i] = cut{inFlight: x.InFlight, unfinished: x.Unfinished}
	}
	return cuts
}

// series is what the accounts of budgets keep of their balances.
func (t *trial) series() budget.Series {
	return budget.Series{Width: t.plan.Bucket, Intervals: int(t.plan.Duration / t.plan.Bucket)}
}
