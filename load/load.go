// Package load runs a plan: for each strategy it puts a fleet against a target, records who
// arrived when, and returns what it measured.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// An Env is what a run takes from its surroundings. The zero value runs over loopback TCP
// with the finest clock there is, and tells nobody how far it is.
type Env struct {
	// Version is the tool's, for the result.
	Version string
	// Network opens the place of each run's target; nil is loopback TCP.
	Network func() (Place, error)
	// Material holds the files that the plan names.
	Material Material
	// Lookup and Connect reach a target that is not ours; nil is the system's resolver and network.
	Lookup  Lookup
	Connect Connect
	// Wake is what sends and completions are timed with.
	Wake wake.Source
	// Trace, where set, takes one CSV row for every attempt that ended, as it ends.
	Trace io.Writer
	// HLog, where set, takes the histogram log: the arrivals of every bucket, as it closes.
	HLog io.Writer
	// Probing, where set, is called before the healthy baseline of a target elsewhere is taken,
	// which may last some 8 s.
	Probing func()
	// Progress, where set, is called when a run begins, from the goroutine of Run. The
	// counters of the Stage may be read from any goroutine until the next call.
	Progress func(Stage)
}

// A Stage is one strategy's run under way.
type Stage struct {
	Index, Count int // of the strategies; Index is from 0
	Strategy     string
	Start        time.Time // t0, a little in the future
	Duration     time.Duration
	Operations   int64
	Totals       func() record.Totals
	Outside      bool // the clients are not ours: of Totals, what arrived and was served counts
}

// ErrLimit marks a fleet that this machine's limits do not allow.
var ErrLimit = errors.New("the fleet is larger than this machine allows")

// Run runs the plan, which must be valid and have a seed. When ctx is cancelled, or the
// reader of Trace or HLog closes its pipe, the run under way ends early and what it measured is in the
// result, which is then marked interrupted; so a result comes with every error but those from before the first run.
func Run(ctx context.Context, p plan.Plan, env Env) (*record.Result, error) {
	if !p.Seed.Set {
		panic("load: BUG: a plan without a seed")
	}
	var listen listenWatch
	var site *elsewhere
	switch {
	case p.URL != "":
		if err := checkLimits(p.Clients, 1); err != nil {
			return nil, err
		}
		var err error
		if site, err = newElsewhere(ctx, p, env); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	case p.Transport == plan.TransportMemory: // takes no descriptors and no ports
	case env.Network == nil:
		listen.read = readListenDrops
		if err := checkLimits(p.Clients, descriptorsPerClient); err != nil {
			return nil, err
		}
		env.Network = Loopback
	}
	text, err := json.Marshal(p.Redacted())
	if err != nil {
		return nil, fmt.Errorf("load: write the plan: %w", err)
	}
	result := &record.Result{
		Schema:         record.Schema,
		Tool:           record.Tool{Version: env.Version},
		Plan:           text,
		PlanHash:       p.Hash(),
		Seed:           p.Seed.Value,
		StartedAt:      time.Now().UTC().Truncate(time.Millisecond),
		Valid:          true,
		InvalidReasons: []string{},
		Runs:           []record.Run{},
		Gates:          []record.Gate{},
	}
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	trace, stopTrace := startTracer(ctx, env.Trace, abandon)
	defer stopTrace()
	log := newHLogger(env.HLog, result, abandon)
	if site != nil {
		result.Addresses = site.site.Addresses()
	}
	if site != nil && p.Probe == plan.ProbeOn {
		site.measure(ctx, p, env)
		result.Probe = site.probe
	}
	var failed error
	for i, strategy := range p.Strategies {
		s := storm{plan: p, strategy: strategy, env: env, trace: trace, log: log, index: i, listen: listen, site: site}
		run, reasons, err := s.run(ctx)
		if err != nil && ctx.Err() == nil {
			failed = failure(strategy, err)
			break
		}
		if err == nil {
			result.Runs = append(result.Runs, run)
			for _, reason := range reasons {
				result.InvalidReasons = append(result.InvalidReasons, prefixed(p, strategy, reason))
			}
		}
		if ctx.Err() != nil {
			result.Interrupted = true
			break
		}
	}
	result.Valid = len(result.InvalidReasons) == 0
	return result, errors.Join(failed, log.done(failed == nil && !result.Interrupted), trace.flush())
}

// prefixed names the strategy where there are several.
func prefixed(p plan.Plan, strategy, reason string) string {
	if len(p.Strategies) == 1 {
		return reason
	}
	return strategy + ": " + reason
}
