package metrics

import (
	"slices"

	"stormtest/load/record"
	"stormtest/report/literal"
)

// StrategyLabel is the label of everything that belongs to a run.
const StrategyLabel = "backoff_strategy"

// A row is one family of which every run has samples.
type row struct {
	name   string
	kind   Kind
	labels []string // beside StrategyLabel
	help   string
	of     func(reading) []point
}

// table is every family of a run, in the order of their documentation.
var table = slices.Concat(guides, arrivals, attempts, operations, synchrony, whole, distributions, health)

// guides are the metrics by the names that the retry guides give them.
var guides = []row{
	{"retry_delay_ms", Histogram, nil, "Planned sleeps before retries in ms, a Retry-After included.", func(r reading) []point {
		return r.histogram(&r.Delay, func(d *record.Detail) *record.Bins { return d.Delay }, scaleMilliseconds)
	}},
	{"retry_attempt_number", Histogram, nil, "The try at which an operation succeeded; 1 is the first, and a try that a breaker or throttle did not let out counts.", func(r reading) []point {
		return r.histogram(&r.AttemptAtSuccess, func(d *record.Detail) *record.Bins { return d.AttemptAtSuccess }, scaleAttempts)
	}},
	{"retry_total_elapsed_seconds", Histogram, nil, "Time from an operation's first attempt to its end, succeeded or not, sleeps included.", func(r reading) []point {
		return r.histogram(&r.Elapsed, func(d *record.Detail) *record.Bins { return d.Elapsed }, scaleSeconds)
	}},
	{"retry_synchronisation_index", Gauge, nil, "Synchrony of the retries inside a bucket by variance: 0 is uniform, 1 is one moment.", func(r reading) []point {
		return r.figure("retry_synchronisation_index")
	}},
	{"convoy_index", Gauge, nil, "Synchrony of the retries in the judged window: 0 is Poisson, 1 is perfect clumps; absent under 100 retries.", func(r reading) []point {
		return r.figure("convoy_index")
	}},
	{"peak_over_capacity", Gauge, nil, "Fullest bucket over what the target can serve in a bucket; above 1 it must refuse.", func(r reading) []point {
		return r.of(r.Convoy.PeakOverCapacity)
	}},
	{"circuit_breaker_reopen_total", Counter, nil, "How often a half-open breaker opened again; absent without a breaker.", func(r reading) []point {
		return r.breaker(func(b *record.Breaker) int64 { return b.Reopened })
	}},
}

// arrivals are what the target saw and did.
var arrivals = []row{
	{"stormtest_arrivals_total", Counter, []string{"attempt"}, "Attempts that arrived, first ones and retries; unknown where a log of arrivals does not tell.", func(r reading) []point {
		if r.FromLog != nil {
			return []point{labelled("unknown", float64(r.Books.Arrivals))}
		}
		return []point{
			labelled("first", float64(r.sum(func(b *record.Bucket) int64 { return b.First }))),
			labelled("retry", float64(r.sum(func(b *record.Bucket) int64 { return b.Retries }))),
		}
	}},
	{"stormtest_arrivals_accepted_total", Counter, nil, "Arrivals that the target took: not refused over capacity or by an outage.", func(r reading) []point {
		return when(r.atTarget(), func() []point {
			return count(max(0, r.sum(func(b *record.Bucket) int64 { return b.Arrivals - b.Rejected })))
		})
	}},
	{"stormtest_arrivals_rejected_total", Counter, nil, "Arrivals that the target refused, over capacity or by an outage.", func(r reading) []point {
		return when(r.FromLog == nil, func() []point { return count(r.sum(func(b *record.Bucket) int64 { return b.Rejected })) })
	}},
	{"stormtest_served_total", Counter, nil, "Work that the target finished, whether anybody waited for it or not.", func(r reading) []point {
		return when(r.FromLog == nil, func() []point { return count(r.sum(func(b *record.Bucket) int64 { return b.Served })) })
	}},
	{"stormtest_wasted_total", Counter, nil, "Work that the target finished for clients that had gone.", func(r reading) []point {
		return when(r.atTarget(), func() []point { return count(r.sum(func(b *record.Bucket) int64 { return b.Wasted })) })
	}},
	{"stormtest_wasted_ratio", Gauge, nil, "Part of the finished work whose answer reached nobody.", func(r reading) []point { return r.figure("wasted_share") }},
	{"stormtest_capacity_per_second", Gauge, nil, "What the target can serve in a second; absent where nobody knows it.", func(r reading) []point {
		return optional(r.CapacityPerSecond)
	}},
}

