package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stormtest/scripts/bench/figures"
)

// A row is one tool's results over the rounds, and why some are missing.
type row[T any] struct {
	tool   tool
	values []T
	failed []error
}

// errStormtest is what a bench ends with when our own row is not complete.
var errStormtest = errors.New("stormtest has no complete row")

// interleave runs every tool once a round, so that what disturbs the machine disturbs them all. Each round
// begins with the next tool, so that none comes always after the same one.
func interleave[T any](ctx context.Context, list []tool, rounds int, one func(tool) (T, error)) ([]row[T], error) {
	rows := make([]row[T], len(list))
	for round := range rounds {
		for k := range list {
			i := (round + k) % len(list)
			t := list[i]
			rows[i].tool = t
			if slices.ContainsFunc(rows[i].failed, absent) {
				continue // it will not be there in the next round either
			}
			v, err := one(t)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err != nil {
				rows[i].failed = append(rows[i].failed, err)
				continue
			}
			rows[i].values = append(rows[i].values, v)
		}
	}
	return rows, nil
}

// absent reports whether a tool is not there at all.
func absent(err error) bool {
	return errors.Is(err, errNotInstalled)
}

// complete reports whether stormtest's row, if it was to be measured, has every round.
func complete[T any](rows []row[T]) bool {
	return !slices.ContainsFunc(rows, func(r row[T]) bool { return r.tool.peer == "" && len(r.failed) > 0 })
}

// remark says what is missing of a row.
func (r row[T]) remark() string {
	if len(r.failed) == 0 {
		return ""
	}
	if len(r.values) == 0 {
		return r.failed[0].Error()
	}
	return fmt.Sprintf("%d of %d runs: %v", len(r.failed), len(r.failed)+len(r.values), r.failed[0])
}

// releases measures the spread of simultaneous arrivals and prints a table for each size.
func (b *bench) releases(ctx context.Context, o options) error {
	list := chosen(o, func(t tool) bool { return t.release != nil })
	fmt.Fprintf(b.out, "Release: N requests at once, one for each of N connections, as the %s stamps them.\n", o.server())
	fmt.Fprintf(b.out, "Medians of %d round(s). A tool that connects as it sends has its connecting in the spread.\n\n", o.rounds)
	b.settings(list, job{clients: o.clients[0]}, func(t tool) func(job) []string { return t.release })
	ok := true
	for _, n := range o.clients {
		rows, err := interleave(ctx, list, o.rounds, func(t tool) (spread, error) {
			j := job{clients: n, url: b.url, scratch: b.scratch}
			m, err := b.run(ctx, t, j, t.release(j))
			if err != nil {
				return spread{}, err
			}
			return spreadOf(m.stamps, t.burst, n)
		})
		if err != nil {
			return err
		}
		b.releaseTable(n, rows)
		ok = ok && complete(rows)
	}
	if !ok {
		return errStormtest
	}
	return nil
}

func (b *bench) releaseTable(n int, rows []row[spread]) {
	var ours time.Duration
	var closest row[spread]
	p := func(r row[spread]) time.Duration {
		return figures.Median(each(r.values, func(s spread) time.Duration { return s.p1p99 }))
	}
	for _, r := range rows {
		switch {
		case len(r.values) == 0:
		case r.tool.peer == "":
			ours = p(r)
		case len(closest.values) == 0 || p(r) < p(closest):
			closest = r
		}
	}
	fmt.Fprintf(b.out, "\n%d arrivals\n\n", n)
	fmt.Fprintln(b.out, "| tool               |    p1-p99 |   least - most, ms | first-last | against stormtest |")
	fmt.Fprintln(b.out, "|--------------------|-----------|--------------------|------------|-------------------|")
	for _, r := range rows {
		if len(r.values) == 0 {
			fmt.Fprintf(b.out, "| %-18s | %s\n", r.tool.name, r.remark())
			continue
		}
		spreads := each(r.values, func(s spread) time.Duration { return s.p1p99 })
		against := "-"
		if ours > 0 {
			against = fmt.Sprintf("%.2f", float64(p(r))/float64(ours))
		}
		fmt.Fprintf(b.out, "| %-18s | %9s | %18s | %10s | %17s | %s\n", r.tool.name, ms(p(r)),
			fmt.Sprintf("%.1f - %.1f", millis(slices.Min(spreads)), millis(slices.Max(spreads))),
			ms(figures.Median(each(r.values, func(s spread) time.Duration { return s.firstLast }))), against, r.remark())
	}
	if ours > 0 && len(closest.values) > 0 {
		word := "tighter than every peer"
		if p(closest) <= ours {
			word = "NOT tighter than every peer"
		}
		fmt.Fprintf(b.out, "\nstormtest %s, the closest peer %s (%s): %s\n", ms(ours), ms(p(closest)), closest.tool.name, word)
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func ms(d time.Duration) string      { return fmt.Sprintf("%.1f ms", millis(d)) }

func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
