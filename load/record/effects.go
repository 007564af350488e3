package record

// effectsRemembered is how many operations of a client an EffectTally remembers: that many ago, and still being worked on, is
// an operation of which the client has long forgotten.
const effectsRemembered = 32

// An EffectTally counts how often the work of an operation was done. It is told of every piece of work that a target
// finished, in the order of their ends, and remembers of each client which of its last operations that were worked on
// were done once and which more often: 12 bytes a client, whatever the number of operations.
//
// Work for an operation 32 or more before the client's newest is counted as Forgotten and nowhere else, as nobody knows
// whether it was done before. Not safe for concurrent use.
type EffectTally struct {
	// Forgotten is how many pieces of work were for operations that are not remembered.
	Forgotten int64

	clients []effectWindow
	sums    Effects
	of      []uint8   // of a mixed fleet: each client's part
	parts   []Effects // of these
}

// An effectWindow holds the last operations of one client: bit i stands for newest-i.
type effectWindow struct{ newest, done, again uint32 }

// NewEffectTally returns one for so many clients.
func NewEffectTally(clients int) *EffectTally {
	return &EffectTally{clients: make([]effectWindow, clients)}
}

// Done counts a piece of work that was finished for an operation of a client, both counted from 0. A client that there is
// not is passed over.
func (t *EffectTally) Done(client uint32, operation int64) {
	if int64(client) >= int64(len(t.clients)) || operation < 0 {
		return
	}
	w, number := &t.clients[client], uint32(operation)
	switch {
	case w.done == 0:
		w.newest = number
	case number > w.newest:
		w.done, w.again = w.done<<(number-w.newest), w.again<<(number-w.newest) // 0 from 32 on
		w.newest = number
	case w.newest-number >= effectsRemembered:
		t.Forgotten++
		return
	}
	bit := uint32(1) << (w.newest - number)
	done, again := w.done&bit != 0, w.again&bit != 0
	w.done |= bit
	if done {
		w.again |= bit
	}
	t.sums.add(done, again)
	if t.of != nil {
		t.parts[t.of[client]].add(done, again)
	}
}

// add counts a piece of work for an operation that was done before, or even again.
func (e *Effects) add(done, again bool) {
	switch {
	case !done:
		e.Done++
	case !again:
		e.Duplicated++
		e.Extra++
	default:
		e.Extra++
	}
}

// Split has the effects of so many parts of the fleet counted beside those of the whole: of gives every client its part.
func (t *EffectTally) Split(of []uint8, parts int) { t.of, t.parts = of, make([]Effects, parts) }

// Part returns what was counted so far of a part.
func (t *EffectTally) Part(i int) Effects { return t.parts[i] }

// Sums returns what was counted so far.
func (t *EffectTally) Sums() Effects { return t.sums }
