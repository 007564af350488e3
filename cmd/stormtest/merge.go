package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"stormtest/load/record"
	"stormtest/report/check"
	"stormtest/report/compare"
)

// newMerge returns the command that makes one result of several of one plan.
func newMerge(w world) *cobra.Command {
	var outs outputs
	cmd := &cobra.Command{
		Use:   "merge RESULT.json RESULT.json [...] [flags]",
		Short: "make one result of several of one plan with different seeds",
		Long: `Makes one result of several that are of one plan, engine and version, with different
seeds: what --repeat would have measured with all of them. It is the same in whatever
order they are named. Two results of one seed, and what is not of one plan, are refused.
- is stdin. The plan's gates are judged again.`,
		Example: "  stormtest merge monday.json tuesday.json --json base.json\n  stormtest merge base-*.json --json - | stormtest compare - new.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("merge: %d results: want two or more of one plan", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			inputs, err := readResults(w, args)
			if err != nil {
				return err
			}
			result, err := compare.Merge(inputs, comparedFields())
			if err != nil {
				return usageError{err}
			}
			result.Gates = evaluate(gatesOf(result), result)
			sinks, err := outs.open(w)
			if err != nil {
				return err
			}
			defer sinks.discard()
			return sinks.write(result)
		},
	}
	outs.add(cmd, false)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// gatesOf returns the gates of a result's plan, as far as they are ones.
func gatesOf(r *record.Result) []check.Gate {
	var plan struct {
		Gate []string `json:"gate"`
	}
	_ = json.Unmarshal(r.Plan, &plan) // a plan of another form has no gates that we know
	gates, _ := check.ParseAll(plan.Gate)
	return gates
}
