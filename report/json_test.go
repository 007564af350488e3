package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

func encode(t testing.TB, r *record.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatalf("JSON: %v", err)
	}
	return b.Bytes()
}

// assets are what a page brings with it, and the hashes by which it names that.
var assets = regexp.MustCompile(`(?s)(<style>|<script>).*?(</style>|</script>)|'sha256-[^']*'|<!-- uPlot.*?-->`)

// withoutAssets leaves of a page what is of the result.
func withoutAssets(document []byte) []byte {
	return assets.ReplaceAllFunc(document, func(part []byte) []byte {
		if name, _, isElement := bytes.Cut(part, []byte(">")); isElement && len(name) < 9 {
			return append(name, []byte(">...")...)
		}
		return []byte("...")
	})
}

// TestFormatGoldens renders one small result in every format of the table: a new row needs a new golden.
func TestFormatGoldens(t *testing.T) {
	small := storm{strategy: "full", clients: 40, service: 10_000, length: 1_000_000, delay: strategies["full"]}.run()
	r := resultOf(guidePlan, small)
	r.Gates = []record.Gate{{Gate: "waves<3", Reason: "no data"}}
	names := map[string]bool{}
	for _, f := range report.Formats() {
		var b bytes.Buffer
		if err := f.Write(&b, r, report.Options{}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		golden(t, "format-"+f.Name, withoutAssets(b.Bytes()))
		if got, ok := report.Lookup(f.Name); !ok || got.Name != f.Name || f.Summary == "" || names[f.Name] {
			t.Errorf("the row of %q is not one of its own with a summary", f.Name)
		}
		names[f.Name] = true
	}
	if _, ok := report.Lookup("no such format"); ok {
		t.Error("Lookup found a format that is not there")
	}
}

// TestInnerFormatGoldens renders a small result with all that whole policies and whole incidents add, runs in the run among them, in
// every format.
func TestInnerFormatGoldens(t *testing.T) {
	r := resultOf(openPlan, everything())
	for _, f := range report.Formats() {
		if f.Name == "png" {
			continue // the picture in pixels
		}
		document, ok := written(t, f, r)
		if !ok {
			t.Fatalf("%s has no form for it", f.Name)
		}
		golden(t, "inner-"+f.Name, withoutAssets(document))
	}
}

// TestJSONRoundTrip: what is read writes the same bytes, and holds what was written.
func TestJSONRoundTrip(t *testing.T) {
	for name, r := range results() {
		if name == "long" { // 72,000 buckets alike
			short := *r
			short.Runs = slices.Clone(r.Runs)
			short.Runs[0].Buckets = r.Runs[0].Buckets[:1000]
			r = &short
		}
		first := encode(t, r)
		back, err := report.ReadJSON(bytes.NewReader(first))
		if err != nil {
			t.Errorf("%s: ReadJSON: %v", name, err)
			continue
		}
		if name != "hostile" && !bytes.Equal(first, encode(t, back)) {
			t.Errorf("%s: written again it differs", name)
		}
		if len(back.Runs) > 0 && len(back.Runs[0].Buckets) != len(r.Runs[0].Buckets) {
			t.Errorf("%s: %d buckets, want %d", name, len(back.Runs[0].Buckets), len(r.Runs[0].Buckets))
		}
	}
}

// fill sets every pointer to a float64 to v, and counts them.
func fill(v reflect.Value, x float64) int {
	n := 0
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			n += fill(v.Field(i), x)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += fill(v.Index(i), x)
		}
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Float64 && v.CanSet() {
			v.Set(reflect.ValueOf(&x))
			n++
		}
	}
	return n
}

// TestJSONWithoutNaN: hostile figures in every field become null, and the result is left as it was.
func TestJSONWithoutNaN(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := resultOf(guidePlan, guideStorm("none"))
		r.Gates = []record.Gate{{Gate: "waves<3"}}
		if n := fill(reflect.ValueOf(r).Elem(), x); n < 300 {
			t.Fatalf("filled only %d figures", n)
		}
		data := encode(t, r)
		if !json.Valid(data) || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
			t.Errorf("figures of %v give no clean JSON", x)
		}
		back, err := report.ReadJSON(bytes.NewReader(data))
		if err != nil || back.Runs[0].Convoy.ConvoyIndex != nil || back.Gates[0].Value != nil || back.Runs[0].Buckets[0].RSI != nil {
			t.Errorf("figures of %v are not null: %v", x, err)
		}
		if r.Runs[0].Convoy.ConvoyIndex == nil {
			t.Error("JSON changed the result")
		}
	}
}

