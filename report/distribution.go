package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// A statistic is one column of the percentiles.
type statistic struct {
	head string
	text func(d *record.Distribution, unit func(float64) string) string
}

// percentile is the statistic at q in 0..1. One that lies among the values beyond the histogram is
// only known to be above its end, and is written so. The extremes, q = 1, are exact.
func percentile(head string, q float64, of func(*record.Distribution) *int64) statistic {
	return statistic{head, func(d *record.Distribution, unit func(float64) string) string {
		v := of(d)
		switch {
		case v == nil:
			return none
		case d.Beyond(q):
			return ">" + string(nbsp) + unit(float64(*v))
		}
		return unit(float64(*v))
	}}
}

var statistics = []statistic{
	percentile("p50", 0.5, func(d *record.Distribution) *int64 { return d.P50 }),
	percentile("p90", 0.9, func(d *record.Distribution) *int64 { return d.P90 }),
	percentile("p99", 0.99, func(d *record.Distribution) *int64 { return d.P99 }),
	percentile("p99.9", 0.999, func(d *record.Distribution) *int64 { return d.P999 }),
	percentile("max", 1, func(d *record.Distribution) *int64 { return d.Max }),
	{"mean", func(d *record.Distribution, unit func(float64) string) string {
		if finite(d.Mean) {
			return unit(*d.Mean)
		}
		return none
	}},
	{"count", func(d *record.Distribution, _ func(float64) string) string { return count(d.Count) }},
}

// dropOrder is which statistics give way first where not all fit.
var dropOrder = []string{"mean", "p90", "p99.9", "count", "p50"}

// A histogram is one row of the percentiles.
type histogram struct {
	name string
	of   func(*record.Run) *record.Distribution
	unit func(float64) string
	// generator says that it is of the measuring side, which virtual time has not.
	generator bool
}

var histograms = []histogram{
	{"latency", func(r *record.Run) *record.Distribution { return &r.Latency }, length, false},
	{"operation latency", func(r *record.Run) *record.Distribution { return &r.OperationLatency }, length, false},
	{"delay", func(r *record.Run) *record.Distribution { return &r.Delay }, length, false},
	{"elapsed", func(r *record.Run) *record.Distribution { return &r.Elapsed }, length, false},
	{"lateness", func(r *record.Run) *record.Distribution { return &r.Lateness }, length, true},
	{connectionWait, func(r *record.Run) *record.Distribution { return &r.Generator.ConnectionWait }, length, true},
	{"attempt at success", func(r *record.Run) *record.Distribution { return &r.AttemptAtSuccess }, significantCount, false},
}

// connectionWait is the row that stands only where attempts had to wait for a connection.
const connectionWait = "connection wait"

// significantCount writes an attempt's number: whole where it is.
func significantCount(v float64) string {
	if v == float64(int64(v)) {
		return count(int64(v))
	}
	return significant(v)
}

// writeDistributions writes the percentiles as a table, or as a list where the page is narrow.
func writeDistributions(p *page, run *record.Run) {
	shown := slices.Clone(statistics)
	rows := distributionRows(run, shown)
	for _, drop := range dropOrder {
		if tableCells(rows) <= p.width {
			break
		}
		shown = slices.DeleteFunc(shown, func(s statistic) bool { return s.head == drop })
		rows = distributionRows(run, shown)
	}
	if tableCells(rows) > p.width {
		for _, row := range rows[1:] {
			p.para(row[0]+":", 2, "p99 "+row[1]+", max "+row[2])
		}
	} else {
		for _, line := range layTable(rows, spread(tableWidths(rows), tableCells(rows), p.width)) {
			p.line(line)
		}
	}
	writeOutOfRanges(p, run)
}

// writeOutOfRanges tells of every histogram what it could not hold.
func writeOutOfRanges(p *page, run *record.Run) {
	for _, h := range histograms {
		writeOutOfRange(p, h.name, h.of(run))
	}
}

// spread gives the columns of a table one more cell each while there is room.
func spread(widths []int, used, width int) []int {
	for i := 1; i < len(widths); i++ {
		if used+len(widths)-i <= width {
			widths[i]++
			used++
		}
	}
	return widths
}

// writeOutOfRange tells what a histogram could not hold, so that its percentiles are read with care.
func writeOutOfRange(p *page, name string, d *record.Distribution) {
	var parts []string
	if d.Clamped != 0 {
		parts = append(parts, plural(d.Clamped, "value")+" beyond the histogram, so its percentiles are too low")
	}
	if d.Faults != 0 {
		parts = append(parts, plural(d.Faults, "negative value")+" not recorded")
	}
	if len(parts) > 0 {
		p.para("", 0, name+": "+strings.Join(parts, "; "))
	}
}

func distributionRows(run *record.Run, shown []statistic) [][]string {
	head := []string{""}
	for _, s := range shown {
		head = append(head, s.head)
	}
	rows := [][]string{head}
	for _, h := range histograms {
		if h.name == connectionWait && h.of(run).Count == 0 || h.generator && virtual(run) {
			continue
		}
		row := []string{h.name}
		for _, s := range shown {
			row = append(row, s.text(h.of(run), h.unit))
		}
		rows = append(rows, row)
	}
	return rows
}
