package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/tip"
	"stormtest/report"
)

// groupTip are the flags of a search for a tipping point.
const groupTip = "tip"

// A tipper is what the flags of one invocation ask for.
type tipper struct {
	flags planFlags

	vary, from, to, precision string
	confirm                   bool

	jsonFile     string
	ascii, quiet bool
}

// newTip returns the command that looks for a tipping point.
func newTip(w world) *cobra.Command {
	var t tipper
	cmd := &cobra.Command{
		Use:   "tip [FILE] --vary WHAT --from VALUE --to VALUE [flags]",
		Short: "find the value at which the service stops coming back after its outage",
		Long: `Finds the tipping point of a plan: by bisection in virtual time, the value of one of
its numbers from which on the service does not recover after its outage (the rule is
that of METASTABLE), over several seeds. It reports the two values on either side, the
share of the seeds that recover at each with its confidence, the load and the worst
amplification there, and where seeds disagree. The plan is that of the flags and of a
scenario file: an open loop (--rate) with an outage or a surge after a healthy phase.
Exits with 3 where there is no tipping point between the two values or a run in real
time says otherwise, and with 4 where one could not tell.`,
		Example: `  stormtest tip --vary rate --from 100/s --to 900/s --arrivals poisson --clients 4000 \
      --workers 10 --queue 10000 --timeout 1s --max-retries 2 --outage 10s..15s=capacity:0%
  stormtest tip examples/metastable.yaml --vary outage --from 100ms --to 10s
  stormtest tip examples/metastable.yaml --vary capacity --from 800/s --to 5000/s --confirm`,
		Annotations: map[string]string{exitCodesAnnotation: ""},
		Args:        maybeFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := t.flags.takeFile(cmd, args[0]); err != nil {
					return err
				}
			}
			if err := new(outputs).fill(cmd, w.env); err != nil {
				return err
			}
			return t.run(cmd.Context(), w)
		},
		ValidArgsFunction: completeScenario,
	}
	t.flags.add(cmd, plan.Virtual)
	set := cmd.Flags()
	told := func(at *string, name, kind, usage string) { set.Var(&toldValue{at, kind}, name, usage) }
	told(&t.vary, "vary", strings.Join(tip.Axes(), "|"), "what is varied: the outage's length, the rate, the capacity, the clients that share the rate, or the budget's ratio or size")
	told(&t.from, "from", "VALUE", "one end, as the plan's flag takes it: 1s, 100/s, 50 or 5%")
	told(&t.to, "to", "VALUE", "the other end")
	told(&t.precision, "precision", "VALUE", "how close to the tip the search goes (default a hundredth of the way)")
	set.BoolVar(&t.confirm, "confirm", false, "run both sides in real time over sockets, against the built-in target, for at most 5 m each")
	set.Var(fileName{&t.jsonFile}, "json", "what was found as JSON; - is stdout alone")
	set.BoolVar(&t.ascii, "ascii", false, "draw with plain ASCII")
	set.BoolVarP(&t.quiet, "quiet", "q", false, "no progress on stderr")
	for group, names := range map[string][]string{groupTip: {"vary", "from", "to", "precision", "confirm"}, groupOutput: {"json", "ascii", "quiet"}} {
		for _, name := range names {
			set.Lookup(name).Annotations = map[string][]string{groupAnnotation: {group}}
		}
	}
	complete(cmd, "vary", tip.Axes())
	_ = cmd.MarkFlagFilename("json")
	set.BoolP("help", "h", false, "this help")
	return cmd
}

// maybeFile takes one scenario file, or none.
func maybeFile(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("argument %q: want one scenario file", args[1])
	}
	return nil
}

// run searches and shows what it found.
func (t *tipper) run(ctx context.Context, w world) error {
	c, err := t.config(w)
	if err != nil {
		return err
	}
	files := &sinks{w: w, options: terminalOptions(w, t.ascii), inputs: t.flags.inputs(c.Plan)}
	if err := files.add(report.Format{Flag: "json"}, t.jsonFile); err != nil {
		return usageError{err}
	}
	defer files.discard()
	told := manner{ascii: t.ascii}
	if t.quiet {
		told.how = progressNone
	}
	progress := startProgress(w, told)
	var share atomic.Uint64
	c.Progress = func(s float64) { share.Store(math.Float64bits(s)) }
	progress.stage(load.Stage{Count: 1, Start: time.Now(), Duration: c.Plan.Duration, Simulated: func() load.Simulated {
		return load.Simulated{Share: math.Float64frombits(share.Load())}
	}})
	found, err := tip.Find(ctx, c)
	if err == nil && t.confirm {
		confirmSides(ctx, c, found, load.Env{Version: version, Progress: progress.stage})
	}
	progress.stop()
	if found == nil {
		return errors.Join(signalOf(ctx), err)
	}
	err = errors.Join(err, t.show(files, found), signalOf(ctx))
	if code := tipCode(found); err == nil && code != codePassed {
		return outcomeError{code}
	}
	return err
}

