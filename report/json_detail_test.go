package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// detailed is a result with every histogram, series and figure of a seed.
func detailed() *record.Result {
	r := record.New(record.Config{Duration: 3 * time.Second, Detail: true, Shards: 1})
	for i := range uint32(400) {
		at := time.Duration(i) * 7 * time.Millisecond
		r.OperationStarted(i)
		r.Sent(i, record.Sent{At: at, Due: at})
		r.Arrival(record.Arrival{At: at, Attempt: int(i % 3)})
		r.Outcome(i, record.Sample{Key: record.StatusKey(200), Answered: true, Latency: time.Duration(i) * time.Millisecond})
		r.Delay(i, record.Delay{Retry: int(i % 14), Planned: 2 * at, Draw: at})
		r.OperationEnded(i, record.Operation{At: at, Elapsed: at, Attempts: 1, Succeeded: true})
	}
	run := r.Summarise(record.End{At: 3 * time.Second, Strategy: "full", Engine: record.EngineVirtual, ArrivalsMeasuredAt: "target"})
	below := make([]float64, len(record.DrawEdges()))
	for i := range below {
		below[i] = float64(i) / float64(len(below))
	}
	for i := range run.Detail.Draws {
		if d := &run.Detail.Draws[i]; !d.Beyond {
			d.Theory = record.TheoryOf(below, i > 0)
		}
	}
	run.Repeats = record.RepeatsOf(1, 3, []record.Seed{record.SeedOf(&run), record.SeedOf(&run)})
	return resultOf(guidePlan, run)
}

// TestJSONKeepsDetail: histograms, series and the figures of every seed come back as they were written, and stand in the file as
// lines that people can read: every list of numbers and every window on one.
func TestJSONKeepsDetail(t *testing.T) {
	r := detailed()
	text := encode(t, r)
	back, err := report.ReadJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.Runs[0].Detail, r.Runs[0].Detail; !reflect.DeepEqual(got, want) {
		t.Errorf("detail = %+v\nwant %+v", got, want)
	}
	if got, want := back.Runs[0].Repeats, r.Runs[0].Repeats; !reflect.DeepEqual(got, want) {
		t.Errorf("repeats = %+v\nwant %+v", got, want)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if x := strings.Trim(line, " ,"); x != "" && strings.IndexByte("-0123456789", x[0]) >= 0 {
			t.Fatalf("a number stands on a line of its own: %q", line)
		}
	}
	for _, begin := range []string{`"from": [`, `"count": [`, `"share": [`, `"values": [`, `{"at_ns":`} {
		if !strings.Contains(string(text), begin) {
			t.Errorf("no line begins with %s", begin)
		}
	}
}

// TestJSONWithoutDetail: a file from before there was any reads, and says so by its absence.
func TestJSONWithoutDetail(t *testing.T) {
	r := detailed()
	r.Runs[0].Detail = nil
	for name, s := range r.Runs[0].Repeats.Figures {
		s.Values = nil
		r.Runs[0].Repeats.Figures[name] = s
	}
	text := encode(t, r)
	if bytes.Contains(text, []byte(`"detail"`)) {
		t.Error("there is a detail in what has none")
	}
	back, err := report.ReadJSON(bytes.NewReader(text))
	if err != nil || back.Runs[0].Detail != nil || len(back.Runs[0].Repeats.Figures["arrivals"].Values) != 0 {
		t.Errorf("%v: detail = %+v, values = %v", err, back.Runs[0].Detail, back.Runs[0].Repeats.Figures["arrivals"].Values)
	}
}

// TestJSONRefusesDetailThatContradictsItself: with where it stands.
func TestJSONRefusesDetailThatContradictsItself(t *testing.T) {
	r := detailed()
	r.Runs[0].Detail.Draws[2].Bins.Count[1]++
	_, err := report.ReadJSON(bytes.NewReader(encode(t, r)))
	if want := "report: read result: runs[0].detail.draws[2].bins: the bins hold "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error = %v, want %s...", err, want)
	}
}
