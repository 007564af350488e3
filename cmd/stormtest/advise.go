package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/advise"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/target/station"
)

// outageDefault is the worst outage where none is given.
const outageDefault = "2s"

// successDefault is what a deadline alone asks for.
const successDefault = 0.99

// adviceFields are the groups of which advice takes the flags, but for the fields that it leaves out.
var (
	adviceGroups = []plan.Group{plan.Fleet, plan.Policy, plan.Target, plan.Record}
	adviceLess   = []string{"rate", "arrivals", "operations", "shared-seed", "repeat", "transport", "label", "layer"}
)

// policyFields are those that say that the user has a policy already.
var policyFields = []string{
	"strategy", "base", "cap", "multiplier", "first-exponent", "cap-mode", "cap-jitter", "noise", "spread", "floor", "retry-after", "retry-after-jitter", "max-retries",
}

// An adviser is what the flags of one invocation ask for.
type adviser struct {
	flags planFlags

	outage, deadline          string
	completion, peak, success string
	confirm                   bool

	planFile, jsonFile string
	ascii, quiet       bool
}

// newAdvise returns the command that searches a policy.
func newAdvise(w world) *cobra.Command {
	var a adviser
	cmd := &cobra.Command{
		Use:   "advise [flags]",
		Short: "find a retry policy for what is known of clients, target and outage",
		Long: `Finds a retry policy for a fleet that fails together. It takes what is known (clients,
capacity, the worst outage, the deadline of an operation) and what is wished (when all
are done, how high the retries may pile up, how many may fail), tries strategies, bases,
caps and the use of Retry-After in virtual time, and prints the best few with their
figures over many seeds, the rule of thumb, and the winner as a scenario file for
stormtest and stormtest sim. Where nothing keeps the wishes it says which is in the way,
and exits with 3. With a policy of today (--strategy, --base, ...) that stands beside.`,
		Example: `  stormtest advise --clients 5000 --capacity 500/s --completion 30s
  stormtest advise --clients 5000 --capacity 500/s --completion 60s --peak 2 -o storm.yaml
  stormtest advise --clients 1000 --capacity 100/s --deadline 20s --success 99% --strategy none --confirm`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := new(outputs).fill(cmd, w.env); err != nil {
				return err
			}
			return a.run(cmd.Context(), w)
		},
	}
	a.flags.addFields(cmd, slices.DeleteFunc(plan.Fields(), func(f plan.Field) bool {
		return !slices.Contains(adviceGroups, f.Group) || slices.Contains(adviceLess, f.Name)
	}))
	set := cmd.Flags()
	add := func(group string, names ...string) {
		for _, name := range names {
			set.Lookup(name).Annotations = map[string][]string{groupAnnotation: {group}}
		}
	}
	told := func(at *string, name, kind, usage string) { set.Var(&toldValue{at, kind}, name, usage) }
	told(&a.outage, "outage-length", "duration", "the worst outage: the target fails for so long from the start, which fails all clients (default "+outageDefault+"); --outage says more")
	told(&a.deadline, "deadline", "duration", "longest time of one operation, in place of --max-elapsed (default unlimited)")
	told(&a.completion, "completion", "duration", "wish: all operations have succeeded so long after the start")
	told(&a.peak, "peak", "number", "wish: no bucket holds more retries than so many times the capacity")
	told(&a.success, "success", "share", "wish: at least so many operations succeed, such as 99%; with a deadline and no other wish 99%")
	set.BoolVar(&a.confirm, "confirm", false, "run the winner, and the policy of today, in real time over sockets, for at most 2 m each")
	add(groupAdvise, "outage-length", "deadline", "completion", "peak", "success", "confirm")
	set.VarP(fileName{&a.planFile}, "file-out", "o", "the winner as a scenario file; - is stdout alone")
	set.Var(fileName{&a.jsonFile}, "json", "the advice as JSON; - is stdout alone")
	set.BoolVar(&a.ascii, "ascii", false, "draw with plain ASCII")
	set.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr")
	add(groupOutput, "file-out", "json", "ascii", "quiet")
	_ = cmd.MarkFlagFilename("file-out", "yaml", "yml")
	_ = cmd.MarkFlagFilename("json")
	set.BoolP("help", "h", false, "this help")
	return cmd
}

// A toldValue is the text of a flag, which is read when all are there, and the word for what it holds.
type toldValue struct {
	at   *string
	kind string
}

func (v *toldValue) Set(text string) error { *v.at = text; return nil }
func (v *toldValue) String() string {
	if v.at == nil { // pflag asks a zero one for its default
		return ""
	}
	return *v.at
}
func (v *toldValue) Type() string { return v.kind }

