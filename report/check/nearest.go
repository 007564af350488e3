package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stormtest/load/record"
)

// UnknownMetric says what is wrong with a name that Lookup does not know, and which names are near it.
func UnknownMetric(name string) string {
	if name == "" {
		return "no metric before the comparison"
	}
	for _, f := range record.Families() {
		if strings.HasPrefix(name, f.Prefix) {
			statuses := ""
			if f.Statuses {
				statuses = ", or a status as in " + f.Prefix + "503"
			}
			return fmt.Sprintf("unknown metric %q; want one of %s%s", name, strings.Join(f.Names(), " "), statuses)
		}
	}
	if of := ofHistogram(name); of != nil {
		return fmt.Sprintf("%s is a histogram; want one of %s", name, strings.Join(of, " "))
	}
	near := Nearest(name, 3)
	if len(near) == 0 {
		return fmt.Sprintf("unknown metric %q; want one such as success_share, convoy_index or latency_p99", name)
	}
	return fmt.Sprintf("unknown metric %q; did you mean %s?", name, strings.Join(near, " or "))
}

// ofHistogram lists the statistics of the histogram of that name, nil where there is none.
func ofHistogram(name string) []string {
	var names []string
	for _, m := range Metrics() {
		if m.Histogram == name && m.Histogram != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Nearest returns at most n names or aliases that could have been meant, the nearest first: those
// a few typing errors away, then those that contain the name or are contained in it, and those that have a word so few
// typing errors away; and the first alone where one of them is a single error away.
func Nearest(name string, n int) []string {
	const maxNameBytes = 64 // the distance costs the product of the lengths
	if len(name) > maxNameBytes {
		return nil
	}
	type candidate struct {
		name  string
		score int
	}
	var found []candidate
	for _, known := range Names() {
		score, scoreMax := distance(name, known), max(1, len(name)/3)
		if len(name) >= 4 && (strings.Contains(known, name) || strings.Contains(name, known) || hasWord(known, name)) {
			score = min(score, scoreMax)
		}
		if score <= scoreMax {
			found = append(found, candidate{known, score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
	if len(found) > 0 && found[0].score == 1 {
		found = slices.DeleteFunc(found, func(c candidate) bool { return distance(name, c.name) > max(1, len(name)/3) })
	}
	var names []string
	for _, c := range found[:min(n, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// hasWord reports whether one of the words of the known name is a typing error or two from name.
func hasWord(known, name string) bool {
	for word := range strings.SplitSeq(known, "_") {
		if distance(word, name) <= max(1, len(name)/4) {
			return true
		}
	}
	return false
}

// distance is Levenshtein's: the least number of bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
