package plan

import "strings"

// didYouMean appends to want the candidate that text was probably meant to be, if any.
func didYouMean(want, text string, candidates []string) string {
	if best := nearest(text, candidates); best != "" {
		return want + "; did you mean " + best + "?"
	}
	return want
}

// nearest returns the candidate that text is probably a misspelling of, or "". Case and
// the difference between _ and - do not count; the first of equally near ones wins.
func nearest(text string, candidates []string) string {
	const most = 40 // bytes; the distance takes time in the square of it
	if len(text) > most {
		return ""
	}
	text = plain(text)
	best, bestDistance := "", 1+len(text)/4
	for _, c := range candidates {
		if d := distance(text, plain(c)); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = c, d
		}
	}
	if best != "" || len(text) < 3 {
		return best
	}
	for _, c := range candidates {
		if strings.HasPrefix(plain(c), text) || strings.HasPrefix(text, plain(c)) {
			return c
		}
	}
	return ""
}

// plain returns text as nearest compares it.
func plain(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", "-") }

// distance is the number of insertions, deletions, replacements and swaps of neighbours
// between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
