package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"stormtest/load/validate"
)

// A count tells on stderr how much of the work is done. Its methods may be called
// from any goroutine.
type count struct {
	w        io.Writer
	terminal bool
	columns  int
	begun    time.Time
	quit     chan struct{}
	wg       sync.WaitGroup

	mu   sync.Mutex
	last validate.Progress
}

// startCount begins to tell; stop ends it. quiet tells nothing.
func startCount(w world, quiet bool, begun time.Time) *count {
	c := &count{w: w.err, begun: begun, quit: make(chan struct{})}
	var every time.Duration
	c.columns, c.terminal, every = toldOn(w)
	if !quiet {
		c.wg.Go(func() { c.tell(every) })
	}
	return c
}

// set is validate.Config.Progress.
func (c *count) set(p validate.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = p
}

func (c *count) stop() {
	close(c.quit)
	c.wg.Wait()
}

func (c *count) tell(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.mu.Lock()
			p := c.last
			c.mu.Unlock()
			if elapsed := time.Since(c.begun); c.terminal {
				fmt.Fprint(c.w, "\r\x1b[K"+countLine(p, elapsed, c.columns))
			} else {
				fmt.Fprintln(c.w, countSentence(p, elapsed))
			}
		case <-c.quit:
			if c.terminal {
				fmt.Fprint(c.w, "\r\x1b[K") // the report stands where the bar stood
			}
			return
		}
	}
}

// countLine is one line of progress for a terminal, shorter than its columns.
func countLine(p validate.Progress, elapsed time.Duration, columns int) string {
	share := min(1, p.DoneShare)
	var more []string
	if share >= shareKnown {
		more = append(more, fmt.Sprintf(" about %.0f s left", elapsed.Seconds()*(1/share-1)))
	}
	return barLine("validate", share, columns, more...)
}

// countSentence is one line of progress for a log.
func countSentence(p validate.Progress, elapsed time.Duration) string {
	share := min(1, p.DoneShare)
	text := fmt.Sprintf("validate: %.0f %% done", 100*share)
	if share >= shareKnown {
		text += fmt.Sprintf(", about %.0f s left", elapsed.Seconds()*(1/share-1))
	}
	return text
}
