package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"stormtest/target/station"
)

// An Opener opens the target's listener, each time on the same address. It is called once at
// the start and once after every outage of mode refuse, during which nothing listens.
type Opener interface {
	Open() (net.Listener, error)
}

// Serve answers plain HTTP/1.1 requests until ctx is cancelled, then closes every
// connection and returns nil once nothing of it is left running. Connections are accepted
// before Start; requests are answered after it.
//
// It is made for the fleet's requests: one at a time on a connection, the head in at most
// 8 KiB, a body only with Content-Length. Anything else closes the connection.
func (t *Target) Serve(ctx context.Context, o Opener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{t: t, conns: make(map[net.Conn]struct{})}
	ln, err := o.Open()
	if err != nil {
		return fmt.Errorf("target: listen: %w", err)
	}
	var clock sync.WaitGroup
	clock.Go(func() { t.Run(ctx) })
	err = s.listen(ctx, o, ln)
	cancel()
	s.abortAll()
	s.wg.Wait()
	clock.Wait()
	return err
}

// server is one Serve call.
type server struct {
	t  *Target
	wg sync.WaitGroup // of connections and accept loops

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool // no connection is taken any more
}

// listen accepts until ctx is cancelled, apart from the outages of mode refuse.
func (s *server) listen(ctx context.Context, o Opener, ln net.Listener) error {
	failed := make(chan error, 1)
	s.wg.Go(func() { s.accept(ln, failed) })
	defer func() { _ = ln.Close() }()
	select {
	case <-s.t.started:
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
	for _, out := range s.t.cfg.Station.Outages {
		if out.Mode != station.ModeRefuse {
			continue
		}
		if stop, err := s.until(ctx, out.From, failed); stop {
			return err
		}
		_ = ln.Close()
		s.abortConns()
		if stop, err := s.until(ctx, out.To, nil); stop {
			return err
		}
		var err error
		if ln, err = o.Open(); err != nil {
			return fmt.Errorf("target: listen again after the outage %v: %w", out, err)
		}
		fresh := make(chan error, 1)
		failed = fresh
		s.wg.Go(func() { s.accept(ln, fresh) })
	}
	stop, err := s.until(ctx, -1, failed)
	_ = stop
	return err
}

// until waits for a moment (negative: for ever) and reports whether to stop instead.
func (s *server) until(ctx context.Context, at time.Duration, failed <-chan error) (stop bool, err error) {
	var reached <-chan time.Time
	if at >= 0 {
		timer := time.NewTimer(at - time.Since(s.t.t0))
		defer timer.Stop()
		reached = timer.C
	}
	select {
	case <-ctx.Done():
		return true, nil
	case err := <-failed:
		return true, err
	case <-reached:
		return false, nil
	}
}

func (s *server) accept(ln net.Listener, failed chan<- error) {
	for {
		c, err := ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				failed <- fmt.Errorf("target: accept: %w", err)
			}
			return
		}
		if !s.add(c) {
			abort(c)
			continue
		}
		s.wg.Go(func() {
			defer s.drop(c)
			s.serve(c)
		})
	}
}

func (s *server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *server) drop(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.Close()
}

// abortConns resets every open connection, as a process that dies does.
func (s *server) abortConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		abort(c)
	}
}

func (s *server) abortAll() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.abortConns()
}

// abort closes c with a reset instead of an orderly end, where the transport can.
func abort(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

// Bounds of a request. The first buffer holds what the fleet sends.
const (
	headFirstBytes = 512
	headMaxBytes   = 8 << 10
	bodyMaxBytes   = 1 << 30
)

// serve answers the requests of one connection, one at a time.
func (s *server) serve(c net.Conn) {
	x := &exchange{conn: c}
	defer s.t.gone(x)
	in := input{conn: c, buf: make([]byte, headFirstBytes)}
	for {
		req, stamp, err := in.next()
		if err != nil {
			return
		}
		s.t.mu.Lock()
		pipelined := x.pending
		s.t.mu.Unlock()
		if pipelined {
			return
		}
		adm, text := s.t.arrive(stamp, req.client, req.attempt, x)
		switch adm.Kind {
		case station.Rejected, station.Failed:
			s.t.answers.send(c, text)
		case station.Reset, station.Refused:
			abort(c)
			return
		}
		if err := in.discard(req.bodyBytes); err != nil {
			return
		}
		if req.last && adm.Kind != station.Accepted && adm.Kind != station.Hung {
			return
		}
	}
}

// input reads requests off a connection.
type input struct {
	conn       net.Conn
	buf        []byte
	start, end int // unread bytes
}

// next returns the next request's head and when its first bytes came.
func (in *input) next() (req request, stamp time.Time, err error) {
	if in.start < in.end {
		stamp = time.Now()
	}
	for {
		if i := bytes.Index(in.buf[in.start:in.end], headEnd); i >= 0 {
			req, err = parseHead(in.buf[in.start : in.start+i+2])
			in.start += i + len(headEnd)
			return req, stamp, err
		}
		if err := in.fill(); err != nil {
			return req, stamp, err
		}
		if stamp.IsZero() {
			stamp = time.Now()
		}
	}
}

// fill reads more behind what is there.
func (in *input) fill() error {
	if in.start > 0 {
		copy(in.buf, in.buf[in.start:in.end])
		in.start, in.end = 0, in.end-in.start
	}
	if in.end == len(in.buf) {
		if len(in.buf) >= headMaxBytes {
			return errHead
		}
		in.buf = append(in.buf, make([]byte, len(in.buf))...)
	}
	n, err := in.conn.Read(in.buf[in.end:])
	in.end += n
	if n > 0 {
		return nil
	}
	return err
}

// discard reads over a request's body.
func (in *input) discard(bodyBytes int64) error {
	for bodyBytes > 0 {
		if in.start == in.end {
			in.start, in.end = 0, 0
			if err := in.fill(); err != nil {
				return err
			}
		}
		n := min(bodyBytes, int64(in.end-in.start))
		in.start += int(n)
		bodyBytes -= n
	}
	return nil
}
