package compare

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// A direction says which way of a metric is better.
type direction int

const (
	either direction = iota // there is none, or it depends
	lower
	higher
	// cheaper is lower, of what is also saved by getting less done.
	cheaper
)

// directions has a row for every metric and every histogram, so that a new one is placed on purpose.
var directions = map[string]direction{
	"success_share": higher, "operations_started": either, "operations_succeeded": higher, "operations_gave_up": lower,
	"operations_unfinished": lower, "operations_unstarted": lower, "completion": lower, "duration": either,

	"attempts_sent": cheaper, "attempts_first": either, "attempts_retries": cheaper, "attempts_in_flight_at_end": either,
	"amplification": cheaper, "lost": lower,

	"arrivals": cheaper, "arrivals_first": either, "arrivals_retries": cheaper, "served": either, "wasted": lower, "wasted_share": lower,
	"rejected": cheaper, "goodput": higher, "peak_arrivals": lower, "peak_sliding_arrivals": lower, "peak_over_capacity": lower,
	"peak_over_mean":  either, // a fuller mean is no flatter peak
	"waves":           either, // one wave that never ends is the fewest
	"half_life_waves": lower,

	"convoy_index": lower, "post_outage_convoy_index": lower, "retry_synchronisation_index": lower, "retry_synchronisation_index_max": lower,
	"window_arrivals": either, "window_peak_over_capacity": lower, "dispersion": either, "periodicity": either,

	"goodput_before": either, "goodput_last": either, "goodput_ratio": higher, "recovered_after": lower,
	"amplification_last_minute": lower, "wasted_share_last_minute": lower,
	"amplification_before": lower, "rejected_share_before": lower, "wasted_share_before": lower,
	"goodput_during": higher, "amplification_during": lower, "rejected_share_during": either, "wasted_share_during": lower,
	"goodput_after": higher, "amplification_after": lower, "rejected_share_after": lower, "wasted_share_after": lower,

	"delay_at_cap_share": either, "delay_at_floor_share": either, "first_delay_mode_share": either,
	"retry_after_seen": either, "retry_after_obeyed": either, "retry_after_invalid": either, "retry_after_early": lower,
	"budget_deposits": either, "budget_taken": either, "budget_returned": either, "budget_spent": either, "budget_refused": either,
	"budget_refused_first": either, "budget_delayed": either, "budget_delay_total": either,
	"budget_balance_lowest": either, "budget_balance_highest": either, "budget_balance_last": either,

	"breaker_opened": either, "breaker_reopened": lower, "breaker_closed": either, "breaker_probes": either,
	"breaker_short_circuited": either, "breaker_open_at_end": lower, "breaker_open_share": lower, "attempts_short_circuited": either,
	"attempts_hedges": cheaper, "hedges_sent": cheaper, "hedges_won": either, "hedges_cancelled": cheaper, "hedges_withheld": either,
	"effects_done": either, "effects_duplicated": lower, "effects_duplicated_share": lower, "effects_extra": lower,
	"dropped": either, "dropped_expired": either, "dropped_shed": either, "amplification_end_to_end": cheaper,

	// Of this machine, and of clients that are not ours.
	"start_spread": either, "connections": either, "replayed_by_transport": either,
	"arrivals_unknown": either, "unanswered_at_end": either, "first_failure": either,

	"latency":           either,                                 // refusals are answers too, and quick ones
	"operation_latency": cheaper, "attempt_at_success": cheaper, // of those that succeeded, however few
	"elapsed": either, // who gives up early is done early
	"delay":   either, "lateness": either, "lateness_rest": either, "connection_wait": either,

	// Of a family of counters.
	"gave_up_": lower, "outcome_": either, "lost_": lower, "answer_": either,
}

