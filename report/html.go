package report

import (
	"io"
	"slices"
	"strings"

	"stormtest/load/record"
)

// The hooks of the page, which tests and scripts may rely on:
//
//	<html data-ready="true">            the scripts have run
//	<script id="data">                  what the pictures are drawn from, as JSON: {charts: {ID: htmlChart}}
//	section ids                         verdict gates compare seeds probe arrivals goodput synchrony delays latency runs generator plan reading;
//	                                    those with nothing to show are not there: gates, seeds, probe
//	data-role="headline"                which strategy did best, in one sentence; not there where only one ran
//	data-role="alarm"                   under the title, which gates failed; not there where none did
//	data-role="invalid", "interrupted", "recovered", "books"   alerts, only where there is that trouble
//	[data-role=verdict][data-run=N]     one strategy's verdict, its word in [data-role=verdict-word]
//	table[data-role=...]                compare, seeds, gates, figures, percentiles, plan
//	[data-figure][data-value]           a figure: "STRATEGY.METRIC" by record.Metrics' flat name, or "gate.N"; the value as in the JSON
//	                                    (durations in ns), empty for none. "STRATEGY.METRIC.mean" is of all seeds, with data-p5 and data-p95
//	[data-run=N]                        what is of run N of the result
//	figure[data-chart=ID], id=chart-ID      arrivals-N, arrivals-N-K of the Kth part or service in run N, goodput, wasted, convoy-index, sync-index, delays-N, latency, operation-latency
//	  [data-role=plot]                  role=slider; data-drawn="true" once drawn, which is when it comes near the view
//	  [data-role=readout]               what is under the cursor; data-at is where it stands (ns), absent without a cursor
//	  [data-role=data-table]            the table behind the picture, filled when its <details> opens
//	  [data-role=empty]                 in place of a picture: why there is none
//	fieldset[data-role=toggle]          radios named stack (attempts, outcome), scale (bent, even), retry (0, 1, ...)
//	fieldset[data-role=runs]            checkboxes named run, valued N, that show and hide strategies
//
//	button[data-role=all], [data-role=none]   show or hide all strategies; not there for two
//	button[data-role=whole]             ends the zoom; hidden where there is none
//
// Charts over time share one cursor and one zoom: where a plot has the focus, arrow keys, Home, End, PageUp, PageDown and Escape
// move the cursor, and + - 0 zoom.

// HTML writes the report as one page that needs no network: verdict first, then the strategies side by side, then pictures
// over time, of the delays and of the latencies, and all the figures and texts of the terminal report.
//
// Long runs are thinned so that peaks survive: a bar is the fullest of several buckets, and says so. Figures are those of
// the whole run. Every string of the result is made safe. The error is the writer's, or says which figure has no form.
func HTML(w io.Writer, r *record.Result, _ Options) error {
	return writeHTML(w, resultPage(r))
}

// resultPage lays out the page of a result.
func resultPage(r *record.Result) *htmlPage {
	plan := readPlan(r)
	p := &htmlPage{Title: plan.titled(pageTitle(r, plan)), Alarm: gatesAlarm(r.Gates), Lead: pageLead(r, plan)}
	p.Summary = append(p.Summary, verdictSection(r, plan))
	p.Summary = appendFilled(p.Summary, gatesSection(r), sheetsSection(r), compareSection(r, plan), seedsSection(r), probeSection(r))
	if len(r.Runs) > 0 {
		p.Toolbar = pageToolbar(r)
		p.Sections = append(p.Sections, arrivalsSection(r, plan), goodputSection(r, plan), synchronySection(r, plan), delaysSection(r), latencySection(r),
			runsSection(r, plan), generatorSection(r))
	}
	p.Sections = append(p.Sections, planSection(r, plan), readingSection())
	return p
}

