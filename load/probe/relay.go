package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// A relay listens on loopback and gives each connection one of the caller's to the target: what hey sends
// in clear to 127.0.0.1 goes out over a connection that was verified. It reads the answers along, to
// count those that end too early.
//
// Only connections that were announced with admit are served, so that nobody else on this machine can
// use the caller's certificate meanwhile. Safe for concurrent use.
type relay struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	method   string
	timeout  time.Duration // of dial
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	gates  map[string]chan struct{} // by the address of hey's end; closed once it is admitted, and gone once passed or shut
	ended  bool
	counts relayCounts
}

// relayCounts is what a relay has seen since it was last asked.
type relayCounts struct {
	opened  int64 // connections to the target
	refused int64 // that could not be opened
	cut     int64 // answers that ended too early
}

// newRelay listens. It does not end with ctx, for what is in flight then may finish, and must not look
// as if the target had hung up: close must be called in any case, and ends dialling too.
func newRelay(ctx context.Context, c Config) (*relay, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("probe: relay: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &relay{
		listener: l, dial: c.Dial, method: c.Method, timeout: c.Timeout, cancel: cancel,
		conns: map[net.Conn]struct{}{}, gates: map[string]chan struct{}{},
	}
	r.wg.Go(func() { r.accept(ctx) })
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

// take returns the counts since the last call.
func (r *relay) take() relayCounts {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts
	r.counts = relayCounts{}
	return c
}

// gate is open once the connection from that address has been admitted. The caller holds mu.
func (r *relay) gate(address string) chan struct{} {
	if r.gates[address] == nil {
		r.gates[address] = make(chan struct{})
	}
	return r.gates[address]
}

// admit lets the connection from that address through, which is hey's end of it. The address may be one
// that another connection had before, whose gate nobody passed.
func (r *relay) admit(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gate := r.gate(address)
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// pass waits until the connection from that address has been admitted, at most admitMost; false where it
// is not. Its gate is gone then, for the system gives the address to others.
func (r *relay) pass(ctx context.Context, address string) bool {
	r.mu.Lock()
	gate := r.gate(address)
	r.mu.Unlock()
	limit := time.NewTimer(admitMost)
	defer limit.Stop()
	admitted := false
	select {
	case <-gate:
		admitted = true
	case <-limit.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gates[address] == gate {
		delete(r.gates, address)
	}
	return admitted
}

// hangUp closes every connection: hey never does. Those who wait for it must have ended.
func (r *relay) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.gates)
}

// close ends the relay and waits until nothing of it is left.
func (r *relay) close() {
	r.cancel()
	_ = r.listener.Close()
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.hangUp()
	r.wg.Wait()
}

// keep notes a connection to be closed at the end; false where the end has come.
func (r *relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.conns[c] = struct{}{}
	}
	return !r.ended
}

// drop closes a connection.
func (r *relay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	_ = c.Close()
}

func (r *relay) accept(ctx context.Context) {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
				return
			}
			select { // out of descriptors, most likely
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		r.wg.Go(func() { r.serve(ctx, c) })
	}
}

// admitMost bounds the wait for a connection to be admitted.
const admitMost = time.Second

// serve connects near, which is hey's, with the target.
func (r *relay) serve(ctx context.Context, near net.Conn) {
	defer r.drop(near)
	if !r.keep(near) {
		return
	}
	if !r.pass(ctx, near.RemoteAddr().String()) {
		return
	}
	dialling, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	far, err := r.dial(dialling)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if ctx.Err() == nil {
			r.counts.refused++
		}
		return
	}
	defer r.drop(far)
	if !r.keep(far) {
		return
	}
	r.mu.Lock()
	r.counts.opened++
	r.mu.Unlock()
	var up sync.WaitGroup
	up.Go(func() {
		// Plain reads and writes: a splice costs more for a request, and keeps its pipes for later.
		_, _ = io.CopyBuffer(struct{ io.Writer }{far}, struct{ io.Reader }{near}, make([]byte, 8<<10))
		_ = far.Close() // hey has gone, and reads no more
	})
	if broken := r.answer(near, far); broken {
		if tcp, ok := near.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // so that hey sees a reset too
		}
	}
	_ = near.Close()
	up.Wait()
}

// answer passes the target's answers on and counts those that end too early. broken is true where the
// target broke the connection instead of closing it.
func (r *relay) answer(near, far net.Conn) (broken bool) {
	tee := &tee{from: far, to: near}
	in := bufio.NewReaderSize(tee, 32<<10)
	request := &http.Request{Method: r.method}
	for {
		response, err := http.ReadResponse(in, request)
		if err != nil {
			break
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil {
			if !tee.ours() {
				r.mu.Lock()
				r.counts.cut++
				r.mu.Unlock()
			}
			break
		}
	}
	return tee.err != nil && !errors.Is(tee.err, io.EOF) && !tee.ours()
}

// A tee passes on what it reads.
type tee struct {
	from, to net.Conn
	err      error // the first of from
	gone     bool  // to takes no more
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if err != nil && t.err == nil {
		t.err = err
	}
	if _, werr := t.to.Write(p[:n]); werr != nil {
		t.gone = true
		return n, werr
	}
	return n, err
}

// ours is true where it was not the target that ended the connection.
func (t *tee) ours() bool {
	return t.gone || errors.Is(t.err, net.ErrClosed) || errors.Is(t.err, io.ErrClosedPipe)
}

// fold adds what the relay saw. hey was hung up on where no connection could be opened.
func (b *batch) fold(c relayCounts) {
	b.connections += c.opened
	for _, kind := range []string{errorClosed, errorReset} {
		if n := min(c.refused, b.errors[kind]); n > 0 {
			c.refused -= n
			b.errors[errorConnect] += n
			if b.errors[kind] -= n; b.errors[kind] == 0 {
				delete(b.errors, kind)
			}
		}
	}
	if c.cut > 0 {
		b.errors[errorCut] += c.cut
	}
}
