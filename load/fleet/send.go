package fleet

import (
	"context"
	"runtime"
	"sync"

	"stormtest/target/wake"
)

// openingID marks the event that starts operations of an open loop.
const openingID = -1

// sendersMax bounds the goroutines that send one wave.
const sendersMax = 4

// dispatch sends what is due until ctx is cancelled; wg waits for it. In a wave helpers send
// too, for a send takes some 7 µs of the kernel, and one goroutine alone needs 15 ms for
// 2,000 requests that are due together (scripts/bench/README.md).
func (f *Fleet) dispatch(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() { f.queue.Run(ctx, f.fire) })
	for range min(runtime.GOMAXPROCS(0), sendersMax) - 1 {
		wg.Go(func() { f.queue.Help(ctx, f.fire) })
	}
}

// fire sends what is due. The goroutines of dispatch call it, in a wave several at a time.
func (f *Fleet) fire(due []*wake.Event) {
	for _, e := range due {
		if e.ID == openingID {
			f.startOperations()
			continue
		}
		switch {
		case f.service != nil:
			f.service.call(e.ID).fire()
		case f.calls != nil:
			f.calls[e.ID].fire()
		default:
			f.clients[e.ID].fire()
		}
	}
}
