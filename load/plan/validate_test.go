package plan_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/target/station"
)

// TestConflicts has for each rule between fields a plan that breaks it, its message, and
// the nearest plan that keeps it.
func TestConflicts(t *testing.T) {
	outage := func(fromSeconds, toSeconds int) station.Outage {
		return station.Outage{From: time.Duration(fromSeconds) * time.Second, To: time.Duration(toSeconds) * time.Second}
	}
	tests := []struct {
		name        string
		breaks      func(p *plan.Plan)
		want        string
		keeps       func(p *plan.Plan)
		alsoAllowed func(p *plan.Plan)
	}{
		{
			name:   "cap and base",
			breaks: func(p *plan.Plan) { p.Base, p.Cap = time.Second, time.Second-1 },
			want:   `cap: "999999999ns": want at least base, which is 1s`,
			keeps:  func(p *plan.Plan) { p.Base, p.Cap = time.Second, time.Second },
		},
		{
			name:        "key and cert",
			breaks:      func(p *plan.Plan) { p.Key = "k.pem" },
			want:        `key: "k.pem": want none without a cert that it belongs to`,
			keeps:       func(p *plan.Plan) { p.Cert, p.Key = "c.pem", "k.pem" },
			alsoAllowed: func(p *plan.Plan) { p.Cert = "both.pem" },
		},
		{
			name:   "floor and cap",
			breaks: func(p *plan.Plan) { p.Floor = p.Cap + 1 },
			want:   `floor: "20.000000001s": want at most cap, which is 20s`,
			keeps:  func(p *plan.Plan) { p.Floor = p.Cap },
		},
		{
			name:   "ramp and duration",
			breaks: func(p *plan.Plan) { p.Ramp = p.Duration },
			want:   `ramp: "30s": want less than duration, which is 30s`,
			keeps:  func(p *plan.Plan) { p.Ramp = p.Duration - 1 },
		},
		{
			name:   "ramp and rate",
			breaks: func(p *plan.Plan) { p.Ramp, p.RatePerSecond = 1, 0.5 },
			want:   `ramp: "1ns": want 0s with a rate: operations start when the rate of 0.5/s says`,
			keeps:  func(p *plan.Plan) { p.RatePerSecond = 0.5 },
		},
		{
			name:   "arrivals and rate",
			breaks: func(p *plan.Plan) { p.Arrivals = plan.ArrivalsPoisson },
			want:   `arrivals: "poisson": want a rate with it: without one every client starts at t0`,
			keeps:  func(p *plan.Plan) { p.Arrivals, p.RatePerSecond = plan.ArrivalsPoisson, 1 },
		},
		{
			name:   "rate and duration",
			breaks: func(p *plan.Plan) { p.RatePerSecond, p.Duration = 1e7, 101*time.Second },
			want:   `rate: "10000000/s": want at most 9900990/s in a duration of 101s: a run has at most 1000000000 operations`,
			keeps:  func(p *plan.Plan) { p.RatePerSecond, p.Duration = 1e7, 100*time.Second },
		},
		{
			name:        "retry-after-jitter and retry-after",
			breaks:      func(p *plan.Plan) { p.RetryAfterJitter, p.RetryAfter = 0, plan.RetryAfterIgnore },
			want:        `retry-after-jitter: "0s": want retry-after honour with it: a hint that is ignored has no jitter`,
			keeps:       func(p *plan.Plan) { p.RetryAfterJitter = 0 },
			alsoAllowed: func(p *plan.Plan) { p.RetryAfter = plan.RetryAfterIgnore },
		},
		{
			name:        "workers and capacity",
			breaks:      func(p *plan.Plan) { p.Workers, p.CapacityPerSecond = 25, 1.0/3600 },
			want:        `workers: "25": want at most 24 at a capacity of 1/h: the service time, workers / capacity, is at most 24h`,
			keeps:       func(p *plan.Plan) { p.Workers, p.CapacityPerSecond = 24, 1.0/3600 },
			alsoAllowed: func(p *plan.Plan) { p.Workers, p.CapacityPerSecond = 25, 0 },
		},
		{
			name:        "workers and model",
			breaks:      func(p *plan.Plan) { p.Workers, p.Model = 2, plan.ModelRejectIfBusy },
			want:        `workers: "2": want 1 with model reject-if-busy: it has one worker, which is busy for 1 / capacity`,
			keeps:       func(p *plan.Plan) { p.Model = plan.ModelRejectIfBusy },
			alsoAllowed: func(p *plan.Plan) { p.Workers, p.Model = 2, plan.ModelOCC },
		},
		{
			name:        "queue and model",
			breaks:      func(p *plan.Plan) { p.Queue, p.Model = 1, plan.ModelRejectIfBusy },
			want:        `queue: "1": want 0 with model reject-if-busy: what finds the worker busy is refused`,
			keeps:       func(p *plan.Plan) { p.Model = plan.ModelRejectIfBusy },
			alsoAllowed: func(p *plan.Plan) { p.Queue, p.Model = 1, plan.ModelTokenBucket },
		},
		{
			name:        "discipline and queue",
			breaks:      func(p *plan.Plan) { p.Discipline = plan.DisciplineCoDel },
			want:        `discipline: "codel": want fifo with a queue of 0: nothing waits in it`,
			keeps:       func(p *plan.Plan) { p.Discipline, p.Queue = plan.DisciplineCoDel, 1 },
			alsoAllowed: func(p *plan.Plan) { p.Discipline, p.URL = plan.DisciplineCoDel, "http://127.0.0.1/" },
		},
		{
			name:   "discipline and model",
			breaks: func(p *plan.Plan) { p.Discipline, p.Queue, p.Model = plan.DisciplineLIFO, 1, plan.ModelTokenBucket },
			want:   `discipline: "lifo": want fifo with model token-bucket, which has no queue`,
			keeps:  func(p *plan.Plan) { p.Queue, p.Model = 1, plan.ModelTokenBucket },
		},
		{
			name: "expired and queue",
			breaks: func(p *plan.Plan) {
				p.Expired, p.PropagateDeadline = plan.ExpiredDrop, true
			},
			want: `expired: "drop": want process with a queue of 0: nothing waits in it`,
			keeps: func(p *plan.Plan) {
				p.Expired, p.PropagateDeadline, p.Queue = plan.ExpiredDrop, true, 1
			},
		},
		{
			name:        "expired and propagate-deadline",
			breaks:      func(p *plan.Plan) { p.Expired, p.Queue = plan.ExpiredDrop, 1 },
			want:        `expired: "drop": want process without propagate-deadline: the target knows of no deadline`,
			keeps:       func(p *plan.Plan) { p.PropagateDeadline = true },
			alsoAllowed: func(p *plan.Plan) { p.Expired, p.Queue, p.PropagateDeadline = plan.ExpiredDrop, 1, true },
		},
		{
			name:        "contention and workers",
			breaks:      func(p *plan.Plan) { p.ContentionShare = 0.1 },
			want:        `contention: "0.1": want 0 with 1 worker, which nobody is beside`,
			keeps:       func(p *plan.Plan) { p.ContentionShare, p.Workers = 0.1, 2 },
			alsoAllowed: func(p *plan.Plan) { p.ContentionShare, p.URL = 0.1, "http://127.0.0.1" },
		},
		{
			name:   "coherency and model",
			breaks: func(p *plan.Plan) { p.CoherencyShare, p.Workers, p.Model = 0.1, 2, plan.ModelTokenBucket },
			want:   `coherency: "0.1": want 0 with model token-bucket, which has no workers beside each other`,
			keeps:  func(p *plan.Plan) { p.CoherencyShare, p.Workers = 0.1, 2 },
		},
		{
			name:   "coherency and too many workers",
			breaks: func(p *plan.Plan) { p.CoherencyShare, p.Workers, p.CapacityPerSecond = 1, 1001, 1e6 },
			want:   `coherency: "1": want less, or fewer workers: 1001 of them slow each other down more than a million times`,
			keeps:  func(p *plan.Plan) { p.CoherencyShare, p.Workers, p.CapacityPerSecond = 1, 1000, 1e6 },
		},
		{
			name:   "shed-cost and model",
			breaks: func(p *plan.Plan) { p.ShedCostShare, p.Model = 0.1, plan.ModelTokenBucket },
			want:   `shed-cost: "10%": want 0% with model token-bucket: only slots lose time by a rejection`,
			keeps:  func(p *plan.Plan) { p.ShedCostShare = 0.1 },
		},
		{
			name:        "outage and model",
			breaks:      func(p *plan.Plan) { p.Outages, p.Model = []station.Outage{outage(1, 2)}, plan.ModelOCC },
			want:        `outage: "1s..2s=status": want none with model occ: what fails there is a write that another one overtook, and nothing else`,
			keeps:       func(p *plan.Plan) { p.Model = plan.ModelOCC },
			alsoAllowed: func(p *plan.Plan) { p.Outages, p.Model = []station.Outage{outage(1, 2)}, plan.ModelRejectIfBusy },
		},
		{
			name: "burst and capacity",
			breaks: func(p *plan.Plan) {
				p.Burst, p.CapacityPerSecond, p.Model = 8761, 1.0/3600, plan.ModelTokenBucket
			},
			want: `burst: "8761": want at most 8760 at a capacity of 1/h: the bucket fills within a year`,
			keeps: func(p *plan.Plan) {
				p.Burst, p.CapacityPerSecond, p.Model = 8760, 1.0/3600, plan.ModelTokenBucket
			},
			alsoAllowed: func(p *plan.Plan) { p.Burst, p.CapacityPerSecond, p.Model = 10_000_000, 0, plan.ModelTokenBucket },
		},
		{
			name:   "outage and duration",
			breaks: func(p *plan.Plan) { p.Outages = []station.Outage{outage(30, 31), outage(1, 2), outage(40, 41)} },
			want:   `outage: "30s..31s=status; 40s..41s=status": want FROM before the end of the run at 30s`,
			keeps:  func(p *plan.Plan) { p.Outages = []station.Outage{{From: 30*time.Second - 1, To: time.Hour}} },
		},
		{
			name:   "outages and each other",
			breaks: func(p *plan.Plan) { p.Outages = []station.Outage{outage(3, 5), outage(1, 4)} },
			want:   `outage: "3s..5s=status": want windows that do not overlap, but 1s..4s=status does`,
			keeps:  func(p *plan.Plan) { p.Outages = []station.Outage{outage(3, 5), outage(1, 3)} },
		},
		{
			name:   "one outage twice",
			breaks: func(p *plan.Plan) { p.Outages = []station.Outage{outage(1, 2), outage(7, 8), outage(1, 2)} },
			want:   `outage: "1s..2s=status": want windows that do not overlap, but 1s..2s=status does`,
			keeps:  func(p *plan.Plan) { p.Outages = []station.Outage{outage(1, 2), outage(7, 8)} },
		},
		{
			name:   "fleet and strategy",
			breaks: func(p *plan.Plan) { p.Mix, p.Strategies = rollout, []string{"equal"} },
			want:   `fleet: "full=70%,none=30%": want none with a strategy: a mixed fleet names its own`,
			keeps:  func(p *plan.Plan) { p.Mix = rollout },
		},
		{
			name:   "fleet and preset",
			breaks: func(p *plan.Plan) { p.Mix, p.Presets = rollout, []string{"grpc-retry"} },
			want:   `fleet: "full=70%,none=30%": want none with presets: a mixed fleet names its own`,
			keeps:  func(p *plan.Plan) { p.Mix = rollout },
		},
		{
			name:   "fleet and clients",
			breaks: func(p *plan.Plan) { p.Mix, p.Clients = rollout, 1 },
			want:   `fleet: "full=70%,none=30%": want a larger share for none, or more clients: of 1 it gets none`,
			keeps:  func(p *plan.Plan) { p.Mix, p.Clients = rollout, 2 },
		},
		{
			name:   "hedge and fleet",
			breaks: func(p *plan.Plan) { p.Mix, p.Hedge = rollout, plan.Hedge{After: time.Second, Most: 1} },
			want:   `hedge: "1s,1": want off with a fleet of several policies`,
			keeps:  func(p *plan.Plan) { p.Hedge = plan.Hedge{After: time.Second, Most: 1} },
		},
		{
			name:   "surge and rate",
			breaks: func(p *plan.Plan) { p.Surges = []plan.Surge{surge(1, 2)} },
			want:   `surge: "1s..2s=x3": want a rate with it: without one every client starts at t0, and there is no rate to multiply`,
			keeps:  func(p *plan.Plan) { p.Surges, p.RatePerSecond = []plan.Surge{surge(1, 2)}, 5 },
		},
		{
			name:   "surge and duration",
			breaks: func(p *plan.Plan) { p.Surges, p.RatePerSecond = []plan.Surge{surge(30, 31), surge(1, 2)}, 5 },
			want:   `surge: "30s..31s=x3": want FROM before the end of the run at 30s`,
			keeps: func(p *plan.Plan) {
				p.Surges, p.RatePerSecond = []plan.Surge{{From: 30*time.Second - 1, To: time.Hour, Factor: 2}}, 5
			},
		},
		{
			name:   "surges and each other",
			breaks: func(p *plan.Plan) { p.Surges, p.RatePerSecond = []plan.Surge{surge(3, 5), surge(1, 4)}, 5 },
			want:   `surge: "3s..5s=x3": want windows that do not overlap, but 1s..4s=x3 does`,
			keeps:  func(p *plan.Plan) { p.Surges, p.RatePerSecond = []plan.Surge{surge(3, 5), surge(1, 3)}, 5 },
		},
		{
			name: "surge of too many",
			breaks: func(p *plan.Plan) {
				p.Surges, p.RatePerSecond = []plan.Surge{{From: 10 * time.Second, To: 30 * time.Second, Factor: 1000}}, 100_000
			},
			want: `surge: "10s..30s=x1000": want a lower factor or rate: they are 2001000000 operations in a duration of 30s, and a run has at most 1000000000`,
			keeps: func(p *plan.Plan) {
				p.Surges, p.RatePerSecond = []plan.Surge{{From: 10 * time.Second, To: 30 * time.Second, Factor: 1000}}, 10_000
			},
		},
		{
			name:        "transport and url",
			breaks:      func(p *plan.Plan) { p.Transport, p.URL = plan.TransportMemory, "http://127.0.0.1" },
			want:        `transport: "memory": want tcp with a URL: only the built-in target is reached in memory`,
			keeps:       func(p *plan.Plan) { p.Transport = plan.TransportMemory },
			alsoAllowed: func(p *plan.Plan) { p.URL = "http://127.0.0.1" },
		},
		{
			name:   "bucket longer than the run",
			breaks: func(p *plan.Plan) { p.Bucket, p.Duration = time.Second, time.Second-1 },
			want:   `bucket: "1s": want at most duration, which is 999999999ns`,
			keeps:  func(p *plan.Plan) { p.Bucket, p.Duration = time.Second, time.Second },
		},
		{
			name:   "too many buckets",
			breaks: func(p *plan.Plan) { p.Bucket, p.Duration = 86*time.Millisecond, 24*time.Hour },
			want:   `bucket: "86ms": want at least 87ms in a duration of 24h: a run has at most 1000000 buckets`,
			keeps:  func(p *plan.Plan) { p.Bucket, p.Duration = 87*time.Millisecond, 24*time.Hour },
			alsoAllowed: func(p *plan.Plan) {
				p.Bucket, p.Duration = time.Millisecond, 1000*time.Second
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan.Default()
			test.breaks(&p)
			if got := fmt.Sprint(p.Validate()); got != test.want {
				t.Errorf("broken: %s\nwant    %s", got, test.want)
			}
			for _, keeps := range []func(*plan.Plan){test.keeps, test.alsoAllowed} {
				if keeps == nil {
					continue
				}
				p := plan.Default()
				keeps(&p)
				if err := p.Validate(); err != nil {
					t.Errorf("kept: %v, want nil", err)
				}
			}
		})
	}
}

