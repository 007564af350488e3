package main

import (
	"fmt"
	"strings"

	"stormtest/load/backoff"
)

// strategyTable lists every strategy: name, formula, and what it is.
func strategyTable() string {
	var b strings.Builder
	b.WriteString("d is the delay, c = min(cap, base*multiplier^k) the ceiling, k = 0 before the first retry,\nU[x, y) a uniform draw. --strategy all is none, equal, full, decorrelated.\n\n")
	for _, e := range backoff.Table {
		fmt.Fprintf(&b, "%-15s %s\n%-15s %s (%s)\n", e.Name, e.Formula, "", e.Summary, e.Source)
	}
	return b.String()
}
