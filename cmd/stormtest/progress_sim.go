package main

import (
	"fmt"
	"time"

	"stormtest/load"
	"stormtest/load/record"
)

// simulatedQuiet is how long virtual time runs before it says how far it is: most runs are over before.
const simulatedQuiet = 500 * time.Millisecond

// shareKnown is the share of the work from which on the time left can be told.
const shareKnown = 0.005

// drawSimulated tells how far virtual time is.
func (p *progress) drawSimulated(s load.Stage) {
	now, elapsed := s.Simulated(), time.Since(s.Start)
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K"+barSimulated(s, now, elapsed, p.columns))
		return
	}
	fmt.Fprintln(p.w, sentenceSimulated(s, now, elapsed))
}

// left is the time that is left where so much took elapsed, or false where too little is done to tell.
func left(now load.Simulated, elapsed time.Duration) (time.Duration, bool) {
	if now.Share < shareKnown {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (1 - now.Share) / now.Share), true
}

// place says which run told of itself last, and how far it is.
func place(s load.Stage, now load.Simulated) string {
	seed := ""
	if s.Seeds > 1 {
		seed = fmt.Sprintf(", seed %d of %d,", now.Seed+1, s.Seeds)
	}
	return fmt.Sprintf("%s%s at %s", now.Strategy, seed, record.Short(now.Now))
}

// barSimulated is one line of progress for a terminal, shorter than its columns.
func barSimulated(s load.Stage, now load.Simulated, elapsed time.Duration, columns int) string {
	var more []string
	if d, ok := left(now, elapsed); ok {
		more = append(more, fmt.Sprintf(" %.0f s left", d.Seconds()))
	}
	if now.Runs > 1 {
		more = append(more, fmt.Sprintf(", %d of %d runs over", now.Done, now.Runs))
	}
	if now.Strategy != "" {
		more = append(more, ", "+place(s, now))
		if now.Runs == 1 {
			more = append(more, fmt.Sprintf(", %d of %d done", now.Totals.Succeeded, s.Operations), fmt.Sprintf(", %d attempts", now.Totals.Arrivals))
		}
	}
	return barLine("virtual time", now.Share, columns, more...)
}

// sentenceSimulated is one line of progress for a log.
func sentenceSimulated(s load.Stage, now load.Simulated, elapsed time.Duration) string {
	text := fmt.Sprintf("virtual time: %.0f %% done", 100*now.Share)
	if d, ok := left(now, elapsed); ok {
		text += fmt.Sprintf(", %.0f s left", d.Seconds())
	}
	if now.Runs > 1 {
		text += fmt.Sprintf("; %d of %d runs over", now.Done, now.Runs)
	}
	if now.Strategy == "" {
		return text
	}
	text += fmt.Sprintf("; %s of at most %s", place(s, now), record.Short(s.Duration))
	if now.Runs == 1 {
		text += fmt.Sprintf(", %d of %d operations succeeded, %d attempts arrived", now.Totals.Succeeded, s.Operations, now.Totals.Arrivals)
	}
	return text
}
