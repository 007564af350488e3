package report

import (
	"io"
	"slices"

	"stormtest/report/compare"
)

// A ComparisonFormat is one way to render a comparison. Write returns the writer's error.
type ComparisonFormat struct {
	Name    string // as in the help
	Flag    string // the flag that takes its file, empty for the one that needs none
	Summary string // one line for the help
	Write   func(io.Writer, *compare.Comparison, Options) error
}

// ComparisonFormats returns every format of a comparison in the order of the help. The slice is the caller's.
func ComparisonFormats() []ComparisonFormat { return slices.Clone(comparisonFormats) }

var comparisonFormats = []ComparisonFormat{
	{"terminal", "", "the report for people: what changed, what differs, and what of it is more than noise", ComparisonTerminal},
	{"json", "json", "the whole comparison, schema " + compare.Schema, plainComparison(ComparisonJSON)},
	{"html", "html", "one page for a browser, which needs no network", ComparisonHTML},
	{"markdown", "markdown", "for a pull request or a step summary of GitHub Actions", plainComparison(ComparisonMarkdown)},
	{"junit", "junit", "a test suite in XML: a test case for the results, and one a gate", plainComparison(ComparisonJUnit)},
}

// plainComparison adapts a writer that has no options.
func plainComparison(write func(io.Writer, *compare.Comparison) error) func(io.Writer, *compare.Comparison, Options) error {
	return func(w io.Writer, c *compare.Comparison, _ Options) error { return write(w, c) }
}
