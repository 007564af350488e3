package check

import (
	"fmt"
	"math"
	"strconv"

	"stormtest/load/record"
)

// tally is what the seeds of a run come to, for one gate.
type tally struct {
	seeds  int
	held   int
	worst  int // the first of the seeds that are furthest from holding
	absent int // seeds without a value
	lost   int // the first of these
	sum    float64
}

// overSeeds holds the gate against every seed of a run. All that were asked for are taken to have run.
func (g Gate) overSeeds(m Metric, run *record.Run) record.Gate {
	values := run.Repeats.Values(m)
	if values == nil {
		return record.Gate{Reason: "no data: the result does not hold this figure of every seed, as one of an older version; @first is judged"}
	}
	t := g.count(m, values)
	row := record.Gate{Value: values[t.worst]}
	switch g.Over.Kind {
	case OverMean:
		row.Value = nil
		if t.absent == 0 {
			mean := t.sum / float64(t.seeds)
			row.Value, row.OK = &mean, g.Op.Holds(mean, g.Value)
		}
		if math.IsInf(t.sum, 0) { // of a file that no run wrote
			row.Value, row.OK = nil, false
		}
		row.Reason = g.meanReason(m, run, t, row)
	case OverShare:
		part := float64(t.held) / float64(t.seeds)
		row.Value, row.OK = &part, g.Over.enough(t.held, t.seeds)
		row.Reason = g.shareReason(m, run, t, values[t.worst])
	default:
		row.OK = t.held == t.seeds
		row.Reason = g.worstReason(m, run, t, row)
	}
	return row
}

// count goes through the values of the seeds.
func (g Gate) count(m Metric, values []*float64) tally {
	t := tally{seeds: len(values)}
	furthest := math.Inf(-1)
	for i, v := range values {
		if v == nil {
			if t.absent++; t.absent == 1 {
				t.lost, t.worst, furthest = i, i, math.Inf(1)
			}
			continue
		}
		t.sum += *v
		if g.Op.Holds(*v, g.Value) {
			t.held++
		}
		if d := g.distance(m, *v); d > furthest {
			t.worst, furthest = i, d
		}
	}
	return t
}

// distance grows with how bad a value is for the gate. It is finite.
func (g Gate) distance(m Metric, v float64) float64 {
	switch {
	case m.Unit == Word && !g.Op.Holds(v, g.Value):
		return float64(len(m.Words)) - v
	case m.Unit == Word || g.Op == ">" || g.Op == ">=":
		return -v
	case g.Op == "==":
		return math.Abs(v - g.Value)
	case g.Op == "!=":
		return -math.Abs(v - g.Value)
	}
	return v
}

func (g Gate) worstReason(m Metric, run *record.Run, t tally, row record.Gate) string {
	if t.seeds == 1 {
		return g.seedReason(m, run, 0, row.Value)
	}
	if row.OK {
		return fmt.Sprintf("%s is at worst %s in %d seeds (seed %d)", g.Metric, g.shown(m, *row.Value), t.seeds, seedAt(run, t.worst))
	}
	return fmt.Sprintf("%s; %s fail", g.seedReason(m, run, t.worst, row.Value), of(t.seeds-t.held, t.seeds))
}

func (g Gate) shareReason(m Metric, run *record.Run, t tally, worst *float64) string {
	if t.seeds == 1 {
		return g.seedReason(m, run, 0, worst)
	}
	share := 100 * float64(t.held) / float64(t.seeds)
	reason := fmt.Sprintf("%s hold, %s %%", of(t.held, t.seeds), formatNumber(legible(share, g.Over.percent())))
	if !g.Over.enough(t.held, t.seeds) {
		reason += fmt.Sprintf(", want %s %%; the worst is %s", formatNumber(g.Over.percent()), g.seedReason(m, run, t.worst, worst))
	}
	return reason
}

func (g Gate) meanReason(m Metric, run *record.Run, t tally, row record.Gate) string {
	if row.Value == nil {
		reason := g.seedReason(m, run, t.lost, nil)
		if t.seeds > 1 {
			reason = fmt.Sprintf("no mean, because %s have no value; %s", of(t.absent, t.seeds), reason)
		}
		return reason
	}
	reason := fmt.Sprintf("%s is %s on average of %s%s", g.Metric, g.shown(m, *row.Value), plural(t.seeds), g.wanted(m, row.OK))
	if !row.OK && t.seeds > 1 {
		reason += fmt.Sprintf("; the worst is seed %d", seedAt(run, t.worst))
	}
	return reason
}

// seedReason says of one seed what it came to, and what is wanted where that does not hold.
func (g Gate) seedReason(m Metric, run *record.Run, i int, v *float64) string {
	text := fmt.Sprintf("seed %d: ", seedAt(run, i))
	switch {
	case v == nil && i == 0:
		return text + "no data: " + m.Why(run)
	case v == nil:
		return text + "no data: " + m.WhySeed()
	}
	return text + g.Metric + " is " + g.shown(m, *v) + g.wanted(m, g.Op.Holds(*v, g.Value))
}

// seedAt is the i-th seed.
func seedAt(run *record.Run, i int) uint64 {
	if each := run.Repeats.Each; i < len(each) {
		return each[i]
	}
	return run.Repeats.Seeds[0] + uint64(i) // the largest is followed by 0
}

// of writes 3 of 50 seeds.
func of(part, all int) string { return strconv.Itoa(part) + " of " + plural(all) }

func plural(seeds int) string {
	if seeds == 1 {
		return "1 seed"
	}
	return strconv.Itoa(seeds) + " seeds"
}

// roundTo rounds to so many significant digits.
func roundTo(v float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}
