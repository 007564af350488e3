package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// csvHead names the columns of the CSV.
var csvHead = []string{"strategy", "at_ms", "arrivals", "first", "retries", "unknown", "served", "wasted", "rejected", "retry_synchronisation_index"}

// csvWasted is the column of csvHead that has no figure where arrivals were measured at the clients.
const csvWasted = 7

// CSV writes one row for each bucket of each strategy, runs and buckets in the result's order, under
// a head that names the columns. at_ms is the bucket's start, a decimal number; the index is empty
// where the bucket has none, and of a run from a log every count but the arrivals is. unknown is how many of
// first and retries are only supposed to be, as nothing in them told. Rows end in a line feed.
//
// A text that a spreadsheet would take for a formula gets an apostrophe before it.
func CSV(w io.Writer, r *record.Result) error {
	out := csv.NewWriter(w)
	_ = out.Write(csvHead) // csv.Writer keeps its error for Error
	for i := range r.Runs {
		strategy := csvText(r.Runs[i].Strategy)
		for j := range r.Runs[i].Buckets {
			row := csvRow(strategy, &r.Runs[i].Buckets[j], r.Runs[i].FromLog == nil)
			if r.Runs[i].ArrivalsMeasuredAt == "client" {
				row[csvWasted] = "" // only the target knows
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

// csvRow is one bucket; whole is false where its arrivals alone are known.
func csvRow(strategy string, b *record.Bucket, whole bool) []string {
	row := []string{strategy, strings.ReplaceAll(decimal(b.At, time.Millisecond), ",", "")}
	for i, n := range []int64{b.Arrivals, b.First, b.Retries, b.Unknown, b.Served, b.Wasted, b.Rejected} {
		text := ""
		if whole || i == 0 {
			text = strconv.FormatInt(n, 10)
		}
		row = append(row, text)
	}
	if !finite(b.RSI) {
		return append(row, "")
	}
	return append(row, strconv.FormatFloat(*b.RSI, 'f', -1, 64))
}

// csvText makes a text safe: no control characters, and no formula.
func csvText(s string) string {
	s = clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
