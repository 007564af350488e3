package main

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
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
- is stdin. The gates of all their plans are judged on all seeds: exit code 3 says that
one failed, 4 that a result is invalid.`,
		Example: "  stormtest merge monday.json tuesday.json --json base.json\n  stormtest merge base-*.json --json - | stormtest compare - new.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("merge: %d of the two or more results of one plan that it takes", len(args))
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
			if err := askAll(result, inputs); err != nil {
				return err
			}
			gates, err := check.ParseAll(gateTexts(result))
			if err != nil {
				return usage("merge: the gates of the plans: %w", err)
			}
			result.Gates = evaluate(gates, result)
			sinks, err := outs.open(w, args...)
			if err != nil {
				return err
			}
			defer sinks.discard()
			return errors.Join(sinks.write(result), outcomeOfGates(result))
		},
		Annotations: map[string]string{exitCodesAnnotation: ""},
	}
	outs.add(cmd, false)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// askAll gives a merged result the gates of every plan that it was made of, since plans of one storm may ask for other
// gates, and no gate that was asked for may be left unjudged. Where the plans do not agree, the gates are sorted, so that
// the order of the files says nothing.
func askAll(merged *record.Result, inputs []compare.Input) error {
	agreed := gateTexts(merged)
	var union []string
	same := true
	for _, in := range inputs {
		texts := gateTexts(in.Result)
		same = same && slices.Equal(texts, agreed)
		union = append(union, texts...)
	}
	if same {
		return nil
	}
	slices.Sort(union)
	union = slices.Compact(union)
	p, err := plan.Decode("the plan", merged.Plan)
	if err != nil {
		return usage("merge: the plans ask for different gates, and cannot be read to put them together: %w", err)
	}
	field, _ := plan.FieldNamed(gateField)
	if err := field.Set(&p, union...); err != nil {
		return usage("merge: the gates of the plans: %w", err)
	}
	if merged.Plan, err = json.Marshal(p); err != nil {
		return usage("merge: the gates of the plans: %w", err)
	}
	merged.PlanHash = p.Hash()
	return nil
}

// gateTexts returns the gates of a result's plan as they stand there; a plan of another form has none that we know.
func gateTexts(r *record.Result) []string {
	var asked struct {
		Gate []string `json:"gate"`
	}
	_ = json.Unmarshal(r.Plan, &asked)
	return asked.Gate
}
