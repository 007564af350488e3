package fleet

import (
	"context"
	"sync"
)

// A barrier holds the clients until all of them are there.
type barrier struct {
	missing sync.WaitGroup
	opened  chan struct{}

	mu    sync.Mutex
	fault error // of the first client that could not come
}

func (b *barrier) init(clients int) {
	b.missing.Add(clients)
	b.opened = make(chan struct{})
}

// arrive reports that a client is there, or why it cannot go on, and holds it until open.
// It returns false where the run ended first.
func (b *barrier) arrive(ctx context.Context, err error) bool {
	if err != nil {
		b.mu.Lock()
		if b.fault == nil {
			b.fault = err
		}
		b.mu.Unlock()
	}
	b.missing.Done()
	select {
	case <-b.opened:
		return true
	case <-ctx.Done():
		return false
	}
}

// wait returns when all clients are there; the error is that of one which could not come, or
// of ctx.
func (b *barrier) wait(ctx context.Context) error {
	b.missing.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault != nil {
		return b.fault
	}
	return ctx.Err()
}

func (b *barrier) open() { close(b.opened) }
