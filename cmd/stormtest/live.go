package main

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
)

const (
	// viewStill is how long after t0 nothing is drawn: the moment at which all clients send is the generator's alone.
	viewStill = 150 * time.Millisecond
	// viewFrames is how often in a second the terminal is written to at most.
	viewFrames = 8
	// viewAgain is for how long a bucket is asked for again: what happens to its arrivals comes later than they.
	viewAgain     = 5 * time.Second
	viewAgainMost = 500 // buckets
	// viewMany is the number of buckets from which on a picture, which reads them all, is drawn but once in viewSlow.
	viewMany = 20_000
	viewSlow = 2 * time.Second
)

// drawView shows a run as a picture.
func (p *progress) drawView(s load.Stage) {
	elapsed := time.Since(s.Start)
	if elapsed < viewStill {
		return
	}
	if p.view == nil {
		f, ok := p.w.(*os.File)
		if !ok {
			return
		}
		p.view = newView(f, p.env, p.manner)
	}
	p.view.draw(s, min(elapsed, s.Duration))
}

// windows are the outages of a plan for the picture.
func windows(p plan.Plan) []report.Window {
	var list []report.Window
	for _, o := range p.Outages {
		list = append(list, report.Window{From: o.From, To: o.To, Mode: o.Mode.String()})
	}
	return list
}

// A view is a picture under the last line of a terminal, which is redrawn in its place and is gone at the end.
//
// It takes nothing from the terminal: no input, no mode, no second screen, so that Ctrl-C is a signal as ever and a
// program that dies leaves nothing to put right. The cursor rests on an empty line below. Not safe for concurrent use.
type view struct {
	manner  manner
	options report.Options
	program *tea.Program
	over    chan struct{}
	size    atomic.Uint64 // columns<<32 | rows

	start time.Time // t0 of the run that ticks are of
	ticks []record.Tick
	drawn time.Time
}

func newView(f *os.File, env []string, t manner) *view {
	v := &view{manner: t, over: make(chan struct{})}
	v.options = report.Options{
		ASCII: t.ascii || !unicodeLocale(env), Color: value(env, "NO_COLOR") == "",
	}
	columns, rows, _ := terminalSize(f)
	v.resized(columns, rows)
	v.program = tea.NewProgram(picture{resized: v.resized}, tea.WithInput(nil), tea.WithOutput(atColumn0{f}), tea.WithoutSignalHandler(),
		tea.WithoutCatchPanics(), tea.WithFPS(viewFrames), tea.WithEnvironment(env))
	go func() {
		defer close(v.over)
		_, _ = v.program.Run() // a terminal that is gone shows nothing, and the run goes on
	}()
	return v
}

func (v *view) resized(columns, rows int) {
	v.size.Store(uint64(uint32(max(0, columns)))<<32 | uint64(uint32(max(0, rows))))
}

// draw shows the run as it is.
func (v *view) draw(s load.Stage, elapsed time.Duration) {
	if len(v.ticks) > viewMany && s.Start.Equal(v.start) && time.Since(v.drawn) < viewSlow {
		return
	}
	v.drawn = time.Now()
	size := v.size.Load()
	columns, rows := int(size>>32), int(uint32(size))
	if columns < report.LiveWidthLeast || rows < report.LiveHeightLeast { // it was larger
		v.program.Send(picture{lines: []string{bar(s, elapsed, columns)}})
		return
	}
	v.fetch(s)
	snapshot := report.Snapshot{
		Strategy: s.Strategy, Index: s.Index, Count: s.Count, Seed: s.Seed, Seeds: s.Seeds, Elapsed: elapsed, Length: s.Duration,
		Bucket: s.Bucket, CapacityPerSecond: s.CapacityPerSecond, Ticks: v.ticks, Totals: s.Totals(), Operations: s.Operations,
		Outages: v.manner.outages, Outside: s.Outside,
	}
	if v.manner.openEnd {
		snapshot.Length = 0
	}
	v.options.Width = columns - 1 // a line that fills its row makes some terminals begin another
	v.program.Send(picture{lines: report.Live(&snapshot, v.options, rows-1)})
}

// fetch brings the ticks up to date; the last seconds are asked for again.
func (v *view) fetch(s load.Stage) {
	if !s.Start.Equal(v.start) {
		v.start, v.ticks = s.Start, v.ticks[:0]
	}
	from := max(0, len(v.ticks)-min(viewAgainMost, int(viewAgain/max(1, s.Bucket))+1))
	v.ticks = append(v.ticks[:from], s.Arrivals(from)...)
}

// close takes the picture away.
func (v *view) close() {
	v.program.Send(picture{over: true})
	<-v.over
}

// atColumn0 writes to a terminal from the left edge on. There the picture's cursor rests, but not where somebody has
// typed, which the terminal shows.
type atColumn0 struct{ *os.File }

var _ io.Writer = atColumn0{}

func (w atColumn0) Write(b []byte) (int, error) {
	n, err := w.File.Write(append([]byte{'\r'}, b...))
	return max(0, n-1), err
}

// A picture is tea's model, and the message of the next one.
type picture struct {
	lines   []string
	over    bool
	resized func(columns, rows int)
}

// Init is tea.Model.
func (m picture) Init() tea.Cmd { return nil }

// Update is tea.Model.
func (m picture) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case picture:
		m.lines, m.over = message.lines, message.over
		if m.over {
			return m, tea.Quit
		}
	case tea.WindowSizeMsg:
		m.resized(message.Width, message.Height)
	}
	return m, nil
}

// View is tea.Model.
func (m picture) View() tea.View {
	var v tea.View
	v.DisableBracketedPasteMode = true
	if m.over || m.lines == nil {
		return v
	}
	v.Content = strings.Join(m.lines, "\n") + "\n"
	v.Cursor = tea.NewCursor(0, len(m.lines))
	return v
}
