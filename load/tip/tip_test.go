package tip_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/tip"
)

// reference is the scenario of domain 4.4 at a tenth of its size, with even arrivals: one worker of 10 ms behind a queue of
// 1,000, a client timeout of 1 s, a full stop of 5 s and three attempts with full jitter.
const reference = `
clients: 400
rate: 30/s
capacity: 100/s
queue: 1000
timeout: 1s
max-retries: 2
max-elapsed: unlimited
outage: 10s..15s=capacity:0%
seed: 1
repeat: 3
`

// config is the search between two values of a plan; a field that text gives again counts in place of the reference's.
func config(t *testing.T, vary string, ends [3]string, lines ...string) tip.Config {
	t.Helper()
	p, err := plan.Decode("test", []byte(reference))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		f, _ := plan.FieldNamed(name)
		if err := f.Set(&p, text); err != nil {
			t.Fatal(err)
		}
	}
	a, err := tip.AxisOf(vary, &p)
	if err != nil {
		t.Fatal(err)
	}
	c := tip.Config{Plan: p, Axis: a}
	for i, at := range []*int64{&c.From, &c.To, &c.Precision} {
		v, want := a.Read(&p, ends[i])
		if want != "" {
			t.Fatalf("%s: want %s", ends[i], want)
		}
		*at = v
	}
	return c
}

// The reference tips where the load times three attempts is about 1, whatever of it is varied; with a ratio budget at 1 +
// ratio, and with neither retries nor a long queue nowhere.
func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name    string
		vary    string
		ends    [3]string
		lines   []string
		outcome string
		product [2]float64 // of load and worst amplification, within which it tips
	}{
		{"rate", "rate", [3]string{"10/s", "90/s", "2/s"}, nil, record.TipFound, [2]float64{0.89, 1.05}},
		{"capacity", "capacity", [3]string{"40/s", "200/s", "10/s"}, nil, record.TipFound, [2]float64{0.89, 1.05}},
		{"budget", "budget", [3]string{"0%", "100%", "5%"}, []string{"rate: 70/s", "budget: finagle:ratio=10%,min=0/s,scope=fleet"}, record.TipFound, [2]float64{0.89, 1.1}},
		{"no retries", "rate", [3]string{"10/s", "80/s", "35/s"}, []string{"max-retries: 0"}, record.TipRecovers, [2]float64{}},
		{"a short queue", "outage", [3]string{"1s", "20s", "10s"}, []string{"queue: 50", "rate: 70/s"}, record.TipRecovers, [2]float64{}},
		{"clients do not matter", "clients", [3]string{"1000", "2000", "500"}, []string{"rate: 60/s"}, record.TipStays, [2]float64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, err := tip.Find(t.Context(), config(t, tt.vary, tt.ends, tt.lines...))
			if err != nil {
				t.Fatal(err)
			}
			if found.Outcome != tt.outcome || found.Returns || found.Interrupted {
				t.Fatalf("outcome %q, returns %t, interrupted %t, points %+v; want %q", found.Outcome, found.Returns, found.Interrupted, found.Points, tt.outcome)
			}
			few := slices.ContainsFunc(found.Notes, func(note string) bool { return strings.Contains(note, "break the row of 5 good seconds") })
			if want := tt.vary == "rate"; few != want { // the others are at 30/s or more
				t.Errorf("notes %q: that chance can delay a recovery is said: %t, want %t", found.Notes, few, want)
			}
			if tt.outcome != record.TipFound {
				return
			}
			low, high := *found.Recovers.LoadWorst, *found.Stays.LoadWorst
			if low > high || low < tt.product[0] || high > tt.product[1] {
				t.Errorf("load x worst %.3f at %s, %.3f at %s; want within %v", low, found.Recovers.Value, high, found.Stays.Value, tt.product)
			}
			if found.Stays.Watched < record.RecoveryWatchDefault {
				t.Errorf("watched for %v, want %v at least", found.Stays.Watched, record.RecoveryWatchDefault)
			}
		})
	}
}

