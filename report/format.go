// Package report renders a record.Result: for people on a terminal, for programs as JSON and CSV.
//
// A format is one file with its writer, one row of Formats and one golden in testdata. Writers
// read nothing but the result, so that a saved result gives the report that the run gave.
package report

import (
	"io"
	"slices"

	"stormtest/load/record"
	"stormtest/report/metrics"
)

// Options say how a report is drawn; a format that they do not concern ignores them. The zero
// is a plain report for 80 columns.
type Options struct {
	// Width is the most display cells in a line; 0 or less means unknown and is taken as 80.
	Width int
	// ASCII draws with the characters 0x20..0x7e alone, for terminals and screen readers that
	// know no others.
	ASCII bool
	// Color adds SGR colours. Whatever a colour says, a word or a mark says too.
	Color bool
	// All has a comparison show every figure where it would show the main ones alone.
	All bool
}

// A Format is one way to render a result. Write returns the writer's error or says what in the
// result has no form; a part of the report may have been written by then.
type Format struct {
	Name    string // as in the help
	Flag    string // the flag that takes its file, empty for the one that needs none
	Summary string // one line for the help
	Write   func(io.Writer, *record.Result, Options) error
}

// Formats returns every format in the order of the help. The slice is the caller's.
func Formats() []Format { return slices.Clone(formats) }

// Lookup finds a format by name.
func Lookup(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

var formats = []Format{
	{"terminal", "", "the report for people: verdicts, charts, figures", Terminal},
	{"json", "json", "the whole result, which the report command reads again", plain(JSON)},
	{"html", "html", "one page for a browser, which needs no network: verdicts, charts, figures", HTML},
	{"csv", "csv", "one row for each bucket of each strategy", plain(CSV)},
	{"markdown", "markdown", "the report for a pull request or a step summary of GitHub Actions", plain(Markdown)},
	{"junit", "junit", "a test suite in XML: a test case for the run, and one a gate", plain(JUnit)},
	{"prom", "prom", "metrics in Prometheus' text format, as promtool, the textfile collector and the Pushgateway read them", plain(metrics.Text)},
	{"openmetrics", "openmetrics", "the same metrics as OpenMetrics text", plain(metrics.OpenMetrics)},
	{"svg", "svg", "a picture: the arrivals of all strategies side by side", plain(SVG)},
	{"png", "png", "the same picture in pixels, two for each of its units", plain(PNG)},
}

// plain adapts a writer that has no options.
func plain(write func(io.Writer, *record.Result) error) func(io.Writer, *record.Result, Options) error {
	return func(w io.Writer, r *record.Result, _ Options) error { return write(w, r) }
}
