package station

import "time"

// Ends returns the moment at which a job in service will be done, unless it is cancelled; false
// where it still waits, where it has left, where work is frozen for ever, and where jobs slow each other down or rejections
// cost something, so that who is still to come has a say in it.
func (s *Station) Ends(j JobID) (at time.Duration, ok bool) {
	slot := s.table.find(j)
	if slot == none || s.strain.on || s.table.jobs[slot].place < 0 {
		return 0, false
	}
	at = s.serving[s.table.jobs[slot].place].at
	return at, at < never
}
