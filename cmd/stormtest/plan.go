package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
)

// newPlan returns the command that prints the resolved plan.
func newPlan(w world) *cobra.Command {
	var flags planFlags
	var schema bool
	cmd := &cobra.Command{
		Use:   "plan [flags] [URL]",
		Short: "print the resolved plan as a scenario file",
		Long: `Prints the plan that the flags, the STORMTEST_* environment and the scenario file
come to, as a scenario file. Nothing is sent. What is asked for without effect is
said on stderr. With --schema it prints the JSON Schema of scenario files instead: editors
complete and check by it a file that begins with # yaml-language-server: $schema=FILE.`,
		Example: "  stormtest plan --strategy all --base 50ms > storm.yaml\n  stormtest run storm.yaml\n  stormtest plan --schema > scenario.schema.json",
		Args:    maybeURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				_, err := w.out.Write(plan.Schema())
				return err
			}
			if err := new(outputs).fill(cmd, w.env); err != nil {
				return err
			}
			if err := flags.takeURL(args); err != nil {
				return err
			}
			p, _, sources, err := flags.resolve(w)
			if err != nil {
				return err
			}
			real, virtual := sources.Locate(p.For(plan.Real)), sources.Locate(p.For(plan.Virtual))
			switch {
			case real != nil && virtual != nil:
				return usageError{fmt.Errorf("no engine can run this plan:\n%w\n%w", real, virtual)}
			case real != nil:
				for line := range strings.Lines(real.Error()) {
					fmt.Fprintf(w.err, "stormtest: note: for stormtest sim only: %s\n", strings.TrimSuffix(line, "\n"))
				}
			}
			for _, warning := range p.Warnings() {
				fmt.Fprintf(w.err, "stormtest: note: %s\n", warning)
			}
			_, err = w.out.Write(p.YAML())
			return err
		},
	}
	flags.add(cmd, plan.Real, plan.Virtual)
	cmd.Flags().BoolVar(&schema, "schema", false, "the JSON Schema of scenario files, for editors, in place of a plan")
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}
