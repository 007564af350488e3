package plan_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/target/station"
)

const ms = time.Millisecond

// unlike returns a plan in which no field that is converted has its default, so that a
// forgotten field shows.
func unlike() plan.Plan {
	p := plan.Default()
	p.Base, p.Cap, p.Multiplier, p.FirstExponent = 1*ms, 2*ms, 3, 1
	p.CapMode, p.CapJitterShare, p.Noise, p.SpreadShare, p.Floor = backoff.CapRandom, 0.4, 5*ms, 0.6, 2*ms
	p.Timeout, p.MaxRetries, p.MaxElapsed = 7*ms, 8, 9*ms
	p.RetryAfter, p.RetryAfterJitter = plan.RetryAfterHonour, 10*ms
	p.RetryOn, p.Method, p.RetryNonIdempotent, p.IdempotencyKey = retry.Set{}, "POST", true, false
	p.CapacityPerSecond, p.Workers, p.Queue, p.Model, p.Burst = 11, 12, 13, plan.ModelTokenBucket, 14
	p.Service, p.Status, p.SendRetryAfter, p.Abandoned = plan.ServiceExp, 429, 15*time.Second, plan.AbandonedCancel
	p.Outages = []station.Outage{{From: 16, To: 17, Mode: station.ModeHang}}
	return p
}

func TestParams(t *testing.T) {
	want := backoff.Params{
		Base: 1 * ms, Cap: 2 * ms, Multiplier: 3, FirstExponent: 1, CapMode: backoff.CapRandom,
		CapJitterShare: 0.4, Noise: 5 * ms, SpreadShare: 0.6, Floor: 2 * ms,
	}
	if got := unlike().Params(); got != want {
		t.Errorf("Params() = %+v, want %+v", got, want)
	}
}

func TestPolicy(t *testing.T) {
	p := unlike()
	want := retry.Policy{
		Strategy: p.Backoff("equal"), MaxRetries: 8, MaxElapsed: 9 * ms, Timeout: 7 * ms,
		HonourRetryAfter: true, RetryAfterJitter: 10 * ms, Method: "POST", RetryNonIdempotent: true,
	}
	if got := p.Policy("equal"); !reflect.DeepEqual(got, want) {
		t.Errorf("Policy(equal) = %+v, want %+v", got, want)
	}
	p = plan.Default()
	want = retry.Policy{
		Strategy: p.Backoff("full"), MaxRetries: retry.Unlimited, MaxElapsed: time.Minute, Timeout: 5 * time.Second,
		HonourRetryAfter: true, RetryAfterJitter: retry.StrategyDraw, RetryOn: retry.DefaultSet(), Method: "GET", IdempotencyKey: true,
	}
	if got := p.Policy("full"); !reflect.DeepEqual(got, want) {
		t.Errorf("Policy(full) of the default = %+v, want %+v", got, want)
	}
	p.RetryAfter = plan.RetryAfterIgnore
	if p.Policy("full").HonourRetryAfter {
		t.Error("Policy honours Retry-After with retry-after ignore")
	}
	defer func() {
		if got, want := recover(), `plan: BUG: strategy "nonsense" is not in backoff.Table`; got != want {
			t.Errorf("Policy(nonsense) panics with %v, want %s", got, want)
		}
	}()
	p.Policy("nonsense")
}

func TestStation(t *testing.T) {
	want := station.Config{
		PerSecond: 11, Model: station.TokenBucket, Workers: 12, Queue: 13, ServiceExp: true, Burst: 14, Status: 429,
		RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: 15 * time.Second}, CancelAbandoned: true,
		Outages: []station.Outage{{From: 16, To: 17, Mode: station.ModeHang}},
	}
	if got := unlike().Station(); !reflect.DeepEqual(got, want) {
		t.Errorf("Station() = %+v, want %+v", got, want)
	}
	p := plan.Default()
	want = station.Config{PerSecond: 1000, Workers: 1, Burst: 1, Status: 503}
	if got := p.Station(); !reflect.DeepEqual(got, want) {
		t.Errorf("Station() of the default = %+v, want %+v", got, want)
	}
	p.SendRetryAfter = plan.AutoRetryAfter
	if got := p.Station().RetryAfter; got != (station.RetryAfterRule{Mode: station.RetryAfterAuto}) {
		t.Errorf("Station().RetryAfter = %+v, want auto", got)
	}
}

func TestOperationsTotal(t *testing.T) {
	tests := []struct {
		name          string
		operations    int64
		ratePerSecond float64
		duration      time.Duration
		want          int64
	}{
		{"one a client", 0, 0, 30 * time.Second, 2000},
		{"given", 7, 0, 30 * time.Second, 7},
		{"given with a rate", 7, 50, 30 * time.Second, 7},
		{"rate", 0, 50, 30 * time.Second, 1500},
		{"the operation at 0 counts", 0, 0.001, 30 * time.Second, 1},
		{"the operation at the end does not", 0, 0.1, 30 * time.Second, 3},
		{"the one just before it does", 0, 0.1, 30*time.Second + 1, 4},
		{"a third", 0, 1.0 / 3, 9 * time.Second, 3},
		{"a decimal that binary has not", 0, 0.7, 10 * time.Second, 7},
		{"another", 0, 16.6, 15 * time.Second, 249},
		{"per minute", 0, 100.0 / 60, time.Minute, 100},
		{"many", 0, 1e7, 100 * time.Second, 1e9},
	}
	for _, test := range tests {
		p := plan.Default()
		p.Operations, p.RatePerSecond, p.Duration = test.operations, test.ratePerSecond, test.duration
		if got := p.OperationsTotal(); got != test.want {
			t.Errorf("%s: OperationsTotal() = %d, want %d", test.name, got, test.want)
		}
	}
}

