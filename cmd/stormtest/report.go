package main

import (
	"bytes"
	"errors"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
)

// newReport returns the command that renders a saved result again.
func newReport(w world) *cobra.Command {
	var outs outputs
	var gates texts
	cmd := &cobra.Command{
		Use:   "report FILE [flags]",
		Short: "render a saved result again, or what a log of --hlog holds",
		Long: `Renders a result that --json saved, as the run itself would have. Of a log that
--hlog wrote, also of a run that was killed, it renders the arrivals. - is stdin.
Gates that are given here stand in place of those of the run: they are judged, and
exit code 3 says that one failed, 4 that the run is invalid or, of a log, may be.`,
		Example: "  stormtest report result.json\n  stormtest report result.json --csv buckets.csv\n  stormtest report result.json --gate 'convoy_index<0.1'\n  stormtest report killed.hlog --json recovered.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("report: %d arguments: want one result file", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			b, err := readFile(w, args[0], resultMost)
			if err != nil {
				return usageError{err}
			}
			result, err := report.Read(bytes.NewReader(b))
			if err != nil {
				return usage("%s: %w", args[0], err)
			}
			judged, err := judge(result, gates)
			if err != nil {
				return err
			}
			sinks, err := outs.open(w, args...)
			if err != nil {
				return err
			}
			defer sinks.discard()
			return errors.Join(sinks.write(result), judged)
		},
	}
	field, _ := plan.FieldNamed(gateField)
	cmd.Flags().Var(planGates{&gates, field.Type()}, gateField, field.Usage)
	cmd.Flags().Lookup(gateField).Annotations = map[string][]string{groupAnnotation: {string(field.Group)}}
	completeWith(cmd, gateField, completeGates)
	outs.add(cmd, false)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// planGates are texts that are told as the plan's field is.
type planGates struct {
	*texts
	kind string
}

func (g planGates) Type() string { return g.kind }

// judge holds gates against a saved result, in place of its own, and returns the error that stands for the exit code; of no
// gates it does nothing. A gate that cannot be judged at all is an error of its own.
func judge(r *record.Result, texts []string) (outcome, err error) {
	if texts == nil {
		return nil, nil
	}
	runs := judgedRuns{strategies: check.Strategies(r)}
	for i := range r.Runs {
		runs.serve = runs.serve || r.Runs[i].Outside != nil
	}
	gates, err := runs.gates(texts, "--"+gateField)
	if err != nil {
		return nil, usageError{err}
	}
	r.Gates = check.Evaluate(gates, r)
	return outcomeOfGates(r), nil
}
