package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
)

// words renders r and returns its words with one blank between them.
func words(t *testing.T, r *record.Result, width int) string {
	t.Helper()
	return strings.Join(strings.Fields(render(t, r, report.Options{Width: width})), " ")
}

// TestVirtualTimeIsToldAsSuch: the head and the books say so, and nothing is said of a generator that
// there was not. Of real time nothing of it is said.
func TestVirtualTimeIsToldAsSuch(t *testing.T) {
	const head, books, clock = "Virtual time clients, network and target are models", "arrivals in virtual time; balanced", "Clock virtual: every attempt was sent at the moment it was due"
	real, virtual := words(t, results()["one"], 100), words(t, results()["virtual"], 100)
	if !strings.HasPrefix(virtual, head) {
		t.Errorf("the report begins with %.100q, want %q", virtual, head)
	}
	for _, part := range []string{books, clock, "30 s of virtual time"} {
		if !strings.Contains(virtual, part) || strings.Contains(real, part) {
			t.Errorf("%q is not in the report of virtual time alone", part)
		}
	}
	for _, part := range []string{"lateness", "Generator", "kept up", "connections", "kernel"} {
		if strings.Contains(virtual, part) {
			t.Errorf("a report of virtual time says %q", part)
		}
	}
	if strings.Contains(virtual, "Network") || strings.Contains(virtual, "Seeds") {
		t.Error("a run of one seed without a network tells of them")
	}
	both := resultOf(guidePlan, guideStorm("full"), inVirtualTime(guideStorm("full")))
	if text := words(t, both, 100); !strings.HasPrefix(text, "Virtual time of the runs that say so:") {
		t.Errorf("a report of both engines begins with %.100q", text)
	}
}

func TestNetworkIsTold(t *testing.T) {
	for _, tt := range []struct{ name, plan, want string }{
		{"both", `{"latency":"10ms~2ms","loss":"1%"}`, "Network a message takes |Normal(10ms, 2ms)|, drawn for each, one way; 1% of the messages are lost, which a client learns by its timeout full"},
		{"fixed", `{"latency":"10ms","loss":"0%"}`, "Network a message takes 10ms one way full"},
		{"loss alone", `{"latency":"0s","loss":"0.5%"}`, "Network 0.5% of the messages are lost, which a client learns by its timeout full"},
	} {
		if text := words(t, resultOf(tt.plan, inVirtualTime(guideStorm("full"))), 200); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %.300q, want %q", tt.name, text, tt.want)
		}
	}
}

// TestModelsNameWhatTheyRead: what a model does not read is not said of it.
func TestModelsNameWhatTheyRead(t *testing.T) {
	const all = `"capacity":"1000/s","workers":2,"queue":3,"burst":4,"service":"exp","abandoned":"cancel","send-retry-after":"1s","transport":"memory","latency":"1ms","loss":"2%"}`
	for model, want := range map[string]string{
		"slots":          "model slots, capacity 1000/s, workers 2, queue 3, service exp, abandoned cancel, Retry-After sent 1s, latency 1ms, loss 2%",
		"token-bucket":   "model token-bucket, burst 4, capacity 1000/s, Retry-After sent 1s, latency 1ms, loss 2%",
		"reject-if-busy": "model reject-if-busy, capacity 1000/s, service exp, Retry-After sent 1s, latency 1ms, loss 2%",
		"occ":            "model occ, latency 1ms, loss 2%",
	} {
		run, other := inVirtualTime(guideStorm("full")), inVirtualTime(guideStorm("none"))
		text := words(t, resultOf(`{"model":"`+model+`",`+all, run, other), 300)
		if part := "Target the ranking holds for this target model: " + want + ". Against"; !strings.Contains(text, part) {
			t.Errorf("the ranking of %s does not say %q", model, part)
		}
	}
}

