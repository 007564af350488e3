package advise

import (
	"math"
	"strconv"
	"time"

	"stormtest/load/record"
)

// A Wish bounds a figure of a run. Its limit is in ns, in the ratio, or in 0..1.
type Wish struct {
	Name  string // one of record's
	Limit float64
	ended bool // the search asks that no operation is left unfinished
}

// Completion wishes that every operation has succeeded within d of the start.
func Completion(d time.Duration) Wish { return Wish{Name: record.WishCompletion, Limit: float64(d)} }

// Peak wishes that no bucket holds more retries than so many times what the target can serve in it.
func Peak(ratio float64) Wish { return Wish{Name: record.WishPeak, Limit: ratio} }

// Success wishes that at least this share of the operations succeeds.
func Success(share float64) Wish { return Wish{Name: record.WishSuccess, Limit: share} }

// wishes are to be kept together.
type wishes []Wish

// An outcome is what one run came to.
type outcome struct {
	completion float64 // ns; NaN unless every operation succeeded
	peak       float64 // of the retries, over capacity
	attempts   float64 // per client
	convoy     float64 // NaN where there is none
	success    float64 // 0..1
	unfinished float64 // the share that was still under way at the end
}

func (o *outcome) whole() bool { return !math.IsNaN(o.completion) }

// gap is how far o is from keeping w, 0 where it does; parts of the limit. margin makes the limit
// tighter by such a part, but that of a share that succeeds: there the search has the deadline earlier.
//
// A run without a completion is further away the less of it was done.
func (w Wish) gap(o *outcome, margin float64) float64 {
	limit := w.Limit * (1 - margin)
	switch w.Name {
	case record.WishSuccess:
		return max(0, w.Limit-o.success)
	case record.WishPeak:
		if gap := max(0, o.peak/limit-1); !w.ended || o.unfinished == 0 {
			return gap
		} else {
			return gap + 100*(0.1+o.unfinished)
		}
	}
	if !o.whole() {
		return 100 * (1.1 - o.success)
	}
	return max(0, o.completion/limit-1)
}

// figure is what w bounds, the smaller the better: the share that failed in place of that which succeeded.
func (w Wish) figure(o *outcome) float64 {
	switch w.Name {
	case record.WishSuccess:
		return 1 - o.success
	case record.WishPeak:
		if w.ended && o.unfinished > 0 {
			return math.MaxInt64 * (1 + o.unfinished)
		}
		return o.peak
	}
	if !o.whole() {
		return math.MaxInt64 * (2 - o.success)
	}
	return o.completion
}

// shown is the figure as it is told, nil for what is none.
func (w Wish) shown(figure float64) *float64 {
	switch {
	case w.Name == record.WishSuccess:
		figure = 1 - figure
	case figure >= math.MaxInt64:
		return nil
	}
	return &figure
}

// gap is the sum of the gaps.
func (ws wishes) gap(o *outcome, margin float64) float64 {
	sum := 0.0
	for _, w := range ws {
		sum += w.gap(o, margin)
	}
	return sum
}

func (ws wishes) kept(o *outcome) bool { return ws.gap(o, 0) == 0 }

// without returns all but the wish at i.
func (ws wishes) without(i int) wishes {
	rest := append(wishes(nil), ws[:i]...)
	return append(rest, ws[i+1:]...)
}

// gate is the wish as a gate of a scenario, none for the peak: the metric of that name has the first
// attempts in it. Over several seeds it holds in less of them than the policy has proven, so that chance does not fail it.
func (w Wish) gate() []string {
	const over = " @90%"
	switch w.Name {
	case record.WishCompletion:
		return []string{"completion <= " + time.Duration(w.Limit).String() + over}
	case record.WishSuccess:
		return []string{"success_share >= " + strconv.FormatFloat(w.Limit, 'f', -1, 64) + over}
	}
	return nil
}

// text says the wish in words.
func (w Wish) text() string {
	switch w.Name {
	case record.WishCompletion:
		return "completion within " + length(w.Limit)
	case record.WishSuccess:
		return "success of " + percent(w.Limit)
	}
	return "a peak of at most " + times(w.Limit)
}

// value says a figure of the wish in words.
func (w Wish) value(figure float64) string {
	switch {
	case figure >= math.MaxInt64 && w.Name == record.WishCompletion:
		return "one that is never complete"
	case figure >= math.MaxInt64:
		return "one that leaves operations unfinished"
	case w.Name == record.WishCompletion:
		return "completion within " + length(figure)
	case w.Name == record.WishSuccess:
		return "success of " + percent(1-figure)
	}
	return "a peak of " + times(figure)
}

// Figures in words.

func length(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Second:
		return record.Short(d)
	case d < 2*time.Minute:
		return significant(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return significant(d.Minutes()) + " min"
	default:
		return significant(d.Hours()) + " h"
	}
}

func times(ratio float64) string { return significant(ratio) + "x capacity" }

func percent(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1e6)/1e4, 'f', -1, 64) + "%"
}

func significant(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
