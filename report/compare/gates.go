package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"stormtest/load/record"
	"stormtest/report/check"
)

// Strategies returns the names by which a gate can mean a pair: those of the others' strategies, each once.
func (c *Comparison) Strategies() []string {
	var names []string
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			if name := c.Others[i].Pairs[k].OtherStrategy; !c.Others[i].Pairs[k].Inner && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Evaluate holds every gate against every pair it speaks of and returns one row for each, gates in the order given. No
// gate stops the others. A row's Value is the difference: of a relative gate the share of the base, else in the metric's
// unit.
//
// A difference without a value is never OK, and neither is one of means where a smaller share of the other's seeds
// has the figure: the mean is then of those alone that came so far. With @beyond-noise that has to be beyond noise, too.
// Row names begin with the result where there are several, and with the strategy where there are several and the gate
// names none.
func Evaluate(gates []check.Difference, c *Comparison) []record.Gate {
	rows := []record.Gate{}
	for _, d := range gates {
		before := len(rows)
		for i := range c.Others {
			o := &c.Others[i]
			for k := range o.Pairs {
				p := &o.Pairs[k]
				if p.Inner || d.Strategy != "" && d.Strategy != p.OtherStrategy {
					continue
				}
				row := evaluate(d, p)
				if o.outer() > 1 && d.Strategy == "" {
					row.Gate = p.OtherStrategy + ": " + row.Gate
				}
				if (len(c.Others) > 1 || c.Inside != "") && (o.Name != p.OtherStrategy || d.Strategy == "") {
					row.Gate = o.Name + ": " + row.Gate
				}
				rows = append(rows, row)
			}
		}
		if len(rows) == before {
			rows = append(rows, record.Gate{Gate: d.Text, Reason: "no data: strategy " + d.Strategy + " is not compared"})
		}
	}
	return rows
}

// outer is how many pairs are of whole runs.
func (o *Other) outer() int {
	n := 0
	for i := range o.Pairs {
		if !o.Pairs[i].Inner {
			n++
		}
	}
	return n
}

// evaluate holds one gate against one pair.
func evaluate(d check.Difference, p *Pair) record.Gate {
	row := record.Gate{Gate: d.Text}
	m, _ := check.Lookup(d.Metric)
	f := p.Figure(d.Metric)
	if f == nil { // a counter that neither side has: 0 on both
		f = &Figure{Metric: m.Name, Unit: m.Unit, Base: valueOf(m, p.Base), Other: valueOf(m, p.Other)}
		f.subtract()
	}
	if f.Base.Value == nil || f.Other.Value == nil {
		row.Reason = "no data" + p.missing(m, f)
		return row
	}
	base, other := *f.Base.Value, *f.Other.Value
	is := fmt.Sprintf("%s is %s against %s", d.Metric, check.FormatValue(rounded(m, other, base), m), check.FormatValue(rounded(m, base, other), m))
	v, known := d.Value(base, other)
	switch {
	case !known:
		row.Reason = "no data: " + is + ", and of 0 there is no share: bound it without percent"
		return row
	case f.Lacking() && (!d.Beyond || f.CountP == nil || f.CountBeyond()):
		row.Reason = fmt.Sprintf("no data: %s, and the mean is of %d of %d seeds, against %d of %d", is, f.Other.Count, f.Other.Seeds, f.Base.Count, f.Base.Seeds)
		return row
	}
	held := d.Holds(v, base, other)
	noise := d.Beyond && (f.Finding == Within || f.Finding == Inside)
	row.OK = held || noise
	row.Reason = is + ", " + d.FormatBound(d.Legible(v, base, other))
	if !held {
		row.Reason += fmt.Sprintf(", want %s %s", d.Op, d.FormatBound(d.Bound))
	}
	if words := p.Noise(f); f.Finding != Equal {
		row.Reason += "; " + words
	}
	if p.Moved(d.Metric) {
		row.Reason += "; " + p.Windows()
	}
	if d.Relative {
		v /= 100
	}
	row.Value = &v
	return row
}

// missing says which side has no value, and why.
func (p *Pair) missing(m check.Metric, f *Figure) string {
	switch {
	case f.Base.Value == nil && f.Other.Value == nil:
		return " on either side: " + lacks(m, p.Base)
	case f.Base.Value == nil:
		return " of the base: " + lacks(m, p.Base)
	}
	return " of the new, and there is of the base: " + lacks(m, p.Other)
}

// lacks says why a run, or every seed of it, has no value.
func lacks(m check.Metric, run *record.Run) string {
	if repeats(run) != nil {
		return m.WhySeed()
	}
	return m.Why(run)
}

// Figure returns the figure of a metric; nil where there is none.
func (p *Pair) Figure(metric string) *Figure {
	for i := range p.Figures {
		if p.Figures[i].Metric == metric {
			return &p.Figures[i]
		}
	}
	return nil
}

// figureDigits are more than a mean of seeds is worth.
const figureDigits = 6

// rounded leaves six digits, and as many more as it takes to see that v is not the other side's figure. Whole numbers
// but lengths of time stay as they are.
func rounded(m check.Metric, v, other float64) float64 {
	least := figureDigits
	if m.Unit != check.Duration {
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return v
		}
		least = max(least, wholeDigits(v))
	}
	for digits := least; digits < 16; digits++ {
		r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
		if err == nil && (r != other || v == other) {
			return r
		}
	}
	return v
}

// wholeDigits is how many digits stand before the point.
func wholeDigits(v float64) int {
	return len(strconv.FormatFloat(math.Trunc(math.Abs(v)), 'f', -1, 64))
}

// Noise says in words what is known of a figure's difference.
func (p *Pair) Noise(f *Figure) string {
	switch f.Finding {
	case Equal:
		return "no difference"
	case Beyond:
		return "beyond noise (" + ChanceText(f.P) + ", " + seedsText(f) + ")"
	case Within:
		return "within noise (" + ChanceText(f.P) + ", " + seedsText(f) + ")"
	case Outside:
		return fmt.Sprintf("outside the range of %d seeds", max(f.Base.Seeds, f.Other.Seeds))
	case Inside:
		return fmt.Sprintf("in the range of %d seeds", max(f.Base.Seeds, f.Other.Seeds))
	case Certain:
		return "certain: there is no chance in it"
	case NoValue:
		return "no value"
	}
	return "cannot know whether it is noise: " + p.Grounds.Why()
}

// Why says why nothing is known of noise, and what would help.
func (g Grounds) Why() string {
	switch g {
	case FewSeeds:
		return "too few seeds, run both with --repeat 10"
	case OldSeeds:
		return "a file is from before the values of each seed were kept, run it again"
	}
	return "run both with --repeat"
}

// ChanceText writes p of a Figure. One below a thousandth is no more than that.
func ChanceText(p *float64) string {
	switch {
	case p == nil:
		return "p unknown"
	case *p < 0.001:
		return "p<0.001"
	case *p > 0.99:
		return "p=1"
	}
	return "p=" + strconv.FormatFloat(*p, 'g', 2, 64)
}

// seedsText says of how many seeds both sides are.
func seedsText(f *Figure) string {
	if f.Base.Seeds == f.Other.Seeds {
		return fmt.Sprintf("%d seeds each", f.Base.Seeds)
	}
	return fmt.Sprintf("%d and %d seeds", f.Base.Seeds, f.Other.Seeds)
}