// TestSeedsSideBySide: each strategy has each figure as mean and range, and a figure that some seeds
// do not have says how many had it.
func TestSeedsSideBySide(t *testing.T) {
	rows := map[string]string{}
	text := render(t, seedsResult(), report.Options{Width: 200})
	_, table, found := strings.Cut(text, "All seeds")
	if !found {
		t.Fatal("no table of all seeds")
	}
	for line := range strings.Lines(table) {
		for _, head := range []string{"seeds ", "attempts", "all done", "success share", "amplification", "peak / capacity", "convoy index", "operation latency p50", "operation latency p99", "CLEAR", "OVERLOAD"} {
			if rest, ok := strings.CutPrefix(line, head); ok && rows[head] == "" {
				rows[head] = strings.Join(strings.Fields(rest), " ")
			}
		}
	}
	want := map[string]string{
		"seeds ":                "400 400 400 400",
		"attempts":              "500,500 [500,500-500,500] 4,840 [4,813-4,868] 4,724 [4,693-4,753] 3,745 [3,702-3,785]*",
		"all done":              "– 10.4 [9.00-11.5] s 8.30 [5.90-11.5] s in 387 6.50 [5.10-8.60] s*",
		"success share":         "0.9 [0.9-0.9] % 100 [100-100] %* >99.9 [99.9-100] %* 100 [100-100] %*",
		"amplification":         "500 [500-500] 4.84 [4.81-4.87] 4.72 [4.69-4.75] 3.75 [3.70-3.79]*",
		"peak / capacity":       "10.0 [10.0-10.0]x 17.2 [16.9-17.6]x 22.7 [22.1-23.4]x 10.0 [10.0-10.0]x",
		"convoy index":          "1.00 [1.00-1.00] 0.10 [0.08-0.249999] 0.01 [0.00-0.03] in 398 0.01 [0.00-0.02]*",
		"operation latency p50": "1.50 [1.50-1.50] s 1.10 [1.00-1.20] s 670 [610-720] ms 820 [780-860] ms",
		"operation latency p99": "25.5 [25.5-25.5] s 5.50 [5.10-5.90] s 4.40 [3.90-5.00] s 3.90 [3.60-4.30] s",
		"OVERLOAD":              "0 0 400 8",
		"CLEAR":                 "0 0 0 392",
	}
	if !reflect.DeepEqual(rows, want) {
		for head := range want {
			if rows[head] != want[head] {
				t.Errorf("%s: %q\nwant %q", head, rows[head], want[head])
			}
		}
	}
	for _, part := range []string{
		"Seeds 400 seeds from 42 to 441 ran.", "1 of 1 hold ok full: amplification<6", "in n so many seeds had a value",
		"the ranking holds for this target model: model reject-if-busy, capacity 1000/s", "Seed 42, the first of 400", "the same plan with --seed 42 --repeat 400",
		"(CLEAR in 392 of 400 seeds, OVERLOAD in 8); all 2,000", "capacity (so in all 400 seeds); 9 of", "means only where every seed has the figure",
	} {
		if !strings.Contains(words(t, seedsResult(), 200), part) {
			t.Errorf("the report does not say %q", part)
		}
	}
}

// TestSeedsAtAnyWidth: at every width the table holds every figure. From 72 on it tries every seventh, among them
// 118, the narrowest at which the strategies stand side by side.
func TestSeedsAtAnyWidth(t *testing.T) {
	r := seedsResult()
	for _, ascii := range []bool{false, true} {
		for width := 20; width <= 220; width++ {
			if width > 72 && width%7 != 118%7 {
				continue
			}
			text := render(t, r, report.Options{Width: width, ASCII: ascii})
			text = strings.Join(strings.Fields(text), " ")
			if width < 40 {
				text = strings.ReplaceAll(text, " ", "") // words are broken where they must
			}
			for _, part := range []string{"500,500 [500,500-500,500]", "8.30 [5.90-11.5] s in 387", ">99.9 [99.9-100] %", "670 [610-720] ms", "0.01 [0.00-0.03] in 398"} {
				if width < 40 {
					part = strings.ReplaceAll(part, " ", "")
				}
				if !strings.Contains(text, part) {
					t.Fatalf("at width %d (ASCII %v) the report lacks %q", width, ascii, part)
				}
			}
		}
	}
}

// TestRepeatsInJSON: they come back as they were, and a run of one seed has no word of them.
func TestRepeatsInJSON(t *testing.T) {
	want := seedsResult()
	data := encode(t, want)
	back, err := report.ReadJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Runs {
		if !reflect.DeepEqual(back.Runs[i].Repeats, want.Runs[i].Repeats) {
			t.Errorf("%s: %+v, want %+v", want.Runs[i].Strategy, back.Runs[i].Repeats, want.Runs[i].Repeats)
		}
	}
	for _, line := range []string{
		`"count": 400,`, `"seeds": [42,441],`, `"completion": {"mean":8300000000,"p5":5900000000,"p95":11500000000,"count":387},`,
		`"completion": {"mean":null,"p5":null,"p95":null,"count":0},`,
	} {
		if !bytes.Contains(data, []byte(line)) {
			t.Errorf("the JSON has no %s", line)
		}
	}
	if data := encode(t, results()["virtual"]); bytes.Contains(data, []byte("repeats")) {
		t.Error("a run of one seed tells of repeats")
	}
}
