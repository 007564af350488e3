package main

import (
	"context"
	"fmt"
	"time"

	"stormtest/scripts/bench/figures"
)

// Of a closed loop the first second and what comes after the last whole one are left out.
const (
	settled  = time.Second
	trailing = time.Second
)

// rates measures closed loops and prints a table for each number of connections.
func (b *bench) rates(ctx context.Context, o options) error {
	list := chosen(o, func(t tool) bool { return t.rate != nil })
	fmt.Fprintf(b.out, "Rate: closed loops of %v against the %s; arrivals a second as it stamps them, the first and\n", o.length, o.server())
	fmt.Fprintf(b.out, "last second left out; CPU is user and system time of the client's process over all that arrived.\n")
	fmt.Fprintf(b.out, "Medians of %d round(s).\n\n", o.rounds)
	b.settings(list, job{clients: o.clients[0], duration: o.length}, func(t tool) func(job) []string { return t.rate })
	ok := true
	for _, n := range o.clients {
		rows, err := interleave(ctx, list, o.rounds, func(t tool) (rate, error) {
			j := job{clients: n, duration: o.length, url: b.url, scratch: b.scratch}
			m, err := b.run(ctx, t, j, t.rate(j))
			if err != nil {
				return rate{}, err
			}
			return rateOf(m, settled, o.length-settled-trailing)
		})
		if err != nil {
			return err
		}
		b.rateTable(n, rows)
		ok = ok && complete(rows)
	}
	if !ok {
		return errStormtest
	}
	return nil
}

func perSecond(r row[rate]) float64 {
	return figures.Median(each(r.values, func(r rate) float64 { return r.perSecond }))
}

func (b *bench) rateTable(n int, rows []row[rate]) {
	fmt.Fprintf(b.out, "\n%d connections\n\n", n)
	fmt.Fprintln(b.out, "| tool               | attempts/s | client CPU | stormtest/it |")
	fmt.Fprintln(b.out, "|--------------------|------------|------------|--------------|")
	var ours float64
	for _, r := range rows {
		if r.tool.peer == "" && len(r.values) > 0 {
			ours = perSecond(r)
		}
	}
	fastest := map[string]row[rate]{} // by tool, and "go" for the fastest of these
	for _, r := range rows {
		if len(r.values) == 0 {
			fmt.Fprintf(b.out, "| %-18s | %s\n", r.tool.name, r.remark())
			continue
		}
		against := "-"
		if ours > 0 && r.tool.peer != "" {
			against = fmt.Sprintf("%.2f", ours/perSecond(r))
		}
		cpu := figures.Median(each(r.values, func(r rate) time.Duration { return r.cpu }))
		fmt.Fprintf(b.out, "| %-18s | %10.0f | %7.1f µs | %12s | %s\n", r.tool.name, perSecond(r),
			float64(cpu)/float64(time.Microsecond), against, r.remark())
		fastest[r.tool.name] = r
		if best, found := fastest["go"]; r.tool.peer == "go" && (!found || perSecond(r) > perSecond(best)) {
			fastest["go"] = r
		}
	}
	if ours == 0 {
		return
	}
	fmt.Fprintln(b.out)
	for _, against := range []string{"hey", "go", "wrk"} {
		if r, found := fastest[against]; found {
			name := r.tool.name
			if against == "go" {
				name = "the fastest in Go (" + name + ")"
			}
			fmt.Fprintf(b.out, "stormtest/%s: %.2f\n", name, ours/perSecond(r))
		}
	}
}
