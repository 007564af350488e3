package load_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// The partial rollout: of a fleet in which 30 % have no jitter, that part is the whole convoy, and the whole says so.
func TestPartThatConvoys(t *testing.T) {
	run := simulate(t, scenario(t, "fleet: full=70%,none=30%"), load.Env{}).Runs[0]
	if run.Strategy != "full=70%,none=30%" || len(run.Parts) != 2 {
		t.Fatalf("the run is %q with %d parts, want one named by its fleet with two", run.Strategy, len(run.Parts))
	}
	full, none := run.Parts[0], run.Parts[1]
	if full.Clients != 1400 || none.Clients != 600 || none.Share != 0.3 || none.Run.Operations.Started != 600 || none.Run.Strategy != "none" {
		t.Errorf("parts of %d and %d clients, %d operations of %s, want 1400 and 600 with one each", full.Clients, none.Clients, none.Run.Operations.Started, none.Run.Strategy)
	}
	if c := none.Run.Convoy; c.Verdict != record.VerdictConvoy || c.ConvoyIndex == nil || *c.ConvoyIndex < 0.995 {
		t.Errorf("part none is %s with index %v, want CONVOY with 1.00", c.Verdict, c.ConvoyIndex)
	}
	if c := full.Run.Convoy; c.Verdict != record.VerdictClear || *c.ConvoyIndex > 0.1 || c.Waves != nil || c.PeakOverCapacity != nil {
		t.Errorf("part full is %+v, want CLEAR, and nothing over the capacity of the whole", c)
	}
	if want := "part none (30 % of the clients) convoys: convoy index 1.00"; !slices.Contains(run.Notes, want) {
		t.Errorf("notes %q, want one of %q", run.Notes, want)
	}
}

// mixtures are mixed fleets with all that a part has of its own.
var mixtures = []parity{
	{"closed", []string{"fleet: 'full=70%,equal=30%'", "clients: 97", "capacity: 60/s", "queue: 3"}, false},
	{"several operations", []string{"fleet: 'full=10%,decorrelated=45%,equal=45%'", "clients: 40", "operations: 307", "capacity: 120/s", "max-retries: 4"}, false},
	{"timeouts, cancelled", []string{"fleet: 'full=50%,equal=50%'", "clients: 90", "rate: 67/s", "arrivals: poisson", "capacity: 40/s", "queue: 60", "timeout: 700.1ms", "abandoned: cancel"}, false},
	{"timeouts, processed", []string{"fleet: 'full=50%,equal=50%'", "clients: 90", "rate: 67/s", "arrivals: poisson", "capacity: 40/s", "queue: 60", "timeout: 700.1ms"}, false},
	{"budgets of the parts", []string{"fleet: 'full=60%,equal=40%'", "clients: 90", "rate: 47/s", "arrivals: poisson", "capacity: 60/s", "outage: ['1.0001s..2.0007s']", "max-retries: 5", "duration: 6.0037s", "budget: finagle:ratio=20%,min=2/s,ttl=2s,scope=fleet"}, false},
	{"budgets by chance", []string{"fleet: 'full=60%,equal=40%'", "clients: 60", "rate: 97/s", "arrivals: poisson", "capacity: 60/s", "queue: 3", "max-retries: 5", "duration: 6.0037s", "budget: sre:scope=client"}, false},
	{"breakers", []string{"fleet: 'full=60%,equal=40%'", "clients: 60", "rate: 97/s", "arrivals: poisson", "capacity: 60/s", "queue: 3", "max-retries: 5", "duration: 6.0037s", "breaker: consecutive:failures=3,open=1s"}, false},
	{"dropped when expired", []string{"fleet: 'full=60%,equal=40%'", "clients: 90", "rate: 67/s", "arrivals: poisson", "capacity: 40/s", "queue: 30", "propagate-deadline: true", "expired: drop", "timeout: 300.1ms", "max-elapsed: 1.0003s", "duration: 6.0037s"}, false},
	{"refused", []string{"fleet: 'full=60%,equal=40%'", "clients: 60", "rate: 67/s", "arrivals: poisson", "capacity: 60/s", "retry-on: connect,reset,503", "outage: ['1.0001s..2.0007s=refuse']", "duration: 4.0037s"}, false},
	{"hints", []string{"fleet: 'full=60%,equal=40%'", "clients: 100", "capacity: 30/s", "send-retry-after: 1s", "queue: 3", "retry-after-jitter: 700ms"}, false},
}

// mixture is the plan of a mixed fleet.
func (c parity) mixture(t *testing.T, more ...string) plan.Plan {
	t.Helper()
	p := c.plan(t, "full", more...)
	return p
}

// The engines agree of mixed fleets as they do of others: of the whole and of each part.
func TestParityOfMixedFleets(t *testing.T) {
	for i, c := range mixtures {
		if raceDetector && i%4 > 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := c.mixture(t)
			virtual := virtually(t, p)
			if virtual.ties(p) != apart {
				t.Fatal("two attempts are due together; the plan needs other times")
			}
			for _, real := range []outcome{overHTTP(t, p), inMemory(t, p)} {
				if fault := real.differs(t, virtual); fault != "" {
					t.Error(fault)
				}
				partsAddUp(t, &real.run)
			}
		})
	}
}

// extremes are figures of which the whole's is no sum of its parts': the largest, the smallest or a quantile of all, what is of
// one moment, in a window that may be another for each part, or of the whole alone.
var extremes = []string{
	".duration_ns", ".bucket_ns", ".at_ns", ".from_ns", ".to_ns", ".watched_ns", ".watch_needed_ns", ".window_from_ns", ".window_to_ns", ".peak_arrivals", ".peak_sliding_arrivals",
	".completion_ns", ".convoy.window_arrivals", ".waves", ".wave_peaks", ".min", ".max", ".p50", ".p90", ".p99", ".p999", ".recovered_after_ns", ".unstarted", ".operations.unstarted", ".offset_p50_ns", ".offset_p99_ns", ".start_spread_ns",
}