// tipCode is codeGate where there is no tip, or a run in real time says otherwise, and codeInvalid where one that was
// asked for could not tell.
func tipCode(found *record.Tip) int {
	code := codePassed
	for _, c := range found.RealTime {
		switch {
		case c.Agrees == nil:
			code = codeInvalid
		case !*c.Agrees:
			return codeGate
		}
	}
	if found.Outcome != record.TipFound {
		return codeGate
	}
	return code
}

// confirmSides runs both sides in real time, until a signal. One that could not run says why.
func confirmSides(ctx context.Context, c tip.Config, found *record.Tip, env load.Env) {
	for _, side := range tip.Sides(c, found) {
		if ctx.Err() != nil {
			break
		}
		confirmed, err := side.Confirm(ctx, env)
		if err != nil {
			confirmed.Reasons = append(confirmed.Reasons, err.Error())
		}
		found.RealTime = append(found.RealTime, confirmed)
	}
}

// config is what the flags, the environment and the scenario file ask for. Every fault of the search's own flags is
// reported.
func (t *tipper) config(w world) (tip.Config, error) {
	p, sources, err := t.resolve(w)
	if err != nil {
		return tip.Config{}, err
	}
	c := tip.Config{Plan: p, Version: version}
	if c.Axis, err = tip.AxisOf(t.vary, &p); err != nil {
		return c, usage("--vary: %w", err)
	}
	if err := t.ends(&c); err != nil {
		return c, err
	}
	if err := sources.Locate(c.Check()); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// resolve returns the plan of all sources. It is watched for as long as the rule needs, whatever its duration, and tried with
// several seeds, unless it says otherwise.
func (t *tipper) resolve(w world) (plan.Plan, plan.Sources, error) {
	if err := t.takeRate(w); err != nil {
		return plan.Plan{}, nil, err
	}
	p, _, sources, err := t.flags.resolve(w)
	if err != nil {
		return p, sources, err
	}
	if sources["repeat"] == "" {
		p.Repeat = tip.SeedsDefault
	}
	if !p.Seed.Set {
		p.Seed = newSeed()
	}
	return p, sources, nil
}

// takeRate gives a plan that names no rate the one from which it is varied: a rate that is varied need not be named twice.
func (t *tipper) takeRate(w world) error {
	if t.vary != axisRate {
		return nil
	}
	in, err := t.flags.input(w)
	if err != nil {
		return err
	}
	named, sources, _ := plan.Resolve(in)
	axis, err := tip.AxisOf(t.vary, &named)
	if err != nil || sources["rate"] != "" {
		return err
	}
	if v, want := axis.Read(&named, t.from); want == "" && v > 0 { // else it is refused as an end
		t.flags.settings = append(t.flags.settings, plan.Setting{Name: "rate", Text: t.from})
	}
	return nil
}

// axisRate is the name of the axis that gives a plan its rate.
const axisRate = "rate"

// ends reads the two values and the precision.
func (t *tipper) ends(c *tip.Config) error {
	var faults []error
	read := func(flag, text string, at *int64) {
		v, want := c.Axis.Read(&c.Plan, text)
		if want != "" {
			want = strings.TrimSuffix(want, ", or off") // an end is a value
			faults = append(faults, usage("--%s: %q: want %s", flag, text, want))
		}
		*at = v
	}
	read("from", t.from, &c.From)
	read("to", t.to, &c.To)
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if c.From > c.To {
		c.From, c.To = c.To, c.From
	}
	if c.From == c.To {
		return usage("--to: %q: want another value than --from, %q", t.to, t.from)
	}
	if c.From == 0 && c.Axis.Name != "budget" {
		return usage("--from: %q: want more than nothing", t.from)
	}
	c.Precision = max(1, (c.To-c.From)/tip.StepsDefault)
	if t.precision != "" {
		if read("precision", t.precision, &c.Precision); len(faults) > 0 {
			return errors.Join(faults...)
		}
	}
	if c.Precision <= 0 || c.Precision > c.To-c.From || (c.To-c.From)/c.Precision > tip.StepsMost {
		return usage("--precision: %q: want more than nothing, at most the way from --from to --to, and at least a %sth of it", t.precision, strconv.Itoa(tip.StepsMost))
	}
	return nil
}

// show writes the file and, unless it took stdout, the report.
func (t *tipper) show(s *sinks, found *record.Tip) error {
	for i := range s.files {
		s.files[i].format.Write = func(to io.Writer, _ *record.Result, _ report.Options) error { return report.TipJSON(to, found) }
	}
	if s.stdout == "" {
		var text bytes.Buffer
		if err := report.Tip(&text, found, s.options); err != nil {
			return err
		}
		s.terminal = report.Format{Write: func(to io.Writer, _ *record.Result, _ report.Options) error {
			_, err := to.Write(text.Bytes())
			return err
		}}
	}
	return s.write(nil)
}
