package record

import "math"

// SharedSeedShare and SharedSeedMin bound the flag SHARED-SEED: more than this share of at least so
// many first-retry delays in one bin of the histogram.
const (
	SharedSeedShare = 0.5
	SharedSeedMin   = 10
)

// Evidence is what a verdict is made of. All of it is of the retries in the window: the first bucket
// of a storm holds the whole fleet whatever the strategy, so the first attempts say nothing about it.
type Evidence struct {
	// Index is the convoy index; nil where the arrivals or the window do not suffice.
	Index *float64
	// Peak is the fullest bucket's retries.
	Peak int64
	// Capacity is what the target serves in one bucket's width; nil where nobody knows it.
	Capacity *float64
}

// Judge returns the verdict of domain 5.4's matrix, with the hole in it filled:
//
//	index          peak <= capacity   peak > capacity
//	>= 0.25        CLUMPED            CONVOY
//	0.10 .. 0.25   CLUMPED            CLUMPED (the matrix says nothing; its "otherwise" would be CLEAR)
//	< 0.10, none   CLEAR              OVERLOAD
//
// In the hole the traffic is partly synchronised and too much, so that CLEAR would be false comfort
// and the synchrony is what a strategy can change. Without an index the peak alone decides. Without
// a capacity the index alone decides, with CONVOY from 0.25: the harm is unknown, not absent.
// CLEAR without an index says only that nothing was found: see [Run.Headline].
func Judge(e Evidence) Verdict {
	over := e.Capacity != nil && float64(e.Peak) > *e.Capacity
	switch {
	case e.Index != nil && *e.Index >= ThresholdConvoy && (over || e.Capacity == nil):
		return VerdictConvoy
	case e.Index != nil && *e.Index >= ThresholdPartial:
		return VerdictClumped
	case over:
		return VerdictOverload
	}
	return VerdictClear
}

// sharedSeed says whether a jittered strategy's first delays betray one seed for the whole fleet.
func sharedSeed(jittered bool, mode *float64) bool {
	return jittered && mode != nil && *mode > SharedSeedShare
}

// The words that stand in a report where CLEAR would be false comfort. Convoy.Verdict never holds them.
const (
	VerdictUnjudged Verdict = "UNJUDGED" // CLEAR for want of an index
	VerdictUnserved Verdict = "UNSERVED" // CLEAR, and not one operation succeeded
)

// Headline returns the verdict as it can stand by itself: the one of the matrix, but for a CLEAR where
// nothing was judged or nobody was served.
func (r *Run) Headline() Verdict {
	switch {
	case r.Convoy.Verdict != VerdictClear:
		return r.Convoy.Verdict
	case r.Convoy.ConvoyIndex == nil || math.IsNaN(*r.Convoy.ConvoyIndex) || math.IsInf(*r.Convoy.ConvoyIndex, 0):
		return VerdictUnjudged
	case r.Outside == nil && r.FromLog == nil && r.Operations.Succeeded == 0:
		return VerdictUnserved
	}
	return VerdictClear
}
