package fleet

import (
	"slices"
	"sync"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/wake"
)

// A call is what does one operation after another whose attempts go over the lanes of a pool, several at a time where the
// policy has copies of them. It starts no goroutine: what is due comes from the dispatcher, and what has ended from the
// lanes.
type call struct {
	f    *Fleet
	pool *pool
	id   int
	ev   wake.Event // of the attempt, or of the copy, that is due next
	// over is asked what follows the operation that has ended, and returns what the lane that is free, if there is one, is to
	// do at once. The caller holds mu. What over leaves in told is done when that is given up.
	over   func(k *call, end ended) *try
	answer func(succeeded bool) // who waits for a service's call

	mu        sync.Mutex
	judge     retry.Judge
	policy    retry.State
	hedger    retry.Hedger
	operation int64 // of the client, from 0; of a service, all its calls counted
	begun     bool  // an operation is under way
	idle      bool  // it waits for one of an open loop
	gated     bool  // attempts ask before they leave
	armed     bool  // its own attempt is to leave, at due
	admitted  bool  // and has asked
	hinted    bool  // due is a server's floor
	copies    int   // of the operation that were sent
	best      int   // number of the attempt that succeeded
	started   time.Duration
	due       time.Duration
	under     []*try // the attempts under way
	told      func() // what is to be done without mu; nil: nothing
	hedging   record.Hedging
}

// An ended says when an operation ended and how, and which lane is free then; nil is none.
type ended struct {
	at        time.Duration
	succeeded bool
	free      *client
}

// bind gives the call the budget and the breaker of a client.
func (k *call) bind(client int) {
	k.judge.Under(k.f.cfg.Budget.Account(client))
	k.judge.Behind(k.f.cfg.Breakers.Breaker(client))
	k.gated = k.f.cfg.Breakers != nil || k.f.cfg.Budget.Gates()
}

// unlock gives up mu, and does what waited for that.
func (k *call) unlock() {
	told := k.told
	k.told = nil
	k.mu.Unlock()
	if told != nil {
		told()
	}
}

// number is that of the operation's last attempt, or of its own one that is to leave, copies counted.
func (k *call) number() int { return k.policy.Attempt() + k.copies }

// begin starts an operation whose first attempt is due then, and that has so much time from then on, whatever its policy
// allows; retry.NoLimit is no limit. The caller holds mu, as for all that follow but those that take it.
func (k *call) begin(due, left time.Duration) {
	k.begun, k.hinted, k.started, k.copies = true, false, due, 0
	k.judge.BeginHedged(&k.policy, &k.hedger, due)
	if left < retry.NoLimit {
		k.judge.BeginWithin(&k.policy, due, left)
	}
	k.f.cfg.Recorder.OperationStarted(uint32(k.id))
}

// arm prepares the attempt that leaves at due. Where that is now, and a lane is free to make it, it is returned for
// that lane; else it finds one itself.
func (k *call) arm(due time.Duration, free *client) *try {
	k.due, k.armed, k.admitted = due, true, false
	if now := k.f.now(); due <= now && !k.f.stopped.Load() {
		return k.depart(now, free)
	}
	k.f.queue.Schedule(&k.ev, due)
	return nil
}

// fire is called by a goroutine of dispatch when something may be due. It takes mu.
func (k *call) fire() {
	k.mu.Lock()
	defer k.unlock()
	now := k.f.now()
	switch {
	case k.f.stopped.Load() || !k.begun:
	case k.armed:
		if k.due <= now {
			k.depart(now, nil)
		}
	default:
		if due, ok := k.judge.HedgeDue(&k.policy, &k.hedger); ok && due <= now {
			k.turn(k.judge.HedgeTurn(&k.policy, &k.hedger, now), moment{at: now, due: due}, nil)
		}
	}
}

// A moment is when something happened, and when what follows at once was due.
type moment struct {
	at, due time.Duration
	later   bool // a retry does not leave from here, for what happened may happen again, and again
}

