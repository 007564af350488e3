package report

import (
	"math"
	"slices"
	"strings"

	"stormtest/load/record"
)

// latencySection shows the latencies by percentile, along an axis that gives each further nine the same room.
func latencySection(r *record.Result) htmlSection {
	s := htmlSection{ID: "latency", Title: "Latency by percentile", Short: "Latency"}
	attempt := latencyChart(r, latencyOf{
		id: "latency", title: "Attempts: an answered attempt, from when it was due", none: "No attempt was answered, so there is no picture.",
		bins: func(d *record.Detail) *record.Bins { return d.Latency }, of: func(run *record.Run) *record.Distribution { return &run.Latency },
	})
	operation := latencyChart(r, latencyOf{
		id: "operation-latency", title: "Operations: from the first attempt to success, sleeps included", none: "No operation succeeded, so there is no picture.",
		bins: func(d *record.Detail) *record.Bins { return d.OperationLatency }, of: func(run *record.Run) *record.Distribution { return &run.OperationLatency },
	})
	s.Blocks = append(s.Blocks,
		htmlBlock{Words: "Read: so many per cent were at most so long. To the right stand the slowest; each line ends at its slowest one."},
		htmlBlock{Figures: &htmlFigures{Class: "pair", Charts: []*htmlChart{attempt, operation}}})
	return s
}

// A latencyOf says which histogram a picture is of.
type latencyOf struct {
	id, title, none string
	bins            func(*record.Detail) *record.Bins
	of              func(*record.Run) *record.Distribution
}

func latencyChart(r *record.Result, l latencyOf) *htmlChart {
	picture := &htmlPicture{}
	chart := &htmlChart{ID: l.id, Title: l.title, Height: 280, Runs: allRuns(r), Views: map[string]*htmlPicture{"": picture}}
	xMax, yMax, detailed := 10.0, 0.0, false
	var same []sameValue
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Detail == nil {
			continue
		}
		detailed = true
		bins := l.bins(run.Detail)
		if bins == nil {
			continue
		}
		x, y := quantiles(bins, l.of(run))
		if len(x) == 0 {
			continue
		}
		if *y[0] == *y[len(y)-1] {
			same = append(same, sameValue{runName(run), l.of(run).Count, length(*y[0])})
		}
		picture.Series = append(picture.Series, htmlSeries{Name: runName(run), Role: "run", Style: "line", Run: &i, X: x, Y: y})
		xMax, yMax = math.Max(xMax, x[len(x)-1]), math.Max(yMax, *y[len(y)-1])
	}
	chart.X = htmlAxis{Unit: "quantile", Label: "percentile", Max: xMax}
	chart.Y = htmlAxis{Unit: "length", Label: "latency", Max: math.Max(1, yMax*1.06)}
	switch {
	case len(picture.Series) == 0 && slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }):
		chart.Empty = onlyClients
	case !detailed:
		chart.Empty = "This result holds no histogram of it" + whyNoDetail(r) + ", so there is no picture."
	case len(picture.Series) == 0:
		chart.Empty = l.none
	case len(same) == len(picture.Series):
		chart.Empty = "One value makes no line, so there is no picture: " + sameWords(same) + "."
	case len(same) > 0:
		chart.Caption = htmlText("One value makes no line: " + sameWords(same) + ".")
	}
	return chart
}

// A sameValue is what all of a run took.
type sameValue struct {
	run   string
	n     int64
	value string
}

// sameWords say of each run what all of it took.
func sameWords(list []sameValue) string {
	parts := make([]string, len(list))
	for i, s := range list {
		who := ""
		if len(list) > 1 {
			who = s.run + " "
		}
		parts[i] = who + s.value + " for all " + count(s.n)
		if s.n == 1 {
			parts[i] = who + s.value + " for the only one"
		}
	}
	return strings.Join(parts, ", ")
}

// quantiles are the points at which the share of the values below is known exactly: where a bin begins and where it
// ends. Where nothing lies between two bins the line rises straight up. x is 1/(1-q) for the
// quantile q, y the value. The first point is the least value, the last the greatest, both exact.
func quantiles(bins *record.Bins, d *record.Distribution) (x []float64, y []*float64) {
	var all float64
	for _, n := range bins.Count {
		all += float64(max(0, n))
	}
	if all <= 0 || d.Max == nil || d.Min == nil || len(bins.From) != len(bins.Count) {
		return nil, nil
	}
	add := func(place, value float64) {
		place = math.Round(place*1e6) / 1e6
		if n := len(x); n > 0 {
			place = math.Max(place, math.Round(x[n-1]*1e6+1)/1e6) // no two points stand at one place
		}
		x, y = append(x, place), append(y, &value)
	}
	least, most := float64(*d.Min), float64(*d.Max)
	add(1, least)
	var below float64
	for i, from := range bins.From {
		if below > 0 && (i == 0 || from > record.BinEnd(bins.From[i-1])) {
			add(all/(all-below), math.Max(least, math.Min(most, float64(from))))
		}
		below += float64(max(0, bins.Count[i]))
		if below < all {
			add(all/(all-below), math.Max(least, math.Min(most, float64(record.BinEnd(from)))))
		}
	}
	add(all, most)
	return x, y
}
