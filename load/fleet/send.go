package fleet

import (
	"context"
	"sync"

	"stormtest/target/wake"
)

// openingID marks the event that starts operations of an open loop.
const openingID = -1

// Bounds of sharing a wave out over writers.
const (
	waveMin    = 64 // fewer sends are not worth a second goroutine
	writersMax = 4
)

// fire sends what is due. It runs on the dispatcher.
func (f *Fleet) fire(due []*wake.Event) {
	if len(due) >= waveMin && f.writers.helpers > 0 {
		f.writers.share(f, due)
		return
	}
	f.send(due)
}

func (f *Fleet) send(due []*wake.Event) {
	for _, e := range due {
		if e.ID == openingID {
			f.startOperations()
			continue
		}
		f.clients[e.ID].fire()
	}
}

// writers share a wave out: a write to a loopback socket takes some 7 µs of the kernel, so
// one writer alone would send 2,000 requests in 14 ms. Two sent them in 8.5 ms
// (scripts/bench/README.md).
type writers struct {
	helpers int
	work    chan []*wake.Event
	f       *Fleet
	busy    sync.WaitGroup
}

// start makes n writers of which the dispatcher itself is one.
func (w *writers) start(ctx context.Context, wg *sync.WaitGroup, n int) {
	w.helpers = n - 1
	w.work = make(chan []*wake.Event, n)
	for range w.helpers {
		wg.Go(func() {
			for {
				select {
				case part := <-w.work:
					w.f.send(part)
					w.busy.Done()
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// share sends due in equal parts and returns when all are sent.
func (w *writers) share(f *Fleet, due []*wake.Event) {
	w.f = f
	parts := w.helpers + 1
	size := (len(due) + parts - 1) / parts
	for len(due) > size {
		w.busy.Add(1)
		w.work <- due[:size]
		due = due[size:]
	}
	f.send(due)
	w.busy.Wait()
}
