package load

import (
	"slices"
	"sync"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/record"
)

// A Simulated is how far an invocation in virtual time is.
type Simulated struct {
	// Runs is how many there are, of all strategies and seeds; Done of them have ended.
	Runs, Done int
	// Share is an estimate of how much of the whole work is done, 0..1.
	Share float64
	// Strategy is that of the run which said last how far it is; empty where none has yet. Seed is how
	// many seeds after the plan's it has, Now its virtual time, and Totals what it has counted.
	Strategy string
	Seed     int
	Now      time.Duration
	Totals   record.Totals
}

// A meter adds up how far the runs of a simulation are. Safe for concurrent use.
type meter struct {
	mu    sync.Mutex
	now   Simulated
	under float64 // the sum of the shares of the runs under way
}

func newMeter(runs int) *meter { return &meter{now: Simulated{Runs: runs}} }

// A gauge is one run's side of a meter. Not safe for concurrent use.
type gauge struct {
	meter *meter
	trial *trial
	seed  int
	work  workload
	share float64
}

// begin returns the gauge of a run that begins, so many seeds after the first.
func (m *meter) begin(t *trial, seed int) *gauge {
	return &gauge{meter: m, trial: t, seed: seed, work: newWorkload(t)}
}

// set says that the run has come to now. Its recorder must be up to date.
func (g *gauge) set(now time.Duration) {
	totals := g.trial.recorder.Totals()
	share := g.work.share(now, totals)
	m := g.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.under += share - g.share
	g.share = share
	m.now.Strategy, m.now.Seed, m.now.Now, m.now.Totals = g.trial.variant.Name, g.seed, now, totals
}

// end says that the run is over.
func (g *gauge) end() {
	m := g.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.under -= g.share
	m.now.Done++
}

// read returns how far the runs are.
func (m *meter) read() Simulated {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now
	now.Share = min((float64(now.Done)+m.under)/float64(now.Runs), 1)
	return now
}

// A workload says how the work of a run is spread over its virtual time. A fleet that fails together
// and backs off sends most of its attempts soon: with a base of 100 ms as many in the first second as in
// the two minutes after it. So of a fleet that works off one operation each, the work up to a moment is
// taken to be the attempts that a client makes until then which is never served.
type workload struct {
	clients    float64
	operations float64 // of the whole fleet; 0 where nobody knows how many there will be
	duration   time.Duration
	// retryAt holds the mean moments of such a client's first retries; empty where the work goes by
	// virtual time and by the operations that have ended.
	retryAt []time.Duration
}

// retriesKnown bounds workload.retryAt.
const retriesKnown = 1000

func newWorkload(t *trial) workload {
	p := &t.plan
	w := workload{clients: float64(p.Clients), operations: float64(p.OperationsTotal()), duration: p.Duration}
	if p.RatePerSecond > 0 || w.operations > w.clients {
		return w
	}
	policy := t.policy()
	strategy := policy.Backoff(policy.Strategies[0])
	var at time.Duration
	for a := (backoff.Attempt{}); a.Retry < retriesKnown && at < w.duration; a.Retry++ {
		lo, hi := strategy.Range(a)
		a.Prev = lo + (hi-lo)/2
		at += a.Prev
		w.retryAt = append(w.retryAt, at)
	}
	return w
}

// share estimates how much of the work is done when the run has come to now.
func (w *workload) share(now time.Duration, t record.Totals) float64 {
	over, ended := now.Seconds()/w.duration.Seconds(), 0.0
	if w.operations > 0 {
		ended = float64(t.Succeeded+t.GaveUp) / w.operations
	}
	if len(w.retryAt) == 0 {
		return max(over, ended)
	}
	end := w.duration
	if ended > over { // as long as the target serves as it does
		end = time.Duration(now.Seconds() / ended * float64(time.Second))
	}
	first := min(float64(t.Arrivals)/w.clients, 1)
	return (first + w.attempts(now)) / (1 + w.attempts(end))
}

// attempts returns how many retries a client that is never served has made by at, with the part of the
// wait that is over.
func (w *workload) attempts(at time.Duration) float64 {
	n, _ := slices.BinarySearch(w.retryAt, at)
	from, to := time.Duration(0), w.duration
	if n > 0 {
		from = w.retryAt[n-1]
	}
	if n < len(w.retryAt) {
		to = w.retryAt[n]
	}
	if to <= from {
		return float64(n)
	}
	return float64(n) + float64(min(at, to)-from)/float64(to-from)
}