// sums adds every whole number of v to its path, in words of JSON.
func sums(v reflect.Value, path string, into map[string]int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			sums(v.Elem(), path, into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "parts" && name != "layers" && name != "budget" && name != "breaker" && name != "detail" {
				sums(v.Field(i), path+"."+name, into)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			sums(v.Index(i), fmt.Sprintf("%s.%d", path, i), into)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			sums(v.MapIndex(k), path+"."+k.String(), into)
		}
	case reflect.Int64:
		for _, end := range extremes {
			if strings.HasSuffix(path, end) || strings.Contains(path, end+".") {
				return
			}
		}
		into[path] += v.Int()
	}
}

// partsAddUp checks that every count of a run is the sum of its parts', and that the books of each balance.
func partsAddUp(t interface{ Errorf(string, ...any) }, run *record.Run) (counts int) {
	whole, parts := map[string]int64{}, map[string]int64{}
	sums(reflect.ValueOf(run), "", whole)
	for i := range run.Parts {
		part := run.Parts[i].Run
		sums(reflect.ValueOf(part), "", parts)
		if !part.Books.Balanced {
			t.Errorf("the books of part %s do not balance: %+v", run.Parts[i].Name, part.Books)
		}
	}
	for _, m := range []map[string]int64{whole, parts} {
		maps.DeleteFunc(m, func(_ string, n int64) bool { return n == 0 })
	}
	if !run.Books.Balanced {
		t.Errorf("the books do not balance: %+v", run.Books)
	}
	for _, path := range slices.Sorted(maps.Keys(whole)) {
		if parts[path] != whole[path] {
			t.Errorf("%s = %d, and the parts have %d", path, whole[path], parts[path])
		}
	}
	for path, n := range parts {
		if _, known := whole[path]; !known {
			t.Errorf("the parts have %d of %s, and the whole none", n, path)
		}
	}
	return len(whole)
}

// Every count of a mixed fleet is the sum of its parts' counts, in every situation; two runs of one plan are the same.
func TestPartsAddUp(t *testing.T) {
	pick := func(r *rapid.T, name string, lines ...string) string { return rapid.SampledFrom(lines).Draw(r, name) }
	counted := 0
	rapid.Check(t, func(r *rapid.T) {
		lines := []string{
			fmt.Sprintf("clients: %d", rapid.IntRange(20, 50).Draw(r, "clients")), "capacity: 30/s", "duration: 4s",
			pick(r, "fleet", "fleet: 'full=70%,none=30%'", "fleet: 'full=10%,none=45%,equal=45%'", "fleet: 'grpc-retry=50%,aws-standard-2026=20%,none=30%'", "fleet: 'decorrelated=100%'"),
			pick(r, "rate", "rate: 47/s", "rate: off", "{}"),
			pick(r, "outage", "outage: ['1s..2s']", "outage: ['1s..2s=hang']", "outage: ['1s..2s=reset']", "outage: ['1s..2s=refuse']", "outage: ['1s..2s=slow:4']", "{}"),
			pick(r, "queue", "queue: 40", "queue: 3", "{}"),
			pick(r, "abandoned", "abandoned: cancel", "{}"),
			pick(r, "latency", "latency: 10ms~3ms", "loss: 5%", "{}"),
			pick(r, "breaker", "breaker: consecutive:failures=3,open=1s", "breaker: rate:scope=fleet,open=1s", "{}"),
			pick(r, "hint", "send-retry-after: 1s", "{}"),
			pick(r, "shared-seed", "shared-seed: true", "{}", "{}"),
		}
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "{}" })
		if !strings.Contains(lines[3], "grpc") {
			lines = append(lines, "timeout: 700ms", pick(r, "budget", "budget: sre:scope=client", "budget: finagle", "budget: none"))
		}
		p := scenario(t, lines...)
		run := simulate(t, p, load.Env{}).Runs[0]
		counted = max(counted, partsAddUp(r, &run))
		if again := simulate(t, p, load.Env{}).Runs[0]; asJSON(t, again) != asJSON(t, run) {
			r.Errorf("two runs of %q differ", lines)
		}
		clients := int64(0)
		for i := range run.Parts {
			clients += run.Parts[i].Clients
			if s := run.Parts[i].Share; math.Abs(s*float64(p.Clients)-float64(run.Parts[i].Clients)) > 1 {
				r.Errorf("part %s has %d of %d clients", run.Parts[i].Name, run.Parts[i].Clients, p.Clients)
			}
		}
		if clients != int64(p.Clients) {
			r.Errorf("the parts have %d clients of %d", clients, p.Clients)
		}
	})
	if counted < 100 {
		t.Errorf("at most %d counts were compared: the test does not see them", counted)
	}
}

// A budget of the fleet is one of each part, which is said.
func TestBudgetsOfPartsAreTheirOwn(t *testing.T) {
	const note = "budgets and breakers are each part's own: with scope fleet there is one for each part"
	for _, c := range []struct {
		name string
		line string
		want bool
	}{{"a budget", "budget: grpc:scope=fleet", true}, {"a breaker", "breaker: gobreaker:scope=fleet", true}, {"neither", "queue: 1", false}} {
		p := scenario(t, "clients: 20", "fleet: full=50%,none=50%", "duration: 1s", c.line)
		if notes := simulate(t, p, load.Env{}).Runs[0].Notes; slices.Contains(notes, note) != c.want {
			t.Errorf("%s: notes %q, want %q among them: %t", c.name, notes, note, c.want)
		}
	}
}
