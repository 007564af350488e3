package station

import (
	"strconv"
	"time"
)

// A Discipline says which of the jobs that wait for a slot is next, and which of them have waited too long
// to be served at all. It acts when a slot is free for a job of the queue, and at no other moment.
//
// There is a backlog at a moment where the queue was not empty for more than the last BacklogAfter
// (100 ms) before it. Then
//
//   - AdaptiveLIFO and AdaptiveLIFOCoDel take the job that came last, and else the one that came first;
//   - CoDel and AdaptiveLIFOCoDel drop the job that they take if it has waited longer than BacklogWait
//     (5 ms), and without a backlog if it has waited longer than BacklogAfter; and take the next.
//
// The two lengths are those of Facebook's production, whatever the service. Where the source
// leaves a choice: its listing gives a request its limit when it is put into the queue, and we decide when
// it is taken out, as Facebook's own library (folly, executors/Codel) does; and the source says of the
// adaptive order no more than that it turns where a queue is forming, for which we use CoDel's test.
//
// A job below a backlog's newest waits, and keeps its place in the queue, until its turn comes or it is dropped, so
// that with LIFO a full queue turns away who comes new.
// Source: Ben Maurer, "Fail at Scale", ACM Queue 13 (8), 2015, "Controlled delay" and "Adaptive LIFO".
type Discipline uint8

// The disciplines.
const (
	// FIFO takes the job that came first.
	FIFO Discipline = iota
	// LIFO takes the job that came last.
	LIFO
	// AdaptiveLIFO takes the job that came first, and during a backlog the one that came last.
	AdaptiveLIFO
	// CoDel takes the job that came first, and drops those that have waited too long.
	CoDel
	// AdaptiveLIFOCoDel takes jobs as AdaptiveLIFO and drops as CoDel.
	AdaptiveLIFOCoDel
	disciplines
)

var disciplineNames = [...]string{"fifo", "lifo", "adaptive-lifo", "codel", "adaptive-lifo-codel"}

// String returns the discipline's name in a plan.
func (d Discipline) String() string {
	if int(d) < len(disciplineNames) {
		return disciplineNames[d]
	}
	return "discipline " + strconv.Itoa(int(d))
}

// The lengths of controlled delay.
const (
	// BacklogAfter is how long a queue must not have been empty to be a backlog; without one a job may
	// wait so long.
	BacklogAfter = 100 * time.Millisecond
	// BacklogWait is how long a job may wait during a backlog.
	BacklogWait = 5 * time.Millisecond
)

// adapts reports whether d turns the queue round during a backlog.
func (d Discipline) adapts() bool { return d == AdaptiveLIFO || d == AdaptiveLIFOCoDel }

// sheds reports whether d drops jobs that have waited too long.
func (d Discipline) sheds() bool { return d == CoDel || d == AdaptiveLIFOCoDel }

// A Drop says why a job was thrown out of the queue.
type Drop uint8

// The reasons. A job that is both is Expired.
const (
	// Kept is a job that was served.
	Kept Drop = iota
	// Expired is one whose deadline had passed when its turn came: see Config.DropExpired.
	Expired
	// Shed is one that had waited longer than the Discipline allows.
	Shed
)

var dropNames = [...]string{"kept", "expired", "shed"}

// String returns the constant's name in lower case.
func (d Drop) String() string {
	if int(d) < len(dropNames) {
		return dropNames[d]
	}
	return "drop " + strconv.Itoa(int(d))
}

// turn returns whose turn it is in a queue that is not empty.
func (s *Station) turn(backlog bool) int32 {
	if d := s.config.Discipline; d == LIFO || backlog && d.adapts() {
		return s.waiting.tail
	}
	return s.waiting.head
}

// fate says whether a job whose turn comes at the given moment is served.
func (s *Station) fate(j *job, at time.Duration, backlog bool) Drop {
	switch {
	case s.config.DropExpired && at >= j.started:
		return Expired
	case !s.config.Discipline.sheds():
		return Kept
	case at-j.arrived > BacklogAfter, backlog && at-j.arrived > BacklogWait:
		return Shed
	}
	return Kept
}

// drop ends a job that is in the queue no more unserved. Its turn came when the work clock showed begin, which is at
// the moment at.
func (s *Station) drop(slot int32, why Drop, begin work, at time.Duration) {
	s.charge(begin)
	j := &s.table.jobs[slot]
	s.done.push(Done{
		Job: s.table.id(slot), Tag: j.tag, Arrived: j.arrived, Started: at, At: at,
		Abandoned: j.abandoned, Dropped: why, RetryAfter: s.dropHint(begin, at),
	})
	s.table.vacate(slot)
}
