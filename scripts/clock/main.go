// Clock holds runs in real time against the exact count: the same plan and seed in virtual time
// (load/sim), where nobody is ever late.
//
//	go run ./scripts/clock STORMTEST [SEEDS]
//
// STORMTEST is the program to measure; SEEDS is how many seeds each plan runs with, 1 unless given.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/sim"
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

// exact returns how many operations of the plan are served before its end, by the engine of virtual time.
func exact(p plan.Plan) int64 {
	return sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: p.Strategies[0], Seed: p.Seed.Value}).Succeeded
}
