package record

import (
	"fmt"
	"math"
)

// verdictWords are what verdict can be, from bad to good.
var verdictWords = []string{string(VerdictConvoy), string(VerdictClumped), string(VerdictOverload), string(VerdictUnserved), string(VerdictClear)}

// Of the window, in words.
const (
	fewRetries  = "fewer than 100 retries, or a window under 1s"
	fewInWindow = "fewer than two buckets with retries in the window"
)

var synchronyMetrics = tabled("Synchrony: did the retries come together?",
	Metric{Name: "verdict", Unit: UnitWord, Words: verdictWords, Meaning: "the verdict of the report", AtTarget: true,
		Absent: "without a convoy index nobody knows whether retries came together", value: verdictWord, why: func(r *Run) string { return "no convoy index: " + noIndex(r) }},
	Metric{Name: "convoy_index", Unit: UnitRatio, Meaning: "synchrony of the retries in the window: 0 is Poisson, 1 is perfect clumps", AtTarget: true,
		Absent: fewRetries, value: func(r *Run) *float64 { return r.Convoy.ConvoyIndex }, why: noIndex},
	Metric{Name: "post_outage_convoy_index", Unit: UnitRatio, Meaning: "convoy index of all retries after the last outage", AtTarget: true,
		Absent: "no outage, or too few retries after it", value: func(r *Run) *float64 { return r.Convoy.PostOutageIndex }},
	Metric{Name: "retry_synchronisation_index", Aliases: []string{"sync_index"}, Unit: UnitRatio, AtTarget: true,
		Meaning: "synchrony of the retries inside a bucket by variance, over the window: 0 is uniform, 1 is one moment",
		Absent:  "too few retries in the window", value: func(r *Run) *float64 { return r.Convoy.RSI }},
	Metric{Name: "retry_synchronisation_index_max", Unit: UnitRatio, Meaning: "the largest synchrony inside any one bucket with 5 retries or more", AtTarget: true,
		Absent: "no bucket has 5 retries", value: rsiMax},
	Metric{Name: "window_arrivals", Unit: UnitCount, Meaning: "retries that arrived in the window, 10 to 100 times base after the failure", AtTarget: true,
		value: func(r *Run) *float64 { return count(r.Convoy.WindowArrivals) }},
	Metric{Name: "window_peak_over_capacity", Unit: UnitRatio, Meaning: "fullest bucket of retries in the window, over capacity", AtTarget: true,
		Absent: unknownCapacity + " or it is 0, or the run has no such window", value: func(r *Run) *float64 { return r.Convoy.WindowPeakOverCapacity }},
	Metric{Name: "dispersion", Unit: UnitRatio, Meaning: "variance over mean of the retries in a bucket of the window: 1 is Poisson", AtTarget: true,
		Absent: fewInWindow, value: func(r *Run) *float64 { return r.Convoy.Dispersion }},
	Metric{Name: "periodicity", Unit: UnitRatio, Meaning: "autocorrelation of the buckets at the lag of the cap, -1..1", AtTarget: true,
		Absent: "the run is under three times the cap, or the strategy has none", value: func(r *Run) *float64 { return r.Convoy.Periodicity }},
	Metric{Name: "periodic", Unit: UnitWord, Words: yesNo("yes", "no"), Meaning: "flag PERIODIC: the same bursts come back at the interval of the cap", AtTarget: true,
		Absent: "the run is under three times the cap, or the strategy has none", value: flagged(FlagPeriodic, func(r *Run) bool { return r.Convoy.Periodicity != nil })},
	Metric{Name: "shared_seed", Unit: UnitWord, Words: yesNo("yes", "no"), Meaning: "flag SHARED-SEED: most first retries drew one and the same delay",
		Absent: "too few first retries", value: flagged(FlagSharedSeed, func(r *Run) bool { return r.DelayShares.FirstMode != nil })},
)

// verdictWord has no value without an index: CLEAR, or OVERLOAD, of retries that nobody judged is no finding about
// their synchrony, so that "verdict != CONVOY" must not pass on it.
func verdictWord(r *Run) *float64 {
	if i := r.Convoy.ConvoyIndex; i == nil || math.IsNaN(*i) || math.IsInf(*i, 0) {
		return nil
	}
	return wordAt(verdictWords, string(r.Headline()))
}

