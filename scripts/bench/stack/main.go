// Command stack measures HTTP stacks for the fleet and for the built-in target: how tightly
// a fleet's simultaneous requests arrive, and what one attempt costs the client in CPU.
//
// It starts each server in a process of its own (as a child of itself), and each client in
// another, so that CPU time is the client's alone. Loopback only, bounded in count.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"
)

var (
	role    = flag.String("role", "", "server or client: what the child does")
	stack   = flag.String("stack", "", "nethttp, fasthttp or own")
	addr    = flag.String("addr", "", "server address")
	clients = flag.Int("clients", 2000, "connections")
	rounds  = flag.Int("rounds", 5, "bursts; the median is printed")
	loops   = flag.Int("loops", 20, "requests of each client in the closed loop")
)

// A measure is what one client process saw and used.
type measure struct {
	FirstToLast []time.Duration // per round, at the server
	P1P99       []time.Duration
	CPU         time.Duration // of one attempt in the closed loop
	PerSecond   float64
}

func main() {
	flag.Parse()
	var err error
	switch *role {
	case "server":
		err = serve(*stack)
	case "client":
		err = client()
	default:
		err = parent()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1)
	}
}

func parent() error {
	fmt.Printf("%d connections, %d rounds, %d requests each in the closed loop; medians\n", *clients, *rounds, *loops)
	fmt.Printf("%-10s %-10s %12s %12s %14s %12s\n", "server", "client", "p1-p99", "first-last", "client CPU", "attempts/s")
	for _, s := range []string{"nethttp", "fasthttp", "own"} {
		for _, c := range []string{"nethttp", "fasthttp", "own", "own-direct"} {
			m, err := pair(s, c)
			if err != nil {
				return fmt.Errorf("server %s, client %s: %w", s, c, err)
			}
			fmt.Printf("%-10s %-10s %12s %12s %14s %12.0f\n", s, c, median(m.P1P99).Round(100*time.Microsecond),
				median(m.FirstToLast).Round(100*time.Microsecond), m.CPU.Round(100*time.Nanosecond), m.PerSecond)
		}
	}
	return nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func pair(serverStack, clientStack string) (m measure, err error) {
	srv := exec.Command(os.Args[0], "-role=server", "-stack="+serverStack)
	srv.Stderr = os.Stderr
	out, err := srv.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := srv.Start(); err != nil {
		return m, err
	}
	defer func() { _ = srv.Process.Kill(); _ = srv.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return m, err
	}
	cl := exec.Command(os.Args[0], "-role=client", "-stack="+clientStack, "-addr="+strings.TrimSpace(line),
		fmt.Sprintf("-clients=%d", *clients), fmt.Sprintf("-rounds=%d", *rounds), fmt.Sprintf("-loops=%d", *loops))
	cl.Stderr = os.Stderr
	b, err := cl.Output()
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

// now is CLOCK_MONOTONIC, which both processes share.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// ---- servers: each stamps a request as early as its stack lets it; GET /stamps returns and clears them.

type stamps struct {
	mu sync.Mutex
	at []int64
}

func (s *stamps) add() {
	t := now()
	s.mu.Lock()
	s.at = append(s.at, t)
	s.mu.Unlock()
}

func (s *stamps) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, _ := json.Marshal(s.at)
	s.at = s.at[:0]
	return b
}

func serve(stack string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	st := &stamps{at: make([]int64, 0, 1<<20)}
	switch stack {
	case "nethttp":
		return http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stamps" {
				_, _ = w.Write(st.take())
				return
			}
			st.add()
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
	case "fasthttp":
		return fasthttp.Serve(ln, func(ctx *fasthttp.RequestCtx) {
			if string(ctx.Path()) == "/stamps" {
				_, _ = ctx.Write(st.take())
				return
			}
			st.add()
			ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
		})
	}
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go ownConn(c, st)
	}
}

func ownConn(c net.Conn, st *stamps) {
	defer func() { _ = c.Close() }()
	buf := make([]byte, 1024)
	resp := []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if bytes.HasPrefix(buf[:n], []byte("GET /stamps")) {
			b := st.take()
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
			continue
		}
		st.add()
		if !bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
			return
		}
		if _, err := c.Write(resp); err != nil {
			return
		}
	}
}

// ---- clients

