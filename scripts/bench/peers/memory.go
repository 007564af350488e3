package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stormtest/scripts/bench/figures"
)

const (
	// memoryMost bounds one run, steadyFor is how long its memory must not move to be that of waiting
	// clients, and steadyWithin by how much.
	memoryMost      = 40 * time.Second
	steadyFor       = 2 * time.Second
	steadyWithin    = 64 << 10
	memoryEvery     = 100 * time.Millisecond
	memoryWantBytes = 8 << 10
)

// memories measures what a client costs while it waits in its backoff, with the target in the same process
// and with the target in another, and says of each whether it is what is wanted.
func (b *bench) memories(ctx context.Context, o options) error {
	few, many := o.clients[0], o.clients[len(o.clients)-1]
	if len(o.clients) < 2 || few >= many {
		return errors.New("memory: want two numbers of clients, the smaller one first")
	}
	fmt.Fprintf(b.out, "Memory: resident memory (VmRSS) of stormtest while every client waits in a backoff of 20 s, and what\n")
	fmt.Fprintf(b.out, "one more client adds to it, between %d and %d. That is stacks, heap and what of it is not collected\n", few, many)
	fmt.Fprintf(b.out, "yet; the kernel's memory of the sockets is not in it. Medians of %d round(s).\n\n", o.rounds)
	fmt.Fprintf(b.out, "| process holds           | %6d clients | %6d clients | one more client |\n", few, many)
	fmt.Fprintf(b.out, "|-------------------------|----------------|----------------|-----------------|\n")
	var verdicts []string
	base := []string{"--strategy", "none", "--base", "20s", "--duration", "60s", "--quiet"}
	for _, kind := range []struct {
		name string
		args []string
	}{
		{"both ends", append(base, "--capacity", "0")},
		{"the client's end alone", append(base, "--probe", "off", b.url)},
	} {
		rss := map[int][]int64{}
		for range o.rounds {
			for _, n := range []int{few, many} {
				v, err := b.waiting(ctx, n, kind.args)
				if err != nil {
					return err
				}
				rss[n] = append(rss[n], v)
			}
		}
		low, high := figures.Median(rss[few]), figures.Median(rss[many])
		each := float64(high-low) / float64(many-few)
		fmt.Fprintf(b.out, "| %-23s | %11.1f MB | %11.1f MB | %12.1f kB |\n", kind.name, float64(low)/1e6, float64(high)/1e6, each/1e3)
		verdicts = append(verdicts, memoryVerdict(kind.name, each))
	}
	fmt.Fprintf(b.out, "\nWanted: under %.1f kB for one more client\n%s\n", float64(memoryWantBytes)/1e3, strings.Join(verdicts, "\n"))
	return nil
}

// memoryVerdict says whether what one more client adds, in bytes, is what is wanted.
func memoryVerdict(name string, each float64) string {
	word := "met"
	if each >= memoryWantBytes {
		word = "NOT met"
	}
	return fmt.Sprintf("%s, with %s: %.1f kB", word, name, each/1e3)
}

// waiting returns the resident memory, in bytes, of stormtest when it has come to rest with n clients.
func (b *bench) waiting(ctx context.Context, n int, args []string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, memoryMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "stormtest"), append([]string{"--clients", strconv.Itoa(n)}, args...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var at int64
	since := time.Now()
	for {
		select {
		case err := <-ended:
			if err := ctx.Err(); err != nil {
				return 0, fmt.Errorf("memory: %d clients do not come to rest: %w", n, err)
			}
			return 0, failed(said.Bytes(), err)
		case <-time.After(memoryEvery):
		}
		now, open, err := resident(cmd.Process.Pid)
		if err != nil {
			continue // it is ending, and says why
		}
		if now-at > steadyWithin || at-now > steadyWithin || open < n {
			at, since = now, time.Now()
		}
		if time.Since(since) >= steadyFor {
			_ = cmd.Process.Kill()
			if err := <-ended; err == nil {
				return 0, fmt.Errorf("memory: %d clients: stormtest ended by itself", n)
			}
			return now, nil
		}
	}
}

// resident returns a process's resident bytes and its open descriptors.
func resident(pid int) (rssBytes int64, open int, err error) {
	proc := fmt.Sprintf("/proc/%d/", pid)
	b, err := os.ReadFile(proc + "status")
	if err != nil {
		return 0, 0, err
	}
	_, after, found := strings.Cut(string(b), "VmRSS:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		return 0, 0, errors.New("no VmRSS")
	}
	kB, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, 0, err
	}
	entries, err := os.ReadDir(proc + "fd")
	return kB << 10, len(entries), err
}
