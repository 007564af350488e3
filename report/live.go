package report

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"stormtest/load/record"
)

// A Snapshot is a run under way, as far as its picture shows it.
type Snapshot struct {
	Strategy     string
	Index, Count int // of the strategies; Index is from 0
	Seed, Seeds  int // of the repeated seeds; Seed is from 0
	Elapsed      time.Duration
	// Length is how long the run lasts at most; 0 where nobody knows.
	Length            time.Duration
	Bucket            time.Duration
	CapacityPerSecond *float64 // nil where nobody knows it
	// Ticks are the buckets so far.
	Ticks      []record.Tick
	Totals     record.Totals
	Operations int64 // that are to be done
	Outages    []Window
	// Outside says that the clients are not ours: what they want done nobody knows.
	Outside bool
}

// A Window is a stretch of a run, [From, To), in which the target fails in some way.
type Window struct {
	From, To time.Duration
	Mode     string
}

// The least that Live draws in; less has no room for a picture.
const (
	LiveWidthLeast  = 50
	LiveHeightLeast = 12
)

// Live draws a run under way as at most height lines of at most the width of o: where it is, its counts, and its
// arrivals over the whole length of the run, as in the chart of the report. It reads every tick, some ns each.
func Live(s *Snapshot, o Options, height int) []string {
	var out bytes.Buffer
	p := newPage(&out, o)
	head, right := liveHead(s), liveTime(s)
	p.emit(styled(markBold, clip(p.spell(head), max(1, p.width-cells(right)-2))) + padLeft(p.spell(right), max(0, p.width-min(cells(p.spell(head)), p.width-cells(right)-2))))
	writeLiveCounts(p, s)
	rows := height - 7 // the line above, two of counts, that of the capacity, two of the axis, the legend
	if len(s.Outages) > 0 {
		rows--
	}
	liveChart(p, s, min(chartRows, rows))
	_ = p.flush() // into memory
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	return lines[:min(len(lines), height)]
}

// liveHead names the run, and says whether the target fails right now.
func liveHead(s *Snapshot) string {
	head := cmp.Or(clean(s.Strategy), "unnamed")
	if s.Outside {
		head = "serving"
	}
	if s.Count > 1 {
		head += ", " + count(int64(s.Index+1)) + " of " + count(int64(s.Count)) + " strategies"
	}
	if s.Seeds > 1 {
		head += ", seed " + count(int64(s.Seed+1)) + " of " + count(int64(s.Seeds))
	}
	for _, w := range s.Outages {
		if s.Elapsed >= w.From && s.Elapsed < w.To {
			head += ", OUTAGE " + clean(w.Mode)
			break
		}
	}
	return head
}

// liveTime is how far the run is, and what is left of it.
func liveTime(s *Snapshot) string {
	elapsed := max(0, s.Elapsed).Truncate(time.Second / 10)
	if s.Length <= 0 {
		return liveSeconds(elapsed)
	}
	return liveSeconds(elapsed) + " of " + moment(s.Length) + ", " + liveSeconds(s.Length-elapsed) + " left"
}

// liveSeconds writes a length in seconds and tenths, from two minutes on in seconds, so that it stays in its place from one picture to the next.
func liveSeconds(d time.Duration) string {
	if d >= 2*time.Minute {
		return clock(d.Truncate(time.Second))
	}
	tenths := int64(max(0, d) / (time.Second / 10))
	return count(tenths/10) + "." + string(rune('0'+tenths%10)) + string(nbsp) + "s"
}

// writeLiveCounts writes the counters in two lines, each in its place whatever it counts.
func writeLiveCounts(p *page, s *Snapshot) {
	var rejected, retries int64
	for i := range s.Ticks {
		rejected += s.Ticks[i].Rejected
		retries += s.Ticks[i].Retries
	}
	var done []string
	if !s.Outside {
		done = append(done, "done "+count(s.Totals.Succeeded), " of "+count(s.Operations))
		if s.Totals.GaveUp > 0 {
			done = append(done, ", "+count(s.Totals.GaveUp)+" gave up")
		}
	}
	now := ""
	if rate, ok := liveRate(s); ok {
		now = "now " + count(rate) + "/s"
	}
	cell := max(16, min(26, p.width/3))
	cells := func(first, second string, more ...string) {
		p.emit(joinFitting(p.width, append([]string{padRight(first, cell-1), " " + padRight(second, cell-1), " "}, more...)))
	}
	cells("arrived "+count(s.Totals.Arrivals), "retries "+count(retries), now)
	cells("served "+count(s.Totals.Served), "rejected "+count(rejected), done...)
}

