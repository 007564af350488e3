package record

import "fmt"

var operationMetrics = tabled("Operations: what the clients wanted done",
	Metric{Name: "success_share", Aliases: []string{"success_rate"}, Unit: UnitShare, Meaning: "operations that succeeded, of those started",
		value: func(r *Run) *float64 { return share(r.Operations.Succeeded, r.Operations.Started) }},
	Metric{Name: "operations_started", Unit: UnitCount, Meaning: "operations that began",
		value: func(r *Run) *float64 { return count(r.Operations.Started) }},
	Metric{Name: "operations_succeeded", Unit: UnitCount, Meaning: "operations that ended in a success",
		value: func(r *Run) *float64 { return count(r.Operations.Succeeded) }},
	Metric{Name: "operations_gave_up", Unit: UnitCount, Meaning: "operations that ended without one, whatever the reason",
		value: func(r *Run) *float64 { return count(sumOf(r.Operations.GaveUp)) }},
	Metric{Name: "operations_unfinished", Unit: UnitCount, Meaning: "operations still waiting when the run ended",
		value: func(r *Run) *float64 { return count(r.Operations.Unfinished) }},
	Metric{Name: "operations_unstarted", Unit: UnitCount, Meaning: "operations that were due while no client was idle",
		Absent: "without a rate no operation is due by itself", value: func(r *Run) *float64 { return whole(r.Operations.Unstarted) }},
	Metric{Name: "completion", Unit: UnitDuration, Meaning: "moment of the last success",
		Absent: "not every operation succeeded", value: func(r *Run) *float64 { return whole(r.Completion) }, why: incomplete},
	Metric{Name: "duration", Unit: UnitDuration, Meaning: "how long the run was", AtTarget: true, InLog: true, Absent: "a log of a run that was killed does not say",
		value: runLength},
)

// runLength has no value where a log breaks off.
func runLength(r *Run) *float64 {
	if r.FromLog != nil && !r.FromLog.Complete {
		return nil
	}
	return count(int64(r.Duration))
}

func incomplete(r *Run) string {
	return fmt.Sprintf("not every operation succeeded: %d of %d did", r.Operations.Succeeded, r.Operations.Started)
}

var attemptMetrics = tabled("Attempts: what the clients sent",
	Metric{Name: "attempts_sent", Unit: UnitCount, Meaning: "requests sent, first attempts and retries",
		value: func(r *Run) *float64 { return count(r.Attempts.Sent) }},
	Metric{Name: "attempts_first", Unit: UnitCount, Meaning: "first attempts sent",
		value: func(r *Run) *float64 { return count(r.Attempts.First) }},
	Metric{Name: "attempts_retries", Unit: UnitCount, Meaning: "retries sent",
		value: func(r *Run) *float64 { return count(r.Attempts.Retries) }},
	Metric{Name: "attempts_in_flight_at_end", Unit: UnitCount, Meaning: "attempts without an outcome when the run ended",
		value: func(r *Run) *float64 { return count(r.Attempts.InFlightAtEnd) }},
	Metric{Name: "amplification", Unit: UnitRatio, Meaning: "attempts sent for each operation started",
		value: func(r *Run) *float64 { return r.Amplification }},
	Metric{Name: "lost", Unit: UnitCount, Meaning: "attempts that did not reach the target, however they were lost",
		value: func(r *Run) *float64 { return count(sumOf(r.Books.Lost)) }},
)

// Why a figure of what reached the target is absent.
const (
	nothingArrived  = "nothing arrived"
	unknownCapacity = "nobody knows the target's capacity"
)

