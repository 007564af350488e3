// Clock holds runs in real time against the exact count: the same plan and seed in virtual time,
// by the same policy, strategy and station, where nobody is ever late.
//
//	go run ./scripts/clock STORMTEST [SEEDS]
//
// STORMTEST is the program to measure; SEEDS is how many seeds each plan runs with, 1 unless given.
package main

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target/station"
)

// The guide's model, design section 4: every client fails together, full jitter, one worker and no
// queue; counted is what is served within the duration.
const duration = 6 * time.Second

// rows are the lines of the table.
var rows = []struct {
	clients   int
	perSecond float64
	transport string
}{
	{2_000, 1_000, plan.TransportTCP},
	{8_000, 4_000, plan.TransportTCP},
	{2_000, 1_000, plan.TransportMemory},
	{8_000, 4_000, plan.TransportMemory},
	{20_000, 10_000, plan.TransportMemory},
	{100_000, 50_000, plan.TransportMemory},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "clock:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	seeds := 1
	if len(args) == 2 {
		var err error
		if seeds, err = strconv.Atoi(args[1]); err != nil || seeds < 1 {
			return fmt.Errorf("seeds = %q, want 1 or more", args[1])
		}
	}
	if len(args) < 1 || len(args) > 2 {
		return errors.New("usage: clock STORMTEST [SEEDS]")
	}
	dir, err := os.MkdirTemp("", "clock")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Println("| clients | capacity | transport | seed |  exact |  served | served/exact | late p50 | late p99 | p99 after the first bucket | first wave |")
	fmt.Println("|--------:|---------:|-----------|-----:|-------:|--------:|-------------:|---------:|---------:|---------------------------:|-----------:|")
	for _, row := range rows {
		for s := range seeds {
			p := plan.Default()
			p.Clients, p.CapacityPerSecond, p.Transport = row.clients, row.perSecond, row.transport
			p.Duration, p.MaxElapsed = duration, 0
			p.Seed = plan.Seed{Value: uint64(s + 1), Set: true}
			if err := p.Validate(); err != nil {
				return err
			}
			r, err := measure(args[0], dir, p)
			if err != nil {
				return err
			}
			print(p, exact(p), r)
		}
	}
	return nil
}

// measure runs the program with the plan.
func measure(program, dir string, p plan.Plan) (record.Run, error) {
	scenario, result := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "result.json")
	if err := os.WriteFile(scenario, p.YAML(), 0o600); err != nil {
		return record.Run{}, err
	}
	cmd := exec.Command(program, "--file", scenario, "--json", result, "--quiet")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return record.Run{}, fmt.Errorf("%s: %w", program, err)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return record.Run{}, err
	}
	var r record.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return record.Run{}, err
	}
	if len(r.Runs) != 1 || !r.Runs[0].Books.Balanced {
		return record.Run{}, fmt.Errorf("%d runs, want one whose books balance", len(r.Runs))
	}
	return r.Runs[0], nil
}

func print(p plan.Plan, exact int64, r record.Run) {
	served := r.Operations.Succeeded
	text := func(ns *int64) string {
		if ns == nil {
			return "–"
		}
		return record.Short(time.Duration(*ns))
	}
	fmt.Printf("| %7d | %6.0f/s | %-9s | %4d | %6d | %7d | %10.1f %% | %8s | %8s | %26s | %10s |\n",
		p.Clients, p.CapacityPerSecond, p.Transport, p.Seed.Value, exact, served, 100*float64(served)/float64(exact),
		text(r.Lateness.P50), text(r.Lateness.P99), text(r.Generator.LatenessRest.P99), text(r.Generator.StartSpread))
}

// An attempt is due at a moment; those due together go by client.
type attempt struct {
	due    time.Duration
	client int
}

type queue []attempt

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return compare(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(attempt)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func compare(a, b attempt) int {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.client, b.client))
}

// exact returns how many operations of the plan are served before its end. The plan has one
// operation a client and no queue, so that whoever gets a slot is served in time.
func exact(p plan.Plan) int64 {
	policy := p.Policy(p.Strategies[0])
	st := station.New(p.Station(), nil)
	clients := make([]retry.Client, p.Clients)
	due := make(queue, p.Clients)
	for i := range clients {
		clients[i].Init(&policy, seed.Stream(p.Seed.Value, seed.Backoff, uint32(i)), seed.Stream(p.Seed.Value, seed.RetryAfter, uint32(i)))
		clients[i].Begin(0)
		due[i] = attempt{client: i}
	}
	if !slices.IsSortedFunc(due, compare) {
		panic("clock: BUG: not a heap")
	}
	for len(due) > 0 && due[0].due < p.Duration {
		a := due[0]
		adm := st.Arrive(a.due, uint64(a.client))
		if adm.Kind == station.Accepted {
			heap.Pop(&due)
			continue
		}
		d := clients[a.client].Decide(a.due, retry.Outcome{Kind: retry.Responded, Status: adm.Status})
		if !d.Retry {
			heap.Pop(&due)
			continue
		}
		due[0].due += d.Delay
		heap.Fix(&due, 0)
	}
	var served int64
	for {
		d, ok := st.Finish(p.Duration)
		if !ok {
			return served
		}
		if d.At < p.Duration {
			served++
		}
	}
}
