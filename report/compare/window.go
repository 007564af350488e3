package compare

import (
	"fmt"
	"slices"
	"time"

	"stormtest/load/record"
)

// A Window is the part of a run in which retries are judged: 10 to 100 times base after the failure, so that it
// is not the same for another base.
type Window struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"` // no later than From where there is none
}

func windowOf(run *record.Run) Window { return Window{run.Convoy.WindowFrom, run.Convoy.WindowTo} }

// empty reports whether the run was over before.
func (w Window) empty() bool { return w.To <= w.From }

func (w Window) String() string {
	if w.empty() {
		return "nothing"
	}
	return record.Short(w.From) + " to " + record.Short(w.To)
}

// ofWindow are the figures that are taken from the window, as the verdict is.
var ofWindow = []string{"convoy_index", "retry_synchronisation_index", "window_arrivals", "window_peak_over_capacity", "dispersion"}

// WindowsMoved reports whether the two sides are judged at different times, so that the figures of the window do not say which
// of them is better. Two windows that begin alike are one: they end with the run, where it is over before.
func (p *Pair) WindowsMoved() bool {
	return !p.BaseWindow.empty() && !p.OtherWindow.empty() && p.BaseWindow.From != p.OtherWindow.From
}

// Moved reports whether a figure is of windows that moved.
func (p *Pair) Moved(metric string) bool {
	return p.WindowsMoved() && slices.Contains(ofWindow, metric)
}

// Windows says in words between which moments each side is judged; empty where they are the same.
func (p *Pair) Windows() string {
	if p.BaseWindow == p.OtherWindow || p.BaseWindow.empty() && p.OtherWindow.empty() {
		return ""
	}
	return fmt.Sprintf("judged from %s against %s", p.BaseWindow, p.OtherWindow)
}