// An outage tips where its backlog, worked off for clients who have gone, outlives what retries they have left: the search
// is as good as asking at every value.
func TestFindIsAsGoodAsAskingEverywhere(t *testing.T) {
	c := config(t, "outage", [3]string{"0.25s", "2s", "250ms"}, "rate: 60/s", "repeat: 2")
	found, err := tip.Find(t.Context(), c)
	if err != nil || found.Outcome != record.TipFound {
		t.Fatalf("%+v, %v", found, err)
	}
	tips := 0
	for v := c.From; v <= c.To; v += c.Precision {
		p := c.Plan
		p.Outages = slices.Clone(p.Outages)
		p.Outages[0].To = p.Outages[0].From + time.Duration(v)
		p.Duration = p.Outages[0].To + 125*time.Second
		r, err := load.Simulate(t.Context(), p, load.Env{})
		if err != nil {
			t.Fatal(err)
		}
		recovered := r.Runs[0].Repeats.Figures["recovered_after"].Count
		for i := range found.Points {
			if q := &found.Points[i]; q.Value == c.Axis.Text(&p, v) && q.Recovered != recovered {
				t.Errorf("%s: %d seeds recover, the search says %d", q.Value, recovered, q.Recovered)
			}
		}
		if c.Axis.Text(&p, v) == found.Stays.Value && 2*recovered <= 2 {
			tips++
		}
		if c.Axis.Text(&p, v) == found.Recovers.Value && 2*recovered > 2 {
			tips++
		}
	}
	if tips != 2 {
		t.Errorf("the sides %s and %s are not those of every value", found.Recovers.Value, found.Stays.Value)
	}
}

