package retry

import (
	"math/bits"
	"time"

	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
)

// HedgesMost bounds the copies of one attempt.
const HedgesMost = 4

// A Hedge says when copies of an operation's first attempt are sent. The zero Hedge sends none.
type Hedge struct {
	After time.Duration // after the attempt, or copy, before it left; above 0
	Most  int           // copies beside the first attempt, 1..HedgesMost
}

func (h Hedge) valid() bool {
	return h == Hedge{} || h.After > 0 && h.After <= NoLimit && h.Most >= 1 && h.Most <= HedgesMost
}

// A Hedger is how far one operation has come with the copies of its first attempt. A State has it beside it where its
// Policy has a Hedge, and it begins with [Judge.BeginHedged].
//
// The rules, for a Hedge of D and n copies:
//
//   - Copy j is due D after attempt j-1 left, and leaves if the operation has no answer then.
//   - A failure that is worth a retry sends the next copy at once, and the one behind it is due D later. A hint that
//     is honoured delays it by so much instead.
//   - The first success is the operation's, and a failure that is not worth a retry is too. Everything else that is
//     under way is given up.
//   - When all copies have been sent, or withheld, and the last that was under way has failed, what follows is
//     [Judge.Decide]'s to say, for that failure: a retry, which has no copies, or the end. MaxRetries counts retries
//     alone, so an operation has at most 1 + n + MaxRetries attempts.
//   - A copy is withheld, and its turn is over, where the budget or the breaker does not let it out, where MaxElapsed has
//     passed and where a repeat might do the work twice. To a budget a copy is a retry.
//
// Attempt 0 is the operation's own, the first or a retry, and attempts 1..n are the copies.
// Source: gRFC A6, "Hedging Policy"; the domain reference, 3.9. Where we differ: gRPC has either copies or retries, and
// a pushback below 0, which HTTP has not, ends them.
type Hedger struct {
	due     time.Duration // of the next copy
	tickets [HedgesMost]budget.Ticket
	passes  [HedgesMost]breaker.Ticket
	live    uint8 // bit j: attempt j is under way
	turns   uint8 // copies that were sent or withheld
}

// A Turn says what follows something that happened to an operation with copies. The Decision counts where Waits is
// false: then nothing of the operation is under way any more.
type Turn struct {
	Decision
	// Waits says that the operation goes on as it is: something is under way, or a copy is to come.
	Waits bool
	// Copy is the copy that leaves now; 0 is none.
	Copy int
	// Withheld says that a copy was due and does not leave; it is 0 or, where one after the other was not let out, more.
	Withheld int
	// GivenUp has bit j set where attempt j was under way and is of no use any more.
	GivenUp uint8
}

// BeginHedged is Begin for an operation with copies.
func (j *Judge) BeginHedged(s *State, h *Hedger, now time.Duration) {
	j.CancelHedged(s, h, now)
	j.Begin(s, now)
	*h = Hedger{}
}

// LeaveHedged is Leave for attempt 0, the operation's own.
func (j *Judge) LeaveHedged(s *State, h *Hedger, now time.Duration) {
	j.Leave(s, now)
	h.live |= 1
	if s.attempt == 0 {
		h.due = now + j.policy.Hedge.After
	}
}

// CancelHedged is Cancel for an operation with copies. It returns what was under way, as Turn.GivenUp.
func (j *Judge) CancelHedged(s *State, h *Hedger, now time.Duration) (givenUp uint8) {
	givenUp = h.live
	j.dropCopies(h, now)
	h.live = 0
	j.Cancel(s, now)
	return givenUp
}

// HedgeDue returns when the operation's next copy is due; false where none is to come.
func (j *Judge) HedgeDue(s *State, h *Hedger) (at time.Duration, ok bool) {
	return h.due, j.hedges(s, h)
}

// hedges reports whether a copy is to come.
func (j *Judge) hedges(s *State, h *Hedger) bool {
	return s.stage == open && s.attempt == 0 && int(h.turns) < j.policy.Hedge.Most
}

// HedgeTurn says what follows where a copy is due now, by HedgeDue.
func (j *Judge) HedgeTurn(s *State, h *Hedger, now time.Duration) Turn {
	return j.goOn(s, h, now, s.Last())
}