var targetMetrics = tabled("Target: what arrived, and what became of it",
	Metric{Name: "arrivals", Unit: UnitCount, Meaning: "attempts that reached the target, or were sent to a URL", AtTarget: true, InLog: true,
		value: func(r *Run) *float64 { return count(r.Books.Arrivals) }},
	Metric{Name: "arrivals_first", Unit: UnitCount, Meaning: "first attempts that arrived", AtTarget: true,
		value: inBuckets(func(b *Bucket) int64 { return b.First })},
	Metric{Name: "arrivals_retries", Unit: UnitCount, Meaning: "retries that arrived", AtTarget: true,
		value: inBuckets(func(b *Bucket) int64 { return b.Retries })},
	Metric{Name: "served", Unit: UnitCount, Meaning: "work that the target finished, also for clients that had gone; of a URL the good answers", Absent: nothingArrived, AtTarget: true,
		value: arrived(inBuckets(func(b *Bucket) int64 { return b.Served }))},
	Metric{Name: "wasted", Unit: UnitCount, Meaning: "finished work whose answer reached nobody", AtTarget: true,
		Absent: "nothing arrived, or the target is a URL, which does not tell", value: arrived(wasted), why: noWasted},
	Metric{Name: "wasted_share", Unit: UnitShare, Meaning: "finished work whose answer reached nobody, of all finished work", AtTarget: true,
		Absent: "nothing was finished, or the target is a URL, which does not tell", value: wastedShare, why: noWasted},
	Metric{Name: "rejected", Unit: UnitCount, Meaning: "arrivals rejected, over capacity or by an outage", Absent: nothingArrived, AtTarget: true,
		value: arrived(inBuckets(func(b *Bucket) int64 { return b.Rejected }))},
	Metric{Name: "goodput", Unit: UnitRate, Meaning: "work finished for a client that still wanted it, per second of the run", Absent: nothingArrived, AtTarget: true,
		value: arrived(goodputOf)},
	Metric{Name: "peak_arrivals", Unit: UnitCount, Meaning: "arrivals in the fullest bucket", Absent: nothingArrived, AtTarget: true, InLog: true,
		value: arrived(func(r *Run) *float64 { return count(r.Convoy.PeakArrivals) })},
	Metric{Name: "peak_sliding_arrivals", Unit: UnitCount, Meaning: "arrivals in the fullest bucket's width from any whole ms on", Absent: nothingArrived, AtTarget: true,
		value: arrived(func(r *Run) *float64 { return count(r.Convoy.PeakSlidingArrivals) })},
	Metric{Name: "peak_over_capacity", Unit: UnitRatio, Meaning: "fullest bucket over what the target can serve in a bucket", AtTarget: true, InLog: true,
		Absent: unknownCapacity + ", or it is 0", value: func(r *Run) *float64 { return r.Convoy.PeakOverCapacity }, why: noCapacity},
	Metric{Name: "peak_over_mean", Unit: UnitRatio, Meaning: "fullest bucket over the mean bucket", Absent: nothingArrived, AtTarget: true, InLog: true,
		value: func(r *Run) *float64 { return r.Convoy.PeakOverMean }},
	Metric{Name: "waves", Unit: UnitCount, Meaning: "runs of buckets above capacity", AtTarget: true, InLog: true,
		Absent: unknownCapacity + ", or nothing arrived", value: arrived(func(r *Run) *float64 { return whole(r.Convoy.Waves) }), why: noWaves},
	Metric{Name: "half_life_waves", Unit: UnitRatio, Meaning: "waves after which their peak has halved", AtTarget: true, InLog: true,
		Absent: unknownCapacity + ", or the waves are too few to tell", value: func(r *Run) *float64 { return r.Convoy.HalfLifeWaves }},
)

// arrived is the value where something arrived: calm needs traffic to be a finding.
func arrived(value func(*Run) *float64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.Books.Arrivals == 0 {
			return nil
		}
		return value(r)
	}
}

// inBuckets is the sum over the buckets.
func inBuckets(of func(*Bucket) int64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		var sum int64
		for i := range r.Buckets {
			sum += of(&r.Buckets[i])
		}
		return count(sum)
	}
}

// wasted has no value where the clients alone measured: they do not know what a target does.
func wasted(r *Run) *float64 {
	if r.ArrivalsMeasuredAt == "client" {
		return nil
	}
	return inBuckets(func(b *Bucket) int64 { return b.Wasted })(r)
}

func noWasted(r *Run) string {
	if r.ArrivalsMeasuredAt == "client" {
		return "the target is a URL, which does not tell"
	}
	return "nothing was finished"
}

func wastedShare(r *Run) *float64 {
	return ratio(wasted(r), inBuckets(func(b *Bucket) int64 { return b.Served })(r))
}

func goodputOf(r *Run) *float64 {
	if r.Duration <= 0 {
		return nil
	}
	v := *inBuckets(func(b *Bucket) int64 { return b.Served - b.Wasted })(r) / r.Duration.Seconds()
	return &v
}

func noCapacity(r *Run) string {
	if r.CapacityPerSecond == nil {
		return unknownCapacity
	}
	return "the capacity is 0"
}

func noWaves(r *Run) string {
	if r.Books.Arrivals == 0 {
		return nothingArrived
	}
	return unknownCapacity
}
