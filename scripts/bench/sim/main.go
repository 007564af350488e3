// Command sim measures stormtest's engine in virtual time: beside the guides' own Python program and a plain
// Go engine of the same model, as the fleet grows, and on one large plan.
//
// Every figure is of a process of its own, of which the CPU time counts, in rounds: each begins with another
// row of the table. It checks that all engines did the same work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stormtest/scripts/bench/figures"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench-sim:", err)
		os.Exit(1)
	}
}

// A bench is what the command line says.
type bench struct {
	out       io.Writer
	guide     string // guide.py
	stormtest string // the program
	rounds    int
	most      int // clients
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "work" {
		return work(args[1:], out)
	}
	b := &bench{out: out}
	parts := []part{{"engines", b.engines}, {"growth", b.growth}, {"plan", b.plan}}
	set := flag.NewFlagSet("bench-sim", flag.ContinueOnError)
	set.StringVar(&b.guide, "guide", "", "guide.py")
	set.StringVar(&b.stormtest, "stormtest", "", "the program stormtest")
	set.IntVar(&b.rounds, "rounds", 3, "runs of every row; the medians are printed")
	set.IntVar(&b.most, "most", 10_000_000, "clients, of the largest fleet")
	only := set.String("only", "engines,growth,plan", "tables to print, a comma list")
	if err := set.Parse(args); err != nil {
		return err
	}
	if b.rounds < 1 || b.rounds > 50 || b.most < 1000 || b.most > 10_000_000 {
		return errors.New("want 1..50 rounds and 1000..10000000 clients at most")
	}
	for _, name := range strings.Split(*only, ",") {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("only: %q: want engines, growth or plan", name)
		}
	}
	fmt.Fprintf(out, "Machine: %s\nMedians of %d rounds.\n", figures.Machine(), b.rounds)
	for _, p := range parts {
		if slices.Contains(strings.Split(*only, ","), p.name) {
			if err := p.print(ctx); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// A part is one table.
type part struct {
	name  string
	print func(context.Context) error
}

// capacity is what a fleet's target serves in a second: one per millisecond for every 1,000 clients.
func capacity(clients int) float64 { return float64(clients) }

// An engine is a program that runs the guides' model.
type engine struct {
	name string
	key  string // for work; "" is the Python original
}

const (
	bare = iota
	recorded
	plainGo
	python
)

var all = []engine{
	bare:     {"stormtest, bare engine", "bare"},
	recorded: {"stormtest, all recorded", "recorded"},
	plainGo:  {"Go on container/heap", "plain"},
	python:   {"the guides' Python", ""},
}

// least is the CPU time that one process spends: small fleets are run again with other seeds until then.
const least = 500 * time.Millisecond

// engines compares the engines at 1,000 and 1,000,000 clients.
func (b *bench) engines(ctx context.Context) error {
	sizes := slices.DeleteFunc([]int{1000, 1_000_000}, func(n int) bool { return n > b.most })
	done := make([]map[int][]process, len(all))
	for i := range done {
		done[i] = map[int][]process{}
	}
	for _, n := range sizes {
		for round := range b.rounds {
			for i := range all {
				i = (i + round) % len(all)
				p, err := b.run(ctx, all[i], n)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", all[i].name, n, err)
				}
				done[i][n] = append(done[i][n], p)
			}
		}
	}
	fmt.Fprintf(b.out, "\nCalls a second of one core: the guides' model, full jitter, capacity 1/ms for every 1,000 clients; and how many\ntimes as many as the row's engine stormtest's bare one makes\n\n")
	fmt.Fprintf(b.out, "| engine                  |")
	for _, n := range sizes {
		fmt.Fprintf(b.out, " %9s clients | (least - most)  | ratio  |", thousands(n))
	}
	fmt.Fprintf(b.out, "\n|-------------------------|%s\n", strings.Repeat("-------------------|-----------------|--------|", len(sizes)))
	for i, e := range all {
		fmt.Fprintf(b.out, "| %-23s |", e.name)
		for _, n := range sizes {
			rates := each(done[i][n], process.rate)
			mid := figures.Median(rates)
			fmt.Fprintf(b.out, " %15.2f M | %5.2f - %5.2f M | %6.2f |", mid/1e6, slices.Min(rates)/1e6, slices.Max(rates)/1e6, figures.Median(each(done[bare][n], process.rate))/mid)
		}
		fmt.Fprintln(b.out)
	}
	fmt.Fprintln(b.out)
	for _, n := range sizes {
		around := figures.Median(each(done[recorded][n], func(p process) time.Duration { return p.tally.Around / time.Duration(p.tally.Runs) }))
		fmt.Fprintf(b.out, "%s clients: a recorder is made and summed up in %v, once a run, which is not in the rates\n", thousands(n), around.Round(10*time.Microsecond))
	}
	for _, n := range sizes {
		wanted, rate := 12e6, figures.Median(each(done[bare][n], process.rate))
		if n > 1000 {
			wanted = 8e6
		}
		share := figures.Median(each(done[recorded][n], process.rate)) / rate
		fmt.Fprintf(b.out, "%s, bare at %s clients: %.2f M/s, wanted %.0f M\n", verdict(rate >= wanted), thousands(n), rate/1e6, wanted/1e6)
		fmt.Fprintf(b.out, "%s, recorded at %s clients: %.2f M/s, wanted 0.6 of %.0f M\n", verdict(rate*share >= 0.6*wanted), thousands(n), rate*share/1e6, wanted/1e6)
		fmt.Fprintf(b.out, "%s, recorded at %s clients: %.2f of this bare engine, wanted 0.6\n", verdict(share >= 0.6), thousands(n), share)
	}
	return b.sameWork(sizes, done)
}

// callsWithin is how far two engines' mean calls may be apart: at 1,000 clients a run's deviate by 0.4 %.
const callsWithin = 0.02

// sameWork checks that everybody was served by every engine, with about the same number of calls.
func (b *bench) sameWork(sizes []int, done []map[int][]process) error {
	for _, n := range sizes {
		var want float64
		for i, e := range all {
			var calls, runs int64
			for _, p := range done[i][n] {
				calls, runs = calls+p.tally.Calls, runs+p.tally.Runs
			}
			mean := float64(calls) / float64(runs)
			if i == bare {
				want = mean
			}
			if off := mean/want - 1; off > callsWithin || off < -callsWithin {
				return fmt.Errorf("%s makes %.0f calls with %d clients, stormtest %.0f", e.name, mean, n, want)
			}
			fmt.Fprintf(b.out, "%-23s %9s clients, all served, %9.0f calls a run\n", e.name+":", thousands(n), mean)
		}
	}
	return nil
}

// growth shows what ten times the clients cost.
func (b *bench) growth(ctx context.Context) error {
	kinds := []engine{all[bare], all[recorded]}
	var sizes []int
	for n := 1000; n <= b.most; n *= 10 {
		sizes = append(sizes, n)
	}
	empty, err := b.run(ctx, all[bare], 1)
	if err != nil {
		return err
	}
	done := map[string]map[int][]process{}
	for _, e := range kinds {
		done[e.key] = map[int][]process{}
	}
	for round := range b.rounds {
		for i := range sizes {
			n := sizes[(i+round)%len(sizes)]
			for _, e := range kinds {
				p, err := b.run(ctx, e, n)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", e.name, n, err)
				}
				done[e.key][n] = append(done[e.key][n], p)
			}
		}
	}
	fmt.Fprintf(b.out, "\nGrowth: CPU time of one run, what it has to do, and the peak of resident memory, over that of one client (%.0f MB)\n\n", float64(empty.rssBytes)/1e6)
	fmt.Fprintln(b.out, "| engine                  |    clients |       time | x of the row above |      calls |     events | events/s |  memory | a client |")
	fmt.Fprintln(b.out, "|-------------------------|------------|------------|--------------------|------------|------------|----------|---------|----------|")
	for _, e := range kinds {
		var before time.Duration
		for _, n := range sizes {
			list := done[e.key][n]
			one := func(f func(process) int64) int64 {
				return figures.Median(each(list, func(p process) int64 { return f(p) / p.tally.Runs }))
			}
			took := time.Duration(one(func(p process) int64 { return int64(p.tally.CPU) }))
			events := one(func(p process) int64 { return p.tally.Events })
			rss := figures.Median(each(list, func(p process) int64 { return p.rssBytes }))
			grown := "-"
			if before > 0 {
				grown = fmt.Sprintf("%.1f", float64(took)/float64(before))
			}
			share := "-" // of few clients it is lost in the heap's room to grow
			if n >= 100_000 {
				share = fmt.Sprintf("%d B", (rss-empty.rssBytes)/int64(n))
			}
			fmt.Fprintf(b.out, "| %-23s | %10s | %10v | %18s | %10s | %10s | %6.2f M | %4.0f MB | %8s |\n",
				e.name, thousands(n), round3(took), grown, thousands(int(one(func(p process) int64 { return p.tally.Calls }))), thousands(int(events)),
				float64(events)/took.Seconds()/1e6, float64(rss)/1e6, share)
			before = took
		}
	}
	return nil
}

