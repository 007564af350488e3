package report

import (
	"time"

	"stormtest/load/record"
)

// An htmlChart is a picture that page scripts draw with uPlot, and the words around it. Moments and lengths
// are in ns, shares in 0..1.
type htmlChart struct {
	ID      string   `json:"-"`
	Title   string   `json:"title"`
	Name    string   `json:"name,omitempty"` // for those who do not see where it stands, where Title alone is not enough
	Caption htmlText `json:"-"`              // in words what the picture shows
	// Empty says why there is no picture; then nothing else is read.
	Empty string `json:"-"`
	// Run is the run it is of; nil for one of several.
	Run *htmlRun `json:"-"`

	Link   string `json:"link,omitempty"` // charts of one link share their cursor
	Switch string `json:"switch,omitempty"`
	// Views are the pictures by the positions of the switch; "" where there is none.
	Views map[string]*htmlPicture `json:"views"`
	Order []htmlView              `json:"-"` // the legends are in this order
	Bare  bool                    `json:"-"` // its legend stands elsewhere
	Runs  []htmlRun               `json:"-"` // the runs that lines are of, for where the toolbar is out of sight

	X       htmlAxis     `json:"x"`
	Y       htmlAxis     `json:"y"`
	Height  int          `json:"height"`
	Lines   []htmlLine   `json:"lines,omitempty"`
	Windows []htmlWindow `json:"windows,omitempty"`
	Waves   [][2]int64   `json:"waves,omitempty"`
	Judged  []int64      `json:"judged,omitempty"` // from and to
	Above   htmlAbove    `json:"above"`
	Peak    *htmlPeak    `json:"peak,omitempty"`
	Buckets *htmlBuckets `json:"buckets,omitempty"`
}

// An htmlAxis says what numbers on it are and where it ends; it begins at 0, or where Log is set at 1.
type htmlAxis struct {
	// Unit is time, length, count, rate, share, index or quantile: how format.js writes its numbers.
	Unit  string  `json:"unit"`
	Label string  `json:"label"`
	Max   float64 `json:"max"`
	// Bend is where the axis may go on logarithmically, each label twice the last; 0 for nowhere.
	Bend float64 `json:"bend,omitempty"`
}

// An htmlPicture is what one view of a chart shows.
type htmlPicture struct {
	X      *htmlAxis    `json:"x,omitempty"` // in place of the chart's
	Y      *htmlAxis    `json:"y,omitempty"`
	Series []htmlSeries `json:"series"` // of stacked bars the lowest first
	Note   htmlText     `json:"-"`
	Empty  string       `json:"empty,omitempty"` // in place of the picture
}

// An htmlSeries is one line, or one part of the bars.
type htmlSeries struct {
	Name  string `json:"name"`
	Label string `json:"-"`     // in the legend, where it is longer than the name
	Role  string `json:"role"`  // its colour in plot.js; "run" is that of its run
	Style string `json:"style"` // bar, step or line
	Run   *int   `json:"run,omitempty"`
	// Width is how wide each value is along x, for bars and steps; value i is of [i*Width, (i+1)*Width) where
	// there is no X. All bars of a picture have one.
	Width float64    `json:"width,omitempty"`
	X     []float64  `json:"x,omitempty"`
	Y     []*float64 `json:"y"`
}

// An htmlLine is drawn all along the chart.
type htmlLine struct {
	Value float64 `json:"value"`
	Label string  `json:"label"`
	Role  string  `json:"role"`
}

// An htmlWindow is shaded: an outage, with its mode.
type htmlWindow struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Label string `json:"label"`
}

// htmlAbove says for what there is room above a picture, whether it has it or another of its group.
type htmlAbove struct {
	Waves   bool `json:"waves"`
	Judged  bool `json:"judged"`
	Windows bool `json:"windows"`
}

// sameRoom gives all charts of a group the room that one of them needs.
func sameRoom(charts []*htmlChart) {
	var above htmlAbove
	for _, c := range charts {
		above.Waves = above.Waves || len(c.Waves) > 0
		above.Judged = above.Judged || len(c.Judged) > 0
		above.Windows = above.Windows || len(c.Windows) > 0
	}
	for _, c := range charts {
		c.Above = above
	}
}

// An htmlPeak is the fullest bucket.
type htmlPeak struct {
	At    int64  `json:"at"`
	Value int64  `json:"value"`
	Label string `json:"label"`
}

// htmlBuckets says what the bars of arrivals are made of.
type htmlBuckets struct {
	Width    int64     `json:"width"`    // of a bucket
	Merged   int64     `json:"merged"`   // buckets in a bar
	Capacity *float64  `json:"capacity"` // of a bucket
	At       []int64   `json:"at,omitempty"`
	Total    []int64   `json:"total"`         // of the fullest bucket
	Sum      []float64 `json:"sum,omitempty"` // of all buckets in the bar
}

// outageWindows are the outages and surges of the plan as far as the run went.
func outageWindows(plan planFields, end time.Duration) []htmlWindow {
	list := windowsOf(plan.outages(), end)
	for _, s := range plan.surges() {
		if s.from < end {
			list = append(list, htmlWindow{int64(s.from), int64(min(s.to, end)), "surge: " + clip(clean(s.factor), 8)})
		}
	}
	return list
}

func windowsOf(outages []outage, end time.Duration) []htmlWindow {
	var list []htmlWindow
	for _, o := range outages {
		if o.from < end {
			list = append(list, htmlWindow{int64(o.from), int64(min(o.to, end)), "outage: " + o.mode})
		}
	}
	return list
}

// longest is the length of the longest run, which all pictures over time have.
func longest(r *record.Result) time.Duration {
	var most time.Duration
	for i := range r.Runs {
		run := &r.Runs[i]
		most = max(most, run.Duration)
		if run.Bucket > 0 && len(run.Buckets) > 0 {
			if last := run.Buckets[len(run.Buckets)-1].At; last <= 1<<62 {
				most = max(most, last+run.Bucket)
			}
		}
	}
	return most
}
