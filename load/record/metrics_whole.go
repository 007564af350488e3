package record

// Why a figure of a whole policy or of a chain is absent.
const (
	noBreaker = "the plan has no breaker"
	noHedging = "the plan sends no hedges"
	noEffects = "the target is a URL, which does not tell, or none of its requests has an Idempotency-Key"
	noDrops   = "the queue drops nothing: it takes every waiting attempt in its turn"
	noChain   = "the plan has no layers, or no operation was started"
)

var breakerMetrics = tabled("Breaker: did the circuit open?",
	Metric{Name: "breaker_opened", Unit: UnitCount, Meaning: "how often a closed breaker opened", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.Opened })},
	Metric{Name: "breaker_reopened", Aliases: []string{"circuit_breaker_reopen_total"}, Unit: UnitCount, Meaning: "how often a half-open breaker opened again", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.Reopened })},
	Metric{Name: "breaker_closed", Unit: UnitCount, Meaning: "how often a half-open breaker closed", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.Closed })},
	Metric{Name: "breaker_probes", Unit: UnitCount, Meaning: "attempts that half-open breakers let through", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.Probes })},
	Metric{Name: "breaker_short_circuited", Unit: UnitCount, Meaning: "attempts that a breaker kept from being sent, hedges counted", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.ShortCircuited })},
	Metric{Name: "breaker_open_at_end", Unit: UnitCount, Meaning: "breakers that were not closed when the run ended", Absent: noBreaker,
		value: broken(func(b *Breaker) int64 { return b.OpenAtEnd })},
	Metric{Name: "breaker_open_share", Unit: UnitShare, Meaning: "time for which the breakers were open, of all their time", Absent: noBreaker,
		value: func(r *Run) *float64 {
			if r.Breaker == nil {
				return nil
			}
			return r.Breaker.OpenShare
		}},
	Metric{Name: "attempts_short_circuited", Unit: UnitCount, Meaning: "first attempts and retries, not hedges, that were due and that a breaker or a throttle of the client kept from being sent",
		Absent: "the plan has neither a breaker nor a budget", value: func(r *Run) *float64 {
			if r.Breaker == nil && r.Budget == nil {
				return nil
			}
			return count(r.Attempts.ShortCircuited)
		}},
)

func broken(of func(*Breaker) int64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Breaker == nil {
			return nil
		}
		return count(of(r.Breaker))
	}
}

var hedgingMetrics = tabled("Hedges: copies sent before an answer",
	Metric{Name: "attempts_hedges", Unit: UnitCount, Meaning: "attempts that left while another one of their operation was under way", Absent: noHedging,
		value: hedged(func(r *Run) int64 { return r.Attempts.Hedges })},
	Metric{Name: "hedges_sent", Unit: UnitCount, Meaning: "hedges that were sent", Absent: noHedging,
		value: hedged(func(r *Run) int64 { return r.Hedging.Sent })},
	Metric{Name: "hedges_won", Unit: UnitCount, Meaning: "hedges whose answer was their operation's", Absent: noHedging,
		value: hedged(func(r *Run) int64 { return r.Hedging.Won })},
	Metric{Name: "hedges_cancelled", Unit: UnitCount, Meaning: "attempts that another one's answer made needless", Absent: noHedging,
		value: hedged(func(r *Run) int64 { return r.Hedging.Cancelled })},
	Metric{Name: "hedges_withheld", Unit: UnitCount, Meaning: "hedges that were due and not sent, because a breaker, a budget, a limit or the server did not allow it", Absent: noHedging,
		value: hedged(func(r *Run) int64 { return r.Hedging.Withheld })},
)

func hedged(of func(*Run) int64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Hedging == nil {
			return nil
		}
		return count(of(r))
	}
}

var effectMetrics = tabled("Effects: what the target did, and what it threw out",
	Metric{Name: "effects_done", Unit: UnitCount, Meaning: "operations whose work was done at least once", Absent: noEffects,
		value: effected(func(e *Effects) *float64 { return count(e.Done) })},
	Metric{Name: "effects_duplicated", Unit: UnitCount, Meaning: "operations whose work was done more than once", Absent: noEffects,
		value: effected(func(e *Effects) *float64 { return count(e.Duplicated) })},
	Metric{Name: "effects_duplicated_share", Unit: UnitShare, Meaning: "operations whose work was done more than once, of those whose work was done",
		Absent: noEffects + ", or nothing was done", value: effected(func(e *Effects) *float64 { return share(e.Duplicated, e.Done) })},
	Metric{Name: "effects_extra", Unit: UnitCount, Meaning: "times that work was done again", Absent: noEffects,
		value: effected(func(e *Effects) *float64 { return count(e.Extra) })},
	Metric{Name: "dropped", Unit: UnitCount, Meaning: "attempts that were thrown out of the target's queue unserved", Absent: noDrops, AtTarget: true,
		value: dropped(inBuckets(func(b *Bucket) int64 { return b.Dropped }))},
	Metric{Name: "dropped_expired", Unit: UnitCount, Meaning: "attempts thrown out because their deadline had passed", Absent: noDrops, AtTarget: true,
		value: dropped(func(r *Run) *float64 { return count(r.Dropped.Expired) })},
	Metric{Name: "dropped_shed", Unit: UnitCount, Meaning: "attempts thrown out because they had waited too long for the queue's discipline", Absent: noDrops, AtTarget: true,
		value: dropped(func(r *Run) *float64 { return count(r.Dropped.Shed) })},
	Metric{Name: "amplification_end_to_end", Unit: UnitRatio, Meaning: "attempts sent to the last service of a chain for each operation that a client started", Absent: noChain,
		value: func(r *Run) *float64 {
			if len(r.Layers) == 0 {
				return nil
			}
			return r.Layers[len(r.Layers)-1].EndToEnd
		}},
)

func effected(of func(*Effects) *float64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Effects == nil {
			return nil
		}
		return of(r.Effects)
	}
}

func dropped(value func(*Run) *float64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Dropped == nil {
			return nil
		}
		return value(r)
	}
}
