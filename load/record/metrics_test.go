package record_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
)

// unmeasured are the fields of a Run that no metric reads, each with the reason. A field stands for all below it.
var unmeasured = map[string]string{
	"Bucket":                   "the plan's",
	"Whole":                    "no gate holds of a run that was cut",
	"CapacityPerSecond":        "the plan's, or the probe's",
	"Convoy.WindowFrom":        "where, not how much: of the plan and the first failure",
	"Convoy.WindowTo":          "where, not how much",
	"Convoy.WavePeaks":         "a series; peak_arrivals is the largest, waves their number",
	"Convoy.Insufficient":      "convoy_index has no value then",
	"Recovery.Watched":         "the plan's: how long it ran after the outage",
	"Recovery.WatchNeeded":     "the plan's: how long it takes to say METASTABLE",
	"Phases.From":              "where, not how much",
	"Phases.To":                "where, not how much",
	"Phases.Retries":           "arrivals less first, of which amplification is made",
	"Phases.Amplification":     "of its counts, as the metrics are, which add outages up",
	"Phases.WastedShare":       "of its counts, as the metrics are",
	"Breaker.Breakers":         "the plan's",
	"Buckets.At":               "a series",
	"Buckets.Arrivals":         "a series; arrivals is its sum, peak_arrivals its largest",
	"Buckets.Unknown":          "a series; arrivals_unknown is its sum",
	"Buckets.ByAttempt":        "a series; attempt_at_success says how many it took",
	"Buckets.OffsetP50":        "for pictures; retry_synchronisation_index says how synchronous they are",
	"Buckets.OffsetP99":        "for pictures",
	"Budget.Accounts":          "the plan's",
	"Budget.Balance":           "a series; lowest, highest and last are metrics",
	"Budget.FloorPerSecond":    "the plan's arithmetic",
	"Budget.FloorOverCapacity": "the plan's arithmetic",
	"Books.AttemptsSent":       "attempts_sent again",
	"Repeats":                  "the metrics of every seed",
	"Detail":                   "the histograms and series behind the figures",
	"FromLog":                  "a run from a log has no figures",
}

// faultCounts say how far a Distribution can be believed: a metric beyond its histogram has no value. They stay 0.
var faultCounts = []string{"Clamped", "Faults"}

// A leaf is one number, truth or word of a Run, to be read and changed.
type leaf struct {
	path   string
	change func()
	undo   func()
}

// fill gives every field of v a value that no other has, makes pointers, slices of two and maps, and calls add for each
// leaf.
func fill(path string, v reflect.Value, next *int64, add func(leaf)) {
	set := func(to func(n int64)) {
		*next++
		n := *next
		to(n)
		add(leaf{path, func() { to(n + 500_000) }, func() { to(n) }})
	}
	if slices.Contains(faultCounts, path[strings.LastIndex(path, ".")+1:]) && v.Kind() == reflect.Int64 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(path, v.Elem(), next, add)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i), next, add)
		}
	case reflect.Slice:
		if t := v.Type(); t == reflect.TypeFor[[]record.Part]() || t == reflect.TypeFor[[]record.Layer]() {
			return // runs of their own
		}
		n := 2
		if path == "Phases" {
			n = len(phaseNames)
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(path, v.Index(i), next, add)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(path, v.Index(i), next, add)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range mapKeys[path] {
			k := reflect.ValueOf(key).Convert(v.Type().Key())
			if v.Type().Elem().Kind() != reflect.Int64 {
				continue // of Repeats
			}
			*next++
			n := *next
			v.SetMapIndex(k, reflect.ValueOf(n))
			add(leaf{path + "[" + key + "]", func() { v.SetMapIndex(k, reflect.ValueOf(n+500_000)) }, func() { v.SetMapIndex(k, reflect.ValueOf(n)) }})
		}
	case reflect.Int, reflect.Int64:
		set(v.SetInt)
	case reflect.Uint64:
		set(func(n int64) { v.SetUint(uint64(n)) })
	case reflect.Float64:
		set(func(n int64) { v.SetFloat(float64(n)) })
	case reflect.Bool:
		add(leaf{path, func() { v.SetBool(true) }, func() { v.SetBool(false) }})
	case reflect.String:
		v.SetString("word")
	default:
		panic("a field of kind " + v.Kind().String() + ": " + path)
	}
}

