package record

import (
	"math/bits"
	"strconv"
	"time"
)

// The bins of draws are those of two digits from 1 µs up to 10,000 s, one for what is below and one for what is beyond.
const (
	drawLeast     = time.Microsecond
	drawBeyond    = 10_000 * time.Second
	drawDecades   = 10 // from drawLeast to drawBeyond
	binsPerDecade = 90
	drawBins      = 1 + drawDecades*binsPerDecade + 1
)

// drawCounts counts draws by retry index and bin.
type drawCounts [DrawColumns][drawBins]int64

// powersOfTen are those up to drawBeyond in ns, and twoDigits what makes of a number in ns that has as many digits as
// the power its first two, rounded down: a tad above the power of ten that it stands for, which no number below
// drawBeyond is close enough to an edge to notice.
var (
	powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}
	twoDigits   = [...]float64{
		1.00000000000001e1, 1.00000000000001e0, 1.00000000000001e-1, 1.00000000000001e-2, 1.00000000000001e-3,
		1.00000000000001e-4, 1.00000000000001e-5, 1.00000000000001e-6, 1.00000000000001e-7, 1.00000000000001e-8,
		1.00000000000001e-9, 1.00000000000001e-10, 1.00000000000001e-11, 1.00000000000001e-12, 1.00000000000001e-13,
	}
)

// leastDigits is how many digits drawLeast has in ns, after its first.
const leastDigits = 3

// drawIndex returns the place of a delay's bin. 2 ns.
func drawIndex(d time.Duration) int {
	v := uint64(d)
	if v-uint64(drawLeast) >= uint64(drawBeyond-drawLeast) {
		if d < drawLeast {
			return 0
		}
		return drawBins - 1
	}
	digits := bits.Len64(v) * 1233 >> 12 // of the highest power of two in v, times log10(2)
	if v < powersOfTen[digits] {
		digits--
	}
	return (digits-leastDigits)*binsPerDecade + int(float64(v)*twoDigits[digits]) - 9
}

// drawEdge returns where the bin of an index begins.
func drawEdge(index int) int64 {
	if index == 0 {
		return 0
	}
	step := int64(drawLeast) / 10
	for index--; index >= binsPerDecade; index -= binsPerDecade {
		step *= 10
	}
	return int64(index+10) * step
}

// DrawEdges returns where the bins of Draws begin, in order: at 0, which holds all below 1 µs; at every two digits from
// there on; and at 10,000 s, which holds all from there on. The slice is the caller's.
func DrawEdges() []time.Duration {
	edges := make([]time.Duration, drawBins)
	for i := range edges {
		edges[i] = time.Duration(drawEdge(i))
	}
	return edges
}

// What a Theory leaves out: of the shortest delays, which are together theoryTail at most, which bin they are in, and all
// digits but so many. A share under theoryLeast is an error of computing.
const (
	theoryTail   = 0.01
	theoryDigits = 4
	theoryLeast  = 1e-9
)

// TheoryOf returns the Theory of delays of which below[i] is the share that is shorter than DrawEdges()[i].
func TheoryOf(below []float64, chained bool) *Theory {
	t := &Theory{From: []int64{}, Share: []float64{}, Chained: chained}
	first := 0
	for i, share := range below {
		if share > theoryTail {
			break
		}
		first = i
	}
	add := func(from int64, share float64) {
		if share >= theoryLeast {
			rounded, _ := strconv.ParseFloat(strconv.FormatFloat(share, 'g', theoryDigits, 64), 64)
			t.From, t.Share = append(t.From, from), append(t.Share, rounded)
		}
	}
	add(0, below[first])
	for i := first; i < len(below); i++ {
		next := 1.0
		if i+1 < len(below) {
			next = below[i+1]
		}
		add(drawEdge(i), next-below[i])
	}
	return t
}

// add counts one draw.
func (c *drawCounts) add(retry int, d time.Duration) {
	c[min(uint(retry), DrawColumns-1)][drawIndex(d)]++
}

// merge adds what from has counted. Either may be nil, and then both are.
func (c *drawCounts) merge(from *drawCounts) {
	if c == nil {
		return
	}
	for i := range c {
		addEach(c[i][:], from[i][:])
	}
}

// list returns the columns in which there is something.
func (c *drawCounts) list() []Draws {
	list := []Draws{}
	for retry := range c {
		d := Draws{Retry: int64(retry), Beyond: retry == DrawColumns-1, Bins: Bins{From: []int64{}, Count: []int64{}}}
		for i, n := range c[retry] {
			if n > 0 {
				d.Bins.From, d.Bins.Count = append(d.Bins.From, drawEdge(i)), append(d.Bins.Count, n)
				d.Count += n
			}
		}
		if d.Count > 0 {
			list = append(list, d)
		}
	}
	return list
}
