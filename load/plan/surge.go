package plan

import "strings"

// surgeShape is the form of a surge.
const surgeShape = "FROM..TO=xFACTOR"

const surgeFactorMost = 1000

// parseSurge reads a surge.
func parseSurge(text string) (Surge, string) {
	window, factor, ok := strings.Cut(text, "=x")
	from, to, twoTimes := strings.Cut(window, "..")
	if !ok || !twoTimes {
		return Surge{}, surgeShape + ", such as 10s..15s=x3"
	}
	var s Surge
	var want string
	if s.From, want = parseDuration(from); want != "" {
		return Surge{}, surgeShape + ", with FROM as " + want
	}
	if s.To, want = parseDuration(to); want != "" {
		return Surge{}, surgeShape + ", with TO as " + want
	}
	number, numeric := parseNumber(factor)
	if !numeric || number < 0 || number > surgeFactorMost {
		return Surge{}, surgeShape + ", with FACTOR as a number 0..1000"
	}
	s.Factor = number
	if s.From < 0 || s.To <= s.From || s.To > day {
		return Surge{}, surgeShape + ", with FROM before TO, and TO at most 24h"
	}
	return s, ""
}

func formatSurge(s Surge) string {
	return formatDuration(s.From) + ".." + formatDuration(s.To) + "=x" + formatNumber(s.Factor)
}
