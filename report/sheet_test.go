package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
)

// The sentence on the parts of a fleet says together only of what has a convoy's index, and nothing of what nobody knows.
func TestPartsSentence(t *testing.T) {
	for _, tt := range []struct {
		name    string
		indices []float64 // NaN: none
		want    string
	}{
		{"none", nil, ""},
		{"one of two", []float64{0.02, 1}, "it is the part that follows “b” (50 % of the clients, convoy index 1.00) that came back together"},
		{"one, and one partly", []float64{0.13, 0.25}, "it is the part that follows “b” (50 % of the clients, convoy index 0.25) that came back together; partly so did “a” (50 % of the clients, convoy index 0.13)"},
		{"all", []float64{1, 0.3}, "every part of the fleet came back together: “a” (50 % of the clients, convoy index 1.00), “b” (50 % of the clients, convoy index 0.30)"},
		{"one partly", []float64{0.1, 0.01}, "of its parts “a” (50 % of the clients, convoy index 0.10) came back partly together"},
		{"none together", []float64{0.09, 0}, "no part of the fleet came back together"},
		{"not known of one", []float64{math.NaN(), 0}, ""},
		{"not known of one, and one together", []float64{math.NaN(), 1}, "it is the part that follows “b” (50 % of the clients, convoy index 1.00) that came back together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := record.Run{Parts: []record.Part{{Name: "without a run"}}}
			for i, v := range tt.indices {
				part := record.Run{}
				part.Convoy.ConvoyIndex = &v
				run.Parts = append(run.Parts, record.Part{Name: string(rune('a' + i)), Share: 0.5, Run: &part})
			}
			if got := strings.ReplaceAll(partsSentence(&run), string(nbsp), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Where not every attempt came to call the next service, the sentence says so, and what it names multiplies to the figure.
func TestLayersSentence(t *testing.T) {
	amplification, end := 4.0, 6.0
	run := record.Run{Amplification: &amplification, Attempts: record.Attempts{Sent: 400}}
	behind := record.Run{Amplification: &amplification, Operations: record.Operations{Started: 150}, Attempts: record.Attempts{Sent: 600}}
	run.Layers = []record.Layer{{Name: "db", EndToEnd: &end, Run: &behind}}
	const want = "6 attempts at db for each operation: 4 by the clients × 4 by the target; of the attempts only 37.5 % at the target came to call the next service"
	if got := strings.ReplaceAll(layersSentence(&run), string(nbsp), " "); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for name, change := range map[string]func(*record.Run){
		"no layers": func(r *record.Run) { r.Layers = nil }, "no run": func(r *record.Run) { r.Layers = []record.Layer{{Name: "db", EndToEnd: &end}} },
		"nothing sent": func(r *record.Run) { r.Attempts.Sent = 0 }, "no end to end": func(r *record.Run) { r.Layers = []record.Layer{{Name: "db", Run: &behind}} },
	} {
		other := run
		change(&other)
		if got := layersSentence(&other); got != "" {
			t.Errorf("%s: %q, want nothing", name, got)
		}
	}
}

// What a service refused itself is told from what it did its own work for, and that failed behind it: a service without a
// fault of its own is not to look as if it had turned everything away.
func TestLayersFailedBehind(t *testing.T) {
	behind := record.Run{Operations: record.Operations{Started: 100, Succeeded: 10, GaveUp: map[string]int64{"max_retries": 50, "refused_by_budget": 20, "caller_gone": 5}},
		Buckets: []record.Bucket{{Served: 12}, {Rejected: 300}}}
	run := record.Run{Buckets: []record.Bucket{{Served: 10}, {Rejected: 40}, {Rejected: 45}}, Layers: []record.Layer{{Name: "db", Run: &behind}}}
	s := layersSheet(&run)
	at := slices.Index(s.head, "served")
	for i, want := range [][]string{{"10", "15", "70"}, {"12", "300", none}} {
		if got := s.rows[i][at : at+3]; !slices.Equal(got, want) {
			t.Errorf("%s: served, rejected, failed = %q, want %q", s.rows[i][0], got, want)
		}
	}
}

// Retries that came back spread out are no good news where the target stayed down: CLEAR is not green then, and says beside it why.
func TestClearOverTargetThatIsDown(t *testing.T) {
	before, after, index := 500.0, 4*time.Second, 0.0
	down := record.Recovery{GoodputBefore: &before, Watched: time.Minute}
	for _, tt := range []struct {
		name  string
		of    record.Recovery
		flags []string
		mark  rune
		want  string
	}{
		{"nothing to recover from", record.Recovery{}, nil, markGreen, ""},
		{"back", record.Recovery{GoodputBefore: &before, Watched: time.Minute, RecoveredAt: &after}, nil, markGreen, ""},
		{"down", down, nil, markYellow, "NOT RECOVERED"},
		{"down for long", down, []string{record.FlagMetastable}, markYellow, "METASTABLE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := record.Run{Convoy: record.Convoy{Verdict: record.VerdictClear, ConvoyIndex: &index, Flags: tt.flags}, Recovery: tt.of, Operations: record.Operations{Started: 9, Succeeded: 5}}
			mark, _ := verdictMark(&run)
			if got := strings.ReplaceAll(flagList(&run), string(nbsp), " "); got != tt.want || mark != tt.mark {
				t.Errorf("flags %q, mark %x, want %q and %x", got, mark, tt.want, tt.mark)
			}
		})
	}
}

// The first lines answer whether the target came back, by what the run can tell.
func TestRecoverySentence(t *testing.T) {
	before, low, back := 500.0, 3.0, 4200*time.Millisecond
	three, wasted := 3.0, 0.97
	phases := func(names ...string) []record.Phase {
		var list []record.Phase
		for _, name := range names {
			list = append(list, record.Phase{Name: name})
		}
		return list
	}
	for _, tt := range []struct {
		name   string
		phases []record.Phase
		of     record.Recovery
		flags  []string
		want   string
	}{
		{"a closed loop", nil, record.Recovery{Watched: time.Minute}, nil, ""},
		{"recovered", nil, record.Recovery{GoodputBefore: &before, GoodputLast: &before, RecoveredAt: &back, Watched: time.Minute}, nil, "recovered 4.20 s after the outage"},
		{"and lost it", nil, record.Recovery{GoodputBefore: &before, GoodputLast: &low, RecoveredAt: &back, Watched: time.Minute}, nil,
			"recovered 4.20 s after the outage, and lost it again: goodput 3.00/s at the end, 500/s before the outage"},
		{"a surge after an outage", phases("before", "outage 1", "between 1 and 2", "surge 2", "after"),
			record.Recovery{GoodputBefore: &before, GoodputLast: &low, Watched: 15 * time.Second, WatchNeeded: 135 * time.Second, AmplificationLast: &three, WastedShareLast: &wasted}, nil,
			"NOT RECOVERED: goodput 3.00/s at the end, 500/s before the first outage, amplification 3.00 and 97 % of the work wasted in the last 15 s; for METASTABLE it was not watched long enough to say (15 s of the 135 s)"},
		{"metastable", phases("before", "surge", "after"), record.Recovery{GoodputBefore: &before, GoodputLast: &low, Watched: 200 * time.Second, AmplificationLast: &three}, []string{record.FlagMetastable},
			"METASTABLE: the surge is over and the target has not recovered: goodput 3.00/s at the end, 500/s before the surge, amplification 3.00 in the last 60 s"},
		{"hardly watched", nil, record.Recovery{GoodputBefore: &before, Watched: 3 * time.Second}, nil,
			"whether the target recovered is not known: it was not watched long enough to say (3 s of the 120 s)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := record.Run{Phases: tt.phases, Recovery: tt.of, Convoy: record.Convoy{Flags: tt.flags}}
			if got := strings.ReplaceAll(recoverySentence(&run), string(nbsp), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