// TestJSONIsSmall: a run of 30 s is under 100 kB, one of 60 s under 1 MB (case D-16), and a bucket is a line.
func TestJSONIsSmall(t *testing.T) {
	r := resultOf(guidePlan, guideStorm("full"))
	data := encode(t, r)
	if len(data) > 100_000 {
		t.Errorf("30 s take %d bytes", len(data))
	}
	if n := bytes.Count(data, []byte("\n        {\"at_ns\":")); n != 300 {
		t.Errorf("%d buckets stand on a line of their own, want 300", n)
	}
	if !bytes.HasSuffix(data, []byte("}\n")) {
		t.Error("the last byte is no line feed")
	}
}

// TestJSONNilLists: a list or table that nobody filled is empty, not null.
func TestJSONNilLists(t *testing.T) {
	text := string(encode(t, resultOf("{}", record.Run{})))
	for _, part := range []string{`"invalid_reasons": []`, `"gates": []`, `"buckets": []`, `"by_outcome":{}`, `"notes": []`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
}

// TestJSONRefuses: what has no form is an error and nothing is written.
func TestJSONRefuses(t *testing.T) {
	noPlan, noDate := resultOf("{", record.Run{}), resultOf("{}")
	noDate.StartedAt = time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, r := range map[string]*record.Result{"plan": noPlan, "date": noDate} {
		var b bytes.Buffer
		if err := report.JSON(&b, r); err == nil || b.Len() != 0 {
			t.Errorf("%s: error %v, %d bytes", name, err, b.Len())
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	good := string(encode(t, emptyResult()))
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"blanks", " \n\t", "the file is empty"},
		{"other schema", `{"schema":"stormtest.result/v2"}`, `schema = "stormtest.result/v2", want "stormtest.result/v1"`},
		{"no schema", `{"runs":[]}`, "it has no schema"},
		{"schema is null", `{"schema":null}`, "it has no schema"},
		{"hostile schema", `{"schema":"\u001b[2J"}`, `\x1b[2J`},
		{"schema is a number", `{"schema":1}`, "line 1: schema holds a number"},
		{"a list", `[1]`, "this is not a stormtest result"},
		{"a number", `1`, "this is not a stormtest result"},
		{"text", "All done.\n", "line 1"},
		{"half", good[:len(good)/2], "cut off after"},
		{"more", good + "{}", "line "},
		{"wrong type", strings.Replace(good, `"seed": 42`, `"seed": "42"`, 1), "seed holds a string, want uint64"},
		{"negative seed", strings.Replace(good, `"seed": 42`, `"seed": -1`, 1), "seed holds a number -1"},
		{"NaN", strings.Replace(good, `"seed": 42`, `"seed": NaN`, 1), "line 17"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := report.ReadJSON(strings.NewReader(tt.text))
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), "report: read result: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadJSON = %v, want an error with %q", err, tt.want)
			}
			if err != nil && strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("the error holds an escape: %q", err)
			}
		})
	}
	broken := errors.New("disk on fire")
	if _, err := report.ReadJSON(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("ReadJSON = %v, want the reader's error", err)
	}
}