// attempts are what the clients sent.
var attempts = []row{
	{"stormtest_attempts_sent_total", Counter, []string{"attempt"}, "Attempts sent: first ones, retries and hedges; while a run goes on, those that have ended.", func(r reading) []point {
		return when(r.ours(), func() []point {
			list := []point{labelled("first", float64(r.Attempts.First)), labelled("retry", float64(r.Attempts.Retries))}
			if r.Hedging != nil {
				list = append(list, labelled("hedge", float64(r.Attempts.Hedges)))
			}
			return list
		})
	}},
	{"stormtest_attempts_ended_total", Counter, []string{"outcome"}, "Attempts by what became of them: a status or a kind of failure, the 20 most frequent and other.", func(r reading) []point {
		if r.Outside != nil {
			return by(r.Outside.Answers)
		}
		return when(r.ours(), func() []point { return by(r.Attempts.ByOutcome) })
	}},
	{"stormtest_attempts_in_flight", Gauge, nil, "Attempts without an outcome when the run ended.", func(r reading) []point {
		switch {
		case r.underWay() || r.FromLog != nil:
			return nil
		case r.Outside != nil:
			return count(r.Outside.Unanswered)
		}
		return count(r.Attempts.InFlightAtEnd)
	}},
	{"stormtest_attempts_lost_total", Counter, []string{"how"}, "Attempts that never reached the target.", func(r reading) []point {
		return when(r.ours(), func() []point { return by(r.Books.Lost) })
	}},
	{"stormtest_amplification_ratio", Gauge, nil, "Attempts sent for each operation started.", func(r reading) []point { return r.figure("amplification") }},
	{"stormtest_retry_after_seen_total", Counter, nil, "Answers that carried a Retry-After.", func(r reading) []point {
		return when(r.ours(), func() []point { return count(r.Hints.Seen) })
	}},
	{"stormtest_retry_after_obeyed_total", Counter, nil, "Sleeps whose length a Retry-After set.", func(r reading) []point {
		return when(r.ours(), func() []point { return count(r.Hints.Obeyed) })
	}},
	{"stormtest_retry_after_invalid_total", Counter, nil, "Retry-After headers that are not of RFC 9110's grammar.", func(r reading) []point {
		return when(r.ours(), func() []point { return count(r.Hints.Invalid) })
	}},
	{"stormtest_budget_retries_total", Counter, []string{"decision"}, "Retries that the retry budget paid for, took back unused, or refused.", func(r reading) []point {
		return when(r.ours() && r.Budget != nil, func() []point {
			return []point{
				labelled("spent", float64(r.Budget.Spent)), labelled("returned", float64(r.Budget.Returned)), labelled("refused", float64(r.Budget.Refused)),
			}
		})
	}},
	{"stormtest_connections_opened_total", Counter, nil, "Connections opened over the whole run.", func(r reading) []point {
		return when(r.FromLog == nil && r.Engine != record.EngineVirtual && !r.underWay(), func() []point { return count(r.Generator.Connections) })
	}},
}

// operations are what the clients wanted done.
var operations = []row{
	{"stormtest_operations_started_total", Counter, nil, "Operations that a client began.", func(r reading) []point {
		return when(r.ours(), func() []point { return count(r.Operations.Started) })
	}},
	{"stormtest_operations_ended_total", Counter, []string{"result"}, "Operations that succeeded or gave up.", func(r reading) []point {
		return when(r.ours(), func() []point {
			var gaveUp int64
			for _, n := range r.Operations.GaveUp {
				gaveUp += n
			}
			return []point{labelled("succeeded", float64(r.Operations.Succeeded)), labelled("gave_up", float64(gaveUp))}
		})
	}},
	{"stormtest_operations_given_up_total", Counter, []string{"reason"}, "Operations that gave up, by the reason.", func(r reading) []point {
		return when(r.ours(), func() []point { return by(r.Operations.GaveUp) })
	}},
	{"stormtest_operations_unfinished", Gauge, nil, "Operations that began and have not ended.", func(r reading) []point {
		return when(r.ours(), func() []point { return count(r.Operations.Unfinished) })
	}},
	{"stormtest_operations_unstarted_total", Counter, nil, "Operations of an open loop that were due while no client was idle.", func(r reading) []point {
		return when(r.ours() && r.Operations.Unstarted != nil, func() []point { return count(*r.Operations.Unstarted) })
	}},
	{"stormtest_success_ratio", Gauge, nil, "Part of the operations started that succeeded.", func(r reading) []point { return r.figure("success_share") }},
	{"stormtest_completion_seconds", Gauge, nil, "Moment of the last success; absent unless every operation succeeded.", func(r reading) []point { return r.seconds("completion") }},
	{"stormtest_recovered_after_seconds", Gauge, nil, "From the end of the last outage or surge until goodput was back; absent where it did not come back while watched.", func(r reading) []point {
		return nanoseconds(r.Recovery.RecoveredAt)
	}},
	{"stormtest_goodput_before_per_second", Gauge, nil, "Goodput before the first outage or surge.", func(r reading) []point { return optional(r.Recovery.GoodputBefore) }},
	{"stormtest_goodput_last_per_second", Gauge, nil, "Goodput over the last 5 s of the run.", func(r reading) []point { return optional(r.Recovery.GoodputLast) }},
}

