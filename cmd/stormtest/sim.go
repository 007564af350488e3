package main

import (
	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
)

// newSim returns the command that runs a plan in virtual time.
func newSim(w world) *cobra.Command {
	var flags planFlags
	var outs outputs
	cmd := &cobra.Command{
		Use:   "sim [flags]",
		Short: "run the same storm in virtual time: exact, fast, up to 10 million clients",
		Long: `Runs the plan in virtual time: the same clients, strategies, policy, target and
report, under a queue of events in place of a clock and sockets. Nothing is sent,
nobody is ever late, and the same plan and seed give the same figures on any machine.
--repeat N runs N seeds, one a core at a time, and reports the range of each figure.
A gate must hold in every one of them, unless it says otherwise: @mean, @95%, @first.
The network is what --latency and --loss say; a URL is refused.`,
		Example: `  stormtest sim --strategy all --clients 1000 --repeat 200
  stormtest sim --clients 1000000 --capacity 20000/s --duration 1h --max-elapsed 1h
  stormtest sim --file storm.yaml --latency 10ms~2ms --loss 1%
  stormtest sim --seed 1 --json - --gate 'completion<30s'`,
		Args:        maybeURL,
		Annotations: map[string]string{exitCodesAnnotation: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			if err := flags.takeURL(args); err != nil {
				return err
			}
			return storm(cmd.Context(), w, job{flags: &flags, outs: &outs, engine: plan.Virtual, run: load.Simulate})
		},
	}
	flags.add(cmd, plan.Virtual)
	outs.add(cmd, true)
	refuseMetricsFlag(cmd)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}
