package report

import "math"

// bendFrom is how many times the capacity the fullest bucket must hold before the axis bends: a
// linear axis would leave the part below the capacity under a quarter of the picture.
const bendFrom = 4

// An axis places numbers of arrivals on rows of text, counted from the bottom and without the row of
// the capacity line, which has no height. From 0 to the line it is linear. Above, it goes on with the
// same step, or, where the fullest bucket would press everything else flat, it bends: every
// perFactor rows multiply by factor, so that a storm that halves from wave to wave falls in a straight line.
type axis struct {
	line      float64 // arrivals at the capacity line; 0 is no line
	below     int     // rows from 0 to the line, or all rows
	above     int     // rows over the line
	step      float64 // arrivals a row, up to the line and, unbent, over it
	factor    float64 // 0 is unbent
	perFactor int
}

// newAxis makes an axis of at most rows rows (at least 4) on which most fits. capacity is what the
// target serves in a bucket, 0 where there is none to draw.
func newAxis(most int64, capacity float64, rows int) axis {
	top := max(float64(most), 1)
	ratio := top / capacity
	switch {
	case !(capacity > 0) || math.IsInf(ratio, 0) || ratio < 0.25:
		step := niceStep(top / float64(max(5, int(min(top, float64(rows))))))
		return axis{below: int(math.Ceil(top/step - 1e-9)), step: step}
	case ratio <= bendFrom:
		below := int(float64(rows) / max(ratio, 1))
		above := int(math.Ceil((ratio - 1) * float64(below)))
		return axis{line: capacity, below: below, above: max(0, above), step: capacity / float64(below)}
	}
	a := axis{line: capacity, factor: 2}
	room := float64(rows - max(2, rows/5))
	for factors := math.Log2(ratio); ; factors = math.Log(ratio) / math.Log(a.factor) {
		if factors <= room {
			a.perFactor = min(3, int(room/factors))
			a.above = int(math.Ceil(factors*float64(a.perFactor) - 1e-9))
			a.below = rows - a.above
			a.step = capacity / float64(a.below)
			return a
		}
		a.factor = max(10, a.factor*a.factor) // 2, 10, 100, 10,000: any ratio fits soon
	}
}

// niceStep is the least of 1, 2, 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= v*(1-1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

// rows is the height of the whole axis.
func (a axis) rows() int { return a.below + a.above }

// height is how many rows v fills.
func (a axis) height(v float64) float64 {
	if a.factor == 0 || v <= a.line {
		return v / a.step
	}
	return float64(a.below) + math.Log(v/a.line)/math.Log(a.factor)*float64(a.perFactor)
}

// label returns the number at the upper edge of row (0 is the bottom row), and whether it is one to
// write. The capacity itself is written at the line.
func (a axis) label(row int) (float64, bool) {
	edge := row + 1
	if a.factor > 0 && edge > a.below {
		n := edge - a.below
		return a.line * math.Pow(a.factor, float64(n/a.perFactor)), n%a.perFactor == 0
	}
	v := float64(edge) * a.step
	every := max(1, (a.rows()+4)/5) // about five labels
	switch {
	case edge == a.below && a.line > 0:
		return v, false
	case a.line > 0:
		return v, edge%a.below == 0 || a.below >= 6 && a.below%2 == 0 && edge%(a.below/2) == 0
	default:
		return v, v == math.Trunc(v) && (a.rows()-edge)%every == 0
	}
}