// How the search closes in, by made-up seeds: ten at each value from 1 to 1,000 clients.
func TestSearch(t *testing.T) {
	c := config(t, "clients", [3]string{"1", "1000", "1"}, "repeat: 10")
	band := func(from, to int64) func(int64) int64 { // all to from, none from to on, in proportion between them
		return func(v int64) int64 { return max(0, min(10, 10*(to-v)/(to-from))) }
	}
	for _, tt := range []struct {
		name                       string
		recovered                  func(int64) int64
		outcome                    string
		recovers, stays, all, none string
		returns                    bool
		most                       int // values tried
	}{
		{"a step", func(v int64) int64 { return 10 * b2i(v < 637) }, record.TipFound, "636", "637", "636", "637", false, 16},
		{"a step upwards", func(v int64) int64 { return 10 * b2i(v >= 637) }, record.TipFound, "637", "636", "637", "636", false, 16},
		{"at the first value", func(v int64) int64 { return 10 * b2i(v < 2) }, record.TipFound, "1", "2", "1", "2", false, 16},
		{"at the last value", func(v int64) int64 { return 10 * b2i(v < 1000) }, record.TipFound, "999", "1000", "999", "1000", false, 16},
		{"a band", band(400, 500), record.TipFound, "440", "441", "400", "491", false, 32},
		{"all over", band(-1000, 3000), record.TipFound, "600", "601", "", "", false, 32},
		{"always", func(int64) int64 { return 10 }, record.TipRecovers, "", "", "", "", false, 5},
		{"never", func(int64) int64 { return 5 }, record.TipStays, "", "", "", "", false, 5},
		{"there and back", func(v int64) int64 { return 10 * b2i(v < 300 || v > 800) }, record.TipUnsteady, "299", "300", "299", "300", true, 16},
		{"twice", func(v int64) int64 { return 10 * b2i(v < 200 || v > 400 && v < 600) }, record.TipFound, "199", "200", "199", "200", true, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := tip.FindBy(t.Context(), c, tt.recovered)
			if err != nil {
				t.Fatal(err)
			}
			value := func(p *record.TipPoint) string {
				if p == nil {
					return ""
				}
				return p.Value
			}
			got := []string{found.Outcome, value(found.Recovers), value(found.Stays), value(found.All), value(found.None)}
			if want := []string{tt.outcome, tt.recovers, tt.stays, tt.all, tt.none}; !reflect.DeepEqual(got, want) || found.Returns != tt.returns {
				t.Errorf("got %q, returns %t; want %q, %t", got, found.Returns, want, tt.returns)
			}
			if len(found.Points) > tt.most {
				t.Errorf("%d values were tried, want %d at most", len(found.Points), tt.most)
			}
			if !slices.IsSortedFunc(found.Points, func(a, b record.TipPoint) int {
				return len(a.Value)*10000 - len(b.Value)*10000 + strings.Compare(a.Value, b.Value)
			}) {
				t.Error("the values are not in order")
			}
		})
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A search that is broken off says what was known until then.
func TestSearchBrokenOff(t *testing.T) {
	c := config(t, "clients", [3]string{"1", "1000", "1"}, "repeat: 10")
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	found, err := tip.FindBy(ctx, c, func(v int64) int64 {
		if tries++; tries == 7 {
			cancel()
		}
		return 10 * b2i(v < 637)
	})
	if err != nil || !found.Interrupted || found.Outcome != record.TipFound || found.Recovers.Value != "625" || found.Stays.Value != "687" {
		t.Errorf("%q between %+v and %+v, interrupted %t, %v", found.Outcome, found.Recovers, found.Stays, found.Interrupted, err)
	}
	cancel()
	if found, err = tip.FindBy(ctx, c, func(int64) int64 { return 10 }); err != nil || found.Outcome != record.TipUnknown || len(found.Points) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Equal seeds find the same, to the last digit.
func TestFindIsRepeatable(t *testing.T) {
	c := config(t, "rate", [3]string{"20/s", "40/s", "20/s"}, "repeat: 2")
	first, err := tip.Find(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	second, err := tip.Find(t.Context(), c)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("%+v\n%+v, %v", first, second, err)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, vary string
		ends       [3]string
		lines      []string
		want       string
	}{
		{"a closed loop", "clients", [3]string{"1", "10", "1"}, []string{"rate: off"}, "rate: "},
		{"a number of operations", "rate", [3]string{"1/s", "10/s", "1/s"}, []string{"operations: 50"}, "operations: "},
		{"two policies", "rate", [3]string{"1/s", "10/s", "1/s"}, []string{"strategy: full,none"}, "strategy: "},
		{"no outage", "rate", [3]string{"1/s", "10/s", "1/s"}, []string{"outage: none"}, "outage: "},
		{"an outage from the start", "rate", [3]string{"1/s", "10/s", "1/s"}, []string{"outage: 0s..2s"}, "healthy phase"},
		{"no end", "outage", [3]string{"1s", "24h", "1s"}, nil, "duration: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tip.Find(t.Context(), config(t, tt.vary, tt.ends, tt.lines...)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Values read back as they are written.
func TestAxes(t *testing.T) {
	for _, name := range tip.Axes() {
		for _, b := range []string{"finagle", "envoy", "aws", "aws-legacy", "grpc"} {
			c := config(t, "rate", [3]string{"1/s", "2/s", "1/s"}, "budget: "+b)
			a, err := tip.AxisOf(name, &c.Plan)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []int64{1000, 100_000, 1_000_000} {
				text := a.Text(&c.Plan, v)
				back, want := a.Read(&c.Plan, text)
				if back != v && want == "" {
					t.Errorf("%s: %d is %q, which is %d", name, v, text, back)
				}
			}
		}
	}
	c := config(t, "rate", [3]string{"1/s", "2/s", "1/s"})
	for _, name := range []string{"budget", "speed", ""} {
		if _, err := tip.AxisOf(name, &c.Plan); err == nil {
			t.Errorf("AxisOf(%q) = nil", name)
		}
	}
}

// Wilson's interval by the values of Newcombe (1998), table I, to four digits.
func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		k, n      int64
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {20, 20, 0.8389, 1}} {
		low, high := record.Wilson(tt.k, tt.n)
		if math.Abs(low-tt.low) > 5e-5 || math.Abs(high-tt.high) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f; want %.4f, %.4f", tt.k, tt.n, low, high, tt.low, tt.high)
		}
	}
}

// The most attempts of an operation in the long run, of budgets worked out by hand: a ratio, and what a floor allows beside it.
func TestBurden(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		load  float64
		want  float64 // 0: there is no such number
	}{
		{"three retries", []string{"max-retries: 3"}, 0.1, 4},
		{"no limit", []string{"max-retries: unlimited"}, 0.1, 0},
		{"a budget of each client", []string{"budget: finagle:ratio=20%,min=1/s,scope=client", "clients: 50"}, 0.1, 1.7},
		{"one of the fleet", []string{"budget: finagle:ratio=20%,min=10/s,scope=fleet"}, 0.1, 1.3},
		{"one of each part of the fleet", []string{"budget: finagle:ratio=20%,min=10/s,scope=fleet", "fleet: 'full=50%,none=50%'"}, 0.1, 1.4},
		{"a bound of what is under way", []string{"budget: envoy:ratio=20%,min=3"}, 0.1, 0},
		{"that bound, and three retries", []string{"budget: envoy:ratio=20%,min=3", "max-retries: 3"}, 0.1, 4},
		{"a chain, whose last service is the slowest", []string{"layer: ['db;capacity=400/s', 'disk;capacity=200/s']", "max-retries: 3"}, 0.5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _, err := plan.Resolve(plan.Input{FileName: "x.yaml", File: []byte("rate: 100/s\n" + strings.Join(tt.lines, "\n") + "\n")})
			if err != nil {
				t.Fatal(err)
			}
			load, got := tip.Burden(p)
			if math.Abs(*load-tt.load) > 1e-9 {
				t.Errorf("load = %v, want %v", *load, tt.load)
			}
			if tt.want == 0 && got != nil || tt.want > 0 && (got == nil || math.Abs(*got-tt.want) > 1e-9) {
				t.Errorf("worst = %v, want %v", value(got), tt.want)
			}
		})
	}
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
