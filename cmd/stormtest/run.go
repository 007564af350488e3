package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/secret"
)

// newRun returns the command that runs a scenario file.
func newRun(w world) *cobra.Command {
	var flags planFlags
	var outs outputs
	var virtual bool
	cmd := &cobra.Command{
		Use:   "run FILE [URL] [flags]",
		Short: "run a scenario file",
		Long: `Runs the scenario of a YAML or JSON file; - is stdin. It is stormtest --file FILE: the
same flags, which count before the file, the same reports and the same exit codes. With
--virtual it is stormtest sim --file FILE: the same plan in virtual time.

A line of the file that is no field, or holds what the field does not take, is refused
with its number before anything is sent; 'stormtest plan' prints a file of every field,
and 'stormtest plan --schema' the JSON Schema by which an editor completes and checks one.`,
		Example: `  stormtest run examples/storm.yaml
  stormtest run examples/storm.yaml --strategy full --gate 'convoy_index<0.1'
  stormtest run examples/metastable.yaml --virtual --repeat 20`,
		Args:        fileAndURL,
		Annotations: map[string]string{exitCodesAnnotation: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.takeFile(cmd, args[0]); err != nil {
				return err
			}
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			if err := flags.takeURL(args[1:]); err != nil {
				return err
			}
			j := job{flags: &flags, outs: &outs, engine: plan.Real, run: load.Run}
			if virtual {
				if outs.listenMetrics != "" {
					return usage("%s with --virtual: %w", outs.named(metricsFlag), noMetricsInVirtual)
				}
				flags.engines = []plan.Engine{plan.Virtual}
				j.engine, j.run = plan.Virtual, load.Simulate
			}
			return storm(cmd.Context(), w, j)
		},
		ValidArgsFunction: completeScenario,
	}
	flags.add(cmd, plan.Real, plan.Virtual)
	cmd.Flags().BoolVar(&virtual, "virtual", false, "in virtual time, as stormtest sim")
	outs.add(cmd, true)
	outs.addMetricsFlag(cmd)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// fileAndURL takes a scenario file and perhaps the URL that it is run against.
func fileAndURL(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usage("want a scenario file, such as examples/storm.yaml; - is stdin")
	case strings.Contains(args[0], "://"):
		return usage("argument %q: want a scenario file first, and then a URL", secret.URL(args[0]))
	case len(args) > 1 && !strings.Contains(args[1], "://"):
		return usage("argument %q: want one scenario file, and after it a URL", secret.URL(args[1]))
	case len(args) > 2:
		return usage("argument %q: want one URL only", secret.URL(args[2]))
	}
	return nil
}

// takeFile makes the argument the scenario file, which must not be another one.
func (f *planFlags) takeFile(cmd *cobra.Command, name string) error {
	if f.file != "" && f.file != name {
		return usage("--file %s and argument %q: want one scenario file", f.file, name)
	}
	if err := cmd.Flags().Set("file", name); err != nil {
		return usage("argument %q: %w", name, err)
	}
	return nil
}

// completeScenario offers scenario files to the shell.
func completeScenario(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []cobra.Completion{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}
