package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"stormtest/report"
)

// newReport returns the command that renders a saved result again.
func newReport(w world) *cobra.Command {
	var outs outputs
	cmd := &cobra.Command{
		Use:   "report FILE [flags]",
		Short: "render a saved result again, or what a log of --hlog holds",
		Long: `Renders a result that --json saved, as the run itself would have. Of a log that
--hlog wrote, also of a run that was killed, it renders the arrivals. - is stdin.`,
		Example: "  stormtest report result.json\n  stormtest report result.json --csv buckets.csv\n  stormtest report killed.hlog --json recovered.json",
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
