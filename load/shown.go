package load

import (
	"sync/atomic"

	"stormtest/load/record"
)

// A shown is what those who look at a run under way are given of it. Safe for concurrent use.
type shown struct {
	run atomic.Pointer[record.Run] // what came out; nil so far
}

// end says what came out.
func (s *shown) end(run *record.Run) {
	own := *run
	s.run.Store(&own)
}

// interim returns a function for Stage.Interim from one that looks.
func (s *shown) interim(look func() record.Run) func() record.Run {
	return func() record.Run {
		if run := s.run.Load(); run != nil {
			return *run
		}
		return look()
	}
}
