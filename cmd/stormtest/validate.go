package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/load/validate"
	"stormtest/report"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	only    []string
	onlySet bool
	full    bool
	real    bool
	seed    uint64
	json    string
	quiet   bool
}

// newValidate returns the command that derives the reference numbers again.
func newValidate(w world) *cobra.Command {
	var flags validateFlags
	cmd := &cobra.Command{
		Use:     "validate [flags]",
		Short:   "derive the reference numbers again on this machine",
		Long:    validateLong(),
		Example: "  stormtest validate\n  stormtest validate --only analytic,convoy --json checks.json\n  stormtest validate --full\n  stormtest validate --real",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := new(outputs).fill(cmd, w.env); err != nil {
				return err
			}
			flags.onlySet = cmd.Flags().Changed("only")
			return runValidate(cmd.Context(), w, flags)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringSliceVar(&flags.only, "only", nil, "groups, with commas between; all unless given")
	set.BoolVar(&flags.full, "full", false, "fleets of 10,000 clients too, and more runs: about a minute")
	set.BoolVar(&flags.real, "real", false, "in place of the groups, a set of plans over real sockets on loopback beside virtual time, three of them of the table of metastable failures: about two minutes, on a machine with nothing else to do")
	set.Uint64Var(&flags.seed, "seed", 1, "of the first run of everything; with another than 1, about one full run in a hundred fails by chance")
	set.StringVar(&flags.json, "json", "", "the checks, as JSON; - is stdout")
	set.BoolVarP(&flags.quiet, "quiet", "q", false, "no progress on stderr")
	for _, name := range []string{"json", "quiet"} {
		set.Lookup(name).Annotations = map[string][]string{groupAnnotation: {groupOutput}}
	}
	_ = cmd.MarkFlagFilename("json")
	set.Lookup("only").DefValue = ""
	complete(cmd, "only", groupNames())
	set.BoolP("help", "h", false, "this help")
	return cmd
}

// validateLong is the help's text, with the groups.
func validateLong() string {
	var b strings.Builder
	b.WriteString(`Derives the reference numbers of the formulas, of the guides' model and of the
measures again, in virtual time and on all cores, and says of each whether it
passed, with what was expected, what range passes, and what came out. It takes
some 15 seconds. Each group says where its expected numbers come from:
formulas, models that an independent program counted, the guides, the AWS
simulator. The exit code is 3 where a check failed, else 4 with --real where
this machine was the bottleneck. After Ctrl-C it tells and writes what was
finished.

With --real the range of a figure is what 40 seeds in virtual time have on a
network as slow as the run's own was: six deviations of one seed, and half of
what that network changes (all of it without jitter). Attempts that are off by
a fourth are caught, a peak that is off by a factor of 2.5, and a fleet of which
half is served; what is off by less than another seed would make it is not.
A run in which this machine was the bottleneck is tried twice more, and is not
judged then.

Groups:
`)
	for _, g := range validate.Groups() {
		fmt.Fprintf(&b, "  %-12s %s\n", g.Name, g.Summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

func groupNames() []string {
	var names []string
	for _, g := range validate.Groups() {
		names = append(names, g.Name)
	}
	return names
}

// runValidate checks and tells.
func runValidate(ctx context.Context, w world, flags validateFlags) error {
	if flags.onlySet && len(flags.only) == 0 {
		flags.only = []string{""} // the flag's own reading of an empty text
	}
	if err := validate.CheckNames(flags.only); err != nil {
		return usage("--only: %w", err)
	}
	if flags.real && (len(flags.only) > 0 || flags.full) {
		return usage("--real: runs plans of its own, and no groups: want it without --only and --full")
	}
	out := sink{flag: "json"}
	if flags.json != "" && flags.json != "-" {
		var err error
		out.path = flags.json
		if out.file, out.temp, err = create(flags.json); err != nil {
			return usage("--json: %w", err)
		}
	}
	files := sinks{w: w, files: []sink{out}}
	defer files.discard()
	begun := time.Now()
	progress := startCount(w, flags.quiet, begun)
	config := validate.Config{
		Groups: flags.only, Full: flags.full, Seed: flags.seed,
		Fresh:    [2]uint64{newSeed().Value, newSeed().Value},
		Progress: progress.set,
	}
	var result validate.Result
	var err error
	if flags.real {
		result, err = validate.RunReal(ctx, config)
	} else {
		result = validate.Run(ctx, config)
	}
	progress.stop()
	if err != nil {
		return realError(err)
	}
	v := newValidation(flags, result, time.Since(begun))
	return errors.Join(showValidation(w, &files.files[0], flags, v), verdictOf(ctx, result))
}

// realError is a usage error where the machine's limits do not allow the plans.
func realError(err error) error {
	if load.IsUsage(err) {
		return usageError{err}
	}
	return err
}

// verdictOf returns the error that stands for the exit code. A signal comes first, as not all is known.
func verdictOf(ctx context.Context, r validate.Result) error {
	if r.Interrupted {
		if err := signalOf(ctx); err != nil {
			return err
		}
		return fmt.Errorf("validate: %w", context.Cause(ctx))
	}
	switch {
	case r.Failed > 0:
		return outcomeError{codeGate}
	case r.Bottleneck():
		return outcomeError{codeInvalid}
	}
	return nil
}

// A validation is what --json holds.
type validation struct {
	Schema    string           `json:"schema"`
	Tool      string           `json:"tool"`
	Seed      uint64           `json:"seed"`
	Full      bool             `json:"full"`
	Took      time.Duration    `json:"took_ns"`
	Passed    int              `json:"passed"`
	Failed    int              `json:"failed"`
	NotJudged int              `json:"not_judged,omitempty"`
	Parts     parts            `json:"parts"`
	Checks    []validate.Check `json:"checks"`
	result    validate.Result
}

// parts say how much was run: all, unless the validation was interrupted.
type parts struct {
	Count  int `json:"count"`
	NotRun int `json:"not_run"`
}

func newValidation(flags validateFlags, r validate.Result, took time.Duration) validation {
	return validation{
		Schema: "stormtest.validate/v1", Tool: version, Seed: flags.seed, Full: flags.full, Took: took,
		Passed: r.Passed, Failed: r.Failed, NotJudged: r.NotJudged, Parts: parts{r.Parts, r.PartsNotRun}, Checks: slices.Clone(r.Checks), result: r,
	}
}

func (v validation) writeJSON(w io.Writer) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// showValidation writes the table, or JSON where that was to go to stdout, and the file.
func showValidation(w world, out *sink, flags validateFlags, v validation) error {
	var faults []error
	if out.file != nil {
		out.format.Write = func(to io.Writer, _ *record.Result, _ report.Options) error { return v.writeJSON(to) }
		if err := out.write(nil, report.Options{}); err != nil {
			faults = append(faults, fmt.Errorf("--json: %w", err))
		}
	}
	write := func() error { return v.result.Text(w.out, v.Took) }
	if flags.json == "-" {
		write = func() error { return v.writeJSON(w.out) }
	}
	if err := write(); err != nil {
		faults = append(faults, fmt.Errorf("stdout: %w", err))
	}
	return errors.Join(faults...)
}
