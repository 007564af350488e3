package report

import (
	"math"
	"strconv"
	"time"

	"stormtest/load/record"
)

// ratesMost bounds the windows of a picture of rates.
const ratesMost = 240

// goodputSection shows what the target got done, and what of it for nobody.
func goodputSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "goodput", Title: "Goodput over time", Short: "Goodput"}
	window := rateWindow(r)
	good := &htmlChart{ID: "goodput", Title: "Goodput: answers that somebody waited for", Link: timeLink, Windows: outageWindows(plan, longest(r))}
	wasted := &htmlChart{ID: "wasted", Title: "Wasted: finished for clients that had gone", Link: timeLink, Windows: good.Windows}
	good.Views, wasted.Views = map[string]*htmlPicture{"": {}}, map[string]*htmlPicture{"": {}}
	var most, allWasted float64
	served, cut := false, false
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.FromLog != nil {
			continue
		}
		useful, lost, ok := ratesOf(run, window)
		if !ok {
			continue
		}
		line := htmlSeries{Name: runName(run), Role: "run", Style: "step", Run: &i, Width: float64(window), Y: useful}
		most = math.Max(most, addSteps(good.Views[""], line))
		served, cut = true, cut || useful[len(useful)-1] == nil
		if run.ArrivalsMeasuredAt != "client" {
			line.Y = lost
			allWasted = math.Max(allWasted, addSteps(wasted.Views[""], line))
		}
	}
	capacity := capacityRate(r)
	if capacity > 0 && most/capacity >= 0.1 {
		good.Lines = []htmlLine{{Value: capacity, Label: "capacity", Role: "capacity"}}
		most = math.Max(most, capacity)
	}
	for _, c := range []*htmlChart{good, wasted} {
		c.X, c.Height, c.Runs = timeAxis(longest(r)), 230, allRuns(r)
		c.Y = htmlAxis{Unit: "rate", Label: "per second", Max: math.Max(1, math.Max(most, allWasted)*1.08)}
	}
	switch {
	case !served:
		good.Empty = "Nothing is known of what was served, so there is no picture."
	case most <= 0:
		good.Empty = "Nothing was served, so there is no picture."
	}
	switch {
	case len(wasted.Views[""].Series) == 0:
		wasted.Empty = "Only the target knows what it finished for nobody, so there is no picture."
	case allWasted <= 0:
		wasted.Empty = "Nothing was finished for clients that had gone."
	}
	sameRoom([]*htmlChart{good, wasted})
	words := htmlText("Each step is the mean over " + moment(window) + ".")
	if cut {
		words += " A last step in which the run was cut is left out."
	}
	if recovery := recoveryFacts(r); len(recovery) > 0 {
		s.Blocks = append(s.Blocks, htmlBlock{Facts: recovery})
	}
	if good.Empty == "" || wasted.Empty == "" {
		s.Blocks = append(s.Blocks, htmlBlock{Words: words})
	}
	s.Blocks = append(s.Blocks, htmlBlock{Figures: &htmlFigures{Class: "pair", Charts: []*htmlChart{good, wasted}}})
	return s
}

// recoveryFacts say of each strategy whether the target came back after the last outage.
func recoveryFacts(r *record.Result) []htmlFact {
	var list []htmlFact
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.FromLog != nil {
			continue
		}
		for _, fact := range htmlFacts(func(p *page) { writeRecovery(p, run) }) {
			list = append(list, htmlFact{Head: htmlText(runName(run)), Text: htmlText("recovered ") + fact.Text})
		}
	}
	return list
}

// capacityRate is the capacity that all runs have in a second; 0 where they have none, or not the same.
func capacityRate(r *record.Result) float64 {
	var one *float64
	for i := range r.Runs {
		c := r.Runs[i].CapacityPerSecond
		if !finite(c) || one != nil && *one != *c {
			return 0
		}
		one = c
	}
	if one == nil {
		return 0
	}
	return *one
}

// rateWindow is the width over which rates are averaged: 1, 2 or 5 times a power of ten buckets.
func rateWindow(r *record.Result) time.Duration {
	var bucket time.Duration
	for i := range r.Runs {
		bucket = max(bucket, r.Runs[i].Bucket)
	}
	least := float64(longest(r)) / ratesMost
	if bucket <= 0 {
		bucket = time.Second
	}
	factor := niceStep(math.Max(1, least/float64(bucket)))
	if wide := float64(bucket) * factor; wide < 1<<62 {
		return time.Duration(wide)
	}
	return bucket
}

