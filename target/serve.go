package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"stormtest/target/station"
	"stormtest/target/wake"
	"stormtest/target/wire"
)

// An Opener opens the target's listener, each time on the same address. It is called once at
// the start and once after every outage of mode refuse, during which nothing listens.
type Opener interface {
	Open() (net.Listener, error)
}

// A Server answers plain HTTP/1.1 requests for a Target. Make it with Listen.
type Server struct {
	t      *Target
	opener Opener
	ln     net.Listener
	loop   *wire.Loop     // of connections over TCP, where the system has it; else nil
	wg     sync.WaitGroup // of connections and accept loops

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool // no connection is taken any more
}

// Listen opens the target's listener: from now on connections wait to be accepted. Serve must
// follow, which closes it.
func (t *Target) Listen(o Opener) (*Server, error) {
	s := &Server{t: t, opener: o, conns: make(map[net.Conn]struct{})}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("target: listen: %w", err)
	}
	return s, nil
}

// Serve accepts connections, answers requests once the target has started, and returns when
// ctx is cancelled: then every connection is closed and nothing of it is left running. The
// error is that of a listener.
//
// It is made for the fleet's requests: one at a time on a connection, the head in at most
// 8 KiB, a body only with Content-Length. Anything else closes the connection.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clock sync.WaitGroup
	clock.Go(func() { s.t.Run(ctx) })
	var deaf error
	if s.loop != nil {
		s.wg.Go(func() {
			if deaf = s.loop.Run(s.hear); deaf != nil {
				cancel()
			}
		})
	}
	err := s.listen(ctx)
	cancel()
	s.refuseConns()
	s.abortConns()
	if s.loop != nil {
		s.loop.Close()
	}
	s.wg.Wait()
	clock.Wait()
	return errors.Join(err, deaf)
}

// listen accepts until ctx is cancelled, apart from the outages of mode refuse.
func (s *Server) listen(ctx context.Context) error {
	defer func() { _ = s.ln.Close() }()
	failed := s.accepting()
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
		_ = s.ln.Close()
		s.abortConns()
		if stop, err := s.until(ctx, out.To, nil); stop {
			return err
		}
		if err := s.open(); err != nil {
			return fmt.Errorf("target: listen again after the outage %v: %w", out, err)
		}
		failed = s.accepting()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// accepting starts an accept loop on the listener and returns where its failure comes.
func (s *Server) accepting() <-chan error {
	failed := make(chan error, 1)
	ln := s.ln
	s.wg.Go(func() { s.accept(ln, failed) })
	return failed
}

// until waits for a moment and reports whether to stop instead.
func (s *Server) until(ctx context.Context, at time.Duration, failed <-chan error) (stop bool, err error) {
	timer := time.NewTimer(at - time.Since(s.t.t0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true, nil
	case err := <-failed:
		return true, err
	case <-timer.C:
		return false, nil
	}
}

// acceptPause is how long an accept loop waits where the process is short of descriptors,
// as it may be while a fleet that timed out together opens new connections before the old
// ones are closed here.
const acceptPause = 5 * time.Millisecond

func transient(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED},
		func(e error) bool { return errors.Is(err, e) })
}

func (s *Server) accept(ln net.Listener, failed chan<- error) {
	for {
		c, err := take(ln)
		if transient(err) {
			time.Sleep(acceptPause)
			continue
		}
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				failed <- fmt.Errorf("target: accept: %w", err)
			}
			return
		}
		if c == nil {
			continue // the loop has it
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

// take accepts a connection; nil where the loop took it in.
func take(ln net.Listener) (net.Conn, error) {
	if in, ok := ln.(*wire.Intake); ok {
		return nil, in.Take()
	}
	return ln.Accept()
}

// open opens the listener, which belongs to the loop where it can.
func (s *Server) open() error {
	ln, err := s.opener.Open()
	if err != nil {
		return err
	}
	s.ln = ln
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return nil
	}
	// Where there can be no loop, each connection has a goroutine.
	if s.loop == nil {
		if loop, err := wire.NewLoop(); err == nil {
			s.loop = loop
		}
	}
	if s.loop == nil {
		return nil
	}
	if in, err := s.loop.Intake(tcp); err == nil {
		s.ln = in
	}
	return nil
}

func (s *Server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) drop(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.Close()
}

// abortConns resets every open connection, as a process that dies does.
func (s *Server) abortConns() {
	if s.loop != nil {
		s.loop.Abort()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		abort(c)
	}
}

// refuseConns has connections that are still accepted closed at once.
func (s *Server) refuseConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
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
func (s *Server) serve(c net.Conn) {
	conn := wire.New(c)
	x := &exchange{out: conn}
	defer s.t.gone(x)
	in := input{conn: conn, buf: make([]byte, headFirstBytes)}
	in.send = func() {
		s.t.answers.send(conn, in.answer)
		in.answer = nil
	}
	wake.GrowStack(len(in.buf))
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
		adm, text := s.t.arrive(stamp, req.call, x)
		switch adm.Kind {
		case station.Rejected, station.Failed:
			in.answer = text
		case station.Reset, station.Refused:
			abort(c)
			return
		}
		if req.bodyBytes == 0 && in.start < in.end {
			return // the next request before this one's answer
		}
		if req.bodyBytes > 0 {
			if in.answer != nil {
				in.send()
			}
			if err := in.discard(req.bodyBytes); err != nil {
				return
			}
		}
	}
}

// input reads requests off a connection.
type input struct {
	conn       *wire.Conn
	buf        []byte
	start, end int    // unread bytes
	answer     []byte // to be sent before more can come; nil: none
	send       func() // sends answer
}

// next returns the next request's head and when its last bytes were read.
func (in *input) next() (req request, stamp time.Time, err error) {
	stamp = time.Now()
	for {
		if i := bytes.Index(in.buf[in.start:in.end], headEnd); i >= 0 {
			req, err = parseHead(in.buf[in.start : in.start+i+2])
			in.start += i + len(headEnd)
			return req, stamp, err
		}
		if err := in.fill(); err != nil {
			return req, stamp, err
		}
		stamp = time.Now()
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
	var n int
	var err error
	if in.answer != nil {
		n, err = in.conn.ReceiveAfter(in.send, in.buf[in.end:])
	} else {
		n, err = in.conn.Receive(in.buf[in.end:])
	}
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