// appendFilled appends the sections that have something in them.
func appendFilled(list []htmlSection, more ...htmlSection) []htmlSection {
	for _, s := range more {
		if len(s.Blocks) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// pageTitle says what was tried, in a few words.
func pageTitle(r *record.Result, plan planFields) string {
	if fromLog(r) {
		return "Arrivals recovered from a log"
	}
	who := "Retry storm"
	switch n := plan.text("clients"); {
	case slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }):
		who = "Clients of others"
	case plan.text("rate") != "" && plan.text("rate") != "off":
		who = "Operations at " + groupRate(clip(plan.text("rate"), 40))
	case n == "1":
		who = "1 client"
	case n != "":
		who = clip(groupDigits(n), 40) + " clients"
	}
	switch url, capacity := plan.text("url"), plan.text("capacity"); {
	case url != "" && url != "none":
		return who + " against " + clip(url, 80)
	case plan.text("model") == modelOCC:
		return who + " on one row (optimistic concurrency)"
	case capacity != "":
		return who + " against a target that serves " + groupRate(clip(capacity, 40))
	}
	return who
}

// groupDigits writes a whole number with separators; any other text as it is.
func groupDigits(text string) string {
	if len(text) > 18 || text == "" || strings.Trim(text, "0123456789") != "" {
		return text
	}
	var n int64
	for _, c := range text {
		n = n*10 + int64(c-'0')
	}
	return count(n)
}

// groupRate writes a rate such as 1000/s with separators; any other text as it is.
func groupRate(text string) string {
	n, unit, found := strings.Cut(text, "/")
	if !found {
		return groupDigits(text)
	}
	return groupDigits(n) + "/" + unit
}

// pageLead says when and how it was measured, and what kind of run the figures are of.
func pageLead(r *record.Result, plan planFields) []htmlText {
	var parts []string
	if n := len(r.Runs); n > 0 {
		engine := "real time"
		if virtual(&r.Runs[0]) {
			engine = "virtual time"
		}
		text := plural(int64(n), "strategy") + ", up to " + span(longestRun(r).Duration) + " of " + engine + " each"
		if n == 1 {
			text = runLength(&r.Runs[0])
		}
		parts = append(parts, text)
	}
	if rate := plan.text("rate"); rate != "" && rate != "off" {
		parts = append(parts, groupRate(clip(rate, 40))+" operations")
	}
	if outages := plan.outageTexts(); len(outages) > 0 {
		parts = append(parts, clip(strings.Join(outages, " · "), 240))
	}
	if !r.StartedAt.IsZero() {
		parts = append(parts, r.StartedAt.UTC().Format("2006-01-02 15:04")+" UTC")
	}
	if version := clean(r.Tool.Version); version != "" {
		parts = append(parts, "stormtest "+version)
	}
	var lead []htmlText
	if len(parts) > 0 {
		lead = append(lead, htmlText(strings.Join(parts, " · ")))
	}
	for _, s := range said(func(p *page) { writeHead(p, r, plan) }) {
		lead = append(lead, htmlText(strings.TrimSpace(s.head+": "+s.text)))
	}
	return lead
}

// longestRun is the run that took the longest; r has one.
func longestRun(r *record.Result) *record.Run {
	most := &r.Runs[0]
	for i := range r.Runs {
		if r.Runs[i].Duration > most.Duration {
			most = &r.Runs[i]
		}
	}
	return most
}

// allRuns names every run.
func allRuns(r *record.Result) []htmlRun {
	var list []htmlRun
	for i := range r.Runs {
		list = append(list, htmlRun{i, runName(&r.Runs[i])})
	}
	return list
}

// pageToolbar holds the strategies and the switches for all pictures; nil where there is nothing to switch.
func pageToolbar(r *record.Result) *htmlToolbar {
	bar := &htmlToolbar{Legend: "Strategies", Runs: allRuns(r)}
	some := slices.ContainsFunc(r.Runs, func(run record.Run) bool { _, some := newSeries(&run, 1); return some })
	if some && !fromLog(r) {
		bar.Switches = append(bar.Switches, &htmlSwitch{Name: stackSwitch, Legend: "Arrivals by", Views: stackViews})
	}
	if axis := arrivalsAxis(r); axis.Bend > 0 {
		bar.Switches = append(bar.Switches, &htmlSwitch{Name: "scale", Legend: "Scale", Views: []htmlView{{"bent", "bent"}, {"even", "even"}}})
	}
	if !some && len(bar.Runs) < 2 {
		return nil
	}
	return bar
}