// depart lets the operation's own attempt leave, which is due, if it may.
func (k *call) depart(now time.Duration, free *client) *try {
	if k.gated && !k.admitted {
		k.admitted = true
		switch adm := k.judge.Admit(&k.policy, now); {
		case adm.Refused:
			return k.turnAway(now, free)
		case adm.Wait > 0:
			k.due = now + adm.Wait
			k.f.queue.Schedule(&k.ev, k.due)
			return nil
		}
	}
	k.armed = false
	k.judge.LeaveHedged(&k.policy, &k.hedger, now)
	k.watch()
	return k.send(0, k.due, free)
}

// turnAway does what follows where the operation's own attempt may not leave.
func (k *call) turnAway(now time.Duration, free *client) *try {
	k.armed = false
	k.f.cfg.Recorder.ShortCircuited(uint32(k.id))
	t := &try{operation: k.operation, number: k.number()}
	row := retry.Row{Due: k.due, Sent: -1, Arrived: -1, End: now, Outcome: retry.Outcome{Kind: retry.ShortCircuited}}
	return k.hear(t, row, free)
}

// wait is arm for an attempt that leaves with the dispatcher, also where it is due now.
func (k *call) wait(due time.Duration, hinted bool) {
	k.due, k.hinted, k.armed, k.admitted = due, hinted, true, false
	k.f.queue.Schedule(&k.ev, due)
}

// watch waits for the moment at which the next copy is due, where there is one to come.
func (k *call) watch() {
	if due, ok := k.judge.HedgeDue(&k.policy, &k.hedger); ok {
		k.f.queue.Schedule(&k.ev, due)
	}
}

// send lets an attempt leave: 0 is the operation's own, j its copy j.
func (k *call) send(place int, due time.Duration, free *client) *try {
	t := &try{
		call: k, lane: free, operation: k.operation, number: k.number(), place: place, hinted: k.hinted && place == 0,
		due: due, ends: due + k.judge.AttemptTimeout(&k.policy, due),
	}
	k.under = append(k.under, t)
	if free != nil {
		return t
	}
	for c := k.pool.take(); c != nil; c = k.pool.take() {
		if t.lane = c; c.take(t) {
			return nil
		}
	}
	if !k.pool.grow(t) {
		k.strand(t)
	}
	return nil
}

// strand ends an attempt for which there is no lane: this machine allows no more of them, or the run is over.
func (k *call) strand(t *try) {
	at := k.f.now()
	books := ledger{cfg: &k.f.cfg, id: k.id}
	if k.f.stopped.Load() {
		books.miss(t)
		k.f.inFlight.Add(1)
		k.forget(t)
		return
	}
	books.due, books.hinted, books.hedge, books.sentAt = t.due, t.hinted, t.place > 0, at
	books.recordLost(lostNoDescriptor)
	k.f.exhausted.Add(1)
	o := retry.Outcome{Kind: retry.NoDescriptor}
	books.settle(t.number, o, at)
	k.conclude(t, retry.Row{Due: t.due, Sent: at, Arrived: -1, End: at, Outcome: o}, nil)
}

// ended takes in the outcome of an attempt, and returns the one that its lane is to make at once, if there is one. It
// takes mu.
func (k *call) ended(t *try, row retry.Row) *try {
	k.mu.Lock()
	defer k.unlock()
	return k.conclude(t, row, t.lane)
}

// interrupted says that the run ended before an attempt. It takes mu.
func (k *call) interrupted(t *try) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(t)
}

// conclude does what follows the outcome of an attempt.
func (k *call) conclude(t *try, row retry.Row, free *client) *try {
	if !k.forget(t) { // its operation went on without it
		k.trace(t, row)
		return nil
	}
	return k.hear(t, row, free)
}

