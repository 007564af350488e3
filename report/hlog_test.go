package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// logOf is a log of a run of 3.2 s of a full bucket, less and less after it, and of one that was
// killed after 700 ms.
func logOf() []byte {
	var e record.HLogEncoder
	text := e.Header(nil, record.HLogHeader{
		Tool: record.Tool{Version: "1.0.0"}, Plan: json.RawMessage(guidePlan), PlanHash: "3f9c2d7e41b0", Seed: 42,
		StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	})
	for _, run := range []struct {
		strategy string
		end      time.Duration
	}{{"none", 3200 * time.Millisecond}, {"full", 700 * time.Millisecond}} {
		text = e.Run(text, record.HLogRun{
			Strategy: run.strategy, Engine: "real", ArrivalsMeasuredAt: "target", T0: 41 * time.Millisecond,
			Planned: 3200 * time.Millisecond, Bucket: 100 * time.Millisecond, CapacityPerSecond: ptr(1000.0),
		})
		r, draw := record.New(record.Config{Shards: 1}), rand.New(rand.NewPCG(42, 1))
		arrivals := int64(0)
		for i := range 32 {
			for range max(0, 2000>>i-i) {
				arrivals++
				r.Arrival(record.Arrival{At: time.Duration(i)*100*time.Millisecond + time.Duration(draw.Int64N(1e8)), Attempt: i})
			}
		}
		for x, ok := r.Export(run.end); ok; x, ok = r.Export(run.end) {
			text = e.Interval(text, x)
		}
		if run.strategy == "none" {
			text = e.End(text, record.HLogEnd{Strategy: run.strategy, Duration: run.end, Arrivals: arrivals})
		}
	}
	return text[:len(text)-20]
}

func logResult() *record.Result {
	r, err := report.Read(bytes.NewReader(logOf()))
	if err != nil {
		panic(err)
	}
	return r
}

// What a log does not tell is null in JSON: every figure that is none is one of these.
func TestJSONOfALogHasNoMadeUpFigure(t *testing.T) {
	known := map[string]bool{
		"strategy": true, "engine": true, "arrivals_measured_at": true, "duration_ns": true, "bucket_ns": true, "capacity_per_second": true,
		"notes": true, "from_log.complete": true, "books.arrivals": true,
		"buckets.at_ns": true, "buckets.arrivals": true, "buckets.offset_p50_ns": true, "buckets.offset_p99_ns": true,
		"convoy.peak_arrivals": true, "convoy.peak_over_capacity": true, "convoy.peak_over_mean": true,
		"convoy.waves": true, "convoy.wave_peaks": true, "convoy.half_life_waves": true,
	}
	var doc struct {
		Runs []map[string]any `json:"runs"`
	}
	if err := json.Unmarshal(encode(t, logResult()), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				walk(strings.TrimPrefix(path+"."+key, "."), inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		case nil:
		default:
			if seen[path] = true; !known[path] {
				t.Errorf("%s = %v, which no log tells", path, v)
			}
		}
	}
	for _, run := range doc.Runs {
		walk("", run)
	}
	for path := range known {
		if !seen[path] && path != "convoy.half_life_waves" {
			t.Errorf("%s is null", path)
		}
	}
}

// A log gives the report that its result, saved as JSON, gives.
func TestReadTellsAResultFromALog(t *testing.T) {
	r := logResult()
	again, err := report.Read(bytes.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := render(t, r, report.Options{}), render(t, again, report.Options{}); a != b {
		t.Errorf("the saved result renders as\n%s\nand the log as\n%s", b, a)
	}
	var first, second bytes.Buffer
	if err := report.CSV(&first, r); err != nil {
		t.Fatal(err)
	}
	if err := report.CSV(&second, again); err != nil || first.String() != second.String() {
		t.Errorf("the CSV of the saved result differs: %v", err)
	}
	if !r.Interrupted || len(r.Runs) != 2 || !r.Runs[0].FromLog.Complete || r.Runs[1].FromLog.Complete || len(r.Runs[1].Buckets) != 6 {
		t.Errorf("runs = %+v, want a complete one and one of 6 whole buckets", r.Runs)
	}
	for text, want := range map[string]string{
		"":         "the file is empty",
		"\n":       "the file is empty",
		"#[a log]": "not a log of stormtest",
		"{}":       "no schema",
	} {
		if _, err := report.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error of %q = %v, want %q", text, err, want)
		}
	}
}

// The CSV leaves the cells of what a log does not tell empty.
func TestCSVOfALog(t *testing.T) {
	var b bytes.Buffer
	if err := report.CSV(&b, logResult()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if want := fmt.Sprintf("none,100,%d,,,,,,,", 999); lines[2] != want {
		t.Errorf("the second bucket is %q, want %q", lines[2], want)
	}
}
