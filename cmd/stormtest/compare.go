package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
	"stormtest/report/compare"
)

const (
	compareLong = `Says what two results, or more, were asked differently, how every figure differs, and
whether that is more than noise. The first result is the base of every other. - is
stdin.

Strategies of one name are compared. Where both results have one strategy each, these
are compared whatever their names. Of a single result, its strategies are compared with
its first, or with --against.

Noise is told where both sides ran several seeds (--repeat): a figure is beyond noise
where shuffling which seed belongs to which side almost never gives a gap this large.
Of the comparisons of a plan with itself at most 1 % show anything at all; five seeds a
side are the fewest that can. With one seed on a side the report says that nobody
knows. In virtual time one plan and seed leave nothing to chance.

Results that do not mean the same are refused: other buckets, a log beside clients,
arrivals counted at the target beside those counted where they were sent, a run that
was cut, no strategy in common.

Neither better nor worse is what does not compare: counts where there was not as much to
do, figures of the judged window where --base moved it, and what grows with the time
that is watched where --duration cut the runs at different times.`
	compareExample = `  stormtest sim --repeat 20 --seed 1 --json base.json
  stormtest sim --repeat 20 --seed 1 --base 200ms --json new.json
  stormtest compare base.json new.json --html compare.html
  stormtest compare base.json new.json --gate 'amplification<=+10%' --gate 'completion<=+2s@beyond-noise'
  stormtest compare all.json --against none`
)

// A compareFlags holds what the command was asked.
type compareFlags struct {
	gates   texts
	against string
	all     bool
	outs    outputs
	found   *compare.Comparison // what the outputs write
}

// newCompare returns the command that holds results against each other.
func newCompare(w world) *cobra.Command {
	var flags compareFlags
	flags.outs.formats = flags.formats()
	cmd := &cobra.Command{
		Use:     "compare BASE.json [NEW.json ...] [flags]",
		Short:   "what differs between results, and whether it is more than noise",
		Long:    compareLong,
		Example: compareExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("compare: no results: want two or more, or one with several strategies")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.outs.fill(cmd, w.env); err != nil {
				return err
			}
			return flags.run(cmd.Context(), w, args)
		},
		Annotations: map[string]string{exitCodesAnnotation: ""},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.Var(&flags.gates, "gate", "Condition that a difference must meet, new against base: METRIC OP, a sign, and a percentage of the base or a difference in the metric's unit, such as amplification<=+10%, full:completion<=+2s or success_share>=-0.01. With @beyond-noise behind it what is within noise passes; where noise is unknown, as with one seed a side, the bound holds. No data fails")
	set.Var(newWord(&flags.against, "", "STRATEGY"), "against", "Of a single result, the strategy that the others are compared with (its first)")
	set.BoolVar(&flags.all, "all", false, "Every figure on the terminal, and not only the main ones")
	for _, name := range []string{"gate", "against", "all"} {
		set.Lookup(name).Annotations = map[string][]string{groupAnnotation: {groupCompare}}
	}
	if err := cmd.RegisterFlagCompletionFunc("gate", completeGate); err != nil {
		panic("stormtest: BUG: " + err.Error())
	}
	if err := cmd.RegisterFlagCompletionFunc("against", completeStrategy); err != nil {
		panic("stormtest: BUG: " + err.Error())
	}
	flags.outs.add(cmd, false)
	set.BoolP("help", "h", false, "this help")
	return cmd
}

// formats are those of a comparison, as the outputs write them: of what was found, whatever result they are given.
func (f *compareFlags) formats() []report.Format {
	var list []report.Format
	for _, format := range report.ComparisonFormats() {
		list = append(list, report.Format{
			Name: format.Name, Flag: format.Flag, Summary: format.Summary,
			Write: func(w io.Writer, _ *record.Result, o report.Options) error { return format.Write(w, f.found, o) },
		})
	}
	return list
}

// run compares the results and writes what it found. Nothing is written before everything is known to be in order.
func (f *compareFlags) run(ctx context.Context, w world, paths []string) error {
	gates, faults := check.ParseDifferences(f.gates)
	if faults != nil {
		faults = usage("--gate: %w", faults)
	}
	inputs, err := readResults(w, paths)
	if err = errors.Join(faults, err); err != nil {
		return err
	}
	if f.found, err = compare.Compare(inputs, compare.Options{Version: version, Fields: comparedFields(), Against: f.against}); err != nil {
		return usageError{err}
	}
	if err := check.CheckPairs(gates, f.found.Strategies()); err != nil {
		return usage("--gate: %w", err)
	}
	sinks, err := f.outs.open(w, paths...)
	if err != nil {
		return err
	}
	defer sinks.discard()
	sinks.options.All = f.all
	f.found.Gates = compare.Evaluate(gates, f.found)
	judged := &record.Result{Valid: f.found.Valid(), Gates: f.found.Gates}
	return errors.Join(sinks.write(judged), outcomeOf(ctx, judged))
}

// readResults reads every file, and names every one that cannot be read.
func readResults(w world, paths []string) ([]compare.Input, error) {
	var inputs []compare.Input
	var faults []error
	stdin := false
	for _, path := range paths {
		name := path
		if path == "-" {
			name = "stdin"
			if stdin {
				faults = append(faults, usage("-: stdin was named twice"))
				continue
			}
			stdin = true
		}
		b, err := readFile(w, path, resultMost)
		if err != nil {
			faults = append(faults, usageError{err})
			continue
		}
		result, err := report.Read(bytes.NewReader(b))
		if err != nil {
			faults = append(faults, usage("%s: not a result that --json wrote: %s", name, strings.TrimPrefix(err.Error(), "report: read result: ")))
			continue
		}
		inputs = append(inputs, compare.Input{Name: name, Result: result})
	}
	return inputs, errors.Join(faults...)
}

// comparedFields are the fields of a plan as a comparison knows them.
func comparedFields() []compare.Field {
	var list []compare.Field
	for _, f := range plan.Fields() {
		list = append(list, compare.Field{Name: f.Name, Default: f.Default()})
	}
	return list
}

// completeGate offers metrics, behind which a comparison follows.
func completeGate(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, m := range check.Metrics() {
		if m.Unit != check.Word {
			list = append(list, m.Name+"<=+\t"+m.Meaning)
		}
	}
	return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completeStrategy offers the strategies of the result that was named before.
func completeStrategy(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == "-" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	inputs, err := readResults(world{}, args[:1])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range inputs[0].Result.Runs {
		names = append(names, inputs[0].Result.Runs[i].Strategy)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// texts is the pflag.Value of a flag that may be given many times.
type texts []string

func (t *texts) Set(text string) error {
	*t = append(*t, text)
	return nil
}

func (t *texts) String() string { return strings.Join(*t, "; ") }
func (t *texts) Type() string   { return "GATE" }
