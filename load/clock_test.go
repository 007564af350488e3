package load

import (
	"strings"
	"testing"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// A clock that is later than the target's slots and queue take to drain decides who is served,
// and the run says so, with the capacity and the queue at which it would not.
func TestClockNotes(t *testing.T) {
	tests := []struct {
		name  string
		late  time.Duration // mean after the first bucket; 0 is none
		plan  func(p *plan.Plan)
		want  string // in the notes; empty: they say nothing of the clock
		notes int
	}{
		{"well within the service time", 500 * time.Microsecond, func(*plan.Plan) {}, "", 0},
		{"exactly the service time", time.Millisecond, func(*plan.Plan) {}, "", 0},
		{"twice the service time", 2 * time.Millisecond, func(*plan.Plan) {},
			"sends left 2ms late on average, and the target drains in 1ms; it can be believed up to a capacity of 500/s here, or at 1000/s with a queue of 1", 1},
		{"a queue takes it", 2 * time.Millisecond, func(p *plan.Plan) { p.Queue = 1 }, "", 0},
		{"so do workers", 2 * time.Millisecond, func(p *plan.Plan) { p.Workers = 2 }, "", 0},
		{"a fast target", 100 * time.Microsecond, func(p *plan.Plan) { p.CapacityPerSecond, p.Queue = 50_000, 2 },
			"left 100µs late on average, and the target drains in 60µs; it can be believed up to a capacity of 30000/s here, or at 50000/s with a queue of 4", 1},
		{"a token bucket", 2 * time.Millisecond, func(p *plan.Plan) { p.Model = plan.ModelTokenBucket },
			"drains in 1ms; it can be believed up to a capacity of 500/s here, or at 1000/s with a burst of 2", 1},
		{"a burst takes it", 2 * time.Millisecond, func(p *plan.Plan) { p.Model, p.Burst = plan.ModelTokenBucket, 2 }, "", 0},
		{"nothing is served", time.Second, func(p *plan.Plan) { p.CapacityPerSecond = 0 }, "", 0},
		{"a target elsewhere", time.Second, func(p *plan.Plan) { p.URL = "http://127.0.0.1" }, "", 0},
		{"no retry", 0, func(*plan.Plan) {}, "", 0},
		{"in memory", 500 * time.Microsecond, func(p *plan.Plan) { p.Transport = plan.TransportMemory }, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := plan.Default()
			tt.plan(&p)
			var run record.Run
			if tt.late > 0 {
				late := float64(tt.late)
				run.Generator.LatenessRest.Mean = &late
			}
			notes := clockNotes(&p, &run)
			if text := strings.Join(notes, "\n"); len(notes) != tt.notes || !strings.Contains(text, tt.want) || tt.want == "" && strings.Contains(text, "late") {
				t.Errorf("notes = %q, want %d of them and in them %q", notes, tt.notes, tt.want)
			}
		})
	}
}
