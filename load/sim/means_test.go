package sim_test

import (
	"context"
	"math"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/sim"
)

// TestReferenceMeans compares mean attempts and completion with the reference numbers of the
// guides' model, which are means of 400 seeds with their 5 and 95 % quantiles.
//
// Attempts: a mean of n seeds differs from one of 400 with a deviation of sd*sqrt(1/n + 1/400), where sd is
// the distance of the quantiles over 2*1.645; 0.5 comes for the rounding of the mean, and 10 % for that of
// the quantiles. At 4.9 deviations the false-positive rate is 1e-6 a row. It would catch a mean that is 1 % off at
// 1,000 clients; one strategy in place of its neighbour in the table is 2 % and more.
// Completion is the maximum of many, and skewed: its mean must lie between the quantiles.
func TestReferenceMeans(t *testing.T) {
	type row struct {
		clients         int
		calls, low, top float64
		from, to        float64 // completion, s
	}
	clamp := func(p *plan.Plan) { p.CapMode = backoff.CapClamp }
	half := func(p *plan.Plan) { p.SpreadShare = 0.5 }
	guides := func(*plan.Plan) {}
	tests := []struct {
		strategy string
		edit     func(*plan.Plan)
		rows     [2]row
	}{
		{"fixed-up", guides, [2]row{{100, 302, 293, 310, 1.6, 3.3}, {1000, 7098, 6993, 7191, 126, 146}}},
		{"fixed", guides, [2]row{{100, 261, 253, 269, 0.8, 1.6}, {1000, 5218, 5165, 5275, 46, 66}}},
		{"constant-full", guides, [2]row{{100, 248, 238, 257, 0.4, 0.5}, {1000, 6968, 6894, 7044, 1.45, 1.60}}},
		{"exponent", guides, [2]row{{100, 352, 346, 359, 0.8, 1.6}, {1000, 5249, 5218, 5280, 7.0, 18.0}}},
		{"proportional", guides, [2]row{{100, 302, 294, 310, 1.4, 1.7}, {1000, 5085, 5056, 5115, 13.4, 24.1}}},
		{"equal", guides, [2]row{{100, 289, 282, 297, 0.6, 1.4}, {1000, 4840, 4813, 4868, 9.0, 11.5}}},
		{"full-clamp", guides, [2]row{{100, 307, 297, 317, 0, 1e9}, {1000, 4845, 4816, 4874, 0, 1e9}}},
		{"full-floor", guides, [2]row{{100, 284, 277, 291, 0.6, 1.2}, {1000, 4725, 4696, 4754, 5.6, 11.3}}},
		{"full", guides, [2]row{{100, 269, 261, 277, 0.5, 1.2}, {1000, 4724, 4693, 4753, 5.9, 11.5}}},
		{"polly", guides, [2]row{{100, 257, 249, 264, 0.5, 1.1}, {1000, 4537, 4514, 4561, 4.5, 9.0}}},
		{"proportional", half, [2]row{{100, 257, 250, 263, 0.8, 1.6}, {1000, 4148, 4122, 4174, 6.7, 8.5}}},
		{"exponent-noisy", guides, [2]row{{100, 247, 240, 254, 0.7, 1.6}, {1000, 3965, 3939, 3991, 5.5, 9.8}}},
		{"decorrelated", guides, [2]row{{100, 235, 229, 242, 0.9, 2.0}, {1000, 3745, 3702, 3785, 5.1, 8.6}}},
		{"decorrelated", clamp, [2]row{{100, 235, 229, 242, 0.9, 2.0}, {1000, 3745, 3702, 3785, 5.1, 8.6}}},
	}
	const seeds = 20
	for _, tt := range tests {
		for _, r := range tt.rows {
			p := guide(r.clients)
			tt.edit(&p)
			var calls, completion float64
			for s := range uint64(seeds) {
				got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: tt.strategy, Seed: 100 + s})
				calls += float64(got.Attempts) / seeds
				completion += got.Completion.Seconds() / seeds
			}
			deviation := 1.1 * (r.top - r.low) / (2 * 1.645) * math.Sqrt(1.0/seeds+1.0/400)
			if bound := 4.9*deviation + 0.5; math.Abs(calls-r.calls) > bound {
				t.Errorf("%s, %d clients, spread %v, cap %v: mean attempts = %.1f, want %.0f within %.1f",
					tt.strategy, r.clients, p.SpreadShare, p.CapMode, calls, r.calls, bound)
			}
			if completion < r.from || completion > r.to {
				t.Errorf("%s, %d clients, spread %v, cap %v: mean completion = %v, want %v..%v",
					tt.strategy, r.clients, p.SpreadShare, p.CapMode, time.Duration(completion*1e9), r.from, r.to)
			}
		}
	}
}
