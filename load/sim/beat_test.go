package sim_test

import (
	"context"
	"testing"
	"time"

	"stormtest/load/sim"
)

// TestBrokenOff: a run that is broken off is what it was until then. Its books balance, and it says how
// far it came; one that was broken off before it began still looks once in 65,536 events.
func TestBrokenOff(t *testing.T) {
	whole := guide(40_000)
	whole.Duration = time.Hour
	for _, beats := range []int{0, 1, 3} {
		for _, lines := range [][]string{nil, {"latency: 10ms~5ms", "loss: 3%"}} {
			p := whole
			if lines != nil {
				net := scenario(t, lines...)
				p.Latency, p.LossShare = net.Latency, net.LossShare
			}
			ctx, cancel := context.WithCancel(context.Background())
			if beats == 0 {
				cancel()
			}
			var told []time.Duration
			var sent []int64
			rec := recorder(&p)
			s := sim.Run(ctx, sim.Config{Plan: &p, Strategy: "full", Seed: 1, Recorder: rec, Beat: func(now time.Duration) {
				told, sent = append(told, now), append(sent, rec.Totals().Sent)
				if len(told) == beats {
					cancel()
				}
			}})
			cancel()
			run := rec.Summarise(end(&s, nil, "full"))
			if want := max(1, beats) + 1; len(told) != want { // and one at the end
				t.Fatalf("%d beats, network %v: told %d times, want %d", beats, lines, len(told), want)
			}
			if s.Events != int64(max(1, beats))<<16 || s.End != told[len(told)-1] || s.Completion > s.End || s.Succeeded >= int64(p.Clients) {
				t.Errorf("%d beats, network %v: %+v, told %v", beats, lines, s, told)
			}
			if !run.Books.Balanced || run.Operations.Unfinished == 0 || run.Attempts.Sent != s.Attempts {
				t.Errorf("%d beats, network %v: %v, %d unfinished, %d sent of %d", beats, lines, run.Books.Faults, run.Operations.Unfinished, run.Attempts.Sent, s.Attempts)
			}
			for i := 1; i < len(told); i++ {
				if told[i] < told[i-1] || sent[i] < sent[i-1] || sent[i] == 0 {
					t.Errorf("%d beats: told %v with %v sent, want none to fall", beats, told, sent)
				}
			}
		}
	}
}
