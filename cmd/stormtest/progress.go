package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/report"
)

// How often progress is told: on a terminal a picture or a line that is redrawn, elsewhere a new line.
const (
	redrawEvery = 250 * time.Millisecond
	lineEvery   = 5 * time.Second
)

// The words of --progress.
const (
	progressAuto  = "auto"
	progressLive  = "live"
	progressBar   = "bar"
	progressLines = "lines"
	progressNone  = "none"
)

var progressWords = []string{progressAuto, progressLive, progressBar, progressLines, progressNone}

// A manner says how progress is to be told.
type manner struct {
	how     string // a word of --progress; empty is auto
	ascii   bool
	taken   bool // something else is written to the terminal while the run goes on
	outages []report.Window
	openEnd bool // nobody knows how long the run will last
}

// form returns the word of how progress is told on w's stderr. A picture takes a terminal with room for it, a line that is
// redrawn takes any terminal that can.
func (t manner) form(w world) string {
	columns, rows, isTerminal := terminalSize(w.err)
	switch {
	case t.how == progressNone || t.how == progressLines:
		return t.how
	case !isTerminal || t.taken || value(w.env, "TERM") == "dumb":
		return progressLines
	case t.how == progressBar || columns < report.LiveWidthLeast || rows < report.LiveHeightLeast:
		return progressBar
	}
	return progressLive
}

// A progress tells on stderr how far a run is. Its methods may be called from any goroutine.
type progress struct {
	w        io.Writer
	terminal bool // a line can be redrawn there
	quiet    bool
	columns  int
	manner   manner
	quit     chan struct{}
	wg       sync.WaitGroup

	told  record.Totals // of an outside run: where nothing comes, nothing is told
	drawn bool          // a line stands there
	live  bool          // a picture is to be shown
	view  *view         // it, once there is something to see
	env   []string

	mu      sync.Mutex
	current load.Stage
	running bool
}

// startProgress begins to tell; stop ends it.
func startProgress(w world, t manner) *progress {
	form := t.form(w)
	p := &progress{w: w.err, manner: t, quiet: form == progressNone, env: w.env, quit: make(chan struct{})}
	p.live, p.terminal = form == progressLive, form == progressLive || form == progressBar
	p.columns, _, _ = toldOn(w)
	every := lineEvery
	if p.terminal {
		every = redrawEvery
	}
	if !p.quiet {
		p.wg.Go(func() { p.tell(every) })
	}
	return p
}

// toldOn says how wide stderr is, whether it is a terminal on which a line can be redrawn, and how
// often to tell there how far a run is.
func toldOn(w world) (columns int, terminal bool, every time.Duration) {
	columns, terminal = terminalWidth(w.err)
	if columns <= 0 {
		columns = widthDefault
	}
	if terminal && value(w.env, "TERM") != "dumb" {
		return columns, true, redrawEvery
	}
	return columns, false, lineEvery
}

// probing is load.Env.Probing.
func (p *progress) probing() {
	if !p.quiet {
		fmt.Fprintln(p.w, "probing the healthy target, some 8 s (--probe off leaves it out)")
	}
}

// stage is load.Env.Progress.
func (p *progress) stage(s load.Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.running = s, true
}

func (p *progress) stop() {
	close(p.quit)
	p.wg.Wait()
}

func (p *progress) tell(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.draw()
		case <-p.quit:
			p.clear() // the report stands where progress stood
			return
		}
	}
}

// clear takes away what can be redrawn.
func (p *progress) clear() {
	if p.view != nil {
		p.view.close()
		p.view = nil
	}
	if p.terminal && p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.drawn = false
}

func (p *progress) draw() {
	p.mu.Lock()
	s, running := p.current, p.running
	p.mu.Unlock()
	if !running || s.Simulated != nil && time.Since(s.Start) < simulatedQuiet {
		return
	}
	if p.live && s.Simulated == nil {
		p.drawView(s)
		return
	}
	if p.view != nil {
		p.clear()
	}
	p.drawn = true
	if s.Simulated != nil {
		p.drawSimulated(s)
		return
	}
	elapsed := min(max(0, time.Since(s.Start)), s.Duration)
	if s.Outside && !p.terminal {
		t := s.Totals()
		if t == p.told {
			return
		}
		p.told = t
	}
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K"+bar(s, elapsed, p.columns))
		return
	}
	fmt.Fprintln(p.w, sentence(s, elapsed))
}

// sentence is one line of progress for a log.
func sentence(s load.Stage, elapsed time.Duration) string {
	if s.Outside {
		return sentenceOutside(s, elapsed)
	}
	t := s.Totals()
	seed := ""
	if s.Seeds > 1 {
		seed = fmt.Sprintf(", seed %d of %d", s.Seed+1, s.Seeds)
	}
	return fmt.Sprintf("%s (%d of %d)%s: %.0f s of at most %.0f s, %d of %d operations succeeded, %d attempts arrived",
		s.Strategy, s.Index+1, s.Count, seed, elapsed.Seconds(), s.Duration.Seconds(), t.Succeeded, s.Operations, t.Arrivals)
}

// barMost is the longest bar; beyond, it says no more.
const barMost = 30

// bar is one line of progress for a terminal, shorter than its columns.
func bar(s load.Stage, elapsed time.Duration, columns int) string {
	if s.Outside {
		line := sentenceOutside(s, elapsed)
		return line[:min(len(line), max(0, columns-1))]
	}
	t, name := s.Totals(), s.Strategy
	if s.Seeds > 1 {
		name += fmt.Sprintf(" %d/%d", s.Seed+1, s.Seeds)
	}
	return barLine(name, elapsed.Seconds()/s.Duration.Seconds(), columns,
		fmt.Sprintf(" %.0f s left", (s.Duration-elapsed).Seconds()),
		fmt.Sprintf(", %d of %d done", t.Succeeded, s.Operations),
		fmt.Sprintf(", %d attempts", t.Arrivals),
	)
}

// barLeast is the shortest bar that is worth its room.
const barLeast = 5

// barLine draws what is done of name, a share in 0..1, and behind it each of more that there is room for. The first
// of them goes before the bar.
func barLine(name string, share float64, columns int, more ...string) string {
	line := fmt.Sprintf("%s %3.0f%%", name, 100*share)
	first := 0
	if len(more) > 0 {
		first = len(more[0])
	}
	if n := min(barMost, columns-len(line)-4-first); n >= barLeast {
		full := int(share * float64(n))
		line += " [" + strings.Repeat("#", full) + strings.Repeat(".", n-full) + "]"
	}
	for _, text := range more {
		if len(line)+len(text) < columns {
			line += text
		}
	}
	return line[:min(len(line), max(0, columns-1))]
}