// flagged is a flag as a word, where known says that the run could tell.
func flagged(flag string, known func(*Run) bool) func(*Run) *float64 {
	return func(r *Run) *float64 {
		for _, f := range r.Convoy.Flags {
			if f == flag {
				return count(0)
			}
		}
		if !known(r) {
			return nil
		}
		return count(1)
	}
}

func rsiMax(r *Run) *float64 {
	var most *float64
	for i := range r.Buckets {
		if v := r.Buckets[i].RSI; v != nil && (most == nil || *v > *most) {
			most = v
		}
	}
	return most
}

// noIndex says what a convoy index lacks.
func noIndex(r *Run) string {
	c := &r.Convoy
	switch width := c.WindowTo - c.WindowFrom; {
	case width <= 0:
		return "the run was over before the window in which retries are judged"
	case c.WindowArrivals >= ConvoyArrivalsMin && width >= ConvoyWindowMin:
		return fmt.Sprintf("no two of the %d retries in the window are within 1s", c.WindowArrivals)
	default:
		return fmt.Sprintf("%d retries in the window of %s, and it takes %d in %s or more", c.WindowArrivals, Short(width), int64(ConvoyArrivalsMin), Short(ConvoyWindowMin))
	}
}

// noRecovery is why a run has no recovery to speak of.
const noRecovery = "no outage or surge, no rate, or under a second of served traffic before the outage"

var recoveryMetrics = tabled("Recovery: did goodput come back after the last outage or surge?",
	Metric{Name: "goodput_before", Unit: UnitRate, Meaning: "mean goodput of the 10s before the first outage or surge", Absent: noRecovery, AtTarget: true,
		value: func(r *Run) *float64 { return r.Recovery.GoodputBefore }},
	Metric{Name: "goodput_last", Unit: UnitRate, Meaning: "mean goodput of the last 5s", Absent: noRecovery + ", or none after it", AtTarget: true,
		value: func(r *Run) *float64 { return r.Recovery.GoodputLast }},
	Metric{Name: "goodput_ratio", Unit: UnitRatio, Meaning: "goodput_last over goodput_before", Absent: noRecovery + ", or none after it", AtTarget: true,
		value: func(r *Run) *float64 { return ratio(r.Recovery.GoodputLast, r.Recovery.GoodputBefore) }},
	Metric{Name: "recovered_after", Unit: UnitDuration, Meaning: "from the end of the last outage or surge to when goodput was back at 90 % for 5s", AtTarget: true,
		Absent: noRecovery + ", or goodput did not come back", value: func(r *Run) *float64 { return length(r.Recovery.RecoveredAt) }, why: unrecovered},
	Metric{Name: "metastable", Unit: UnitWord, Words: yesNo("yes", "no"), Meaning: "flag METASTABLE: goodput stayed away for 120s after the outage, or for three times as long as its backlog takes without retries", AtTarget: true,
		Absent: noRecovery + ", or it was not watched for long enough to say", value: flagged(FlagMetastable, func(r *Run) bool { return r.Recovery.RecoveredAt != nil }), why: unrecovered},
	Metric{Name: "amplification_last_minute", Unit: UnitRatio, Meaning: "arrivals for each first attempt in the last 60s, no more than since the outage", AtTarget: true,
		Absent: noRecovery + ", or no first attempt arrived", value: func(r *Run) *float64 { return r.Recovery.AmplificationLast }},
	Metric{Name: "wasted_share_last_minute", Unit: UnitShare, Meaning: "finished work whose answer reached nobody, of all that was finished in the last 60s, no more than since the outage", AtTarget: true,
		Absent: noRecovery + ", or nothing was finished", value: func(r *Run) *float64 { return r.Recovery.WastedShareLast }},
)

func unrecovered(r *Run) string {
	if r.Recovery.GoodputBefore == nil {
		return noRecovery
	}
	return "goodput did not come back in the " + Short(r.Recovery.Watched) + " that were watched"
}
