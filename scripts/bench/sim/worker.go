package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"syscall"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// A tally is what one process did: so many runs of one size, one seed after another.
type tally struct {
	Runs   int64 `json:"runs"`
	Calls  int64 `json:"calls"`
	Served int64 `json:"served"`
	// Events are what the engine itself counts: calls and, of stormtest, completions.
	Events int64 `json:"events"`
	// CPU is of the whole process while the model ran, the collector's included.
	CPU time.Duration `json:"cpu_ns"`
	// Around is what the recorder's making and summing up took, once a run, and is not in CPU.
	Around time.Duration `json:"around_ns"`
}

// work is what a process of this program does for one row of a table: it runs one engine for at least a
// while and prints its tally.
func work(args []string, out io.Writer) error {
	set := flag.NewFlagSet("work", flag.ContinueOnError)
	engine := set.String("engine", "", "bare, recorded or plain")
	clients := set.Int("clients", 1000, "")
	perSecond := set.Float64("capacity", 1000, "a second")
	least := set.Duration("least", 0, "CPU time to spend at least")
	if err := set.Parse(args); err != nil {
		return err
	}
	var t tally
	for seed := uint64(1); t.Runs == 0 || t.CPU < *least; seed++ {
		t.Runs++
		switch *engine {
		case "plain":
			began := cpu()
			calls, served := plain(*clients, *perSecond, seed)
			t.CPU += cpu() - began
			t.add(calls, served, calls)
		case "bare", "recorded":
			t.ours(guide(*clients, *perSecond), seed, *engine == "recorded")
		default:
			return fmt.Errorf("work: engine %q: want bare, recorded or plain", *engine)
		}
	}
	return json.NewEncoder(out).Encode(t)
}

func (t *tally) add(calls, served, events int64) {
	t.Calls += calls
	t.Served += served
	t.Events += events
}

// ours runs stormtest's engine once.
func (t *tally) ours(p plan.Plan, seed uint64, recorded bool) {
	c := sim.Config{Plan: &p, Strategy: p.Strategies[0], Seed: seed}
	began := cpu()
	if recorded {
		c.Recorder = recorder(&p)
	}
	ran := cpu()
	s := sim.Run(context.Background(), c)
	ended := cpu()
	if recorded {
		c.Recorder.Summarise(record.End{
			At: s.End, InFlight: s.InFlight, Unfinished: s.Unfinished, Strategy: c.Strategy,
			Engine: record.EngineVirtual, ArrivalsMeasuredAt: "target",
		})
	}
	t.CPU += ended - ran
	t.Around += ran - began + cpu() - ended
	t.add(s.Attempts, s.Succeeded, s.Events)
}

// guide is the guides' model in stormtest's words: its default plan, without an end.
func guide(clients int, perSecond float64) plan.Plan {
	p := plan.Default()
	p.Clients, p.CapacityPerSecond = clients, perSecond
	p.MaxElapsed, p.Duration = 0, 24*time.Hour
	return p
}

// recorder is the one that a run of the plan has.
func recorder(p *plan.Plan) *record.Recorder {
	from, to := p.ConvoyWindow()
	return record.New(record.Config{
		Bucket: p.Bucket, Duration: p.Duration, CapacityPerSecond: &p.CapacityPerSecond, Cap: p.Cap,
		StartTogether: true, FirstDelayJittered: true, WindowFrom: from, WindowTo: to,
		KindNames: names(retry.KindCount), ReasonNames: names(retry.ReasonCount), LostNames: sim.LostNames,
		Shards: 1,
	})
}

func names[T interface {
	~uint8
	fmt.Stringer
}](count T) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = T(i).String()
	}
	return list
}

// cpu is the CPU time that this process has taken.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
