package record

import (
	"strings"
	"testing"
	"time"
)

// Each equation of the books is broken once, and named.
func TestBooksNameWhatFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(r *Recorder, e *End)
		want  []string
	}{
		{"nothing", func(*Recorder, *End) {}, nil},
		{"an outcome too many", func(r *Recorder, _ *End) { r.Outcome(0, Sample{Key: StatusKey(200)}) },
			[]string{"attempts sent (6) differ from outcomes + in flight at the end (7) by -1"}},
		{"in flight and not", func(_ *Recorder, e *End) { e.InFlight = 0 },
			[]string{"attempts sent (6) differ from outcomes + in flight at the end (5) by 1"}},
		{"an arrival of nobody", func(r *Recorder, _ *End) { r.Arrival(Arrival{At: 1}) },
			[]string{"attempts sent (6) differ from arrivals + lost (7) by -1"}},
		{"a loss of nothing", func(r *Recorder, _ *End) { r.Lost(0, 0) },
			[]string{"attempts sent (6) differ from arrivals + lost (7) by -1"}},
		{"an operation lost", func(_ *Recorder, e *End) { e.Unfinished = 0 },
			[]string{"operations started (3) differ from succeeded + gave up + unfinished (2) by 1"}},
		{"first attempts miscounted", func(r *Recorder, _ *End) { r.shards[0].first++ },
			[]string{"attempts sent (6) differ from first attempts + retries + hedges (7) by -1"}},
		{"an attempt without lateness", func(r *Recorder, _ *End) { r.shards[0].lateness.count-- },
			[]string{"attempts sent (6) differ from lateness samples (5) by 1"}},
		{"an operation without elapsed", func(r *Recorder, _ *End) { r.shards[0].elapsed.faults++ },
			[]string{"operations ended (2) differ from elapsed samples (3) by -1"}},
		{"a bucket miscounted", func(r *Recorder, _ *End) { r.site.buckets.at(0).first++ },
			[]string{"arrivals (5) differ from the sum over the buckets (6) by -1"}},
		{"an attempt number miscounted", func(r *Recorder, _ *End) { r.site.buckets.at(0).byAttempt[3]++ },
			[]string{"arrivals (5) differ from the sum over the attempt numbers (6) by -1"}},
		{"a send before it was due is no unbalance", func(r *Recorder, e *End) {
			r.Sent(0, Sent{Due: 1})
			r.Arrival(Arrival{})
			e.InFlight++
		}, nil},
		{"before the start", func(r *Recorder, e *End) {
			r.Sent(0, Sent{})
			r.Arrival(Arrival{At: -1})
			e.InFlight++
		}, []string{"1 moments before the start, counted at the start"}},
		{"long after the end", func(r *Recorder, _ *End) { r.Served(time.Hour, false); r.Served(1<<63-1, true) },
			[]string{"2 moments long after the end, counted at the last one possible"}},
		{"more than a cell holds", func(r *Recorder, _ *End) { r.site.cells.saturated = 2 },
			[]string{"2 arrivals beyond what one cell can count"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, end := smallRun()
			c.spoil(r, &end)
			got := r.Summarise(end).Books
			if strings.Join(got.Faults, "; ") != strings.Join(c.want, "; ") || got.Balanced != (len(c.want) == 0) {
				t.Errorf("balanced = %t, faults = %q, want %q", got.Balanced, got.Faults, c.want)
			}
		})
	}
}

// Names that are missing do not lose what they count.
func TestOtherNames(t *testing.T) {
	r := New(Config{LostNames: []string{"refused"}, ReasonNames: []string{"max_retries"}})
	for _, how := range []int{0, 1, NamesMax - 1, NamesMax, NamesMax + 1, -1, 1 << 40} {
		r.Lost(0, how)
		r.OperationEnded(0, Operation{Reason: how})
	}
	run := r.Summarise(End{})
	if got := run.Books.Lost; got["refused"] != 1 || got["other"] != 6 {
		t.Errorf("lost = %v, want 1 refused and 6 other", got)
	}
	if got := run.Operations.GaveUp; got["max_retries"] != 1 || got["other"] != 6 {
		t.Errorf("gave up = %v, want 1 max_retries and 6 other", got)
	}
}
