package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

func spreadOf(mean, p5, p95 float64, n int64) record.Spread {
	return record.Spread{Mean: &mean, P5: &p5, P95: &p95, Count: n}
}

func advised(strategy string, base, limit time.Duration, kept int64) record.Advised {
	return record.Advised{
		Strategy: strategy, Base: base, Cap: limit, RetryAfterJitter: -1, Seeds: 120, Kept: kept, Meets: kept > 115,
		Completion: spreadOf(26.5e9, 25.3e9, 28.04e9, 120), Peak: spreadOf(4.76, 4.5, 5.18, 120), Attempts: spreadOf(4.05, 4.03, 4.06, 120),
		ConvoyIndex: spreadOf(0.006, 0.004, 0.008, 120), SuccessShare: spreadOf(1, 1, 1, 120),
	}
}

// advice is one that found something, with a policy of the user's and a run of it.
func advice() *record.Advice {
	ceiling, waves, earliest := 4500*time.Millisecond, int64(2), 12*time.Second
	helped := advised("full", 10*time.Second, 10*time.Second, 118)
	helped.SendRetryAfter, helped.RetryAfterJitter = 2*time.Second, 3200*time.Millisecond
	yours := advised("none", 100*time.Millisecond, 20*time.Second, 0)
	yours.Completion = record.Spread{}
	yours.SuccessShare = spreadOf(0.0123, 0.01, 0.02, 120)
	return &record.Advice{
		Schema: record.AdviceSchema, Situation: []byte(`{"capacity":"500/s","workers":1,"queue":0,"model":"slots","outage":["0s..2s=status"]}`), Plan: []byte(`{"clients":5000}`), Seed: 7, Policies: 315, Runs: 1314, Met: true,
		Sizing:    record.Sizing{Clients: 5000, CapacityPerSecond: 500, Drain: 10 * time.Second, Earliest: &earliest, FirstCeiling: &ceiling, Waves: &waves},
		Wishes:    []record.Wish{{Name: record.WishCompletion, Limit: 30e9}},
		Obstacles: []string{}, Best: []record.Advised{advised("decorrelated", 1500*time.Millisecond, 5*time.Second, 120), helped}, Current: &yours,
		Confirmed: []record.Confirmed{
			{Predicted: advised("decorrelated", 1500*time.Millisecond, 5*time.Second, 120), Valid: true,
				Measured: record.Measured{Completion: ptr(27.1e9), Peak: ptr(4.9), Attempts: ptr(4.1), ConvoyIndex: ptr(0.01), SuccessShare: ptr(1.0)}},
			{Predicted: yours, Current: true, Cut: true, Reasons: []string{"the generator was late"}, Measured: record.Measured{Attempts: ptr(18.5)}},
		},
	}
}

// unmet is one that found nothing.
func unmet() *record.Advice {
	a := advice()
	a.Met, a.Plan, a.Current, a.Confirmed = false, []byte("null"), nil, nil
	a.Sizing.FirstCeiling, a.Sizing.Waves, a.Sizing.Earliest = nil, nil, nil
	a.Wishes = []record.Wish{{Name: record.WishCompletion, Limit: 13e9, Alone: ptr(12.4e9)}, {Name: record.WishPeak, Limit: 2}, {Name: record.WishSuccess, Limit: 0.99}}
	a.Obstacles = []string{"alone, completion within 13 s can be had: the best found is completion within 12.4 s", "with \x1b[31m kept"}
	return a
}

func TestAdvice(t *testing.T) {
	for name, tt := range map[string]struct {
		advice *record.Advice
		o      report.Options
	}{
		"advice-80":         {advice(), report.Options{Width: 80}},
		"advice-120":        {advice(), report.Options{Width: 120}},
		"advice-40-ascii":   {advice(), report.Options{Width: 40, ASCII: true}},
		"advice-unmet-80":   {unmet(), report.Options{Width: 80}},
		"advice-20-ascii":   {unmet(), report.Options{Width: 20, ASCII: true}},
		"advice-nothing-80": {&record.Advice{Wishes: []record.Wish{{Name: "\x1bwish"}}}, report.Options{Width: 80}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := report.Advice(&b, tt.advice, tt.o); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := displayCells(strings.TrimSuffix(line, "\n")); n > tt.o.Width {
					t.Errorf("%d cells: %q", n, line)
				}
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestAdviceJSON(t *testing.T) {
	for _, a := range []*record.Advice{advice(), unmet()} {
		var b bytes.Buffer
		if err := report.AdviceJSON(&b, a); err != nil {
			t.Fatal(err)
		}
		var back record.Advice
		decoder := json.NewDecoder(bytes.NewReader(b.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&back); err != nil {
			t.Fatalf("%v:\n%s", err, b.String())
		}
		var again bytes.Buffer
		if err := report.AdviceJSON(&again, &back); err != nil || again.String() != b.String() {
			t.Errorf("written again, error %v:\n%s\nfirst\n%s", err, again.String(), b.String())
		}
	}
}