// run searches and shows what it found.
func (a *adviser) run(ctx context.Context, w world) error {
	c, err := a.config(w)
	if err != nil {
		return err
	}
	files, err := a.open(w)
	if err != nil {
		return err
	}
	defer files.discard()
	told := manner{ascii: a.ascii}
	if a.quiet {
		told.how = progressNone
	}
	progress := startProgress(w, told)
	var share atomic.Uint64
	c.Progress = func(s float64) { share.Store(math.Float64bits(s)) }
	progress.stage(load.Stage{Count: 1, Start: time.Now(), Simulated: func() load.Simulated {
		return load.Simulated{Share: math.Float64frombits(share.Load())}
	}})
	found, err := advise.Find(ctx, c)
	if err == nil && a.confirm {
		err = a.confirmAll(ctx, found, load.Env{Version: version, Progress: progress.stage})
	}
	progress.stop()
	if found == nil { // a signal ended the search before it knew
		return errors.Join(signalOf(ctx), err)
	}
	err = errors.Join(err, a.show(files, found), signalOf(ctx))
	if err == nil && !found.Advice.Met {
		return outcomeError{codeGate}
	}
	return err
}

// config is what the flags, the environment and the scenario file ask for. Every fault of the wishes is
// reported.
func (a *adviser) config(w world) (advise.Config, error) {
	p, sources, err := a.resolve(w)
	if err != nil {
		return advise.Config{}, err
	}
	given := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return sources[name] != "" })
	}
	c := advise.Config{Current: given(policyFields...), Hint: given("send-retry-after"), Duration: given("duration"), Version: version}
	if !p.Seed.Set {
		p.Seed = newSeed()
	}
	var faults []error
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	fault(a.setOutage(&p, given("outage")))
	fault(a.setDeadline(&p, given("max-elapsed")))
	c.Wishes, err = a.wishes(p.MaxElapsed)
	fault(err)
	if faults != nil {
		return c, errors.Join(faults...)
	}
	if !c.Duration {
		p.Duration = max(p.Duration, a.least(&p)) // also with the outage of the flag
	}
	c.Plan = p
	if err := sources.Locate(errors.Join(p.Validate(), c.Check())); err != nil {
		return c, usageError{err}
	}
	if a.confirm {
		return c, a.confirmable(&p)
	}
	return c, nil
}

// resolve returns the plan of all sources. A duration that nobody gave is chosen later, and until then must
// only be one that goes with the rest.
func (a *adviser) resolve(w world) (plan.Plan, plan.Sources, error) {
	in, err := a.flags.input(w)
	if err != nil {
		return plan.Plan{}, nil, err
	}
	if p, sources, _ := plan.Resolve(in); sources["duration"] == "" && a.least(&p) > p.Duration {
		a.flags.settings = append(slices.Clip(a.flags.settings), plan.Setting{Name: "duration", Text: a.least(&p).String()})
		p, _, sources, err := a.flags.resolve(w)
		delete(sources, "duration")
		return p, sources, err
	}
	p, _, sources, err := a.flags.resolve(w)
	return p, sources, err
}

// confirmable refuses to storm a target in real time that is not there again before the run is ended.
func (a *adviser) confirmable(p *plan.Plan) error {
	end := p.Ramp
	for _, o := range p.Outages {
		end = max(end, o.To)
	}
	if end < advise.ConfirmMost {
		return nil
	}
	return usage("--confirm with an outage or a ramp until %s: want them over before %s, when a run in real time is ended", end, advise.ConfirmMost)
}

// least is a duration in which the outages and the ramp have room.
func (a *adviser) least(p *plan.Plan) time.Duration {
	end := p.Ramp + time.Second
	for _, o := range p.Outages {
		end = max(end, o.To+time.Second)
	}
	return min(end, 24*time.Hour)
}

// setOutage makes the target fail from the start for the worst outage, unless outages are given.
func (a *adviser) setOutage(p *plan.Plan, given bool) error {
	text := a.outage
	switch {
	case text != "" && given:
		return usage("--outage-length %s beside --outage: want one of them", text)
	case given:
		return nil
	case text == "":
		text = outageDefault
	}
	d, err := lengthOf("outage-length", text, "ramp")
	if err == nil && d > 0 {
		p.Outages = []station.Outage{{To: d}}
	}
	return err
}

// setDeadline bounds an operation by its deadline, or not at all, unless the plan says how long it may take.
func (a *adviser) setDeadline(p *plan.Plan, given bool) error {
	switch {
	case a.deadline != "" && given:
		return usage("--deadline %s beside --max-elapsed: want one of them", a.deadline)
	case a.deadline != "":
		var err error
		p.MaxElapsed, err = lengthOf("deadline", a.deadline, "timeout")
		return err
	case !given:
		p.MaxElapsed = 0
	}
	return nil
}

