// Command peers measures stormtest beside other load generators: how tightly simultaneous requests arrive
// (release), how many a closed loop makes for how much CPU (rate), and what a waiting client takes (memory).
//
// Every tool runs as a process of its own against one server, one after another in each round, and
// everything but the CPU is read from the server's stamps. Loopback only; whatever it starts it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
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
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	what    string
	rounds  int
	clients []int
	lean    bool
	only    []string
	length  time.Duration
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || !slices.Contains([]string{"release", "rate", "memory"}, args[0]) {
		return errors.New("usage: peers release, rate or memory, and flags")
	}
	o := options{what: args[0]}
	rounds, clients := 5, "2000,8000"
	switch o.what {
	case "rate":
		rounds, clients = 3, "100,1000,2000"
	case "memory":
		rounds, clients = 1, "1000,8000"
	}
	set := flag.NewFlagSet(o.what, flag.ContinueOnError)
	bin := set.String("bin", "", "folder of the programs")
	set.IntVar(&o.rounds, "rounds", rounds, "runs of every tool; the medians are printed")
	set.StringVar(&clients, "clients", clients, "connections, a comma list")
	set.BoolVar(&o.lean, "lean", false, "a lean server instead of net/http's")
	set.DurationVar(&o.length, "length", 5*time.Second, "of one closed loop, 3s at least")
	only := set.String("only", "", "programs to run, a comma list; all without")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	for _, text := range strings.Split(clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 8000 {
			return fmt.Errorf("clients: %q: want 1..8000", text)
		}
		o.clients = append(o.clients, n)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	if o.rounds < 1 || o.rounds > 50 || o.length < 3*time.Second || o.length > 30*time.Second {
		return errors.New("want 1..50 rounds of 3s..30s")
	}
	scratch, err := os.MkdirTemp("", "stormtest-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := os.WriteFile(filepath.Join(scratch, momentScript), momentText, 0o600); err != nil {
		return err
	}
	b := &bench{bin: *bin, scratch: scratch, out: out}
	fmt.Fprintln(out, "Machine: "+figures.Machine())
	if err := b.start(ctx, o); err != nil {
		return err
	}
	defer b.close()
	switch o.what {
	case "rate":
		return b.rates(ctx, o)
	case "memory":
		return b.memories(ctx, o)
	}
	return b.releases(ctx, o)
}

// chosen returns the tools that a bench has a setting for and that were asked for.
func chosen(o options, setting func(tool) bool) []tool {
	return slices.DeleteFunc(tools(), func(t tool) bool {
		return !setting(t) || o.only != nil && !slices.Contains(o.only, t.program)
	})
}

func (o options) server() string {
	if o.lean && o.what == "release" {
		return fmt.Sprintf("kernel of a lean server that reads %v after the first", releasePatience)
	}
	if o.lean {
		return "lean server"
	}
	return "net/http server"
}

// settings prints how each tool is called.
func (b *bench) settings(list []tool, j job, of func(tool) func(job) []string) {
	j.url, j.scratch = "URL", "DIR"
	for _, t := range list {
		fmt.Fprintf(b.out, "  %-18s %s %s\n", t.name, t.program, strings.Join(of(t)(j), " "))
	}
}