// TestValidateBuilt gives Validate plans that no text makes.
// rollout is a mixed fleet.
var rollout = []plan.MixPart{{Name: "full", Share: 0.7}, {Name: "none", Share: 0.3}}

func surge(from, to int) plan.Surge {
	return plan.Surge{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second, Factor: 3}
}

func TestValidateBuilt(t *testing.T) {
	tests := []struct {
		name  string
		build func(p *plan.Plan)
		want  string // beginning of the error
	}{
		{"negative", func(p *plan.Plan) { p.Clients = -5 }, `clients: "-5": want 1..10000000`},
		{"negative duration", func(p *plan.Plan) { p.Base = math.MinInt64 }, `base: "-2562047h47m16.854775808s": want 1ns..24h`},
		{"not a number", func(p *plan.Plan) { p.Multiplier = math.NaN() }, `multiplier: "NaN": want 1..1000`},
		{"infinite", func(p *plan.Plan) { p.CapacityPerSecond = math.Inf(1) }, `capacity: "+Inf/s": want a rate`},
		{"share not a number", func(p *plan.Plan) { p.SpreadShare = math.NaN() }, `spread: "NaN%": want a share`},
		{"share 0", func(p *plan.Plan) { p.CapJitterShare = 0 }, `cap-jitter: "0%": want more than 0%`},
		{"tiny share", func(p *plan.Plan) { p.SpreadShare = 5e-324 }, `spread: "0.00000000`},
		{"no strategy", func(p *plan.Plan) { p.Strategies = nil }, `strategy: "": want a comma list`},
		{"a word for several", func(p *plan.Plan) { p.Strategies = []string{"all"} }, `strategy: "all": want none,equal,full,decorrelated`},
		{"unknown word", func(p *plan.Plan) { p.Service = "slow" }, `service: "slow": want fixed or exp`},
		{"unknown mode", func(p *plan.Plan) { p.CapMode = 77 }, `cap-mode: "cap-mode(77)": want ceiling, clamp, fixed or random-cap`},
		{"other retries", func(p *plan.Plan) { p.MaxRetries = -2 }, `max-retries: "-2": want 0..1000000 or unlimited`},
		{"other hint", func(p *plan.Plan) { p.SendRetryAfter = -2 }, `send-retry-after: "-2ns": want 1s..24h, none or auto`},
		{"bad outage", func(p *plan.Plan) { p.Outages = []station.Outage{{From: 2, To: 1, Mode: 99}} }, `outage: "2ns..1ns=mode 99": want FROM`},
		{"factor for nothing", func(p *plan.Plan) { p.Outages = []station.Outage{{To: 1, Factor: 2}} }, `outage: "0s..1ns=status:2": want FROM`},
		{"gate none", func(p *plan.Plan) { p.Gates = []string{"none"} }, `gate: "none": want `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan.Default()
			test.build(&p)
			err := p.Validate()
			var fault *plan.FieldError
			if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Validate() = %v, want one fault: %s", err, test.want)
			}
		})
	}
}