// verdicts and flags are the words of stormtest_verdict and stormtest_flag.
var (
	verdicts = []record.Verdict{
		record.VerdictConvoy, record.VerdictClumped, record.VerdictOverload, record.VerdictClear, record.VerdictUnjudged, record.VerdictUnserved,
	}
	flags = []struct{ word, metric string }{
		{record.FlagPeriodic, "periodic"}, {record.FlagSharedSeed, "shared_seed"}, {record.FlagMetastable, "metastable"},
	}
)

// synchrony is how the retries were spread in time, and what is said of it.
var synchrony = []row{
	{"stormtest_verdict", Gauge, []string{"verdict"}, "1 for the verdict on the run, or on it as far as it is, 0 for every other.", func(r reading) []point {
		headline := r.Headline()
		return when(r.FromLog == nil, func() []point {
			return words(verdicts, func(v record.Verdict) bool { return v == headline })
		})
	}},
	{"stormtest_flag", Gauge, []string{"flag"}, "1 for each flag beside the verdict, 0 for every other that the run could have got; one that nobody can know is absent.", func(r reading) []point {
		var list []point
		for _, flag := range flags {
			if known := r.figure(flag.metric); known != nil { // the metric's words are yes and no
				list = append(list, labelled(flag.word, 1-known[0].sample.Value))
			}
		}
		return list
	}},
	{"stormtest_post_outage_convoy_index", Gauge, nil, "The convoy index of the retries after the last outage or surge.", func(r reading) []point { return r.of(r.Convoy.PostOutageIndex) }},
	{"stormtest_window_peak_over_capacity", Gauge, nil, "Fullest bucket of the judged window, retries alone, over what the target can serve in a bucket.", func(r reading) []point {
		return r.of(r.Convoy.WindowPeakOverCapacity)
	}},
	{"stormtest_peak_arrivals", Gauge, nil, "Arrivals in the fullest bucket.", func(r reading) []point {
		return r.figure("peak_arrivals")
	}},
	{"stormtest_peak_over_mean", Gauge, nil, "Fullest bucket over the mean bucket.", func(r reading) []point { return r.of(r.Convoy.PeakOverMean) }},
	{"stormtest_waves", Gauge, nil, "Runs of buckets above capacity.", func(r reading) []point {
		return r.figure("waves")
	}},
	{"stormtest_half_life_waves", Gauge, nil, "Waves that it takes to halve the peak.", func(r reading) []point { return r.of(r.Convoy.HalfLifeWaves) }},
	{"stormtest_dispersion", Gauge, nil, "Variance over mean of the retries in a bucket: 1 is Poisson.", func(r reading) []point { return r.figure("dispersion") }},
	{"stormtest_periodicity", Gauge, nil, "Autocorrelation of the buckets at the lag of the cap (-1..1).", func(r reading) []point { return r.figure("periodicity") }},
	{"stormtest_delays_at_cap_ratio", Gauge, nil, "Part of the drawn delays that are exactly the cap.", func(r reading) []point { return r.of(r.DelayShares.AtCap) }},
	{"stormtest_delays_at_floor_ratio", Gauge, nil, "Part of the drawn delays that are exactly the strategy's floor.", func(r reading) []point { return r.of(r.DelayShares.AtFloor) }},
	{"stormtest_first_delay_mode_ratio", Gauge, nil, "Largest part of the first delays that are the same: a shared seed shows here.", func(r reading) []point {
		return r.of(r.DelayShares.FirstMode)
	}},
}

