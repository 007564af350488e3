package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// csvHead names the columns of the CSV.
var csvHead = []string{"strategy", "at_ms", "arrivals", "first", "retries", "unknown", "served", "wasted", "rejected", "retry_synchronisation_index"}

// csvInner names the columns beyond, where there is something for them.
var csvInner = []string{"dropped", "part", "layer"}

// csvWasted is the column of csvHead that has no figure where arrivals were measured at the clients.
const csvWasted = 7

// CSV writes one row for each bucket of each strategy, runs and buckets in the result's order, under
// a head that names the columns. at_ms is the bucket's start, a decimal number; the index is empty
// where the bucket has none, and of a run from a log every count but the arrivals is. unknown is how many of
// first and retries are only supposed to be, as nothing in them told. Rows end in a line feed.
//
// Where a run dropped work out of its queue, or has runs inside it, three columns more say of every row how many were
// dropped, and of which part of a mixed fleet or which service of a chain it is; both are empty for the run itself.
//
// A text that a spreadsheet would take for a formula gets an apostrophe before it.
func CSV(w io.Writer, r *record.Result) error {
	out := csv.NewWriter(w)
	wide := slices.ContainsFunc(r.Runs, func(run record.Run) bool {
		return run.Dropped != nil || len(run.Parts) > 0 || len(run.Layers) > 0
	})
	head := csvHead
	if wide {
		head = append(slices.Clone(csvHead), csvInner...)
	}
	_ = out.Write(head) // csv.Writer keeps its error for Error
	for i := range r.Runs {
		run := &r.Runs[i]
		strategy := csvText(run.Strategy)
		rows := func(run *record.Run, part, layer string) {
			for j := range run.Buckets {
				row := csvRow(strategy, &run.Buckets[j], run.FromLog == nil)
				if run.ArrivalsMeasuredAt == "client" {
					row[csvWasted] = "" // only the target knows
				}
				if wide {
					row = append(row, csvDropped(run, j), part, layer)
				}
				_ = out.Write(row)
			}
		}
		rows(run, "", "")
		for k := range run.Parts {
			if inner := run.Parts[k].Run; inner != nil {
				rows(inner, csvText(cmp.Or(run.Parts[k].Name, "unnamed")), "")
			}
		}
		for k := range run.Layers {
			if inner := run.Layers[k].Run; inner != nil {
				rows(inner, "", csvText(cmp.Or(run.Layers[k].Name, "unnamed")))
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvDropped is what a bucket dropped; empty where the queue drops nothing.
func csvDropped(run *record.Run, bucketIndex int) string {
	if run.Dropped == nil {
		return ""
	}
	return strconv.FormatInt(run.Buckets[bucketIndex].Dropped, 10)
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
