package metrics

import (
	"slices"

	"stormtest/load/record"
)

// whole is what whole policies and whole incidents add: breakers, hedges, what was done twice, and the figures by phase, by
// part of a mixed fleet and by service of a chain.
//
// Parts and services have families of their own, so that a sum over a family of the run counts nothing twice.
var whole = slices.Concat(policies, phased, ofParts, ofLayers)

// policies are breakers, throttles, hedges, and what the target did and threw out.
var policies = []row{
	{"stormtest_breaker_changes_total", Counter, []string{"to"}, "Changes of state of the breakers: opened while closed, reopened while half-open, closed.", func(r reading) []point {
		return when(r.ours() && r.Breaker != nil, func() []point {
			b := r.Breaker
			return []point{labelled("opened", float64(b.Opened)), labelled("reopened", float64(b.Reopened)), labelled("closed", float64(b.Closed))}
		})
	}},
	{"stormtest_breaker_probes_total", Counter, nil, "Attempts that half-open breakers let through.", func(r reading) []point {
		return r.breaker(func(b *record.Breaker) int64 { return b.Probes })
	}},
	{"stormtest_breaker_open_ratio", Gauge, nil, "Part of the breakers' time for which they were open.", func(r reading) []point { return r.figure("breaker_open_share") }},
	{"stormtest_breakers_open", Gauge, nil, "Breakers that were not closed when the run ended.", func(r reading) []point {
		return r.breaker(func(b *record.Breaker) int64 { return b.OpenAtEnd })
	}},
	{"stormtest_attempts_short_circuited_total", Counter, nil, "First attempts and retries, not hedges, that were due and that a breaker or a throttle of the client kept from being sent.", func(r reading) []point {
		return when(r.ours() && (r.Breaker != nil || r.Attempts.ShortCircuited > 0), func() []point { return count(r.Attempts.ShortCircuited) })
	}},
	{"stormtest_budget_first_refused_total", Counter, nil, "First attempts that a throttle did not let out.", func(r reading) []point {
		return r.throttle(func(b *record.Budget) float64 { return float64(b.RefusedFirst) })
	}},
	{"stormtest_budget_delayed_total", Counter, nil, "Attempts that a throttle made wait.", func(r reading) []point {
		return r.throttle(func(b *record.Budget) float64 { return float64(b.Delayed) })
	}},
	{"stormtest_budget_delay_seconds_total", Counter, nil, "How long a throttle made attempts wait, all together.", func(r reading) []point {
		return r.throttle(func(b *record.Budget) float64 { return b.DelayTotal.Seconds() })
	}},
	{"stormtest_hedges_total", Counter, []string{"event"}, "Hedges that were sent, that won, and that were due and withheld, and attempts that another one's answer cancelled.", func(r reading) []point {
		return when(r.ours() && r.Hedging != nil, func() []point {
			h := r.Hedging
			return []point{labelled("sent", float64(h.Sent)), labelled("won", float64(h.Won)), labelled("cancelled", float64(h.Cancelled)), labelled("withheld", float64(h.Withheld))}
		})
	}},
	{"stormtest_effects_done_total", Counter, nil, "Operations whose work was done at least once.", func(r reading) []point {
		return when(r.Effects != nil, func() []point { return count(r.Effects.Done) })
	}},
	{"stormtest_effects_duplicated_total", Counter, nil, "Operations whose work was done more than once.", func(r reading) []point {
		return when(r.Effects != nil, func() []point { return count(r.Effects.Duplicated) })
	}},
	{"stormtest_effects_extra_total", Counter, nil, "Times that work was done again.", func(r reading) []point {
		return when(r.Effects != nil, func() []point { return count(r.Effects.Extra) })
	}},
	{"stormtest_dropped_total", Counter, []string{"reason"}, "Attempts that the target threw out of its queue unserved.", func(r reading) []point {
		return when(r.Dropped != nil, func() []point {
			return []point{labelled("expired", float64(r.Dropped.Expired)), labelled("shed", float64(r.Dropped.Shed))}
		})
	}},
	{"stormtest_recovery_watched_seconds", Gauge, nil, "How long the target was watched after the last outage or surge.", func(r reading) []point {
		return when(r.Recovery.GoodputBefore != nil, func() []point { return nanoseconds(&r.Recovery.Watched) })
	}},
	{"stormtest_amplification_last_minute_ratio", Gauge, nil, "Arrivals for each first attempt in the last 60 s after an outage or surge.", func(r reading) []point {
		return r.figure("amplification_last_minute")
	}},
	{"stormtest_wasted_last_minute_ratio", Gauge, nil, "Part of the finished work whose answer reached nobody, in the last 60 s after an outage or surge.", func(r reading) []point {
		return r.figure("wasted_share_last_minute")
	}},
}

// phased are the figures of each phase.
var phased = []row{
	{"stormtest_phase_seconds", Gauge, []string{"phase"}, "How long the phase was.", func(r reading) []point {
		return r.phases(func(p *record.Phase) *float64 { return known((p.To - p.From).Seconds()) })
	}},
	{"stormtest_phase_arrivals_total", Counter, []string{"phase"}, "Attempts that arrived in the phase.", func(r reading) []point {
		return r.phases(func(p *record.Phase) *float64 { return known(float64(p.Arrivals)) })
	}},
	{"stormtest_phase_rejected_total", Counter, []string{"phase"}, "Arrivals of the phase that were rejected.", func(r reading) []point {
		return r.phases(func(p *record.Phase) *float64 { return known(float64(p.Rejected)) })
	}},
	{"stormtest_phase_goodput_per_second", Gauge, []string{"phase"}, "Work finished in the phase for a client that still wanted it, per second.", func(r reading) []point {
		return r.phases(func(p *record.Phase) *float64 { return p.GoodputPerSecond })
	}},
	{"stormtest_phase_amplification_ratio", Gauge, []string{"phase"}, "Arrivals for each first attempt that arrived in the phase.", func(r reading) []point {
		return r.phases(func(p *record.Phase) *float64 { return p.Amplification })
	}},
	{"stormtest_phase_wasted_ratio", Gauge, []string{"phase"}, "Part of the work finished in the phase whose answer reached nobody.", func(r reading) []point {
		return when(r.atTarget(), func() []point { return r.phases(func(p *record.Phase) *float64 { return p.WastedShare }) })
	}},
}

