package target

import (
	"time"

	"stormtest/target/station"
)

// A Work is a request whose own work at the target is done, and whose answer waits for what is behind it. Its
// methods are safe for concurrent use.
type Work struct {
	t *Target

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

// Watch has cancel called when the client leaves, where the target then ends the work that was for it
// (Config.Station.CancelAbandoned), and at once where it has left already. It is called under the target's lock, and
// at most once.
func (w *Work) Watch(cancel func()) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.cancel = cancel
	if w.gone {
		cancel()
	}
}

// Answer lets the client have its answer, if it still waits. It is called at most once.
func (w *Work) Answer(status int) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if x := w.x; x != nil {
		w.x, x.work = nil, nil
		w.t.answer(x, station.Admission{Status: status})
	}
	w.cancel = nil
}

// pass hands the work for x, which may be nil, on to what is behind. The caller holds mu.
func (t *Target) pass(at time.Duration, x *exchange) {
	w := &Work{t: t, x: x}
	if x != nil {
		x.work = w
	}
	t.passed = append(t.passed, passed{at, w})
}

// abandon is told that the client of x has left while its work was behind. The caller holds mu.
func (t *Target) abandon(x *exchange) {
	w := x.work
	w.x, x.work = nil, nil
	if !t.cfg.Station.CancelAbandoned {
		return
	}
	w.gone = true
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
