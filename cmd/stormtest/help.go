package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stormtest/load/plan"
)

// Groups of flags that are not of the plan.
const (
	groupSource  = "source"
	groupOutput  = "output"
	groupServe   = "serve"
	groupAdvise  = "advise"
	groupCompare = "compare"
)

// helpGroups are the sections of the help, in order; the last takes what has no group.
func helpGroups() []struct{ name, title string } {
	type group = struct{ name, title string }
	list := []group{{groupTip, "Tipping point: what is varied, and between which values"}, {groupAdvise, "Advice: what is known and wished"}, {groupServe, "Serve: where, how long, and what is known of the clients"}, {groupCompare, "Compare: what is compared, and what must hold"}}
	for _, g := range []plan.Group{plan.Fleet, plan.Policy, plan.Target, plan.Network, plan.Elsewhere, plan.Record, plan.Gates} {
		list = append(list, group{string(g), g.Title()})
	}
	return append(list,
		group{groupOutput, "Output: each takes a file; the terminal report is on stdout unless one took it"},
		group{groupSource, "Scenario file, of the same names (a flag counts before STORMTEST_CLIENTS=..., that before the file)"},
		group{"", "Other"})
}

// exitCodesAnnotation marks the commands beside the root that run a plan, whose help has the exit codes.
const exitCodesAnnotation = "exit-codes"

const exitCodes = `Exit codes:
  0 passed   1 could not run   2 bad flag, plan or file (nothing was sent)
  3 a gate or a check failed   4 gates were asked for, and the run is invalid: this machine was the
  bottleneck; or it is a log, which does not say so
  130 SIGINT   143 SIGTERM (the reports are still written; a second signal exits at once)
`

func writeHelp(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if text := cmd.Long; text != "" {
		fmt.Fprintln(w, text)
	} else {
		fmt.Fprintln(w, cmd.Short)
	}
	fmt.Fprintln(w)
	_ = writeUsage(cmd)
}

func writeUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
	}
	for _, g := range helpGroups() {
		writeFlags(w, cmd.Flags(), g.name, g.title)
	}
	if _, told := cmd.Annotations[exitCodesAnnotation]; told || !cmd.HasParent() {
		fmt.Fprintf(w, "\n%s", exitCodes)
	}
	return nil
}

// writeFlags writes the flags of one group, if there are any.
func writeFlags(w io.Writer, set *pflag.FlagSet, group, title string) {
	headed := false
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || groupOf(f) != group {
			return
		}
		if !headed {
			fmt.Fprintf(w, "\n%s:\n", title)
			headed = true
		}
		short := "    "
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		name := "--" + f.Name
		if word := f.Value.Type(); word != "bool" {
			name += " " + wordOf(word)
		}
		text := f.Usage
		if d := f.DefValue; d != "" && d != "false" && d != "none" {
			text += " (" + d + ")"
		}
		writeFlag(w, "  "+short+name, text)
	})
}

func groupOf(f *pflag.Flag) string {
	if g := f.Annotations[groupAnnotation]; len(g) > 0 {
		return g[0]
	}
	return ""
}

// wordOf is the word for a flag's value.
func wordOf(kind string) string {
	switch kind {
	case "string":
		return "FILE"
	case "stringSlice":
		return "NAME,..."
	case "uint64":
		return "N"
	}
	return kind
}

// Columns of the help.
const (
	helpTextColumn = 34
	helpWidth      = 100
)

// writeFlag writes one flag with its text beside it, or below where its head is long.
func writeFlag(w io.Writer, head, text string) {
	line := head
	if len(head) >= helpTextColumn-1 {
		fmt.Fprintln(w, head)
		line = ""
	}
	column := len(line)
	pad := func() {
		line += strings.Repeat(" ", helpTextColumn-column)
		column = helpTextColumn
	}
	pad()
	for i, word := range helpWords(text) {
		if i > 0 {
			if column+1+len(word) > helpWidth {
				fmt.Fprintln(w, line)
				line, column = "", 0
				pad()
			} else {
				line += " "
				column++
			}
		}
		line += word
		column += len(word)
	}
	fmt.Fprintln(w, line)
}

// helpWords are the words of a text. One that is wider than a line has room for goes on after a comma.
func helpWords(text string) []string {
	const room = helpWidth - helpTextColumn
	var words []string
	for _, word := range strings.Fields(text) {
		for len(word) > room {
			cut := strings.LastIndexByte(word[:room], ',') + 1
			if cut == 0 {
				break
			}
			words, word = append(words, word[:cut]), word[cut:]
		}
		words = append(words, word)
	}
	return words
}