func client() error {
	var m measure
	var do func(i int) error
	var fire func() // sends for all clients at once; nil: each sends when it is released
	switch *stack {
	case "nethttp":
		do = netHTTPClient()
	case "fasthttp":
		do = fastHTTPClient()
	default:
		conns, err := dialAll()
		if err != nil {
			return err
		}
		req := []byte("GET / HTTP/1.1\r\nHost: " + *addr + "\r\nStormtest-Client: 1234\r\nStormtest-Attempt: 1\r\n\r\n")
		bufs := make([][512]byte, len(conns))
		read := func(i int) error {
			n, err := conns[i].Read(bufs[i][:])
			if err == nil && !bytes.HasPrefix(bufs[i][:n], []byte("HTTP/1.1 503")) {
				err = fmt.Errorf("got %q", bufs[i][:n])
			}
			return err
		}
		do = func(i int) error {
			if _, err := conns[i].Write(req); err != nil {
				return err
			}
			return read(i)
		}
		if *stack == "own-direct" {
			closed := do
			inBurst := atomic.Bool{}
			inBurst.Store(true)
			do = func(i int) error {
				if inBurst.Load() {
					return read(i)
				}
				return closed(i)
			}
			fire = func() {
				for _, c := range conns {
					_, _ = c.Write(req)
				}
			}
			return runClient(&m, do, fire, func() { inBurst.Store(false) })
		}
	}
	return runClient(&m, do, fire, func() {})
}

func runClient(m *measure, do func(int) error, fire, closedLoop func()) error {
	var errs atomic.Int64
	for round := range *rounds + 1 {
		var wg, ready sync.WaitGroup
		release := make(chan struct{})
		for i := range *clients {
			wg.Add(1)
			ready.Add(1)
			go func() {
				defer wg.Done()
				ready.Done()
				if fire == nil {
					<-release
				}
				if do(i) != nil {
					errs.Add(1)
				}
			}()
		}
		ready.Wait()
		time.Sleep(100 * time.Millisecond)
		if fire != nil {
			fire()
		} else {
			close(release)
		}
		wg.Wait()
		at, err := takeStamps()
		if err != nil {
			return err
		}
		if round == 0 {
			continue // opens the connections of the pooled stacks
		}
		if len(at) != *clients {
			return fmt.Errorf("%d stamps, want %d (%d errors)", len(at), *clients, errs.Load())
		}
		m.FirstToLast = append(m.FirstToLast, time.Duration(at[len(at)-1]-at[0]))
		m.P1P99 = append(m.P1P99, time.Duration(at[len(at)*99/100]-at[len(at)/100]))
	}
	closedLoop()
	cpu, start := cpuTime(), time.Now()
	var wg sync.WaitGroup
	for i := range *clients {
		wg.Go(func() {
			for range *loops {
				if do(i) != nil {
					errs.Add(1)
				}
			}
		})
	}
	wg.Wait()
	n := *clients * *loops
	m.CPU = (cpuTime() - cpu) / time.Duration(n)
	m.PerSecond = float64(n) / time.Since(start).Seconds()
	if errs.Load() > 0 {
		return fmt.Errorf("%d requests failed", errs.Load())
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

func takeStamps() ([]int64, error) {
	resp, err := http.Get("http://" + *addr + "/stamps")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var at []int64
	if err := json.NewDecoder(resp.Body).Decode(&at); err != nil {
		return nil, err
	}
	slices.Sort(at)
	return at, nil
}

func cpuTime() time.Duration {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

func netHTTPClient() func(int) error {
	tr := &http.Transport{MaxIdleConns: 0, MaxIdleConnsPerHost: *clients, DisableCompression: true}
	c := &http.Client{Transport: tr}
	return func(int) error {
		resp, err := c.Get("http://" + *addr + "/")
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	}
}

func fastHTTPClient() func(int) error {
	c := &fasthttp.HostClient{Addr: *addr, MaxConns: *clients, MaxIdemponentCallAttempts: 1}
	return func(int) error {
		req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(resp)
		req.SetRequestURI("http://" + *addr + "/")
		return c.Do(req, resp)
	}
}

func dialAll() ([]net.Conn, error) {
	conns := make([]net.Conn, *clients)
	for i := range conns {
		c, err := net.Dial("tcp", *addr)
		if err != nil {
			return nil, err
		}
		conns[i] = c
	}
	return conns, nil
}