// distributions are the other histograms, and for each its quantiles to three digits.
var distributions = []row{
	{"stormtest_latency_seconds", Histogram, nil, "Latency of answered attempts, from when they were due.", func(r reading) []point {
		return r.histogram(&r.Latency, func(d *record.Detail) *record.Bins { return d.Latency }, scaleLatency)
	}},
	{"stormtest_operation_latency_seconds", Histogram, nil, "Latency of succeeded operations, sleeps included.", func(r reading) []point {
		return r.histogram(&r.OperationLatency, func(d *record.Detail) *record.Bins { return d.OperationLatency }, scaleSeconds)
	}},
	{"stormtest_lateness_seconds", Histogram, nil, "How late sends left after they were due: the load generator's own fault. Absent in virtual time.", func(r reading) []point {
		return when(r.realTime(), func() []point {
			return r.histogram(&r.Lateness, func(d *record.Detail) *record.Bins { return d.Lateness }, scaleLateness)
		})
	}},
	{"stormtest_delay_quantiles_seconds", Summary, nil, "Quantiles of retry_delay_ms to three digits.", func(r reading) []point { return r.quantiles(&r.Delay, 1e9) }},
	{"stormtest_attempt_at_success_quantiles", Summary, nil, "Quantiles of retry_attempt_number.", func(r reading) []point { return r.quantiles(&r.AttemptAtSuccess, 1) }},
	{"stormtest_elapsed_quantiles_seconds", Summary, nil, "Quantiles of retry_total_elapsed_seconds to three digits.", func(r reading) []point { return r.quantiles(&r.Elapsed, 1e9) }},
	{"stormtest_latency_quantiles_seconds", Summary, nil, "Quantiles of stormtest_latency_seconds to three digits.", func(r reading) []point { return r.quantiles(&r.Latency, 1e9) }},
	{"stormtest_operation_latency_quantiles_seconds", Summary, nil, "Quantiles of stormtest_operation_latency_seconds to three digits.", func(r reading) []point {
		return r.quantiles(&r.OperationLatency, 1e9)
	}},
	{"stormtest_lateness_quantiles_seconds", Summary, nil, "Quantiles of stormtest_lateness_seconds to three digits.", func(r reading) []point {
		return when(r.realTime(), func() []point { return r.quantiles(&r.Lateness, 1e9) })
	}},
}

// health says what run it is, how far it is, and whether it can be believed.
var health = []row{
	{"stormtest_run_info", Gauge, []string{"engine", "arrivals_measured_at"}, "1, with the engine and where arrivals were measured as labels.", func(r reading) []point {
		return []point{{labels: []string{literal.Text(r.Engine), literal.Text(r.ArrivalsMeasuredAt)}, sample: Sample{Value: 1}}}
	}},
	{"stormtest_run_finished", Gauge, nil, "1 once the run has ended, 0 while it goes on.", func(r reading) []point { return yes(!r.underWay()) }},
	{"stormtest_run_seconds", Gauge, nil, "How long the run was, or is by now.", func(r reading) []point { return nanoseconds(&r.Duration) }},
	{"stormtest_bucket_seconds", Gauge, nil, "Width of a bucket.", func(r reading) []point { return nanoseconds(&r.Bucket) }},
	{"stormtest_seeds_ended", Gauge, nil, "Seeds of a repeat that came to their end; all else in a file is of the first.", func(r reading) []point {
		return when(r.Repeats != nil, func() []point { return count(r.Repeats.Count) })
	}},
	{"stormtest_generator_kept_up", Gauge, nil, "1 where the load generator kept its schedule, 0 where the figures are this machine's. Absent in virtual time.", func(r reading) []point {
		return when(r.realTime(), func() []point { return yes(r.Generator.KeptUp) })
	}},
	{"stormtest_start_spread_seconds", Gauge, nil, "p99 - p1 of the first wave's arrivals.", func(r reading) []point { return r.seconds("start_spread") }},
	{"stormtest_books_balanced", Gauge, nil, "1 where every attempt is accounted for, 0 where one is not.", func(r reading) []point {
		return when(r.FromLog == nil && !r.underWay(), func() []point { return yes(r.Books.Balanced) })
	}},
}

// histogram returns one of the run's histograms, where the result holds it.
func (r reading) histogram(d *record.Distribution, bins func(*record.Detail) *record.Bins, c scale) []point {
	switch {
	case !r.ours():
		return nil
	case r.Detail == nil:
		return c.histogram(d, nil)
	}
	return c.histogram(d, bins(r.Detail))
}

// quantiles returns one of the run's distributions as a summary.
func (r reading) quantiles(d *record.Distribution, unit float64) []point {
	return when(r.ours(), func() []point { return quantiles(d, unit) })
}
