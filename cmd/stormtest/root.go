package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/secret"
	"stormtest/report/check"
)

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	cmd, err := root.ExecuteContextC(ctx)
	return codeOf(cmd.CommandPath(), err, w.err)
}

const (
	rootShort = "What do our retries do to a service that has just failed?"
	rootLong  = `stormtest - what do our retries do to a service that has just failed?

A fleet of clients fails together against a target of limited capacity, every
client retries by one policy over real sockets, and stormtest records who
arrived when and says whether they came back as a convoy.`
	rootExample = `  stormtest --strategy none --clients 2000
  stormtest --strategy all --seed 1 --json result.json
  stormtest --strategy full --gate 'convoy_index<0.1' --gate 'success_share>0.9'
  stormtest --rate 800/s --workers 10 --queue 1000 --outage 5s..8s --max-retries 3
  stormtest --preset aws-standard-2026,grpc-retry --rate 500/s --outage 5s..10s
  stormtest --fleet full=70%,none=30% --outage 0s..2s
  stormtest run examples/metastable.yaml`
)

// newRoot returns the command tree. The root runs a storm.
func newRoot(w world) *cobra.Command {
	var flags planFlags
	var outs outputs
	cmd := &cobra.Command{
		Use:           "stormtest [flags] [URL]",
		Short:         rootShort,
		Long:          rootLong,
		Example:       rootExample,
		Version:       version,
		Args:          maybeURL,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			if err := flags.takeURL(args); err != nil {
				return err
			}
			return storm(cmd.Context(), w, job{flags: &flags, outs: &outs, engine: plan.Real, run: load.Run})
		},
	}
	flags.add(cmd, plan.Real)
	outs.add(cmd, true)
	outs.addMetricsFlag(cmd)
	cmd.Flags().BoolP("help", "h", false, "this help")
	cmd.Flags().Bool("version", false, "the version")
	cmd.SetVersionTemplate("stormtest {{.Version}}\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cmd.SetUsageFunc(writeUsage)
	cmd.SetHelpFunc(writeHelp)
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(newAdvise(w), newCompare(w), newGates(w), newMerge(w), newPlan(w), newPresets(w), newProbe(w), newReport(w), newRun(w), newServe(w), newSim(w), newStrategies(w), newTip(w), newValidate(w))
	return cmd
}

// maybeURL takes one URL, and refuses what is neither that nor a flag or a command.
func maybeURL(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || len(args) == 1 && strings.Contains(args[0], "://"):
		return nil
	case strings.Contains(args[0], "://"):
		return usage("argument %q: want one URL only", secret.URL(args[1]))
	}
	hint := ""
	if isScenario(args[0]) {
		hint = fmt.Sprintf("; did you mean 'stormtest run %s'?", args[0])
	} else if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(s, " or "))
	} else if strings.ContainsAny(args[0], ".:/") {
		hint = fmt.Sprintf("; did you mean http://%s?", secret.URL(args[0]))
	}
	return usage("argument %q: want a URL, a command or flags%s", secret.URL(args[0]), hint)
}

// isScenario reports whether a name is that of a scenario file.
func isScenario(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// A job is a command that runs a plan: by which engine, and where its reports go.
type job struct {
	flags  *planFlags
	outs   *outputs
	engine plan.Engine
	run    func(context.Context, plan.Plan, load.Env) (*record.Result, error)
}

// storm runs a plan and reports what it measured.
func storm(ctx context.Context, w world, j job) error {
	p, gates, err := j.flags.resolveFor(w, j.engine)
	if err != nil {
		return err
	}
	material, err := readMaterial(w, p, j.flags.file)
	if err != nil {
		return err
	}
	if !p.Seed.Set {
		p.Seed = newSeed()
	}
	how, err := j.outs.manner(w)
	if err != nil {
		return err
	}
	sinks, err := j.outs.open(w, j.flags.inputs(p)...)
	if err != nil {
		return err
	}
	defer sinks.discard()
	meter, err := startMeter(ctx, w, j.outs, head(p))
	if err != nil {
		return err
	}
	defer meter.close()
	how.outages = windows(p)
	progress := startProgress(w, how)
	result, err := j.run(ctx, p, load.Env{
		Version:  version,
		HLog:     sinks.stream(hlogFlag),
		Trace:    sinks.stream(traceFlag),
		Material: material,
		Probing:  progress.probing,
		Progress: telling(progress.stage, meter.stage),
		Finished: meter.finished,
	})
	progress.stop()
	if load.IsUsage(err) {
		return usageError{err}
	}
	if result == nil || len(result.Runs) == 0 && err != nil {
		return err
	}
	result.Gates = evaluate(gates, result)
	meter.live.Over(result)
	return errors.Join(err, sinks.write(result), outcomeOf(ctx, result))
}

// head is what is known of a plan's result before anything ran.
func head(p plan.Plan) record.Result {
	text, _ := json.Marshal(p.Redacted()) // for its label; what cannot be written fails the run later
	return record.Result{Tool: record.Tool{Version: version}, Plan: text, PlanHash: p.Hash(), Seed: p.Seed.Value, StartedAt: time.Now()}
}

// noArguments refuses what is no flag.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("argument %q: want flags only", args[0])
}

// evaluate judges the gates; none is an empty list.
func evaluate(gates []check.Gate, r *record.Result) []record.Gate {
	if len(gates) == 0 {
		return []record.Gate{}
	}
	return check.Evaluate(gates, r)
}

// seedBits are the bits of a seed that we draw: as many as every reader of JSON keeps, so that
// a seed read with jq repeats the run.
const seedBits = 53

// newSeed draws a run seed from the operating system.
func newSeed() plan.Seed {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails; see its documentation
	return plan.Seed{Value: binary.LittleEndian.Uint64(b[:]) >> (64 - seedBits), Set: true}
}

// readFile reads a file that the user named, or standard input for "-".
func readFile(w world, name string, most int64) ([]byte, error) {
	if name == "-" {
		return readAll(w.in, name, most)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readAll(f, name, most)
}
