package wake

// stackBytes makes a stack of 4 kB, which holds every call of a fleet's goroutine. With 8 kB the
// waves were no tighter, and a waiting client cost half as much again (scripts/bench/README.md).
const stackBytes = 2 << 10

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
