package sim_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// TestLatencyClosedForm: where no delay is drawn and every message takes l, one client is served a
// wave, and wave k comes k round trips and delays after the first. A client knows of its success
// when its answer is there; of reject-if-busy that left with the acceptance, of slots with the end of
// the work.
func TestLatencyClosedForm(t *testing.T) {
	const clients, latency = 100, 3 * time.Millisecond
	models := []struct {
		name string
		work time.Duration
	}{{plan.ModelSlots, time.Millisecond}, {plan.ModelRejectIfBusy, 0}}
	for _, name := range waiting() {
		if entryOf(t, name).Jittered {
			continue
		}
		for _, m := range models {
			p := guide(clients)
			p.Model, p.Latency = m.name, plan.Law{Mean: latency}
			got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: name, Seed: 1})
			want := m.work + 2*clients*latency
			for k := range clients - 1 {
				lo, _ := p.Backoff(name).Range(backoff.Attempt{Retry: k})
				want += lo
			}
			if got.Attempts != clients*(clients+1)/2 || got.Completion != want {
				t.Errorf("%s, %s: %d attempts, completion %v; want %d, %v", name, m.name,
					got.Attempts, got.Completion, clients*(clients+1)/2, want)
			}
		}
	}
}

// TestInstantClosedForm: the same without a network, where the last client is served with the last
// wave.
func TestInstantClosedForm(t *testing.T) {
	p := guide(100)
	p.Model = plan.ModelRejectIfBusy
	m := measure(p, "none", 1)
	var want time.Duration
	for k := range 99 {
		want += min(p.Cap, p.Base<<min(k, 20))
	}
	if m.stats.Attempts != 5050 || m.stats.Completion != want || m.run.Buckets[0].Served != 1 {
		t.Errorf("%d attempts, completion %v, %d served in bucket 0; want 5050, %v, 1",
			m.stats.Attempts, m.stats.Completion, m.run.Buckets[0].Served, want)
	}
}

// TestLoss compares the shares of attempts that are lost, served, and answered, at a target that
// serves all: p of the requests are lost, and p of the answers to the others.
//
// Counts of n attempts are binomial; at 4.9 deviations the false-positive rate is 1e-6 each. It would
// catch a share that is 1.1 percentage points off.
func TestLoss(t *testing.T) {
	const clients, loss = 40_000, 0.3
	p := scenario(t, "clients: 40000", "capacity: 100000000/s", "queue: 100000", "loss: 30%", "max-retries: 0")
	m := measure(p, "full", 5)
	shares := []struct {
		name  string
		got   int64
		share float64
	}{
		{"requests lost", m.run.Books.Lost["lost_request"], loss},
		{"arrivals", m.run.Books.Arrivals, 1 - loss},
		{"succeeded", m.run.Operations.Succeeded, (1 - loss) * (1 - loss)},
		{"timed out", m.run.Attempts.ByOutcome["timeout"], 1 - (1-loss)*(1-loss)},
	}
	for _, s := range shares {
		bound := 4.9 * math.Sqrt(clients*s.share*(1-s.share))
		if want := clients * s.share; math.Abs(float64(s.got)-want) > bound {
			t.Errorf("%s = %d, want %.0f within %.0f", s.name, s.got, want, bound)
		}
	}
	if !m.run.Books.Balanced {
		t.Error(m.run.Books.Faults)
	}
}

// TestLatencyLaw: the latency of an answered attempt is the sum of two draws of |Normal(mean, sd)|.
// Of means 10 and 0 ms and a deviation of 2 ms the mean is 20 and 4*sqrt(2/pi) = 3.19 ms.
//
// A mean of n sums with deviation s lies within 4.9*s/sqrt(n): false-positive rate 1e-6 each.
func TestLatencyLaw(t *testing.T) {
	for _, mean := range []time.Duration{0, 10 * time.Millisecond} {
		p := scenario(t, "clients: 20000", "capacity: 1000000000/s", "queue: 100000", "max-retries: 0")
		p.Latency = plan.Law{Mean: mean, SD: 2 * time.Millisecond}
		var sum, squares float64
		m := measure(p, "full", 9)
		for _, r := range m.rows {
			x := float64(r.End-r.Due) / 1e6
			sum += x
			squares += x * x
		}
		n := float64(len(m.rows))
		want, sd := 2*mean.Seconds()*1e3, math.Sqrt(2.0)*2
		if mean == 0 {
			want, sd = 4*math.Sqrt(2/math.Pi), math.Sqrt(2*4*(1-2/math.Pi))
		}
		got := sum / n
		gotSD := math.Sqrt(squares/n - got*got)
		if math.Abs(got-want) > 4.9*sd/math.Sqrt(n)+0.001 || math.Abs(gotSD-sd) > 0.1*sd {
			t.Errorf("mean %v: latency %.4f ± %.4f ms, want %.4f ± %.4f", mean, got, gotSD, want, sd)
		}
	}
}