// phaseNames are those of the filled phases, one of each kind that figures are told of.
var phaseNames = []string{"before", "outage", "after"}

// mapKeys are the keys to fill a map with.
var mapKeys = map[string][]string{
	"Operations.GaveUp": {"max_retries", "max_elapsed"}, "Attempts.ByOutcome": {"503", "timeout"}, "Books.Lost": {"refused", "lost_request"},
	"Outside.Answers": {"429", "client_gone"},
}

// full is a Run in which every field has a value, and its leaves. Of clients that are ours, or not.
func full(ours bool) (*record.Run, []leaf) {
	run := new(record.Run)
	var leaves []leaf
	next := int64(1000)
	fill("", reflect.ValueOf(run).Elem(), &next, func(l leaf) { leaves = append(leaves, l) })
	run.FromLog = nil
	for i, name := range phaseNames {
		run.Phases[i].Name = name
	}
	end := float64(next + 1)
	run.Layers = []record.Layer{{}, {EndToEnd: &end}}
	run.Convoy.Verdict, run.Convoy.Flags = record.VerdictOverload, []string{}
	if ours {
		run.Outside = nil
	}
	return run, leaves
}

// everyMetric lists the metrics, and of each family those of the keys that the filled maps have.
func everyMetric(t *testing.T) []record.Metric {
	t.Helper()
	list := record.Metrics()
	for _, name := range []string{"gave_up_max_retries", "gave_up_max_elapsed", "outcome_503", "outcome_timeout", "lost_refused", "lost_request", "answer_429", "answer_client_gone"} {
		m, ok := record.MetricNamed(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		list = append(list, m)
	}
	return list
}

// figures are the values of all metrics by name, of a run of ours or not.
func figures(metrics []record.Metric, run *record.Run) map[string]float64 {
	all := map[string]float64{}
	for _, m := range metrics {
		if v := m.Value(run); v != nil {
			all[m.Name] = *v
		}
	}
	return all
}

// Every number of a Run is read by some metric: change it, and one of them changes. The few that are not are listed
// with the reason.
func TestEveryFieldHasAMetric(t *testing.T) {
	metrics := everyMetric(t)
	read := map[string]bool{}
	var paths []string
	for _, ours := range []bool{true, false} {
		run, leaves := full(ours)
		before := figures(metrics, run)
		for _, l := range leaves {
			if !slices.Contains(paths, l.path) {
				paths = append(paths, l.path)
			}
			l.change()
			read[l.path] = read[l.path] || !maps.Equal(before, figures(metrics, run))
			l.undo()
		}
	}
	if len(paths) < 100 {
		t.Fatalf("%d fields: the test does not see them", len(paths))
	}
	excused := map[string]bool{}
	for _, path := range paths {
		reason := ""
		for field := range unmeasured {
			if path == field || strings.HasPrefix(path, field+".") {
				reason = field
			}
		}
		switch {
		case read[path] && reason != "":
			t.Errorf("%s stands among those without a metric (%s), and has one", path, unmeasured[reason])
		case !read[path] && reason == "":
			t.Errorf("%s: no metric reads it, and it is not among those with a reason", path)
		}
		excused[reason] = true
	}
	for field := range unmeasured {
		if !excused[field] {
			t.Errorf("%s has a reason, and is no field", field)
		}
	}
}

// No two metrics are the same figure, and none reads nothing.
func TestEveryMetricReadsItsOwnField(t *testing.T) {
	metrics := everyMetric(t)
	seen := map[float64]string{}
	for _, ours := range []bool{true, false} {
		run, _ := full(ours)
		for _, m := range metrics {
			v := m.Value(run)
			switch {
			case m.OnlyServe && ours || !m.AtTarget && !ours:
				if v != nil {
					t.Errorf("%s = %v of clients that are ours %v, want none", m.Name, *v, ours)
				}
				continue
			case v == nil:
				t.Errorf("%s has no value", m.Name)
				continue
			case m.Unit == record.UnitWord: // of which few share the numbers 0 and 1
				continue
			}
			if other, twice := seen[*v]; twice && other != m.Name {
				t.Errorf("%s and %s read one field", m.Name, other)
			}
			seen[*v] = m.Name
		}
	}
}

// TestMetricsTable: what a list of them shows.
func TestMetricsTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range everyMetric(t) {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			if seen[name] {
				t.Errorf("%s stands twice in the table", name)
			}
			seen[name] = true
			if got, ok := record.MetricNamed(name); !ok || got.Name != m.Name {
				t.Errorf("MetricNamed(%s) = %s, %v", name, got.Name, ok)
			}
		}
		if m.Meaning == "" || m.Group == "" || (m.Unit == record.UnitWord) != (len(m.Words) > 1) || strings.HasSuffix(m.Meaning, ".") {
			t.Errorf("%s: meaning %q, group %q, words %q", m.Name, m.Meaning, m.Group, m.Words)
		}
	}
	for _, name := range []string{"", "outcome_", "outcome_99", "outcome_5033", "outcome_099", "outcome_5xx", "outcome_timeouts", "gave_up_503", "lost_", "lost_lost_request", "answer_timeout", "success_shar"} {
		if m, ok := record.MetricNamed(name); ok {
			t.Errorf("MetricNamed(%q) = %s, want none", name, m.Name)
		}
	}
	for _, f := range record.Families() {
		for _, name := range f.Names() {
			if m, ok := record.MetricNamed(name); !ok || m.Name != name || m.Unit != record.UnitCount {
				t.Errorf("MetricNamed(%s) = %+v, %v", name, m, ok)
			}
		}
	}
}