// hear asks the policy what follows the outcome of an attempt, and does that.
func (k *call) hear(t *try, row retry.Row, free *client) *try {
	rec, id, at := k.f.cfg.Recorder, uint32(k.id), row.End
	retries := k.policy.Attempt()
	turn := k.judge.Hear(&k.policy, &k.hedger, at, retry.Heard{Attempt: t.place, Outcome: row.Outcome})
	if hint := row.Outcome.Hint; hint.Seen {
		rec.Hint(id, record.Hint{Valid: hint.Valid, Obeyed: turn.Hinted})
	}
	switch {
	case turn.Waits:
	case turn.Retry:
		rec.Delay(id, record.Delay{Retry: retries, Planned: turn.Delay, Draw: turn.Draw})
	case turn.Reason == retry.Succeeded:
		k.best = t.number
		if t.place > 0 {
			k.hedging.Won++
		}
	}
	row.Decision = turn.Decision
	k.trace(t, row)
	m := moment{at: at, due: at, later: row.Outcome.Kind == retry.ShortCircuited}
	return k.turn(turn, m, free)
}

func (k *call) trace(t *try, row retry.Row) {
	if k.f.cfg.Trace != nil {
		row.Client, row.Operation, row.Attempt = k.id, t.operation, t.number
		k.f.cfg.Trace(row)
	}
}

// turn does what the policy said.
func (k *call) turn(t retry.Turn, m moment, free *client) *try {
	k.hedging.Withheld += int64(t.Withheld)
	k.giveUp(t.GivenUp)
	switch {
	case t.Copy != 0:
		k.hedging.Sent++
		k.copies++
		k.watch()
		return k.send(t.Copy, m.due, free)
	case t.Waits:
		k.watch()
	case t.Retry && free != nil && !m.later:
		k.hinted = t.Hinted
		return k.arm(m.at+t.Delay, free)
	case t.Retry:
		k.wait(m.at+t.Delay, t.Hinted)
	default:
		return k.end(t.Decision, m.at, free)
	}
	return nil
}

// end ends the operation as was decided.
func (k *call) end(d retry.Decision, at time.Duration, free *client) *try {
	succeeded, last := d.Reason == retry.Succeeded, k.policy.Attempt() // whose draw is not one of the copies'
	if succeeded {
		last = k.best
	}
	k.f.cfg.Recorder.OperationEnded(uint32(k.id), record.Operation{
		At: at, Elapsed: max(at-k.started, 0), Attempts: last + 1,
		Succeeded: succeeded, Reason: int(d.Reason), Drawn: d.Reason.Drew(), Draw: d.Draw,
	})
	k.begun = false
	k.operation++
	return k.over(k, ended{at, succeeded, free})
}

// giveUp ends attempts that another one's answer has made needless, as Turn.GivenUp has them.
func (k *call) giveUp(places uint8) {
	for i := len(k.under) - 1; i >= 0; i-- {
		if t := k.under[i]; places>>t.place&1 == 1 {
			k.hedging.Cancelled++
			t.lane.forsake(t)
			k.forget(t)
		}
	}
}

// breakOff ends the operation because nobody waits for it any more.
func (k *call) breakOff(now time.Duration) {
	k.f.cfg.Recorder.OperationEnded(uint32(k.id), record.Operation{
		At: now, Elapsed: max(now-k.started, 0), Attempts: k.number() + 1, Reason: int(retry.CallerGone),
	})
	k.abandon(now)
}

// abandon leaves the operation as it is.
func (k *call) abandon(now time.Duration) {
	for _, t := range k.under {
		t.lane.forsake(t)
	}
	k.under = k.under[:0]
	k.judge.CancelHedged(&k.policy, &k.hedger, now)
	k.begun, k.armed = false, false
	k.operation++
}

// forget takes an attempt off those under way; false where it is none of them.
func (k *call) forget(t *try) bool {
	n := len(k.under)
	k.under = slices.DeleteFunc(k.under, func(u *try) bool { return u == t })
	return len(k.under) < n
}
