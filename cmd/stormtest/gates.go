package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
)

// newGates returns the command that lists what a gate may be on.
func newGates(w world) *cobra.Command {
	var asJSON, ascii bool
	cmd := &cobra.Command{
		Use:   "gates [flags] [METRIC...]",
		Short: "list the figures that a gate may be on, with units and meaning",
		Long: `Says how a gate is written and lists every figure that one may be on, by name, with
its unit and what it means; of the metrics that are named it says more.`,
		Example: "  stormtest gates\n  stormtest gates convoy_index outcome_503\n  stormtest gates --json",
		RunE: func(_ *cobra.Command, names []string) error {
			metrics, err := metricsNamed(names)
			if err != nil {
				return err
			}
			switch options := terminalOptions(w, ascii); {
			case asJSON:
				return writeGatesJSON(w, metrics)
			case len(names) == 0:
				return report.Gates(w.out, options)
			default:
				return report.GateMetrics(w.out, metrics, options)
			}
		},
		ValidArgsFunction: completeMetrics,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with plain ASCII")
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// metricsNamed returns the metrics of the names, every fault at once.
func metricsNamed(names []string) ([]check.Metric, error) {
	var list []check.Metric
	var faults []error
	for _, name := range names {
		m, known := check.Lookup(strings.TrimSpace(name))
		if !known {
			faults = append(faults, usage("gates: %s", check.UnknownMetric(name)))
			continue
		}
		list = append(list, m)
	}
	return list, errors.Join(faults...)
}

// A gateMetric is one metric for machines.
type gateMetric struct {
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases"`
	Group     string   `json:"group"`
	Unit      string   `json:"unit"`
	Words     []string `json:"words,omitempty"` // of unit word, from bad to good; the value in a result is the place, from 0
	Meaning   string   `json:"meaning"`
	Absent    string   `json:"no_data_when,omitempty"`
	Histogram string   `json:"histogram,omitempty"`
	AtTarget  bool     `json:"in_serve"`
	OnlyServe bool     `json:"only_in_serve"`
	Example   string   `json:"example"`
}

// A gateFamily is a table of counters, each key of which is a metric.
type gateFamily struct {
	Prefix   string   `json:"prefix"`
	Names    []string `json:"names"`
	Statuses bool     `json:"statuses"` // prefix and a status of three digits is a name, too
	Group    string   `json:"group"`
	Meaning  string   `json:"meaning"`
}

// writeGatesJSON writes the metrics, or where none are named all there is.
func writeGatesJSON(w world, named []check.Metric) error {
	document := struct {
		Schema    string       `json:"schema"`
		Operators []string     `json:"operators"`
		Over      []string     `json:"over"`
		Metrics   []gateMetric `json:"metrics"`
		Families  []gateFamily `json:"families,omitempty"`
	}{Schema: "stormtest.gates/v1", Operators: check.Ops(), Over: append(check.OverWords(), "95%")}
	if named == nil {
		named = check.All()
		for _, f := range record.Families() {
			document.Families = append(document.Families, gateFamily{Prefix: f.Prefix, Names: f.Names(), Statuses: f.Statuses, Group: f.Group, Meaning: f.Meaning})
		}
	}
	for _, m := range named {
		document.Metrics = append(document.Metrics, gateMetric{
			Name: m.Name, Aliases: append([]string{}, m.Aliases...), Group: m.Group, Unit: string(m.Unit), Words: m.Words, Meaning: m.Meaning,
			Absent: m.Absent, Histogram: m.Histogram, AtTarget: m.AtTarget, OnlyServe: m.OnlyServe, Example: check.Example(m),
		})
	}
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(document)
}

// A gateError is a gate that cannot be used, and where it stood.
type gateError struct {
	source string
	fault  *check.Error
}

func (e gateError) Error() string {
	return fmt.Sprintf("%s: %q: %s", e.source, e.fault.Gate, strings.Join(e.fault.Problems, "; "))
}
func (e gateError) Unwrap() error { return e.fault }

// gateField is the field and flag of gates.
const gateField = "gate"

// judgedRuns are the runs that gates will be held against.
type judgedRuns struct {
	strategies []string // nil: not known
	serve      bool     // their clients are not ours
}

// gates reads gates that came from the source, such as "--gate", and returns every fault of all of them: one that can
// never hold in such runs is one.
func (j judgedRuns) gates(texts []string, source string) ([]check.Gate, error) {
	var list []check.Gate
	var faults []error
	fault := func(err error) {
		for _, e := range leaves(err) {
			var f *check.Error
			if errors.As(e, &f) {
				e = gateError{cmp.Or(source, gateField), f}
			}
			faults = append(faults, e)
		}
	}
	for _, text := range texts {
		g, err := check.Parse(text)
		if err == nil {
			err = j.allows(g)
		}
		if err != nil {
			fault(err)
			continue
		}
		list = append(list, g)
	}
	return list, errors.Join(faults...)
}

// allows says why a gate can never hold in the runs.
func (j judgedRuns) allows(g check.Gate) error {
	problem := ""
	switch m, _ := check.Lookup(g.Metric); {
	case j.serve && m.OfProbe():
		problem = "the target is ours and is not probed, so nothing knows " + g.Metric
	case j.serve && !m.AtTarget:
		problem = "only the clients know " + g.Metric + ", and these are not ours"
	case !j.serve && m.OnlyServe:
		problem = "only stormtest serve counts " + g.Metric
	case j.strategies != nil:
		return check.CheckStrategies([]check.Gate{g}, j.strategies)
	}
	if problem == "" {
		return nil
	}
	return &check.Error{Gate: g.Text, Problems: []string{problem}}
}

// completeGates offers the names of metrics to begin a gate with.
func completeGates(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, directive := completeMetrics(cmd, args, begun)
	return list, directive | cobra.ShellCompDirectiveNoSpace
}

// completeMetrics offers the names of metrics, with their meaning, to the shell.
func completeMetrics(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	strategy, name, found := strings.Cut(begun, ":")
	if found {
		strategy += ":"
	} else {
		strategy, name = "", begun
	}
	var list []cobra.Completion
	for _, known := range check.Names() {
		if m, _ := check.Lookup(known); strings.HasPrefix(known, name) {
			list = append(list, cobra.CompletionWithDesc(strategy+known, m.Meaning))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