// Hear says what follows the outcome o of an attempt that is under way; 0 is the operation's own. Without a Hedge in
// the policy it is Decide.
func (j *Judge) Hear(s *State, h *Hedger, now time.Duration, heard Heard) Turn {
	o := heard.Outcome
	if o.Kind == ShortCircuited { // nothing has left of which there could be copies
		return Turn{Decision: j.Decide(s, now, o)}
	}
	h.live &^= 1 << heard.Attempt
	s.kind, s.status = o.Kind, int16(o.Status)
	retryable := j.policy.RetryOn.classify(o.Kind, o.Status) == Retryable && j.policy.repeatable(o.Kind)
	if !retryable {
		return j.settle(s, h, now, heard)
	}
	floor := j.policy.floor(o)
	if h.live == 0 && floor > 0 && floor >= j.timeLeft(s, now) {
		h.turns = HedgesMost // none of them would leave in time
	}
	copies := j.hedges(s, h)
	if h.live == 0 && !copies {
		if heard.Attempt != 0 {
			j.endCopy(h, now, heard.Attempt, failure(o))
		}
		return Turn{Decision: j.Decide(s, now, o)}
	}
	if heard.Attempt == 0 {
		j.waitForCopies(s, now, o)
	} else {
		j.endCopy(h, now, heard.Attempt, failure(o))
	}
	if !copies {
		return Turn{Waits: true}
	}
	if floor > 0 {
		h.due = now + floor
		return Turn{Waits: true}
	}
	return j.goOn(s, h, now, o)
}

// Heard is the outcome of one attempt of an operation.
type Heard struct {
	Attempt int // 0 is the operation's own, j its copy j
	Outcome Outcome
}

// goOn sends the next copy that is let out. Where none is, and nothing is under way, last is what the operation has.
func (j *Judge) goOn(s *State, h *Hedger, now time.Duration, last Outcome) Turn {
	t := Turn{Waits: true}
	for j.hedges(s, h) {
		h.turns++
		h.due = now + j.policy.Hedge.After
		if j.lets(s, h, now) {
			h.live |= 1 << h.turns
			t.Copy = int(h.turns)
			return t
		}
		t.Withheld++
		if h.live != 0 {
			return t // the next one is due later
		}
	}
	if h.live == 0 {
		t.Waits, t.Decision = false, j.Decide(s, now, last)
	}
	return t
}

// lets reports whether copy number h.turns may leave now, and pays for it.
func (j *Judge) lets(s *State, h *Hedger, now time.Duration) bool {
	if j.timeLeft(s, now) == 0 || !j.policy.repeatable(Timeout) {
		return false
	}
	pass := &h.passes[h.turns-1]
	if j.breaker != nil && !j.breaker.Allow(now, pass) {
		return false
	}
	if j.account == nil || j.account.AskHedge(now, &h.tickets[h.turns-1]) {
		return true
	}
	if j.breaker != nil {
		j.breaker.Cancel(now, pass)
	}
	return false
}

// settle ends the operation with an outcome that is final, whichever attempt's it is.
func (j *Judge) settle(s *State, h *Hedger, now time.Duration, heard Heard) Turn {
	t := Turn{GivenUp: h.live}
	h.live = 0
	if heard.Attempt == 0 {
		t.Decision = j.Decide(s, now, heard.Outcome)
	} else {
		reason := NotRetryable
		switch j.policy.RetryOn.classify(heard.Outcome.Kind, heard.Outcome.Status) {
		case Success:
			reason = Succeeded
		case Retryable:
			reason = NotIdempotent
		}
		j.endCopy(h, now, heard.Attempt, s.known(reason))
		t.Decision = ended(reason)
	}
	h.live = t.GivenUp
	j.dropCopies(h, now)
	h.live = 0
	if heard.Attempt != 0 {
		j.Cancel(s, now) // of its own attempt nobody knows how it ended
	}
	return t
}

// waitForCopies tells account and breaker of the failure of the operation's own attempt.
func (j *Judge) waitForCopies(s *State, now time.Duration, o Outcome) {
	if j.breaker != nil {
		j.breaker.Report(now, true, &s.pass)
	}
	if j.account != nil {
		j.account.Over(now, failure(o), &s.ticket)
	}
}

// endCopy tells account and breaker the outcome of a copy.
func (j *Judge) endCopy(h *Hedger, now time.Duration, attempt int, o budget.Outcome) {
	if j.breaker != nil {
		j.breaker.Report(now, o.Retryable(), &h.passes[attempt-1])
	}
	if j.account != nil {
		j.account.EndHedge(now, o, &h.tickets[attempt-1])
	}
}

// dropCopies tells account and breaker of the copies that are under way that nobody waits for them.
func (j *Judge) dropCopies(h *Hedger, now time.Duration) {
	for copies := h.live >> 1; copies != 0; copies &= copies - 1 {
		i := bits.TrailingZeros8(copies)
		if j.account != nil {
			j.account.DropHedge(now, &h.tickets[i])
		}
		if j.breaker != nil {
			j.breaker.Cancel(now, &h.passes[i])
		}
	}
}
