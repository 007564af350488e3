package budget

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A Ledger is what an account has counted:
// Taken = Returned + Spent, but for the retries that are asleep.
type Ledger struct {
	Deposits int64 // first attempts
	Taken    int64 // retries allowed
	Returned int64 // of these, cancelled in their sleep, or not let out by something else
	Spent    int64 // of these, sent
	Refused  int64 // retries not allowed

	RefusedFirst int64         // first attempts not let out
	Delayed      int64         // attempts that had to wait
	DelayTotal   time.Duration // and how long in all

	// Lowest and Highest are the extremes of the balance, in retries, where it was looked at:
	// at the start, after everything that happened, and at the end.
	Lowest, Highest int64
	// Balance is how many retries the budget would allow at the end of each interval of a
	// series, and after the last of them. nil where the account keeps none.
	Balance []int64
	// Last is the balance at the end.
	Last int64
}

// An Account is one budget. Safe for concurrent use; no method allocates. Where callers on
// several goroutines bring moments out of order, a moment before the latest counts as the
// latest.
//
// A ticket must be handed to one account only, by one goroutine at a time.
type Account struct {
	width time.Duration // of the intervals of the series; 0 is none

	gated bool // rule is a gate

	mu     sync.Mutex
	rule   rule
	now    time.Duration
	ledger Ledger
}

// init makes the account one of c, which is valid and of another kind than None, that draws
// from chance where its rule does, and keeps a series.
func (a *Account) init(c Config, chance *rand.Rand, s Series) {
	a.rule = Table[c.Kind].new(c, chance)
	_, a.gated = a.rule.(gate)
	if s.Intervals > 0 {
		a.width = s.Width
		a.ledger.Balance = make([]int64, 0, s.Intervals)
	}
	a.ledger.Lowest = a.rule.balance(0)
	a.ledger.Highest = a.ledger.Lowest
}

// Admit reports whether the attempt that is due now may leave, first or retry, and how long it has to wait first. Where
// that were most or longer, it took nothing. Where it may not leave, a first attempt alone, its operation has
// ended: nothing more is told of it.
func (a *Account) Admit(now, most time.Duration, t *Ticket) (wait time.Duration, ok bool) {
	if !a.gated {
		return 0, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	g, _ := a.rule.(gate)
	wait = g.admit(now, most, t)
	switch {
	case wait < 0:
		a.ledger.RefusedFirst++
	case wait > 0 && wait < most:
		a.ledger.Delayed++
		a.ledger.DelayTotal += wait
	}
	a.watch()
	return max(wait, 0), wait >= 0
}

// Bar tells that the attempt that was to leave now does not, for something else did not let it out. A retry gives back
// what it took. The operation goes on: it asks for a retry, or ends.
func (a *Account) Bar(now time.Duration, t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	switch t.state() {
	case idle:
		a.rule.note(now, blocked, 0, t)
	case asleep:
		a.ledger.Returned++
		a.rule.note(now, returned, 0, t)
	default:
		panic("budget: BUG: an attempt is barred that is not about to leave")
	}
	t.become(barred)
	a.watch()
}

// Leave tells that the operation's first attempt, or the retry that was allowed, leaves now.
func (a *Account) Leave(now time.Duration, t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	switch t.state() {
	case idle:
		t.become(first)
		a.ledger.Deposits++
		a.rule.note(now, opened, 0, t)
	case asleep:
		t.become(retrying)
		a.ledger.Spent++
	default:
		panic("budget: BUG: an attempt leaves before the one before it has its outcome")
	}
	a.watch()
}

// Ask reports whether the attempt that failed now, as o says, or was barred, may be followed by a retry.
// Where it may not the operation has ended. o is Failed, Throttled or TimedOut.
func (a *Account) Ask(now time.Duration, o Outcome, t *Ticket) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	if !o.Retryable() {
		panic("budget: BUG: a retry is asked for after a success or a final failure")
	}
	a.over(now, o, t)
	allowed := a.rule.take(now, o, t)
	if allowed {
		t.become(asleep)
		a.ledger.Taken++
	} else {
		a.ledger.Refused++
		a.close(now, t)
	}
	a.watch()
	return allowed
}

// End tells that the operation ended with o, the outcome of the attempt under way.
func (a *Account) End(now time.Duration, o Outcome, t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	a.over(now, o, t)
	a.close(now, t)
	a.watch()
}

// Cancel tells that the operation is broken off, whatever it is doing: a retry that has not
// left gives back what it took. It does nothing where no attempt has left.
func (a *Account) Cancel(now time.Duration, t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	switch t.state() {
	case idle:
		return
	case barred:
	case asleep:
		a.ledger.Returned++
		a.rule.note(now, returned, 0, t)
	case first, retrying:
		a.rule.note(now, dropped, 0, t)
	case waiting:
	}
	a.close(now, t)
	a.watch()
}

// over ends the attempt under way. The caller holds mu, as for all that follow.
func (a *Account) over(now time.Duration, o Outcome, t *Ticket) {
	switch t.state() {
	case first, retrying:
		a.rule.note(now, answered, o, t)
	case waiting: // it was told before
	case barred: // nobody was asked, and nobody has answered
	default:
		panic("budget: BUG: an outcome without an attempt under way")
	}
}

func (a *Account) close(now time.Duration, t *Ticket) {
	a.rule.note(now, closed, 0, t)
	*t = Ticket{}
}

// moment returns now, or the latest moment where that is later, and brings the series up to
// it.
func (a *Account) moment(now time.Duration) time.Duration {
	a.now = max(a.now, now)
	l := &a.ledger
	for len(l.Balance) < cap(l.Balance) {
		end := time.Duration(len(l.Balance)+1) * a.width
		if end > a.now {
			break
		}
		l.Balance = append(l.Balance, a.rule.balance(end-1)) // what happens at end is the next one's
	}
	return a.now
}

// watch keeps the extremes of the balance.
func (a *Account) watch() {
	balance := a.rule.balance(a.now)
	a.ledger.Lowest = min(a.ledger.Lowest, balance)
	a.ledger.Highest = max(a.ledger.Highest, balance)
}

// Ledger returns what the account has counted, its series brought up to now. The caller must
// not change it.
func (a *Account) Ledger(now time.Duration) Ledger {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moment(now)
	a.watch()
	l := a.ledger
	l.Last = a.rule.balance(a.now)
	return l
}