// wishes are what is wished of a policy under a deadline, 0 for none.
func (a *adviser) wishes(deadline time.Duration) (list []advise.Wish, err error) {
	var faults []error
	if a.completion != "" {
		d, err := lengthOf("completion", a.completion, "timeout")
		faults = append(faults, err)
		list = append(list, advise.Completion(d))
	}
	if a.peak != "" {
		ratio, err := strconv.ParseFloat(strings.TrimSuffix(a.peak, "x"), 64)
		if err != nil || !(ratio > 0 && ratio <= 1e6) {
			faults = append(faults, usage("--peak = %q, want a number above 0, such as 1.5", a.peak))
		}
		list = append(list, advise.Peak(ratio))
	}
	if a.success != "" {
		share, err := shareOf("success", a.success)
		faults = append(faults, err)
		list = append(list, advise.Success(share))
	}
	if len(list) == 0 && deadline > 0 {
		list = append(list, advise.Success(successDefault))
	}
	if len(list) == 0 {
		return nil, usage("want one of --completion, --peak, --success or --deadline: what the policy is to keep")
	}
	return list, errors.Join(faults...)
}

// lengthOf reads a length of time as the plan's field of that kind does.
func lengthOf(flag, text, field string) (time.Duration, error) {
	p, err := setAs(flag, text, field)
	if field == "ramp" {
		return p.Ramp, err
	}
	return p.Timeout, err
}

// shareOf reads a share.
func shareOf(flag, text string) (float64, error) {
	p, err := setAs(flag, text, "spread")
	return p.SpreadShare, err
}

// setAs sets a field of a plan to the text of a flag.
func setAs(flag, text, field string) (plan.Plan, error) {
	p := plan.Default()
	f, known := plan.FieldNamed(field)
	if !known {
		panic("stormtest: BUG: no field " + field)
	}
	err := f.Set(&p, text)
	var fault *plan.FieldError
	if errors.As(err, &fault) {
		err = usage("--%s = %q, want %s", flag, text, fault.Want)
	}
	return p, err
}

// open opens the files, so that a bad one costs no search.
func (a *adviser) open(w world) (*sinks, error) {
	s := &sinks{w: w, options: terminalOptions(w, a.ascii), inputs: a.flags.inputs(plan.Plan{})}
	err := errors.Join(s.add(report.Format{Flag: "json"}, a.jsonFile), s.add(report.Format{Flag: "file-out"}, a.planFile))
	if err != nil {
		s.discard()
		return nil, usageError{err}
	}
	return s, nil
}

// confirmAll runs the winner and the policy of today in real time.
func (a *adviser) confirmAll(ctx context.Context, found *advise.Found, env load.Env) error {
	type one struct {
		plan      *plan.Plan
		predicted *record.Advised
		current   bool
	}
	list := []one{{found.Current, found.Advice.Current, true}}
	if found.Plan != nil {
		list = append([]one{{found.Plan, &found.Advice.Best[0], false}}, list...)
	}
	for _, x := range list {
		if x.plan == nil || ctx.Err() != nil {
			continue
		}
		p := *x.plan
		p.Seed = newSeed()
		confirmed, err := advise.Confirm(ctx, p, *x.predicted, env)
		if err != nil {
			return fmt.Errorf("confirm: %w", err)
		}
		confirmed.Current = x.current
		found.Advice.Confirmed = append(found.Advice.Confirmed, confirmed)
	}
	return nil
}

// show writes the files and, unless one of them took stdout, the report with the scenario.
func (a *adviser) show(s *sinks, found *advise.Found) error {
	for i := range s.files {
		f := &s.files[i]
		switch f.flag {
		case "json":
			f.format.Write = func(to io.Writer, _ *record.Result, _ report.Options) error {
				return report.AdviceJSON(to, found.Advice)
			}
		case "file-out":
			f.format.Write = func(to io.Writer, _ *record.Result, _ report.Options) error {
				if found.Plan == nil {
					return nil // to stdout; a file is not written
				}
				_, err := to.Write(found.Plan.YAML())
				return err
			}
		}
	}
	if found.Plan == nil {
		s.files = slices.DeleteFunc(s.files, func(f sink) bool {
			if f.flag != "file-out" || f.path == "" {
				return false
			}
			(&sinks{files: []sink{f}}).discard()
			return true
		})
	}
	if s.stdout != "" {
		return s.write(nil)
	}
	var text bytes.Buffer
	if err := report.Advice(&text, found.Advice, s.options); err != nil {
		return err
	}
	if found.Plan != nil {
		where := "# this scenario: stormtest sim --file FILE --repeat 50, or stormtest --file FILE"
		if a.planFile != "" {
			where = "# this scenario is in " + a.planFile
		}
		fmt.Fprintf(&text, "\n%s\n%s", where, found.Plan.Brief())
	}
	s.stdout = "report"
	s.files = append(s.files, sink{flag: "report", format: report.Format{Write: func(to io.Writer, _ *record.Result, _ report.Options) error {
		_, err := to.Write(text.Bytes())
		return err
	}}})
	return s.write(nil)
}
