package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is one that has ended.
type process struct {
	said     []byte
	tally    tally
	wall     time.Duration
	rssBytes int64 // resident, at most
}

// rate is its calls a second.
func (p process) rate() float64 { return float64(p.tally.Calls) / p.tally.CPU.Seconds() }

// run runs one engine in a process of its own, on one core, and checks that it served everybody.
func (b *bench) run(ctx context.Context, e engine, clients int) (process, error) {
	path, err := os.Executable()
	if err != nil {
		return process{}, err
	}
	perSecond := capacity(clients)
	args := []string{"work", "-engine", e.key, "-clients", strconv.Itoa(clients), "-capacity", fmt.Sprint(perSecond), "-least", least.String()}
	if e.key == "" {
		path, args = "python3", []string{b.guide, strconv.Itoa(clients), fmt.Sprint(perSecond / 1000), fmt.Sprint(least.Seconds())}
	}
	p, err := start(ctx, path, args, "GOMAXPROCS=1") // so that the collector's work is the engine's
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(p.said, &p.tally); err != nil {
		return p, fmt.Errorf("said %q: %w", p.said, err)
	}
	if t := p.tally; t.Served != t.Runs*int64(clients) || t.CPU <= 0 {
		return p, fmt.Errorf("served %d of %d", t.Served, t.Runs*int64(clients))
	}
	return p, nil
}

// start runs a program to its end, with some more settings in its environment.
func start(ctx context.Context, path string, args []string, settings ...string) (process, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), settings...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	began := time.Now()
	err := cmd.Run()
	p := process{said: out.Bytes(), wall: time.Since(began)}
	if err != nil {
		return p, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	p.rssBytes = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return p, nil
}