func TestOperationsTotalOfSurges(t *testing.T) {
	s := time.Second
	tests := []struct {
		name   string
		surges []plan.Surge
		want   int64 // of 7/s in 30 s
	}{
		{"none", nil, 210},
		{"one", []plan.Surge{{From: 10 * s, To: 15 * s, Factor: 3}}, 280},
		{"two, in any order", []plan.Surge{{From: 20 * s, To: 22 * s, Factor: 0}, {From: 10 * s, To: 15 * s, Factor: 3}}, 266},
		{"cut by the end", []plan.Surge{{From: 29 * s, To: time.Hour, Factor: 3}}, 224},
		{"a decimal", []plan.Surge{{From: 10 * s, To: 20 * s, Factor: 0.1}}, 147},
		{"a lull from the start", []plan.Surge{{From: 0, To: 29 * s, Factor: 0}}, 7},
	}
	for _, test := range tests {
		p := plan.Default()
		p.RatePerSecond, p.Surges = 7, test.surges
		due := 0
		for schedule := pace.NewSchedule(p.Schedule(), nil); ; due++ {
			if _, ok := schedule.Next(); !ok {
				break
			}
		}
		if got := p.OperationsTotal(); got != test.want || int64(due) != got {
			t.Errorf("%s: OperationsTotal() = %d, and %d are due, want %d", test.name, got, due, test.want)
		}
	}
}

func TestTriggers(t *testing.T) {
	s := time.Second
	trigger := func(from, to int, surge bool) plan.Trigger {
		return plan.Trigger{From: time.Duration(from) * s, To: time.Duration(to) * s, Surge: surge}
	}
	outage := func(from, to int) plan.Trigger { return trigger(from, to, false) }
	raised := func(from, to int) plan.Trigger { return trigger(from, to, true) }
	tests := []struct {
		name    string
		outages []station.Outage
		surges  []plan.Surge
		want    []plan.Trigger
		window  time.Duration // where the convoy window begins: a second after the fleet first fails
	}{
		{"neither", nil, nil, nil, 1 * s},
		{"a surge", nil, []plan.Surge{{From: 4 * s, To: 6 * s, Factor: 2}}, []plan.Trigger{raised(4, 6)}, 5 * s},
		{"a lull is none", nil, []plan.Surge{{From: 4 * s, To: 6 * s, Factor: 0.5}, {From: 7 * s, To: 8 * s, Factor: 1}}, nil, 1 * s},
		{"a surge after an outage", []station.Outage{{From: 2 * s, To: 3 * s}}, []plan.Surge{{From: 4 * s, To: 6 * s, Factor: 2}}, []plan.Trigger{outage(2, 3), raised(4, 6)}, 3 * s},
		{"an outage after a surge", []station.Outage{{From: 8 * s, To: 9 * s}}, []plan.Surge{{From: 4 * s, To: 6 * s, Factor: 2}}, []plan.Trigger{raised(4, 6), outage(8, 9)}, 9 * s},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan.Default()
			p.RatePerSecond, p.Outages, p.Surges = 7, test.outages, test.surges
			if got := p.Triggers(); !slices.Equal(got, test.want) {
				t.Errorf("Triggers() = %v, want %v", got, test.want)
			}
			if from, _ := p.ConvoyWindow(); from != test.window {
				t.Errorf("the convoy window begins at %v, want %v", from, test.window)
			}
		})
	}
}

func TestConvoyWindow(t *testing.T) {
	s := time.Second
	tests := []struct {
		name           string
		base, duration time.Duration
		outages        []station.Outage
		from, to       time.Duration
	}{
		{"from t0", 100 * ms, 30 * s, nil, 1 * s, 10 * s},
		{"from the first outage", 100 * ms, 30 * s, []station.Outage{{From: 12 * s, To: 13 * s}, {From: 2 * s, To: 4 * s}}, 3 * s, 12 * s},
		{"cut by the end", 100 * ms, 5 * s, nil, 1 * s, 5 * s},
		{"after the end", 1 * s, 5 * s, nil, 5 * s, 5 * s},
		{"longest base", 24 * time.Hour, 5 * s, nil, 5 * s, 5 * s},
	}
	for _, test := range tests {
		p := plan.Default()
		p.Base, p.Duration, p.Outages = test.base, test.duration, test.outages
		if from, to := p.ConvoyWindow(); from != test.from || to != test.to {
			t.Errorf("%s: ConvoyWindow() = %v..%v, want %v..%v", test.name, from, to, test.from, test.to)
		}
	}
}
