package report

import (
	"strconv"
)

// An htmlTable is a table with a caption. The first cell of each row is its head.
type htmlTable struct {
	Role    string // in data-role
	Caption string
	Quiet   bool // the caption is for screen readers alone
	Head    []htmlCell
	Rows    []htmlRow
	Foot    []htmlText // notes under it
}

// An htmlRow is a row of a table, of the run of that number where it is above 0.
type htmlRow struct {
	Run    *htmlRun
	Chosen bool // it did best
	Cells  []htmlCell
	// Group is the title of the rows that follow, over so many columns; then the row has nothing else.
	Group   string
	Columns int
}

// An htmlCell is text, and the figure that it shows where it shows one.
type htmlCell struct {
	Text  htmlText
	Class string
	Best  bool
	// Figure is the figure's full name, "full.convoy_index", and Value its value as JSON has it: empty for none.
	Figure, Value string
	Low, High     string   // 5th and 95th percentile over the seeds, likewise
	Chip          string   // the class of a verdict
	After         htmlText // behind it, the flags of a verdict
	Spark         *htmlSpark
}

// htmlValue is a figure as JSON writes it, empty for none.
func htmlValue(v *float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// textRow makes cells of texts.
func textRow(texts ...string) []htmlCell {
	cells := make([]htmlCell, len(texts))
	for i, text := range texts {
		cells[i].Text = htmlText(text)
	}
	return cells
}
