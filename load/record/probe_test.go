package record_test

import (
	"encoding/json"
	"testing"

	"stormtest/load/record"
)

func TestSummaryIsExactAtTheEnds(t *testing.T) {
	d := record.Summary([]int64{30, 10, 20})
	if d.Count != 3 || *d.Min != 10 || *d.Max != 30 || *d.Mean != 20 || *d.P50 != 20 {
		t.Errorf("summary = %+v, want 10..30 around 20", d)
	}
	if d := record.Summary(nil); d.Count != 0 || d.Min != nil || d.P99 != nil {
		t.Errorf("summary of nothing = %+v, want no figures", d)
	}
}

func TestBestOfAProbe(t *testing.T) {
	rate := func(v float64) *float64 { return &v }
	p := record.Probe{Steps: []record.ProbeStep{
		{Mode: "closed", Good: rate(100)}, {Mode: "closed", Good: rate(180)}, {Mode: "closed"},
		{Mode: "paced", Good: rate(300)}, // may hold a burst
		{Mode: "hold", Good: rate(150)},
	}}
	if got := p.Best(); got == nil || *got != 180 {
		t.Errorf("best = %v, want 180", got)
	}
	if got := new(record.Probe).Best(); got != nil {
		t.Errorf("best of nothing = %v, want nil", *got)
	}
}

// A result without a probe does not speak of one.
func TestProbeIsLeftOut(t *testing.T) {
	b, err := json.Marshal(record.Result{})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	if _, ok := fields["probe"]; ok {
		t.Error("a result without a probe has a field for it")
	}
}
