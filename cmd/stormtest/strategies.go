package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/backoff"
)

// newStrategies returns the command that lists the strategies.
func newStrategies(w world) *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "strategies [flags]",
		Short: "list the strategies with their formulas",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			text := strategyList()
			if markdown {
				text = strategyTable()
			}
			_, err := io.WriteString(w.out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "as a table in Markdown")
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// strategyList is every strategy for a terminal: name, formula, and what it is.
func strategyList() string {
	var b strings.Builder
	b.WriteString(`d is the delay, c = min(cap, base*multiplier^k) the ceiling, k = 0 before the first retry,
U[x, y) a uniform draw. --strategy all is none, equal, full, decorrelated.

`)
	for _, e := range backoff.Table {
		fmt.Fprintf(&b, "%-18s %s\n%-18s %s (%s)\n", e.Name, e.Formula, "", e.Summary, e.Source)
	}
	return b.String()
}

// strategyTable is the same for a README.
func strategyTable() string {
	var b strings.Builder
	b.WriteString("| strategy | delay d | |\n|---|---|---|\n")
	for _, e := range backoff.Table {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", e.Name, strings.ReplaceAll(e.Formula, "|", `\|`), e.Summary)
	}
	return b.String()
}
