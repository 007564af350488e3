package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// detailed is a Run with everything that CheckDetail looks at.
func detailed() Run {
	r := New(fullConfig(1))
	for _, e := range randomEvents(seeded(7), 4000) {
		e(r, 0)
	}
	run := r.Summarise(End{At: 12 * time.Second})
	run.Detail.Draws = []Draws{
		{Retry: 0, Count: 3, Bins: Bins{From: []int64{0, 110}, Count: []int64{1, 2}}, Theory: &Theory{From: []int64{0, 110}, Share: []float64{0.25, 0.75}}},
		{Retry: DrawColumns - 1, Beyond: true, Count: 1, Bins: Bins{From: []int64{2e9}, Count: []int64{1}}},
	}
	run.Repeats = RepeatsOf(1, 3, []Seed{SeedOf(&run), SeedOf(&run)})
	return run
}

func TestCheckDetail(t *testing.T) {
	text, err := json.Marshal(detailed())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(r *Run)
		want   string // in the error; empty: there is none
	}{
		{"as it comes", func(*Run) {}, ""},
		{"without any", func(r *Run) { r.Detail, r.Repeats = nil, nil }, ""},
		{"of old: no values", func(r *Run) { r.Repeats.Figures["arrivals"] = Spread{Count: 2} }, ""},
		{"no beginnings counted", func(r *Run) { r.Detail.Delay.AtFrom = nil }, ""},
		{"a histogram left out", func(r *Run) { r.Detail.Delay = nil }, ""},
		{"a value too many", func(r *Run) {
			s := r.Repeats.Figures["arrivals"]
			s.Values = append(s.Values, nil)
			r.Repeats.Figures["arrivals"] = s
		}, "repeats.figures.arrivals: 3 values"},
		{"a seed too many", func(r *Run) { r.Repeats.Each = []uint64{1, 2, 3} }, "repeats.each: 3 seeds, want 2 of them"},
		{"seeds in disorder", func(r *Run) { r.Repeats.Each = []uint64{9, 1} }, "repeats.each: 2 seeds, want 2 of them, ascending"},
		{"a value lost", func(r *Run) { r.Repeats.Figures["amplification"].Values[1] = nil }, "repeats.figures.amplification: 2 values, 1 of them null"},
		{"too many seeds", func(r *Run) {
			r.Repeats.Count = 10_001
			r.Repeats.Figures = map[string]Spread{"arrivals": {Values: make([]*float64, 10_001)}}
		}, "repeats.count = 10001, want 0..10000"},
		{"fewer than no seeds", func(r *Run) { r.Repeats.Count, r.Repeats.Figures = -5, nil }, "repeats.count = -5"},
		{"seeds beyond all memory", func(r *Run) { r.Repeats.Count, r.Repeats.Figures = 1<<60, nil }, "repeats.count = 1152921504606846976"},
		{"no seed came to its end", func(r *Run) { *r.Repeats = Repeats{Asked: 3, Seeds: [2]uint64{1, 1}} }, ""},
		{"of old: nothing says how many were asked for", func(r *Run) { r.Repeats.Asked = 0 }, ""},
		{"fewer asked for than ran", func(r *Run) { r.Repeats.Asked = 1 }, "repeats.asked = 1, want 2.."},
		{"more asked for than can be", func(r *Run) { r.Repeats.Asked = 1 << 60 }, "repeats.asked = 1152921504606846976"},
		{"seeds that do not fit their count", func(r *Run) { r.Repeats.Seeds[1] = 9 }, "repeats.seeds: 1 to 9, want 2"},
		{"seeds around the largest", func(r *Run) { r.Repeats.Seeds = [2]uint64{1<<64 - 1, 0} }, ""},
		{"a list of no seeds", func(r *Run) { r.Repeats.Each = []uint64{} }, "repeats.each: 0 seeds"},
		{"another sum", func(r *Run) { r.Detail.Delay.Count[0]++ }, "detail.delay_ns: the bins hold"},
		{"an empty bin", func(r *Run) { r.Detail.Latency.Count[0] = 0 }, "detail.latency_ns: bin"},
		{"a sum beyond all numbers", func(r *Run) { r.Detail.Latency.Count[0], r.Detail.Latency.Count[1] = 1<<62, 1<<62 }, "detail.latency_ns: bin"},
		{"counts missing", func(r *Run) { r.Detail.Elapsed.Count = r.Detail.Elapsed.Count[1:] }, "detail.elapsed_ns: "},
		{"beginnings missing", func(r *Run) { r.Detail.Elapsed.AtFrom = r.Detail.Elapsed.AtFrom[1:] }, "detail.elapsed_ns: "},
		{"more at the beginning than there is", func(r *Run) { r.Detail.Lateness.AtFrom[0] = r.Detail.Lateness.Count[0] + 1 }, "detail.lateness_ns: bin"},
		{"not where a bin begins", func(r *Run) { r.Detail.AttemptAtSuccess.From[0] = -3 }, "detail.attempt_at_success: no bin begins at -3"},
		{"inside a bin", func(r *Run) { r.Detail.Draws[0].Bins.From[1] = 111 }, "detail.draws[0].bins: no bin begins at 111"},
		{"out of order", func(r *Run) { r.Detail.Draws[0].Bins.From[0] = 200 }, "detail.draws[0].bins: no bin begins at 110"},
		{"draws of a retry twice", func(r *Run) { r.Detail.Draws[1].Retry = 0 }, "detail.draws[1].retry = 0"},
		{"draws of retry 12", func(r *Run) { r.Detail.Draws[1].Retry = 12 }, "detail.draws[1].retry = 12"},
		{"beyond what", func(r *Run) { r.Detail.Draws[0].Beyond = true }, "detail.draws[0].retry = 0"},
		{"another count of draws", func(r *Run) { r.Detail.Draws[0].Count = 4 }, "detail.draws[0].bins: the bins hold 3, want 4"},
		{"shares of more than all", func(r *Run) { r.Detail.Draws[0].Theory.Share[0] = 0.5 }, "detail.draws[0].theory: the shares add up to 1.25"},
		{"a share of nothing", func(r *Run) { r.Detail.Draws[0].Theory.Share[0] = 0 }, "detail.draws[0].theory: bin 0"},
		{"shares missing", func(r *Run) { r.Detail.Draws[0].Theory.Share = nil }, "detail.draws[0].theory: 2 bins"},
		{"theory inside a bin", func(r *Run) { r.Detail.Draws[0].Theory.From[1] = 111 }, "detail.draws[0].theory: no bin begins at 111"},
		{"a gap between windows", func(r *Run) { r.Detail.Synchrony[1].At++ }, "detail.synchrony[1]: "},
		{"a window of no length", func(r *Run) { r.Detail.Synchrony[0].To = 0 }, "detail.synchrony[0]: "},
		{"fewer than no retries", func(r *Run) { r.Detail.Synchrony[0].Retries = -1 }, "detail.synchrony[0]: "},
		{"an index above 1", func(r *Run) { r.Detail.Synchrony[2].RSI = ptr(1.5) }, "detail.synchrony[2]: index = 1.5"},
		{"too many windows", func(r *Run) { r.Detail.Synchrony = make([]Synchrony, SynchronyMax+1) }, "detail.synchrony: 601 windows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var run Run
			if err := json.Unmarshal(text, &run); err != nil {
				t.Fatal(err)
			}
			c.change(&run)
			err := run.CheckDetail()
			if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("CheckDetail() = %v, want %q", err, c.want)
			}
		})
	}
}