// TestAbandonedStillArrives: the client of every attempt has given up before it arrives. A target
// that does not know works for nobody; one that is told, one latency later, stops.
//
// Two clients start at 0 and 2 s. Their attempts leave 150 ms apart, three each, arrive 100 ms later and
// take 100 ms of one worker, and the news of their ends is there 50 ms after the arrival. The run
// ends with the last client at 2.35 s, with its second attempt done and its third on the way.
func TestAbandonedStillArrives(t *testing.T) {
	for _, tt := range []struct {
		abandoned string
		served    int64
	}{{plan.AbandonedProcess, 5}, {plan.AbandonedCancel, 0}} {
		p := scenario(t, "clients: 2", "ramp: 4s", "capacity: 10/s", "queue: 5", "base: 100ms", "timeout: 50ms",
			"latency: 100ms", "max-retries: 2", "abandoned: "+tt.abandoned)
		m := measure(p, "constant", 1)
		var served, wasted int64
		for _, b := range m.run.Buckets {
			served += b.Served
			wasted += b.Wasted
		}
		if served != tt.served || wasted != tt.served || m.stats.Arrivals != 5 || m.run.Books.Lost["on_the_way_at_end"] != 1 || !m.run.Books.Balanced {
			t.Errorf("%s: %d served, %d wasted, %d arrivals, books %+v; want %d, %[6]d, 5, one on the way", tt.abandoned, served, wasted, m.stats.Arrivals, m.run.Books, tt.served)
		}
	}
}

// TestWorkForNobody: work is wasted where its answer reaches nobody, also where the target cannot know:
// the client goes while the request, the news of its going or the answer is on its way. An answer that
// arrives with the timeout is an answer.
func TestWorkForNobody(t *testing.T) {
	slots := []string{"workers: 10", "queue: 90"}
	for _, tt := range []struct {
		name    string
		model   []string
		timeout string
		wasted  bool
	}{
		{"gone before the request is there", slots, "15ms", true},
		{"gone while the target works", slots, "25ms", true},
		{"gone before the answer is there", slots, "49ms", true},
		{"there for the answer", slots, "50ms", false},
		{"a token, and gone before the answer is there", []string{"model: token-bucket", "burst: 9"}, "39ms", true},
		{"a token, and there", []string{"model: token-bucket", "burst: 9"}, "40ms", false},
		{"accepted, and gone before the answer is there", []string{"model: reject-if-busy"}, "39ms", true},
		{"accepted, and there", []string{"model: reject-if-busy"}, "40ms", false},
	} {
		lines := append([]string{"clients: 10", "capacity: 1000/s", "max-retries: 0", "ramp: 1s", "latency: 20ms", "timeout: " + tt.timeout}, tt.model...)
		m := measure(scenario(t, lines...), "full", 1)
		var served, wasted, want int64
		for _, b := range m.run.Buckets {
			served, wasted = served+b.Served, wasted+b.Wasted
		}
		if tt.wasted {
			want = served
		}
		if wasted != want || served-wasted != m.stats.Succeeded || m.stats.Arrivals == 0 {
			t.Errorf("%s: %d arrivals, %d served, %d wasted, %d succeeded; want %d wasted", tt.name, m.stats.Arrivals, served, wasted, m.stats.Succeeded, want)
		}
	}
}

// TestRefusedOverTheNetwork: where a target begins to refuse it closes its connections, and the news
// takes one latency. A request that is on its way then finds its connection gone.
func TestRefusedOverTheNetwork(t *testing.T) {
	const msec = time.Millisecond
	type ending struct {
		due, arrived, end time.Duration
		kind              retry.Kind
	}
	tests := []struct {
		outage string
		want   []ending
		lost   map[string]int64
	}{
		{"500ms..850ms=refuse", []ending{
			{0, 100 * msec, 600 * msec, retry.Reset}, // and its work goes on, to 1.1 s
			{700 * msec, -1, 900 * msec, retry.Refused},
			{1000 * msec, 1100 * msec, 2200 * msec, retry.Responded},
		}, map[string]int64{"refused": 1}},
		{"50ms..60ms=refuse", []ending{
			{0, -1, 200 * msec, retry.Reset},
			{300 * msec, 400 * msec, 1500 * msec, retry.Responded},
		}, map[string]int64{"reset_before_arrival": 1}},
	}
	for _, tt := range tests {
		p := scenario(t, "clients: 1", "base: 100ms", "latency: 100ms", "capacity: 1/s", "retry-on: connect,reset", "outage: ['"+tt.outage+"']")
		m := measure(p, "constant", 1)
		var got []ending
		for _, r := range m.rows {
			got = append(got, ending{r.Due, r.Arrived, r.End, r.Outcome.Kind})
		}
		if !slices.Equal(got, tt.want) || !maps.Equal(m.run.Books.Lost, tt.lost) || !m.run.Books.Balanced {
			t.Errorf("%s:\n%v, lost %v\nwant\n%v, lost %v", tt.outage, got, m.run.Books.Lost, tt.want, tt.lost)
		}
	}
}
