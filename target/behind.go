package target

import (
	"net/http"
	"time"

	"stormtest/target/station"
)

// A Work is a request whose own work at the target is done, and whose answer waits for what is behind it. Its
// methods are safe for concurrent use.
type Work struct {
	t             *Target
	origin        origin
	arrived, ends time.Duration

	// Guarded by the target's lock.
	x      *exchange // who waits for the answer; nil: nobody
	gone   bool      // who waited has left, where that ends the work
	cancel func()    // of Watch
}

// passed is work of which Config.Behind is to be told.
type passed struct {
	at   time.Duration
	work *Work
}

// Deadline is when the client gives the request up by what it said itself; false where it said nothing. A client that
// has gone has not taken that back.
func (w *Work) Deadline() (at time.Duration, ok bool) { return w.ends, w.ends < noTimeout }

// Watch has cancel called when the client leaves, where the target then ends the work that was for it
// (Config.Station.CancelAbandoned), and at once where it has left already. It is called under the target's lock, and
// at most once.
func (w *Work) Watch(cancel func()) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if w.cancel = cancel; w.gone {
		cancel()
	}
}

// Answer lets the client have its answer, if it still waits. It is called once, unless what Watch was given is called
// before.
func (w *Work) Answer(status int) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	t, x := w.t, w.x
	if w.gone {
		return // in this very moment
	}
	t.works--
	switch {
	case status == http.StatusOK && t.cfg.OnServed != nil:
		t.cfg.OnServed(w.origin.served(t.alarms.Now(), x == nil))
	case status != http.StatusOK && t.cfg.OnFailed != nil:
		t.cfg.OnFailed(w.arrived)
	}
	if x != nil {
		w.x, x.work = nil, nil
		t.answer(x, station.Admission{Status: status})
	}
	w.cancel = nil
}

// Busy reports whether there is work at the target, or behind it.
func (t *Target) Busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.st.Next()
	return ok || t.works > 0
}

// pass hands work that is done on to what is behind. The caller holds mu.
func (t *Target) pass(d *station.Done) {
	x := t.waiting[d.Tag]
	w := &Work{t: t, x: x, origin: t.origins[d.Tag], arrived: d.Arrived, ends: t.ends[d.Tag]}
	if x != nil {
		x.work = w
	}
	t.works++
	t.passed = append(t.passed, passed{d.At, w})
}

// note keeps when the client of a job gives it up. The caller holds mu.
func (t *Target) note(tag uint64, ends time.Duration) {
	if t.cfg.Behind == nil {
		return
	}
	if grow := int(tag) + 1 - len(t.ends); grow > 0 {
		t.ends = append(t.ends, make([]time.Duration, grow)...)
	}
	t.ends[tag] = ends
}

// abandon is told that the client of x has left while its work was behind. The caller holds mu.
func (t *Target) abandon(x *exchange) {
	w := x.work
	w.x, x.work = nil, nil
	if !t.cfg.Station.CancelAbandoned {
		return
	}
	w.gone = true
	t.works--
	if w.cancel != nil {
		w.cancel()
	}
}

// unlock gives up the target's lock and hands on what was done meanwhile.
func (t *Target) unlock() {
	list := t.passed
	t.passed = nil
	t.mu.Unlock()
	for _, p := range list {
		t.cfg.Behind(p.at, p.work)
	}
}
