package load

import (
	"testing"
	"time"

	"stormtest/load/plan"
	"stormtest/target/station"
)

// The 4.4 scenario at three loads: the backlog of 5 s at 900/s takes 45 s at what is left of 1000/s, and the target is
// watched for three times that.
func TestRecoveryWatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*plan.Plan)
		want   time.Duration
	}{
		{"half the capacity", func(*plan.Plan) {}, 120 * time.Second},
		{"nine tenths", func(p *plan.Plan) { p.RatePerSecond = 900 }, 135 * time.Second},
		{"nine tenths, and a queue of 500", func(p *plan.Plan) { p.RatePerSecond, p.Queue = 900, 500 }, 120 * time.Second},
		{"two outages", func(p *plan.Plan) {
			p.RatePerSecond, p.Outages = 900, append(p.Outages, station.Outage{From: 30 * time.Second, To: 35 * time.Second})
		}, 270 * time.Second},
		{"a surge", func(p *plan.Plan) {
			p.RatePerSecond, p.Outages = 900, nil
			p.Surges = []plan.Surge{{From: 10 * time.Second, To: 12 * time.Second, Factor: 3}}
		}, 162 * time.Second},
		{"as much as the capacity", func(p *plan.Plan) { p.RatePerSecond = 1000 }, 120 * time.Second},
		{"nearly as much, and an endless queue", func(p *plan.Plan) { p.RatePerSecond, p.Queue = 1000-1e-9, 1<<40 }, 24 * time.Hour},
		{"an outage of a service behind, which is slower", func(p *plan.Plan) {
			p.RatePerSecond, p.Outages = 900, nil
			p.Layers = []plan.Layer{{Name: "db", Texts: []string{"capacity=950/s", "outage=10s..15s=status"}}}
		}, 270 * time.Second},
		{"a closed loop", func(p *plan.Plan) { p.RatePerSecond = 0 }, 120 * time.Second},
		{"a target that serves nothing", func(p *plan.Plan) { p.CapacityPerSecond = 0 }, 120 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan.Default()
			p.RatePerSecond, p.CapacityPerSecond, p.Workers, p.Queue = 500, 1000, 10, 10_000
			p.Outages = []station.Outage{{From: 10 * time.Second, To: 15 * time.Second}}
			tt.change(&p)
			if got := recoveryWatch(&p); got != tt.want {
				t.Errorf("recoveryWatch = %v, want %v", got, tt.want)
			}
		})
	}
}
