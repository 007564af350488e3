package sim

// An origin says for which operation an attempt is: its client, below 2^24, and the last 8 bits of the operation's number. The
// target works on for clients that have gone, whose flights have long been others' by then, so that its tag of the work holds
// the origin beside the flight.
type origin uint32

const (
	turnBits = 8
	turnMask = 1<<turnBits - 1
	tagShift = 32 // of the origin in a tag
)

// originOf returns the origin of an attempt for the operation with this number, or its last 8 bits.
func originOf(client uint32, operation int64) origin {
	return origin(client<<turnBits | uint32(operation&turnMask))
}

// client is whose attempt it is.
func (o origin) client() uint32 { return uint32(o >> turnBits) }

// tag is what the target's work is known by: the flight in its lower half.
func (o origin) tag(flight uint32) uint64 { return uint64(o)<<tagShift | uint64(flight) }

// done counts work that the target has finished.
func (e *engine) done(o origin) {
	if e.effects == nil {
		return
	}
	client := o.client()
	newest := e.clients[client].operations()
	e.effects.Done(client, newest-(newest-int64(o))&turnMask) // the last operation up to now that ends in these bits
}