// TestValidateEverything checks that the zero plan is refused with a fault for each field
// that has no meaning at zero, all at once.
func TestValidateEverything(t *testing.T) {
	var fields []string
	for _, err := range unjoin(plan.Plan{}.Validate()) {
		var fault *plan.FieldError
		if !errors.As(err, &fault) {
			t.Fatalf("fault %v, want a *FieldError", err)
		}
		fields = append(fields, fault.Field)
	}
	want := []string{
		"clients", "strategy", "base", "cap", "multiplier", "cap-jitter", "noise", "spread", "arrivals", "duration", "repeat", "transport",
		"timeout", "retry-after", "method", "workers", "model", "burst", "service", "status", "abandoned", "discipline", "expired", "http", "probe", "bucket",
	}
	if !reflect.DeepEqual(fields, want) {
		t.Errorf("faults in %v\nwant      %v", fields, want)
	}
}

// TestValidPlansConvert checks that what plan lets through, the packages below take:
// otherwise a user would meet their words in place of ours.
func TestValidPlansConvert(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		if faults := p.Params().Validate(); faults != nil {
			rt.Errorf("backoff: %v", faults)
		}
		if p.Model != plan.ModelOCC {
			if faults := p.Station().Validate(); faults != nil {
				rt.Errorf("station: %v", faults)
			}
		}
		for _, name := range p.Strategies {
			policy := p.Policy(name)
			if faults := policy.Validate(); faults != nil {
				rt.Errorf("retry: %v", faults)
			}
			entry, _ := backoff.Lookup(name)
			if want := entry.New(p.Params()); !reflect.DeepEqual(policy.Strategy, want) {
				rt.Errorf("policy of %s has %#v, want %#v", name, policy.Strategy, want)
			}
		}
		if from, to := p.ConvoyWindow(); from < 0 || to < from || to > p.Duration {
			rt.Errorf("convoy window %v..%v in a run of %v", from, to, p.Duration)
		}
		if n := p.OperationsTotal(); n < 1 || n > 1_000_000_000 {
			rt.Errorf("%d operations", n)
		}
		p.Warnings()
		p.Notes()
	})
}