// An empty run, one of a log, and figures that are none: no value, and a word why.
func TestMetricsOfNothing(t *testing.T) {
	hostile, _ := full(true)
	hostile.Amplification, hostile.Latency.Mean, hostile.Convoy.ConvoyIndex = ptr(math.NaN()), ptr(math.Inf(-1)), ptr(math.Inf(1))
	none := record.Run{Outside: &record.Outside{}}
	for _, m := range everyMetric(t) {
		for name, run := range map[string]*record.Run{"an empty run": {}, "a log": {FromLog: &record.FromLog{}}, "a service without clients": &none, "a hostile run": hostile} {
			v := m.Value(run)
			if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
				t.Errorf("%s = %v", m.Name, *v)
			}
			known := name == "an empty run" && m.Name == "operations_started" || (name == "a service without clients" || name == "a log") && m.Name == "arrivals"
			if name != "a hostile run" && (v != nil) != known {
				t.Errorf("%s of %s has a value: %v, want %v", m.Name, name, v != nil, known)
			}
			if why := m.Why(run); v == nil && (why == "" || strings.HasSuffix(why, ".")) {
				t.Errorf("%s of %s: why it has none is %q", m.Name, name, why)
			}
		}
	}
	if m, _ := record.MetricNamed("convoy_index"); m.Value(hostile) != nil {
		t.Error("an infinite convoy_index is a value")
	}
	if m, _ := record.MetricNamed("verdict"); m.Value(hostile) != nil {
		t.Error("a verdict without an index is one")
	}
}

func ptr[T any](v T) *T { return &v }