// ratesOf are the useful and the wasted answers per second, in windows from 0 on. ok is false where the run has no buckets.
//
// Each is the mean over a whole window, also that in which the run ended: after its end nothing was answered. Of a run that
// was cut nobody knows what came then, so the window in which that was has no rate.
func ratesOf(run *record.Run, window time.Duration) (useful, wasted []*float64, ok bool) {
	if len(run.Buckets) == 0 || run.Bucket <= 0 {
		return nil, nil, false
	}
	end := max(run.Duration, run.Buckets[len(run.Buckets)-1].At+1) // the last answer may be at the end
	n := int64(end-1)/int64(window) + 1
	if end <= 0 || n > 4*ratesMost {
		return nil, nil, false
	}
	good, lost := make([]float64, n), make([]float64, n)
	for i := range run.Buckets {
		b := &run.Buckets[i]
		at := int64(b.At / window)
		if b.At < 0 || at >= n || b.Served < 0 || b.Wasted < 0 {
			continue
		}
		good[at] += math.Max(0, float64(b.Served)-float64(b.Wasted))
		lost[at] += float64(b.Wasted)
	}
	rate := func(sums []float64) []*float64 {
		list := make([]*float64, n)
		for i, sum := range sums {
			if runCut(run) && time.Duration(i+1)*window > end {
				continue
			}
			v := math.Round(sum/window.Seconds()*1000) / 1000
			list[i] = &v
		}
		return list
	}
	return rate(good), rate(lost), true
}

// runCut says that a run did not end by itself.
func runCut(run *record.Run) bool { return run.Operations.Unfinished > 0 || run.Outside != nil }

// addSteps adds a line and returns its highest value.
func addSteps(picture *htmlPicture, s htmlSeries) float64 {
	picture.Series = append(picture.Series, s)
	most := 0.0
	for _, v := range s.Y {
		if v != nil {
			most = math.Max(most, *v)
		}
	}
	return most
}

// synchronySection shows the two indexes over time.
func synchronySection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "synchrony", Title: "Synchrony over time", Short: "Synchrony"}
	convoy := &htmlChart{ID: "convoy-index", Title: "Convoy index", Caption: "0 is random (Poisson), 1 is perfect clumps.", Link: timeLink}
	sync := &htmlChart{ID: "sync-index", Title: "retry_synchronisation_index", Caption: "0 is even inside the buckets, 1 is one moment in each.", Link: timeLink}
	convoy.Lines = []htmlLine{
		{Value: record.ThresholdConvoy, Label: "convoy from " + trimFloat(record.ThresholdConvoy), Role: "threshold"},
		{Value: record.ThresholdPartial, Label: "partly together from " + trimFloat(record.ThresholdPartial), Role: "threshold"},
	}
	var width time.Duration
	known := false
	for _, c := range []struct {
		chart *htmlChart
		of    func(*record.Synchrony) *float64
	}{{convoy, func(x *record.Synchrony) *float64 { return x.ConvoyIndex }}, {sync, func(x *record.Synchrony) *float64 { return x.RSI }}} {
		picture := &htmlPicture{}
		some := false
		for i := range r.Runs {
			run := &r.Runs[i]
			if run.Detail == nil || len(run.Detail.Synchrony) == 0 {
				continue
			}
			line := synchronyLine(run, i, c.of)
			width = max(width, time.Duration(line.Width))
			addSteps(picture, line)
			for _, v := range line.Y {
				some = some || v != nil
			}
		}
		known = known || some
		c.chart.Views = map[string]*htmlPicture{"": picture}
		c.chart.X, c.chart.Y, c.chart.Height = timeAxis(longest(r)), htmlAxis{Unit: "index", Label: "index", Max: 1.05}, 230
		c.chart.Runs = allRuns(r)
		c.chart.Windows = outageWindows(plan, longest(r))
		switch {
		case len(picture.Series) == 0:
			c.chart.Empty = "This result holds no index over time" + whyNoDetail(r) + ", so there is no picture."
		case !some:
			c.chart.Empty = "In no window were there retries enough for the index, so there is no picture."
		}
	}
	sameRoom([]*htmlChart{convoy, sync})
	words := "The figures of the verdict are of the whole judged window; these are of each " + moment(width) + " by itself. A gap is a window with too few retries for the index."
	if !known {
		words = "The figures of the verdict are of the whole judged window."
	}
	s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText(words)}, htmlBlock{Figures: &htmlFigures{Class: "pair", Charts: []*htmlChart{convoy, sync}}})
	return s
}

func trimFloat(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// synchronyLine is one index of one run over its windows.
func synchronyLine(run *record.Run, i int, of func(*record.Synchrony) *float64) htmlSeries {
	line := htmlSeries{Name: runName(run), Role: "run", Style: "step", Run: &i}
	for k := range run.Detail.Synchrony {
		x := &run.Detail.Synchrony[k]
		if k == 0 {
			line.Width = float64(x.To - x.At)
		}
		v := of(x)
		if finite(v) {
			shown := math.Round(math.Max(0, *v)*1e4) / 1e4
			v = &shown
		} else {
			v = nil
		}
		line.X, line.Y = append(line.X, float64(x.At)), append(line.Y, v)
	}
	return line
}

// whyNoDetail says in brackets why a result lacks what pictures are drawn from; empty where some of its runs have it.
func whyNoDetail(r *record.Result) string {
	for i := range r.Runs {
		run := &r.Runs[i]
		switch {
		case run.FromLog != nil:
			return " (a log does not)"
		case run.Outside != nil:
			return " (the clients were not ours)"
		case run.Detail != nil:
			return ""
		}
	}
	return " (files of earlier versions do not)"
}
