// Command server is the one target of the benches: it answers every request with an empty
// answer and stamps when each arrived, so that every client is measured by the same clock, from outside.
//
// It prints two addresses on one line, its own and that of its control, both on loopback. The control
// answers GET /stamps with what arrived (package stamp), GET /open with the number of open connections,
// and GET /reset by forgetting what arrived.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"stormtest/scripts/bench/stamp"
	"stormtest/target/wire"
)

// stampsMost is how many requests of one run are stamped, 64 MB of them: 30 s, the longest loop that peers asks
// for, at 139,000 a second. Where more arrived /stamps fails instead of telling a part.
const stampsMost = 4 << 20

func main() {
	lean := flag.Bool("lean", false, "one loop over all sockets, with the kernel's stamps, instead of net/http")
	patience := flag.Duration("patience", 0, "with -lean: how long a burst is left alone before it is read")
	status := flag.Int("status", http.StatusOK, "what it answers")
	flag.Parse()
	if err := run(*lean, *patience, *status); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(lean bool, patience time.Duration, status int) error {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{log: stamp.NewLog(stampsMost), start: time.Now(), status: status, patience: patience}
	fmt.Println(front.Addr(), back.Addr())
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(back, s.control()) }()
	go func() {
		if lean {
			failed <- s.serveLean(front)
		} else {
			failed <- s.serve(front)
		}
	}()
	return <-failed
}

type server struct {
	log         *stamp.Log
	start       time.Time
	status      int
	patience    time.Duration
	connections atomic.Uint32 // accepted since the last reset
	open        atomic.Int64
}

// A connection counts its requests. Not safe for concurrent use: HTTP/1.1 has one at a time.
type connection struct{ id, requests uint32 }

func (s *server) accept() *connection { return &connection{id: s.connections.Add(1) - 1} }

func (s *server) arrived(c *connection) {
	s.log.Add(stamp.Stamp{At: time.Since(s.start), Connection: c.id, Request: c.requests})
	c.requests++
}

func (s *server) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, s.open.Load()) })
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) {
		s.log.Reset()
		s.connections.Store(0)
	})
	mux.HandleFunc("GET /stamps", func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		if err := s.log.Write(&b); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = b.WriteTo(w) // where the reader has gone, it says so
	})
	return mux
}

// key is where a request's context holds its connection.
type key struct{}

func (s *server) serve(ln net.Listener) error {
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.arrived(r.Context().Value(key{}).(*connection))
			w.WriteHeader(s.status)
		}),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, key{}, s.accept())
		},
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.open.Add(1)
			case http.StateClosed, http.StateHijacked:
				s.open.Add(-1)
			}
		},
	}
	return srv.Serve(ln)
}

// serveLean answers from one goroutine requests that have no body. Their stamps are the
// kernel's, so what this server is slow at is in nobody's figures.
func (s *server) serveLean(ln net.Listener) error {
	loop, err := wire.NewLoop()
	if err != nil {
		return err
	}
	in, err := loop.Intake(ln.(*net.TCPListener))
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() {
		for {
			if err := in.Take(); err != nil {
				failed <- err
				return
			}
		}
	}()
	l := lean{server: s, answer: fmt.Appendf(nil, "HTTP/1.1 %d Status\r\nContent-Length: 0\r\n\r\n", s.status)}
	go func() { failed <- loop.Run(l.hear) }()
	return <-failed
}

type lean struct {
	*server
	answer []byte
	heard  time.Time // when something came last
}

// aside keeps the server off the processor while a burst arrives: of what comes after a pause it
// reads nothing for so long. The stamps are the kernel's, so they do not wait with it.
func (l *lean) aside() {
	if l.patience > 0 && time.Since(l.heard) > 5*l.patience {
		time.Sleep(l.patience)
	}
	l.heard = time.Now()
}

// A half is a connection with the part of a head that has come.
type half struct {
	*connection
	head []byte
}

func (l *lean) hear(batch []wire.Message) {
	l.aside()
	for _, m := range batch {
		c, ok := m.Peer.State.(*half)
		if !ok {
			c = &half{connection: l.accept()}
			m.Peer.State = c
			l.open.Add(1)
		}
		if len(m.Data) == 0 {
			m.Peer.Close()
			l.open.Add(-1)
			continue
		}
		data := append(c.head, m.Data...)
		for {
			_, rest, whole := bytes.Cut(data, []byte("\r\n\r\n"))
			if !whole {
				break
			}
			data = rest
			l.log.Add(stamp.Stamp{At: m.At.Sub(l.start), Connection: c.id, Request: c.requests})
			c.requests++
			_ = m.Peer.SendNow(l.answer) // where it has gone, its end comes too
		}
		c.head = append(c.head[:0], data...)
	}
}
