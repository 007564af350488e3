package wake

// stackBytes is more than the deepest call of a fleet's or target's goroutine needs.
const stackBytes = 5 << 10

// GrowStack makes the calling goroutine's stack large enough for what follows, so that it
// does not grow, which copies it into fresh memory, in the middle of the first wave. A
// garbage collection takes back what a waiting goroutine does not use. n is any small number.
//
//go:noinline
func GrowStack(n int) byte {
	var room [stackBytes]byte
	for i := range room { // an array that nobody writes would be optimised away
		room[i] = byte(i + n)
	}
	return room[n%stackBytes]
}
