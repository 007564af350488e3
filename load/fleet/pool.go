package fleet

import (
	"slices"
	"sync"
)

// A pool is the lanes over which the attempts of a caller go, or of the many callers of a service. A lane is opened when
// an attempt finds none that is idle.
type pool struct {
	// open makes one more lane, of which it is told how many there are, and has it begin with t.
	open func(before int, t *try) *client
	most int // lanes

	mu     sync.Mutex
	lanes  []*client
	idle   []*client // last in, first out: a connection that was of use lately is the most likely to be there still
	closed bool
}

// add takes in a lane that is idle; false where no attempt will come any more.
func (p *pool) add(c *client) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, c)
	return true
}

// take returns a lane that was idle; nil where there is none.
func (p *pool) take() *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c
}

// grow opens one more lane for an attempt; false where there may be no more.
func (p *pool) grow(t *try) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.lanes) == p.most {
		return false
	}
	p.lanes = append(p.lanes, p.open(len(p.lanes), t))
	return true
}

// close lets every lane end: those that are idle at once, the others when their attempts have ended.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.dismiss()
	}
}

// stop ends every wait of the lanes, because the run ends.
func (p *pool) stop() {
	p.close()
	p.mu.Lock()
	lanes := slices.Clone(p.lanes) // there will be no more
	p.mu.Unlock()
	for _, c := range lanes {
		c.interrupt()
	}
}