// TestMetricsBySituation: what figures are of runs in which something is special.
func TestMetricsBySituation(t *testing.T) {
	base := func(change func(*record.Run)) *record.Run {
		run := &record.Run{ArrivalsMeasuredAt: "target", Duration: 10 * time.Second, Buckets: []record.Bucket{{Served: 60, Wasted: 10, First: 70, Rejected: 5}, {Served: 40, Wasted: 15, Retries: 30}}}
		run.Operations = record.Operations{Started: 1000, Succeeded: 800, Unfinished: 77, GaveUp: map[string]int64{"max_retries": 100, "max_elapsed": 23}}
		run.Attempts = record.Attempts{Sent: 2000, ByOutcome: map[string]int64{"503": 900, "200": 800}}
		run.Books.Arrivals = 100
		change(run)
		return run
	}
	for _, tt := range []struct {
		metric string
		change func(*record.Run)
		want   float64 // NaN: none
		why    string
	}{
		{"success_share", func(*record.Run) {}, 0.8, ""},
		{"operations_gave_up", func(*record.Run) {}, 123, ""},
		{"gave_up_max_retries", func(*record.Run) {}, 100, ""},
		{"gave_up_refused_by_budget", func(*record.Run) {}, 0, ""},
		{"completion", func(*record.Run) {}, math.NaN(), "not every operation succeeded: 800 of 1000 did"},
		{"wasted_share", func(*record.Run) {}, 0.25, ""},
		{"wasted_share", func(r *record.Run) { r.ArrivalsMeasuredAt = "client" }, math.NaN(), "the target is a URL, which does not tell"},
		{"served", func(*record.Run) {}, 100, ""},
		{"goodput", func(*record.Run) {}, 7.5, ""},
		{"rejected", func(r *record.Run) { r.Books.Arrivals = 0 }, math.NaN(), "nothing arrived"},
		{"waves", func(r *record.Run) { r.Books.Arrivals, r.Convoy.Waves = 0, ptr(int64(0)) }, math.NaN(), "nothing arrived"},
		{"waves", func(*record.Run) {}, math.NaN(), "nobody knows the target's capacity"},
		{"peak_over_capacity", func(*record.Run) {}, math.NaN(), "nobody knows the target's capacity"},
		{"peak_over_capacity", func(r *record.Run) { r.CapacityPerSecond = ptr(0.0) }, math.NaN(), "the capacity is 0"},
		{"outcome_503", func(*record.Run) {}, 900, ""},
		{"outcome_418", func(*record.Run) {}, 0, ""},
		{"outcome_418", func(r *record.Run) { r.Attempts.ByOutcome["other"] = 3 }, math.NaN(), "it is not among the 20 most frequent outcomes, which alone are counted by name"},
		{"outcome_503", func(r *record.Run) { r.Attempts.ByOutcome["other"] = 3 }, 900, ""},
		{"outcome_other", func(r *record.Run) { r.Attempts.ByOutcome["other"] = 3 }, 3, ""},
		{"lost", func(r *record.Run) { r.Books.Lost = map[string]int64{"refused": 3, "lost_request": 4} }, 7, ""},
		{"lost_request", func(r *record.Run) { r.Books.Lost = map[string]int64{"lost_request": 4} }, 4, ""},
		{"answer_503", func(*record.Run) {}, math.NaN(), "only stormtest serve counts it"},
		{"answer_503", func(r *record.Run) { r.Outside = &record.Outside{Answers: map[string]int64{"503": 9}} }, 9, ""},
		{"answer_200", func(r *record.Run) { r.Outside = &record.Outside{Answers: map[string]int64{"503": 9}} }, 0, ""},
		{"success_share", func(r *record.Run) { r.Outside = &record.Outside{} }, math.NaN(), "only the clients know it, and they were not ours"},
		{"latency_p99", func(*record.Run) {}, math.NaN(), "no attempt was answered"},
		{"latency_count", func(*record.Run) {}, 0, ""},
		{"operation_latency_p99", func(r *record.Run) {
			r.OperationLatency = record.Distribution{Count: 100, Clamped: 5, P50: ptr(int64(1e9)), P99: ptr(int64(4e12)), Max: ptr(int64(5e12))}
		}, math.NaN(), "it is beyond the histogram, which ends at 1h6m40s; operation_latency_max is exact"},
		{"operation_latency_max", func(r *record.Run) {
			r.OperationLatency = record.Distribution{Count: 100, Clamped: 5, P99: ptr(int64(4e12)), Max: ptr(int64(5e12))}
		}, 5e12, ""},
		{"retry_after_early", func(*record.Run) {}, math.NaN(), "no answer carried a Retry-After"},
		{"retry_after_early", func(r *record.Run) { r.Hints.Seen = 5 }, 0, ""},
		{"budget_refused", func(*record.Run) {}, math.NaN(), "the plan has no budget"},
		{"operations_unstarted", func(*record.Run) {}, math.NaN(), "without a rate no operation is due by itself"},
		{"convoy_index", func(r *record.Run) { r.Convoy.WindowTo, r.Convoy.WindowArrivals = 9*time.Second, 57 }, math.NaN(), "57 retries in the window of 9s, and it takes 100 in 1s or more"},
		{"convoy_index", func(r *record.Run) { r.Convoy.WindowTo, r.Convoy.WindowArrivals = 9*time.Second, 570 }, math.NaN(), "no two of the 570 retries in the window are within 1s"},
		{"convoy_index", func(*record.Run) {}, math.NaN(), "the run was over before the window in which retries are judged"},
		{"verdict", func(r *record.Run) { r.Convoy.Verdict = record.VerdictOverload }, math.NaN(), "no convoy index: the run was over before the window in which retries are judged"},
		{"verdict", func(r *record.Run) { r.Convoy.Verdict, r.Convoy.ConvoyIndex = record.VerdictConvoy, ptr(0.9) }, 0, ""},
		{"verdict", func(r *record.Run) { r.Convoy.Verdict, r.Convoy.ConvoyIndex = record.VerdictClear, ptr(0.0) }, 4, ""},
		{"verdict", func(r *record.Run) {
			r.Convoy.Verdict, r.Convoy.ConvoyIndex, r.Operations.Succeeded = record.VerdictClear, ptr(0.0), 0
		}, 3, ""},
		{"periodic", func(*record.Run) {}, math.NaN(), "the run is under three times the cap, or the strategy has none"},
		{"periodic", func(r *record.Run) { r.Convoy.Periodicity = ptr(0.1) }, 1, ""},
		{"periodic", func(r *record.Run) { r.Convoy.Periodicity, r.Convoy.Flags = ptr(0.9), []string{record.FlagPeriodic} }, 0, ""},
		{"metastable", func(*record.Run) {}, math.NaN(), "no outage or surge, no rate, or under a second of served traffic before the outage"},
		{"metastable", func(r *record.Run) {
			r.Recovery = record.Recovery{GoodputBefore: ptr(500.0), Watched: 15 * time.Second}
		}, math.NaN(),
			"goodput did not come back in the 15s that were watched"},
		{"metastable", func(r *record.Run) {
			r.Recovery = record.Recovery{GoodputBefore: ptr(500.0), RecoveredAt: ptr(time.Second)}
		}, 1, ""},
		{"goodput_ratio", func(r *record.Run) { r.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(250.0)} }, 0.5, ""},
		{"retry_synchronisation_index_max", func(r *record.Run) { r.Buckets[0].RSI, r.Buckets[1].RSI = ptr(-0.2), ptr(0.7) }, 0.7, ""},
	} {
		t.Run(tt.metric+" "+tt.why, func(t *testing.T) {
			m, ok := record.MetricNamed(tt.metric)
			if !ok {
				t.Fatal("there is none of that name")
			}
			run := base(tt.change)
			got, text := math.NaN(), ""
			if v := m.Value(run); v != nil {
				got = *v
			} else {
				text = m.Why(run)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || text != tt.why {
				t.Errorf("%v %q, want %v %q", got, text, tt.want, tt.why)
			}
		})
	}
}

