package record

// Why a figure of the policy is absent.
const (
	noDelays = "no retry was planned"
	noHints  = "no answer carried a Retry-After"
	noBudget = "the plan has no budget"
)

var policyMetrics = tabled("Policy: delays, Retry-After and budget",
	Metric{Name: "delay_at_cap_share", Unit: UnitShare, Meaning: "drawn delays that are exactly the cap", Absent: noDelays,
		value: func(r *Run) *float64 { return r.DelayShares.AtCap }},
	Metric{Name: "delay_at_floor_share", Unit: UnitShare, Meaning: "drawn delays that are exactly the strategy's floor", Absent: noDelays + ", or the strategy has no floor",
		value: func(r *Run) *float64 { return r.DelayShares.AtFloor }},
	Metric{Name: "first_delay_mode_share", Unit: UnitShare, Meaning: "the largest part of the first retries' delays in one bin of their histogram", Absent: "too few first retries",
		value: func(r *Run) *float64 { return r.DelayShares.FirstMode }},
	Metric{Name: "retry_after_seen", Unit: UnitCount, Meaning: "answers with a Retry-After",
		value: func(r *Run) *float64 { return count(r.Hints.Seen) }},
	Metric{Name: "retry_after_obeyed", Unit: UnitCount, Meaning: "waits that a Retry-After set", Absent: noHints,
		value: hinted(func(h *Hints) int64 { return h.Obeyed })},
	Metric{Name: "retry_after_invalid", Unit: UnitCount, Meaning: "Retry-After that are none by RFC 9110", Absent: noHints,
		value: hinted(func(h *Hints) int64 { return h.Invalid })},
	Metric{Name: "retry_after_early", Unit: UnitCount, Meaning: "retries sent before an obeyed Retry-After was over", Absent: noHints,
		value: hinted(func(h *Hints) int64 { return h.Early })},
	Metric{Name: "budget_deposits", Unit: UnitCount, Meaning: "first attempts that paid into a budget", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Deposits })},
	Metric{Name: "budget_taken", Unit: UnitCount, Meaning: "retries that a budget allowed, before their sleep", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Taken })},
	Metric{Name: "budget_returned", Unit: UnitCount, Meaning: "retries that a budget allowed and that were cancelled in their sleep", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Returned })},
	Metric{Name: "budget_spent", Unit: UnitCount, Meaning: "retries that a budget allowed and that were sent", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Spent })},
	Metric{Name: "budget_refused", Unit: UnitCount, Meaning: "operations that gave up because a budget refused", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Refused })},
	Metric{Name: "budget_refused_first", Unit: UnitCount, Meaning: "first attempts that a throttle did not let out", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.RefusedFirst })},
	Metric{Name: "budget_delayed", Unit: UnitCount, Meaning: "attempts that a throttle made wait", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.Delayed })},
	Metric{Name: "budget_delay_total", Unit: UnitDuration, Meaning: "how long a throttle made attempts wait, all together", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return int64(b.DelayTotal) })},
	Metric{Name: "budget_balance_lowest", Unit: UnitRatio, Meaning: "least that any account held, in retries", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.BalanceLowest })},
	Metric{Name: "budget_balance_highest", Unit: UnitRatio, Meaning: "most that any account held, in retries", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.BalanceHighest })},
	Metric{Name: "budget_balance_last", Unit: UnitRatio, Meaning: "what all accounts held at the end, in retries", Absent: noBudget,
		value: budgeted(func(b *Budget) int64 { return b.BalanceLast })},
)

// hinted is a count of Retry-After, where there was one to count.
func hinted(of func(*Hints) int64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Hints.Seen == 0 {
			return nil
		}
		return count(of(&r.Hints))
	}
}

func budgeted(of func(*Budget) int64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Budget == nil {
			return nil
		}
		return count(of(r.Budget))
	}
}

var machineMetrics = tabled("This machine: can the figures be believed?",
	Metric{Name: "kept_up", Unit: UnitWord, Words: yesNo("no", "yes"), Meaning: "whether the generator kept up; where it did not the run is invalid, exit code 4",
		value: func(r *Run) *float64 { return truth(r.Generator.KeptUp) }},
	Metric{Name: "start_spread", Unit: UnitDuration, Meaning: "p99 - p1 of the first wave's arrivals", Absent: "a ramp, a rate or an outage spreads the first wave",
		value: func(r *Run) *float64 { return whole(r.Generator.StartSpread) }},
	Metric{Name: "connections", Unit: UnitCount, Meaning: "connections opened over the whole run", Absent: "none was opened, as in virtual time or memory", AtTarget: true,
		value: connections},
	Metric{Name: "replayed_by_transport", Unit: UnitCount, Meaning: "requests that HTTP/2 sent again by itself, so that the server saw so many more",
		value: func(r *Run) *float64 { return count(r.Generator.Replayed) }},
	Metric{Name: "books_balanced", Unit: UnitWord, Words: yesNo("no", "yes"), Meaning: "whether every attempt and operation is accounted for", AtTarget: true,
		value: func(r *Run) *float64 { return truth(r.Books.Balanced) }},
)

func connections(r *Run) *float64 {
	if r.Generator.Connections == 0 {
		return nil
	}
	return count(r.Generator.Connections)
}

func truth(yes bool) *float64 {
	if yes {
		return count(1)
	}
	return count(0)
}

// onlyOutside is why a figure of stormtest serve is absent in a storm.
const onlyOutside = "only stormtest serve counts it"

var outsideMetrics = tabled("Clients that are not ours (stormtest serve)",
	Metric{Name: "arrivals_unknown", Unit: UnitCount, Meaning: "arrivals that nothing told a first attempt from a retry by", Absent: onlyOutside, AtTarget: true, OnlyServe: true,
		value: outside(func(o *Outside) *float64 { return count(o.Unknown) })},
	Metric{Name: "unanswered_at_end", Unit: UnitCount, Meaning: "arrivals without an answer when the run ended", Absent: onlyOutside, AtTarget: true, OnlyServe: true,
		value: outside(func(o *Outside) *float64 { return count(o.Unanswered) })},
	Metric{Name: "first_failure", Unit: UnitDuration, Meaning: "moment of the first failure, from which on retries are judged", Absent: onlyOutside + ", and there may have been none", AtTarget: true, OnlyServe: true,
		value: outside(func(o *Outside) *float64 { return length(o.Failure) }), why: noFailure},
)

func outside(of func(*Outside) *float64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Outside == nil {
			return nil
		}
		return of(r.Outside)
	}
}

func noFailure(r *Run) string {
	if r.Outside == nil {
		return onlyOutside
	}
	return "nothing failed"
}