// plan runs the program itself on the plan that everybody can type, with every report.
func (b *bench) plan(ctx context.Context) error {
	if b.most < 1_000_000 {
		return nil
	}
	args := []string{"sim", "--clients", "1000000", "--strategy", "full", "--capacity", "20000/s", "--duration", "1h", "--max-elapsed", "1h"}
	var took []time.Duration
	var rss []int64
	for range b.rounds {
		p, err := start(ctx, b.stormtest, append(slices.Clone(args), "--quiet", "--json", os.DevNull))
		if err != nil {
			return err
		}
		took, rss = append(took, p.wall), append(rss, p.rssBytes)
	}
	fmt.Fprintf(b.out, "\nstormtest %s\n\n", strings.Join(args, " "))
	wall, bytes := figures.Median(took), figures.Median(rss)
	fmt.Fprintf(b.out, "%s: %.2f s from start to end (%.2f - %.2f), wanted 3 s\n", verdict(wall < 3*time.Second), wall.Seconds(), slices.Min(took).Seconds(), slices.Max(took).Seconds())
	fmt.Fprintf(b.out, "%s: %.0f MB resident at most, wanted 300 MB\n", verdict(bytes < 300e6), float64(bytes)/1e6)
	return nil
}

func verdict(ok bool) string {
	if ok {
		return "met"
	}
	return "NOT met"
}

func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// round3 leaves three digits or so.
func round3(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
