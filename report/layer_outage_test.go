package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// failingChain is a chain of which the target fails from 1 s on and db from 2 s on, each for half a second.
func failingChain() *record.Result {
	run := func() record.Run {
		r := record.Run{Strategy: "full", Engine: record.EngineVirtual, Duration: 4 * time.Second, Bucket: 100 * time.Millisecond}
		for i := range 40 {
			r.Buckets = append(r.Buckets, record.Bucket{At: time.Duration(i) * r.Bucket, Arrivals: 10, First: 10, Served: 10})
		}
		return r
	}
	whole, db, queue := run(), run(), run()
	whole.Layers = []record.Layer{{Name: "db", Run: &db}, {Name: "queue", Run: &queue}}
	plan := `{"strategy":"full","outage":["1s..1500ms=hang"],"layer":["db;capacity=100/s;outage=2s..2500ms=slow:3;outage=20s..30s","queue;outage=none"]}`
	return &record.Result{Schema: record.Schema, Valid: true, Plan: json.RawMessage(plan), Runs: []record.Run{whole}}
}

// A service of a chain is drawn with its own outages, and with none of another one's.
func TestOutagesOfEachService(t *testing.T) {
	r := failingChain()
	plan := readPlan(r)
	want := []string{"1s hang", "2s slow:3, 20s status", ""}
	for i, one := range withInner(r.Runs) {
		var got []string
		for _, o := range one.outages(plan) {
			got = append(got, o.from.String()+" "+o.mode)
		}
		if strings.Join(got, ", ") != want[i] {
			t.Errorf("%s: outages %q, want %q", one.run.Strategy, got, want[i])
		}
	}
	var windows []string
	for _, chart := range arrivalsSection(r, plan).Blocks[len(arrivalsSection(r, plan).Blocks)-1].Figures.Charts {
		text := chart.Title + ":"
		for _, w := range chart.Windows {
			text += " " + time.Duration(w.From).String() + " " + w.Label
		}
		windows = append(windows, text)
	}
	if got, want := fmt.Sprintf("%q", windows), `["full: 1s outage: hang" "service db: 2s outage: slow:3" "service queue:"]`; got != want {
		t.Errorf("windows in the page %s, want %s", got, want)
	}
	if lead := string(pageLead(r, plan)[0]); !strings.Contains(lead, "outage 1s..1500ms=hang · outage of db 2s..2500ms=slow:3, 20s..30s") {
		t.Errorf("the page's head is %q, want the outages of each service in it", lead)
	}
	var terminal bytes.Buffer
	if err := Terminal(&terminal, r, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hang", "db: slow:3"} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("under the chart of a terminal there is no outage %q:\n%s", want, terminal.String())
		}
	}
	var picture bytes.Buffer
	if err := SVG(&picture, r); err != nil {
		t.Fatal(err)
	}
	svg := picture.String()
	shade := fmt.Sprintf("#%02x%02x%02x", outageColour.R, outageColour.G, outageColour.B)
	if n := strings.Count(svg, shade); n != 3 || !strings.Contains(svg, "outage (hang, slow:3, status)") { // one of each, and the legend
		t.Errorf("%d shades %s in the picture, want 3, and their modes in the legend", n, shade)
	}
}

// Where only a service behind the target fails, the page says so.
func TestOutageOfALayerAlone(t *testing.T) {
	r := failingChain()
	r.Plan = json.RawMessage(`{"strategy":"full","outage":[],"layer":["db;outage=2s..3s=status"]}`)
	if lead := string(pageLead(r, readPlan(r))[0]); !strings.Contains(lead, "· outage of db 2s..3s=status") || strings.Count(lead, "outage") != 1 {
		t.Errorf("the page's head is %q", lead)
	}
}

// A comparison of two chains shows each service's own outages.
func TestComparedOutagesOfAService(t *testing.T) {
	side := &compare.Side{Plan: failingChain().Plan}
	other := &compare.Side{Plan: json.RawMessage(`{"outage":["1s..1500ms=hang"],"layer":["db;outage=3s..4s"]}`)}
	db := "db"
	for _, tt := range []struct {
		service *string
		want    string
	}{{nil, "1s hang"}, {&db, "2s slow:3, base; 20s status, base; 3s status, new"}} {
		var got []string
		for _, o := range outagesOfTwo(side, other, tt.service) {
			got = append(got, o.from.String()+" "+o.mode)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("outages %q, want %q", got, tt.want)
		}
	}
}

// Markdown cuts a long sentence, but not before it has said where the attempts at the last service came from.
func TestMarkdownKeepsTheChainsSentence(t *testing.T) {
	r := failingChain()
	run := &r.Runs[0]
	amplification, end := 1.5, 40.0
	run.Amplification, run.Attempts.Sent = &amplification, 600
	run.Layers = nil
	for i := range 9 {
		behind := record.Run{Amplification: &amplification, Operations: record.Operations{Started: 150}, Attempts: record.Attempts{Sent: 600}}
		run.Layers = append(run.Layers, record.Layer{Name: "a-service-with-a-long-name-" + strconv.Itoa(i), EndToEnd: &end, Run: &behind})
	}
	for range 30 {
		run.Convoy.Flags = append(run.Convoy.Flags, record.FlagPeriodic)
	}
	text := markdownSentence(run, readPlan(r))
	if want := upperFirst(layersSentence(run)) + "."; !strings.Contains(text, want) || !strings.HasSuffix(text, "...") {
		t.Errorf("%q\nshould have in it, and be cut behind: %q", text, want)
	}
	run.Layers = nil
	if text := markdownSentence(run, readPlan(r)); len([]rune(text)) != sentenceMost+3 {
		t.Errorf("without a chain %d characters, want the first %d", len([]rune(text)), sentenceMost)
	}
}
