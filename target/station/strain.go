package station

import (
	"math"
	"math/bits"
)

// A strain is the clock of the work where that depends on the state of the station: on how many jobs are in service,
// and on how many answers were no service. It shows what a job in service has got so far, as the script's clock
// does for a station without strain, and runs at that clock's speed at most.
//
// Between two changes it is a straight line in the script's readings, so that a change needs no look at the jobs: their
// ends stay what they are on this clock, and only the moment of the first of them moves. A change rounds by 2^-64
// ns, as every job does.
type strain struct {
	on       bool
	counts   [2]uint64 // contention and coherency, in steps of 1/billion
	workers  int
	shedCost work // of an answer that is no service, in work of one slot

	from     work   // a reading of the script's clock, before which this clock stands still
	shown    work   // what it shows there
	slowdown uint64 // how many times slower it runs from there on, in steps of 1/billion

	busy int  // jobs in service
	debt work // what idle slots still have to pay
	last work // the script's reading at the last change, up to which they have paid
}

func newStrain(c *Config, demand work) strain {
	s := strain{counts: c.strainSteps(), workers: c.Workers, slowdown: billion}
	s.shedCost = demand.scale(uint64(math.Round(c.ShedCost*billion)), billion)
	s.on = s.counts != [2]uint64{} || s.shedCost != work{}
	return s
}

// strainSteps returns contention and coherency in steps of 1e-9.
func (c *Config) strainSteps() [2]uint64 {
	return [2]uint64{uint64(math.Round(c.Contention * billion)), uint64(math.Round(c.Coherency * billion))}
}

// slowdownOf returns how many times slower n jobs in service make each other, in steps of 1/billion; ok is false
// where that is more than slowdownMax.
func slowdownOf(counts [2]uint64, n int) (steps uint64, ok bool) {
	if n <= 1 {
		return billion, true
	}
	others := uint64(n - 1)
	high, alone := bits.Mul64(counts[0], others)
	over, pairs := bits.Mul64(counts[1], others*uint64(n))
	if high|over != 0 || alone > slowdownMax || pairs > slowdownMax {
		return slowdownMax, false
	}
	steps = billion + alone + pairs
	return steps, steps <= slowdownMax
}

// slowdownMax bounds a slowdown, a billion times, in steps of 1/billion.
const slowdownMax = billion * billion

// at returns what the clock shows when the script's shows w.
func (c *strain) at(w work) work { return c.shown.add(w.sub(c.from).scale(billion, c.slowdown)) }

// reading returns what the script's clock shows when this one shows v, if nothing changes before. What ends at the very
// moment of the last change, give or take grain, does so before any standstill that begins then.
func (c *strain) reading(v work) work {
	rest := v.sub(c.shown)
	if rest.ns == 0 && rest.frac <= grain {
		return c.last
	}
	return c.from.add(rest.scale(c.slowdown, billion))
}

// turn takes note that busy jobs are in service from the script's reading w on.
func (c *strain) turn(w work, busy int) {
	c.shown = c.at(w)
	if w.less(c.last) { // by less than grain
		w = c.last
	}
	if w.less(c.from) { // all slots stand still to pay, and from now on perhaps some do not
		c.debt = c.debt.add(c.from.sub(w).times(uint64(c.workers)))
	}
	c.from = w
	if idle := c.workers - c.busy; idle > 0 {
		c.debt = c.debt.sub(w.sub(c.last).times(uint64(idle)))
	}
	c.last = w
	if c.busy = busy; busy == c.workers {
		c.from = c.from.add(c.debt.scale(1, uint64(c.workers)))
		c.debt = work{}
	}
	c.slowdown, _ = slowdownOf(c.counts, busy)
}

// charge books an answer that was no service at the script's reading w.
func (c *strain) charge(w work) {
	c.turn(w, c.busy)
	c.debt = c.debt.add(c.shedCost)
	c.turn(w, c.busy)
}

// retime tells the jobs in service that the clock of their work has changed its course.
func (s *Station) retime() {
	if len(s.serving) == 0 {
		return
	}
	first := &s.serving[0]
	first.at = s.script.momentOf(s.strain.reading(first.finish))
	s.quiet = min(s.quiet, first.at)
}

// charge books an answer that was no service when the script's clock shows w.
func (s *Station) charge(w work) {
	if s.strain.shedCost != (work{}) {
		s.strain.charge(w)
		s.retime()
	}
}
