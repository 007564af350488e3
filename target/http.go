package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/target/station"
)

// An HTTPServer answers any client of HTTP/1.0 and 1.1 for a Target, over net/http: slower than a
// Server, and for all that it does not take. Its connections are reset when the target refuses.
// Make it with ListenHTTP. Safe for concurrent use.
type HTTPServer struct {
	t      *Target
	opener Opener
	ln     net.Listener
	server http.Server

	handling sync.WaitGroup // requests
	open     sync.WaitGroup // connections

	mu     sync.Mutex
	conns  map[net.Conn]*ending
	opened int64
}

// An ending says of a connection that the target has reset it. It is in the context of each of the
// connection's requests, which else would look as if their client had left.
type ending struct{ reset atomic.Bool }

// endingKey is where it is in the context.
type endingKey struct{}

// resetByTarget reports whether the target has reset the connection of a request.
func resetByTarget(ctx context.Context) bool {
	e, ok := ctx.Value(endingKey{}).(*ending)
	return ok && e.reset.Load()
}

// ListenHTTP opens the target's listener for clients that are not ours. Serve must follow, which
// closes it. Requests go to h, which hands them to the target's ServeHTTP; nil is the target.
func (t *Target) ListenHTTP(o Opener, h http.Handler) (*HTTPServer, error) {
	ln, err := o.Open()
	if err != nil {
		return nil, fmt.Errorf("target: listen: %w", err)
	}
	if h == nil {
		h = t
	}
	s := &HTTPServer{t: t, opener: o, ln: ln, conns: make(map[net.Conn]*ending)}
	s.server = http.Server{
		ConnState: s.track,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, endingKey{}, s.take(c))
		},
		ErrorLog: log.New(io.Discard, "", 0), // a library does not print
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.handling.Add(1)
			defer s.handling.Done()
			h.ServeHTTP(w, r)
		}),
	}
	return s, nil
}

// Serve keeps the target's clock, answers requests and closes the listener during outages of mode
// refuse. It returns when ctx is cancelled: then every connection is closed and nothing is left
// running. The error is that of a listener.
func (s *HTTPServer) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clock sync.WaitGroup
	clock.Go(func() { s.t.Run(ctx) })
	err := s.listen(ctx)
	_ = s.server.Close()
	s.open.Wait()
	s.handling.Wait()
	cancel()
	clock.Wait()
	return err
}

// Connections returns how many connections were taken so far.
func (s *HTTPServer) Connections() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// listen accepts until ctx is cancelled, apart from the outages of mode refuse.
func (s *HTTPServer) listen(ctx context.Context) error {
	accepted := s.accept()
	select {
	case <-s.t.started:
	case <-ctx.Done():
		return s.hangUp(accepted)
	case err := <-accepted:
		return err
	}
	for _, out := range s.t.cfg.Station.Outages {
		if out.Mode != station.ModeRefuse {
			continue
		}
		if stop, err := s.until(ctx, out.From, accepted); stop {
			return errors.Join(err, s.hangUp(accepted))
		}
		if err := s.hangUp(accepted); err != nil {
			return err
		}
		s.abortAll()
		if stop, _ := s.until(ctx, out.To, nil); stop {
			return nil
		}
		ln, err := s.opener.Open()
		if err != nil {
			return fmt.Errorf("target: listen again after the outage %v: %w", out, err)
		}
		s.ln = ln
		accepted = s.accept()
	}
	select {
	case <-ctx.Done():
		return s.hangUp(accepted)
	case err := <-accepted:
		return err
	}
}

// accept starts to take connections. What is returned is closed when no more is taken, after the
// listener's error if it had one.
func (s *HTTPServer) accept() <-chan error {
	accepted := make(chan error, 1)
	ln := s.ln
	go func() {
		defer close(accepted)
		if err := s.server.Serve(ln); !errors.Is(err, net.ErrClosed) {
			accepted <- fmt.Errorf("target: accept: %w", err)
		}
	}()
	return accepted
}

// hangUp closes the listener and waits until no connection is taken any more.
func (s *HTTPServer) hangUp(accepted <-chan error) error {
	_ = s.ln.Close()
	return <-accepted
}

// until waits for a moment and reports whether to stop instead.
func (s *HTTPServer) until(ctx context.Context, at time.Duration, accepted <-chan error) (stop bool, err error) {
	timer := time.NewTimer(at - time.Since(s.t.t0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true, nil
	case err := <-accepted:
		return true, err
	case <-timer.C:
		return false, nil
	}
}

// take books a connection, which track lets go of.
func (s *HTTPServer) take(c net.Conn) *ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := new(ending)
	s.conns[c] = e
	s.opened++
	s.open.Add(1)
	return e
}

// track is http.Server's ConnState.
func (s *HTTPServer) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if _, ours := s.conns[c]; ours {
		delete(s.conns, c)
		s.open.Done()
	}
}

// abortAll resets every open connection, as a process that dies does.
func (s *HTTPServer) abortAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, e := range s.conns {
		e.reset.Store(true) // before its requests see that they have ended
		abort(c)
	}
}