// ofParts are the figures of each part of a mixed fleet.
var ofParts = []row{
	{"stormtest_part_clients", Gauge, []string{"part"}, "Clients of a mixed fleet that follow the policy.", func(r reading) []point {
		return r.parts(func(p *record.Part) *float64 { return known(float64(p.Clients)) })
	}},
	{"stormtest_part_attempts_sent_total", Counter, []string{"part"}, "Attempts that this part of the fleet sent.", partFigure("attempts_sent")},
	{"stormtest_part_operations_started_total", Counter, []string{"part"}, "Operations that clients of this part began.", partFigure("operations_started")},
	{"stormtest_part_operations_succeeded_total", Counter, []string{"part"}, "Operations of this part that succeeded.", partFigure("operations_succeeded")},
	{"stormtest_part_amplification_ratio", Gauge, []string{"part"}, "Attempts sent for each operation of this part.", partFigure("amplification")},
	{"stormtest_part_success_ratio", Gauge, []string{"part"}, "Part of the operations of this part of the fleet that succeeded.", partFigure("success_share")},
	{"stormtest_part_convoy_index", Gauge, []string{"part"}, "Synchrony of the retries of this part in the judged window.", partFigure("convoy_index")},
}

// ofLayers are the figures of each service behind the first.
var ofLayers = []row{
	{"stormtest_layer_calls_total", Counter, []string{"layer"}, "Calls that the service before it had to make of this one.", layerFigure("operations_started")},
	{"stormtest_layer_calls_succeeded_total", Counter, []string{"layer"}, "Of these calls, those that succeeded.", layerFigure("operations_succeeded")},
	{"stormtest_layer_attempts_sent_total", Counter, []string{"layer"}, "Attempts that were sent to this service.", layerFigure("attempts_sent")},
	{"stormtest_layer_served_total", Counter, []string{"layer"}, "Work that this service finished.", layerFigure("served")},
	{"stormtest_layer_rejected_total", Counter, []string{"layer"}, "Arrivals that this service rejected.", layerFigure("rejected")},
	{"stormtest_layer_amplification_ratio", Gauge, []string{"layer"}, "Attempts at this service for each call of it.", layerFigure("amplification")},
	{"stormtest_layer_amplification_end_to_end_ratio", Gauge, []string{"layer"}, "Attempts at this service for each operation that a client started.", func(r reading) []point {
		return r.layers(func(l *record.Layer) *float64 { return l.EndToEnd })
	}},
}

func known(v float64) *float64 { return &v }

// breaker is a count of the breakers', where there are any.
func (r reading) breaker(of func(*record.Breaker) int64) []point {
	return when(r.ours() && r.Breaker != nil, func() []point { return count(of(r.Breaker)) })
}

// throttle is a figure of a budget that held attempts back.
func (r reading) throttle(of func(*record.Budget) float64) []point {
	return when(r.ours() && r.Budget != nil && (r.Budget.RefusedFirst > 0 || r.Budget.Delayed > 0), func() []point { return one(of(r.Budget)) })
}

// A labeller makes points of named things, whose names it makes differ.
type labeller struct {
	names namer
	list  []point
}

func newLabeller() labeller {
	return labeller{names: namer{used: map[string]bool{}, last: map[string]int{}}}
}

func (l *labeller) add(name string, v *float64) {
	label := l.names.distinct(name)
	for _, p := range optional(v) {
		l.list = append(l.list, labelled(label, p.sample.Value))
	}
}

// phases are the values of every phase that has one.
func (r reading) phases(of func(*record.Phase) *float64) []point {
	l := newLabeller()
	for i := range r.Phases {
		l.add(r.Phases[i].Name, of(&r.Phases[i]))
	}
	return l.list
}

// parts are the values of every part that has one.
func (r reading) parts(of func(*record.Part) *float64) []point {
	l := newLabeller()
	for i := range r.Parts {
		l.add(r.Parts[i].Name, of(&r.Parts[i]))
	}
	return l.list
}

// layers are the values of every service that has one.
func (r reading) layers(of func(*record.Layer) *float64) []point {
	l := newLabeller()
	for i := range r.Layers {
		l.add(r.Layers[i].Name, of(&r.Layers[i]))
	}
	return l.list
}

// partFigure is a figure of every part's run, by its name.
func partFigure(name string) func(reading) []point {
	return func(r reading) []point {
		return r.parts(func(p *record.Part) *float64 { return figureIn(p.Run, name) })
	}
}

// layerFigure is a figure of every service's run, by its name.
func layerFigure(name string) func(reading) []point {
	return func(r reading) []point {
		return r.layers(func(l *record.Layer) *float64 { return figureIn(l.Run, name) })
	}
}

// figureIn is a figure of a run that may be missing.
func figureIn(run *record.Run, name string) *float64 {
	m, ok := record.MetricNamed(name)
	if !ok {
		panic("metrics: BUG: no figure " + name)
	}
	if run == nil {
		return nil
	}
	return m.Value(run)
}