// TestReadJSONOfEveryPrefix: a file that is cut off anywhere is an error that says so.
func TestReadJSONOfEveryPrefix(t *testing.T) {
	data := encode(t, oneArrival())
	for n := range len(data) - 1 { // without the line feed it is whole
		_, err := report.ReadJSON(bytes.NewReader(data[:n]))
		if err == nil || n > 0 && !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
}

// TestReadJSONIgnoresWhatItDoesNotKnow: a later version may say more.
func TestReadJSONIgnoresWhatItDoesNotKnow(t *testing.T) {
	text := strings.Replace(string(encode(t, oneArrival())), `"seed"`, `"mood": {"deep": [1, 2]}, "seed"`, 1)
	if r, err := report.ReadJSON(strings.NewReader(text)); err != nil || r.Seed != 42 {
		t.Errorf("ReadJSON = %v", err)
	}
}

func TestCSV(t *testing.T) {
	text := func(strategy string) string {
		run := record.Run{Strategy: strategy, Buckets: []record.Bucket{
			{At: 1_250_500, Arrivals: 7, First: 3, Retries: 4, Unknown: 6, Served: 5, Wasted: 2, Rejected: 1, RSI: ptr(0.25)},
			{At: 2 * time.Hour, RSI: ptr(math.NaN())},
		}}
		var b bytes.Buffer
		if err := report.CSV(&b, resultOf("{}", run)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const head = "strategy,at_ms,arrivals,first,retries,unknown,served,wasted,rejected,retry_synchronisation_index\n"
	for _, tt := range []struct{ name, strategy, cell string }{
		{"plain", "full", "full"}, {"formula", "=1+1", "'=1+1"}, {"plus", "+1", "'+1"}, {"minus", "-1", "'-1"}, {"at", "@SUM", "'@SUM"},
		{"tab before a formula", "\t=1", "'=1"}, {"comma", "a,b", `"a,b"`}, {"quote", `a"b`, `"a""b"`}, {"line break", "a\r\nb", "a  b"}, {"escape", "\x1bx", `\x1bx`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := head + tt.cell + ",1.2505,7,3,4,6,5,2,1,0.25\n" + tt.cell + ",7200000,0,0,0,0,0,0,0,\n"
			if got := text(tt.strategy); got != want {
				t.Errorf("CSV = %q, want %q", got, want)
			}
		})
	}
	var b bytes.Buffer
	theirs := record.Run{Strategy: "x", ArrivalsMeasuredAt: "client", Buckets: []record.Bucket{{Arrivals: 7, Served: 5}}}
	if err := report.CSV(&b, resultOf("{}", theirs)); err != nil || b.String() != head+"x,0,7,0,0,0,5,,0,\n" {
		t.Errorf("CSV of a target that is not ours = %q, %v; want no figure of wasted work", b.String(), err)
	}
	rows, err := csv.NewReader(strings.NewReader(text("x"))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Errorf("read back: %d rows, %v", len(rows), err)
	}
}

// failing takes n bytes and then fails.
type failing struct{ n int }

var errFull = errors.New("no space left")

func (f *failing) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWritersReturnTheError: a full disk is not silent, whenever it fills up.
func TestWritersReturnTheError(t *testing.T) {
	r := resultOf(guidePlan, guideStorm("none"))
	for _, f := range report.Formats() {
		for _, n := range []int{0, 2000} {
			if err := f.Write(&failing{n}, r, report.Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s after %d bytes: %v, want the writer's error", f.Name, n, err)
			}
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, r := range []*record.Result{emptyResult(), oneArrival(), invalidResult(), hostileResult(), resultOf("null"), detailed(), resultOf(openPlan, everything())} {
		for i := range r.Runs { // small seeds let the fuzzer run fast
			r.Runs[i].Buckets = r.Runs[i].Buckets[:min(4, len(r.Runs[i].Buckets))]
		}
		data := encode(f, r)
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	for _, text := range []string{
		"", "{}", "null", `{"schema":"stormtest.result/v1"}`, `{"schema":"stormtest.result/v1","runs":[{}]}`, `{"schema":"stormtest.result/v1","plan":[1,{"outage":5}],"runs":[{},{}]}`,
		`{"schema":"stormtest.result/v1","runs":[{"bucket_ns":1,"duration_ns":9223372036854775807,"capacity_per_second":1e-308,"buckets":[{"at_ns":9223372036854775807,"arrivals":9223372036854775807}]}]}`,
		`{"schema":"stormtest.result/v1","runs":[{"bucket_ns":-1,"duration_ns":-9223372036854775808,"capacity_per_second":-0.0,"buckets":[{"at_ns":-1,"arrivals":-1}]}]}`,
		`{"schema":"stormtest.result/v1","runs":[{"bucket_ns":100000000,"capacity_per_second":1e308,"buckets":[{"arrivals":1}]}]}`,
		`{"schema":"stormtest.result/v1","runs":[{"bucket_ns":-1,"capacity_per_second":0,"buckets":[{"at_ns":9223372036854775807,"arrivals":1}],` +
			`"delay_ns":{"count":9223372036854775807},"detail":{"delay_ns":{"from":[9200000000000000000],"count":[9223372036854775807]},` +
			`"draws":[{"retry":11,"beyond":true,"count":1,"bins":{"from":[0],"count":[1]}}],"synchrony":[{"at_ns":0,"to_ns":9223372036854775807,"convoy_index":1}]},` +
			`"repeats":{"count":1,"figures":{"x":{"count":1,"values":[1e308]}}}}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := report.ReadJSON(bytes.NewReader(data))
		if err != nil {
			return
		}
		for i := range r.Runs {
			run := &r.Runs[i]
			record.WavesOf(run)
			if d := run.Detail; d != nil && d.Delay != nil && (d.Delay.Total() != run.Delay.Count || d.Delay.UpTo(math.MaxInt64) > run.Delay.Count) {
				t.Fatalf("%d delays in bins, %d up to the largest number, of %d", d.Delay.Total(), d.Delay.UpTo(math.MaxInt64), run.Delay.Count)
			}
		}
		for _, width := range []int{1, 20, 61} {
			for line := range strings.Lines(render(t, r, report.Options{Width: width, ASCII: true})) {
				if len(line)-1 > width {
					t.Fatalf("width %d: %q", width, line)
				}
			}
		}
		var b bytes.Buffer
		if err := report.CSV(&b, r); err != nil {
			t.Fatal(err)
		}
		if again, err := report.ReadJSON(bytes.NewReader(encode(t, r))); err != nil || len(again.Runs) != len(r.Runs) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}

// TestJSONRefusesWhatNoReportCanShow: lists without bound, and lengths below 0, with where they stand.
func TestJSONRefusesWhatNoReportCanShow(t *testing.T) {
	plan := func(n int) json.RawMessage {
		return json.RawMessage(`{"storm":{"seed":1e999},"target":{"outage":["1s..2s"` + strings.Repeat(`,"1s..2s"`, n-1) + `]}}`)
	}
	for _, tt := range []struct {
		name, want string // empty: it is read
		change     func(r *record.Result, n int)
		n          int
	}{
		{"gates at the bound", "", func(r *record.Result, n int) { r.Gates = make([]record.Gate, n) }, 1000},
		{"gates", "gates: a list of 1001, want at most 1000", func(r *record.Result, n int) { r.Gates = make([]record.Gate, n) }, 1001},
		{"runs", "runs: a list of 1001, want at most 1000", func(r *record.Result, n int) { r.Runs = make([]record.Run, n) }, 1001},
		{"notes", "runs[0].notes: a list of 1001, want at most 1000", func(r *record.Result, n int) { r.Runs[0].Notes = make([]string, n) }, 1001},
		{"outages at the bound", "", func(r *record.Result, n int) { r.Plan = plan(n) }, 1000},
		{"outages", "plan.target.outage: a list of 1001, want at most 1000", func(r *record.Result, n int) { r.Plan = plan(n) }, 1001},
		{"completion", "runs[0].completion_ns = -5, want 0 or more", func(r *record.Result, n int) { r.Runs[0].Completion = ptr(int64(n)) }, -5},
		{"duration", "runs[0].duration_ns = -5, want 0 or more", func(r *record.Result, n int) { r.Runs[0].Duration = time.Duration(n) }, -5},
		{"bucket", "runs[0].bucket_ns = -1, want 0 or more", func(r *record.Result, n int) { r.Runs[0].Bucket = time.Duration(n) }, -1},
		{"recovery", "runs[0].recovery.recovered_after_ns = -1, want 0 or more", func(r *record.Result, n int) { r.Runs[0].Recovery.RecoveredAt = ptr(time.Duration(n)) }, -1},
	} {
		r := resultOf(guidePlan, guideStorm("full"))
		tt.change(r, tt.n)
		_, err := report.ReadJSON(bytes.NewReader(encode(t, r)))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != "report: read result: "+tt.want) {
			t.Errorf("%s: error = %v, want %q", tt.name, err, tt.want)
		}
	}
}
