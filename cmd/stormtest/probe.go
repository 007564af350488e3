package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
)

// probeFields are the flags of a plan, beside those of a target elsewhere, that say what a probe sends.
var probeFields = []string{"method", "timeout"}

// newProbe returns the command that measures a healthy service.
func newProbe(w world) *cobra.Command {
	var flags planFlags
	var file string
	var ascii bool
	cmd := &cobra.Command{
		Use:   "probe [flags] URL",
		Short: "measure what a healthy service can do",
		Long: `Measures what a healthy service can do: how many good answers a second it keeps up,
and how fast it answers while it does. It takes some 8 s and at most 20,000 requests
of HTTP/1.1, from one connection up to 256. A service that rejects what is beyond its
limit is offered a rate, doubled until it rejects, and held beyond it for 2 s.`,
		Example: "  stormtest probe http://127.0.0.1:8080/\n  stormtest probe --json - https://service.example/ --allow-host service.example",
		Args:    maybeURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := new(outputs).fill(cmd, w.env); err != nil {
				return err
			}
			if err := flags.takeURL(args); err != nil {
				return err
			}
			return probe(cmd.Context(), w, &flags, file, ascii)
		},
	}
	flags.addFields(cmd, slices.DeleteFunc(plan.Fields(), func(f plan.Field) bool {
		return (f.Group != plan.Elsewhere || f.Name == "probe") && !slices.Contains(probeFields, f.Name)
	}))
	set := cmd.Flags()
	group := map[string][]string{groupAnnotation: {groupOutput}}
	set.StringVar(&file, "json", "", "what was measured, as JSON; - is stdout")
	set.BoolVar(&ascii, "ascii", false, "draw with plain ASCII")
	set.Lookup("json").Annotations, set.Lookup("ascii").Annotations = group, group
	_ = cmd.MarkFlagFilename("json")
	set.BoolP("help", "h", false, "this help")
	return cmd
}

// probe measures the plan's URL and shows what it found.
func probe(ctx context.Context, w world, flags *planFlags, file string, ascii bool) error {
	p, _, _, err := flags.resolve(w)
	if err != nil {
		return err
	}
	if p.URL == "" {
		return usage("probe: want the URL of a service; what the built-in target can do is its --capacity")
	}
	material, err := readMaterial(w, p, flags.file)
	if err != nil {
		return err
	}
	out := sink{flag: "json"}
	if file != "" && file != "-" {
		out.path = file
		if out.file, out.temp, err = create(file); err != nil {
			return usage("--json: %w", err)
		}
	}
	files := sinks{w: w, files: []sink{out}}
	defer files.discard()
	found, err := load.Probe(ctx, p, load.Env{Version: version, Material: material})
	if err != nil {
		if load.IsUsage(err) {
			return usageError{err}
		}
		return err
	}
	return errors.Join(showProbe(w, &files.files[0], found, file, ascii), signalOf(ctx))
}

// showProbe writes the table, or JSON where that was to go to stdout, and the file.
func showProbe(w world, out *sink, found *record.Probe, file string, ascii bool) error {
	var faults []error
	if out.file != nil {
		out.format.Write = func(to io.Writer, _ *record.Result, _ report.Options) error { return report.ProbeJSON(to, found) }
		if err := out.write(nil, report.Options{}); err != nil {
			faults = append(faults, fmt.Errorf("--json: %w", err))
		}
	}
	var text bytes.Buffer
	write := func() error { return report.Probe(&text, found, terminalOptions(w, ascii)) }
	if file == "-" {
		write = func() error { return report.ProbeJSON(&text, found) }
	}
	if err := write(); err != nil {
		return errors.Join(append(faults, err)...)
	}
	if _, err := w.out.Write(text.Bytes()); err != nil {
		faults = append(faults, fmt.Errorf("stdout: %w", err))
	}
	return errors.Join(faults...)
}

// signalOf is the exit code of a signal that ended ctx; nil without one.
func signalOf(ctx context.Context) error {
	var s signalError
	if errors.As(context.Cause(ctx), &s) {
		return outcomeError{codeOfSignal(s.signal)}
	}
	return nil
}
