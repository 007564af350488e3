package budget

import "time"

// A hedge is a copy of an attempt, sent while that one has no answer. Each has a ticket of its own beside the
// operation's, which is told of it by these methods alone:
//
//	if a.AskHedge(now, &h) {   // may a copy leave now? It has left then
//		a.EndHedge(now, o, &h) // it has its outcome
//		a.DropHedge(now, &h)   // or nobody waits for it any more
//	}
//	a.Over(now, o, &t)         // the operation's own attempt has its outcome, and copies are under way:
//	a.Ask(now, o, &t)          // the operation goes on, or ends, by what the last of them said
//
// A copy is to an account what a retry is: it needs the same, and pays the same. One that may not leave is no
// operation that was refused.

// AskHedge reports whether a copy may leave now, and then it has left.
func (a *Account) AskHedge(now time.Duration, h *Ticket) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	if h.state() != idle {
		panic("budget: BUG: a copy asks twice")
	}
	allowed := a.rule.take(now, Failed, h)
	if allowed {
		h.become(asleep)
		allowed = a.passes(now, h)
	}
	if allowed {
		h.become(retrying)
		a.ledger.Taken++
		a.ledger.Spent++
	}
	a.watch()
	return allowed
}

// passes reports whether a gate lets a copy out now, as it would a retry. For one that had to wait its time is over, and it
// gives back what it took.
func (a *Account) passes(now time.Duration, h *Ticket) bool {
	if !a.gated {
		return true
	}
	g, _ := a.rule.(gate)
	const atOnce = 1 // a wait as long or longer takes nothing
	if g.admit(now, atOnce, h) == 0 {
		return true
	}
	a.rule.note(now, returned, 0, h)
	*h = Ticket{}
	return false
}

// EndHedge tells that a copy has its outcome.
func (a *Account) EndHedge(now time.Duration, o Outcome, h *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	a.over(now, o, h)
	*h = Ticket{}
	a.watch()
}

// DropHedge tells that nobody waits for a copy any more.
func (a *Account) DropHedge(now time.Duration, h *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	if h.state() != retrying {
		panic("budget: BUG: a copy is dropped that is not under way")
	}
	a.rule.note(now, dropped, 0, h)
	*h = Ticket{}
	a.watch()
}

// Over tells that the operation's own attempt has its outcome, while the operation waits for copies of it.
func (a *Account) Over(now time.Duration, o Outcome, t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.moment(now)
	a.over(now, o, t)
	t.become(waiting)
	a.watch()
}