// Every number of a Probe is a metric, but for what a probe is not judged by.
func TestEveryFieldOfTheProbeHasAMetric(t *testing.T) {
	notJudged := map[string]string{"ByStatus": "probe_best counts the good ones", "Steps.": "how the capacity was found", "Limit": "probe_capacity has no value then"}
	probe := new(record.Probe)
	var leaves []leaf
	next := int64(1000)
	fill("", reflect.ValueOf(probe).Elem(), &next, func(l leaf) { leaves = append(leaves, l) })
	probe.Errors = map[string]int64{"reset": 3}
	values := func() (all []float64) {
		for _, m := range record.ProbeMetrics() {
			v := m.ProbeValue(probe)
			if v == nil {
				t.Fatalf("%s has no value", m.Name)
			}
			all = append(all, *v)
		}
		return all
	}
	before := values()
	for i, v := range before {
		if slices.Contains(before[:i], v) {
			t.Errorf("%s is another metric", record.ProbeMetrics()[i].Name)
		}
	}
	for _, l := range leaves {
		l.change()
		read := !slices.Equal(before, values())
		l.undo()
		excused := strings.HasPrefix(l.path, "ByStatus") || l.path == "Limit" || strings.HasPrefix(l.path, "Steps.")
		if read == excused && l.path != "Steps.Good" {
			t.Errorf("%s is read by a metric: %v, which is not as %v says", l.path, read, notJudged)
		}
	}
	for _, m := range record.ProbeMetrics() {
		run, _ := full(true)
		if m.ProbeValue(nil) != nil || m.Value(run) != nil || m.Why(run) == "" || m.Absent == "" || !m.OfProbe() {
			t.Errorf("%s of no probe has a value, or no word why", m.Name)
		}
	}
}