// joinFitting joins the first of parts that fit: half a number is a wrong one.
func joinFitting(width int, parts []string) string {
	line := ""
	for _, part := range parts {
		if cells(line)+cells(part) > width {
			break
		}
		line += part
	}
	return line
}

// liveRate is how many arrived in a second, over the whole buckets of the last one.
func liveRate(s *Snapshot) (perSecond int64, ok bool) {
	if s.Bucket <= 0 {
		return 0, false
	}
	whole := int(s.Elapsed / s.Bucket)
	n := max(1, int(time.Second/s.Bucket))
	from := max(0, whole-n)
	if whole == from {
		return 0, false
	}
	var sum int64
	for i := from; i < min(whole, len(s.Ticks)); i++ {
		sum += s.Ticks[i].Arrivals
	}
	return int64(float64(sum) / (time.Duration(whole-from) * s.Bucket).Seconds()), true
}

// liveChart draws the arrivals, or says that there are none yet.
func liveChart(p *page, s *Snapshot, rows int) {
	c := chart{page: p, glyphs: unicodeGlyphs}
	if p.ascii {
		c.glyphs = asciiGlyphs
	}
	run := record.Run{Bucket: s.Bucket, CapacityPerSecond: s.CapacityPerSecond}
	length := liveLength(s)
	lay := func(width int) (x series, ok bool) {
		x = series{bucket: s.Bucket, capacity: bucketCapacity(&run)}
		ok = x.lay(length, width, func(yield func(column)) {
			for i := range s.Ticks {
				yield(column{arrivals: s.Ticks[i].Arrivals, first: s.Ticks[i].First, at: time.Duration(i) * s.Bucket})
			}
		})
		return x, ok
	}
	first, ok := lay(1)
	if !ok {
		p.emit("")
		p.emit(p.spell("no arrivals yet"))
		return
	}
	c.scale = newAxis(first.peak, first.capacity, max(4, rows))
	if !p.narrow() {
		c.gutter = max(gutterLeast, c.labelCells()+2)
	}
	c.series, _ = lay(max(1, min(chartColsMost, p.width-c.gutter-1)))
	c.plot()
	c.timeAxis()
	c.liveOutages(s.Outages)
	words := append([]string{padRight("", c.gutter) + count(c.peak) + " the most in " + moment(s.Bucket)}, c.barWords()...)
	if c.capacity > 0 {
		words = append(words, c.rule+" capacity "+significant(c.capacity))
	}
	for i := range words {
		if words[i] = p.spell(words[i]); i > 0 {
			words[i] = ", " + words[i]
		}
	}
	c.emit(joinFitting(c.width, words))
}

// liveLength is how much time the picture shows: the run's whole length or, where nobody knows it, a round length
// that what has passed still fits in, so that the picture seldom changes its scale.
func liveLength(s *Snapshot) time.Duration {
	if s.Length > 0 {
		return s.Length
	}
	length := 10 * time.Second // then 30 s, 1 min, and doubling
	if length < s.Elapsed {
		length = 30 * time.Second
	}
	for length < s.Elapsed && length < 1<<61 {
		length *= 2
	}
	return length
}

// liveOutages marks all outages in one line.
func (c *chart) liveOutages(list []Window) {
	if len(list) == 0 {
		return
	}
	marks := strings.Split(strings.Repeat(" ", len(c.columns)), "")
	for _, w := range list {
		first, end := c.span(w.From, w.To)
		for i := first; i < end; i++ {
			marks[i] = c.outage
		}
	}
	c.emit(padRight("outage", c.gutter) + strings.Join(marks, ""))
}
