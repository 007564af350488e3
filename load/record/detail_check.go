package record

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// repeatsMost is how many seeds a plan may ask for, and how many a result may have that was merged; askedMost is what
// such a one may have asked for, where the plan of each seed was cut after it.
const (
	repeatsMost = 10_000
	askedMost   = repeatsMost * repeatsMost
)

// binsMost is how many bins there are up to the largest number.
const binsMost = 100 + 90*17

// CheckDetail returns what contradicts itself or is beyond its bounds in r.Detail and in the values of r.Repeats, with
// where it stands; nil where nothing does, and where neither is there. It is for a Run that was read: every list
// may then be trusted in its length and order.
func (r *Run) CheckDetail() error {
	if r.Repeats != nil {
		if err := r.Repeats.check(); err != nil {
			return fmt.Errorf("repeats.%w", err)
		}
	}
	d := r.Detail
	if d == nil {
		return nil
	}
	for _, h := range []struct {
		name string
		bins *Bins
		of   *Distribution
	}{
		{"latency_ns", d.Latency, &r.Latency},
		{"operation_latency_ns", d.OperationLatency, &r.OperationLatency},
		{"delay_ns", d.Delay, &r.Delay},
		{"attempt_at_success", d.AttemptAtSuccess, &r.AttemptAtSuccess},
		{"elapsed_ns", d.Elapsed, &r.Elapsed},
		{"lateness_ns", d.Lateness, &r.Lateness},
	} {
		if h.bins == nil {
			continue
		}
		if err := h.bins.check(h.of.Count); err != nil {
			return fmt.Errorf("detail.%s: %w", h.name, err)
		}
	}
	if err := checkDraws(d.Draws); err != nil {
		return fmt.Errorf("detail.draws%w", err)
	}
	if err := checkSynchrony(d.Synchrony); err != nil {
		return fmt.Errorf("detail.synchrony%w", err)
	}
	return nil
}

// check returns what is wrong with the seeds and their values.
func (r *Repeats) check() error {
	if r.Count < 0 || r.Count > repeatsMost {
		return fmt.Errorf("count = %d, want 0..%d", r.Count, repeatsMost)
	}
	if r.Asked != 0 && (r.Asked < r.Count || r.Asked > askedMost) { // 0 in a file of old
		return fmt.Errorf("asked = %d, want %d..%d", r.Asked, r.Count, askedMost)
	}
	if r.Each == nil && r.Count > 0 && r.Seeds[1]-r.Seeds[0] != uint64(r.Count-1) { // after the largest comes 0
		return fmt.Errorf("seeds: %d to %d, want %d that follow each other", r.Seeds[0], r.Seeds[1], r.Count)
	}
	if n := int64(len(r.Each)); r.Each != nil && (n == 0 || n != r.Count || !slices.IsSorted(r.Each) || r.Each[0] != r.Seeds[0] || r.Each[n-1] != r.Seeds[1]) {
		return fmt.Errorf("each: %d seeds, want %d of them, ascending from %d to %d", n, r.Count, r.Seeds[0], r.Seeds[1])
	}
	for name, s := range r.Figures {
		if len(s.Values) == 0 {
			continue // a file from before they were kept
		}
		var n int64
		for _, v := range s.Values {
			if v != nil {
				n++
			}
		}
		if int64(len(s.Values)) != r.Count || n != s.Count {
			return fmt.Errorf("figures.%s: %d values, %d of them null, want %d with %d", name, len(s.Values), int64(len(s.Values))-n, r.Count, r.Count-s.Count)
		}
	}
	return nil
}

// check returns what is wrong with bins that should hold so many values.
func (b *Bins) check(count int64) error {
	if len(b.From) > binsMost || len(b.Count) != len(b.From) || len(b.AtFrom) > 0 && len(b.AtFrom) != len(b.From) {
		return fmt.Errorf("%d bins with %d and %d counts, want as many of each, at most %d", len(b.From), len(b.Count), len(b.AtFrom), binsMost)
	}
	if err := checkBegins(b.From); err != nil {
		return err
	}
	var sum int64
	for i, n := range b.Count {
		if n < 1 || n > math.MaxInt64-sum {
			return fmt.Errorf("bin %d holds %d, want 1 or more", b.From[i], n)
		}
		sum += n
		if len(b.AtFrom) > 0 && (b.AtFrom[i] < 0 || b.AtFrom[i] > n) {
			return fmt.Errorf("bin %d holds %d of its %d at its beginning", b.From[i], b.AtFrom[i], n)
		}
	}
	if sum != count {
		return fmt.Errorf("the bins hold %d, want %d", sum, count)
	}
	return nil
}

// checkBegins returns which of from is no beginning of a bin above those before it.
func checkBegins(from []int64) error {
	for i, v := range from {
		if v < 0 || binOf(v) != v || i > 0 && v <= from[i-1] {
			return fmt.Errorf("no bin begins at %d, or not there in the list", v)
		}
	}
	return nil
}

func checkDraws(list []Draws) error {
	last := int64(-1)
	for i := range list {
		d := &list[i]
		if d.Retry <= last || d.Retry >= DrawColumns || d.Beyond != (d.Retry == DrawColumns-1) {
			return fmt.Errorf("[%d].retry = %d, want more than %d, and at most %d for all beyond", i, d.Retry, last, DrawColumns-1)
		}
		last = d.Retry
		if err := d.Bins.check(d.Count); err != nil {
			return fmt.Errorf("[%d].bins: %w", i, err)
		}
		if err := d.Theory.check(); err != nil {
			return fmt.Errorf("[%d].theory: %w", i, err)
		}
	}
	return nil
}

// theoryTolerance is how far the shares of a Theory may add up to something else than 1.
const theoryTolerance = 1e-3

// check returns what is wrong with t; nil where there is none.
func (t *Theory) check() error {
	if t == nil {
		return nil
	}
	if len(t.From) > binsMost || len(t.Share) != len(t.From) {
		return fmt.Errorf("%d bins with %d shares, want as many, at most %d", len(t.From), len(t.Share), binsMost)
	}
	if err := checkBegins(t.From); err != nil {
		return err
	}
	var sum float64
	for i, share := range t.Share {
		if !(share > 0 && share <= 1+theoryTolerance) {
			return fmt.Errorf("bin %d has a share of %v, want more than 0, at most 1", t.From[i], share)
		}
		sum += share
	}
	if !(math.Abs(sum-1) <= theoryTolerance) {
		return fmt.Errorf("the shares add up to %v, want 1", sum)
	}
	return nil
}

func checkSynchrony(list []Synchrony) error {
	if len(list) > SynchronyMax {
		return fmt.Errorf(": %d windows, want at most %d", len(list), SynchronyMax)
	}
	var at time.Duration
	for i, x := range list {
		if x.At != at || x.To <= x.At || x.Retries < 0 {
			return fmt.Errorf("[%d]: %d retries in [%d, %d) ns, want 0 or more from %d ns on", i, x.Retries, x.At, x.To, at)
		}
		at = x.To
		for _, v := range []*float64{x.ConvoyIndex, x.RSI} {
			if v != nil && !(*v >= 0 && *v <= 1) {
				return fmt.Errorf("[%d]: index = %v, want 0..1", i, *v)
			}
		}
	}
	return nil
}