// directionOf returns the row of a metric. How many values a histogram has is no figure of them.
func directionOf(m record.Metric) (direction, bool) {
	if m.Histogram != "" {
		d, ok := directions[m.Histogram]
		if m.Unit == record.UnitCount && m.Name == m.Histogram+"_count" {
			d = either
		}
		return d, ok
	}
	if d, ok := directions[m.Name]; ok {
		return d, true
	}
	for _, f := range record.Families() {
		if strings.HasPrefix(m.Name, f.Prefix) {
			d, ok := directions[f.Prefix]
			return d, ok
		}
	}
	return either, false
}

// mostDone is how much of the other side's success a side must have, for less work to be better.
const mostDone = 0.99

// weigh says of every difference whether it is for the better.
func (p *Pair) weigh(o *Other) {
	for i := range p.Figures {
		p.Figures[i].Effect = p.effect(&p.Figures[i], o)
	}
	for i := range p.Flags {
		p.Flags[i].Effect = p.flagEffect(&p.Flags[i], o)
	}
}

// effect says whether a difference is for the better. Counts of fleets that had not as much to do are not held against
// each other, nor is what grows with the time that is watched where that is not the same, nor what is of different windows;
// and less work is no feat of the side that got less done.
func (p *Pair) effect(f *Figure, o *Other) string {
	m, _ := record.MetricNamed(f.Metric)
	d, _ := directionOf(m)
	switch {
	case f.Difference == nil || *f.Difference == 0 || d == either || f.Base.Count != f.Base.Seeds || f.Other.Count != f.Other.Seeds:
		return Neutral
	case f.Unit == record.UnitCount && o.otherExtent():
		return Neutral
	case p.watchedOtherwise(o) && !slices.Contains(whateverWatched, f.Metric):
		return Neutral
	case p.Moved(f.Metric):
		return Neutral
	}
	better := (*f.Difference > 0) == (d == higher)
	if d == cheaper {
		success := p.Figure("success_share")
		if success == nil || lessDone(success, better) {
			return Neutral
		}
	}
	if better {
		return Better
	}
	return Worse
}

// flagEffect is that of a flag, where every seed could tell.
func (p *Pair) flagEffect(f *Flag, o *Other) string {
	apart := f.apart()
	switch {
	case apart == 0 || f.Base.Known != f.Base.Seeds || f.Other.Known != f.Other.Seeds:
		return Neutral
	case p.watchedOtherwise(o) && !slices.Contains(whateverWatched, f.metric.Name):
		return Neutral
	case apart < 0:
		return Better
	}
	return Worse
}

// lessDone reports whether the side that did less work, the other where it is better, got less done. Where nobody knows
// what was done, it did.
func lessDone(success *Figure, better bool) bool {
	a, b := success.Base.Value, success.Other.Value
	if a == nil || b == nil {
		return true
	}
	if better {
		a, b = b, a
	}
	return *a < mostDone**b
}

// otherExtent reports whether there was not as much to do on both sides.
func (o *Other) otherExtent() bool {
	return slices.ContainsFunc(o.PlanChanges, func(c Change) bool { return slices.Contains(extents, c.Name) })
}

// whateverWatched are the figures that do not grow with the time that is watched.
var whateverWatched = append([]string{"recovered_after", "metastable", "shared_seed"}, ofWindow...)

// watchedOtherwise reports whether the runs were ended by different --duration. A fleet that was done before is as it would
// have been in any longer time; of --rate the duration says how much there is to do.
func (p *Pair) watchedOtherwise(o *Other) bool {
	changed := slices.ContainsFunc(o.PlanChanges, func(c Change) bool { return c.Name == fieldDuration })
	if !changed {
		return false
	}
	started, unfinished := p.Figure("operations_started"), p.Figure("operations_unfinished")
	done := started != nil && started.Finding == Equal && unfinished != nil && unfinished.Base.nothing() && unfinished.Other.nothing()
	return o.rated || !done
}

// nothing reports whether a count is 0 in every seed.
func (v *Value) nothing() bool { return v.Count == v.Seeds && v.Value != nil && *v.Value == 0 }
