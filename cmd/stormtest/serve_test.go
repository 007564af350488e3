package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/target"
)

// A lines is a standard error that hands on the address that it is told.
type lines struct {
	bytes.Buffer
	address chan string
}

func (l *lines) Write(p []byte) (int, error) {
	if _, rest, ok := strings.Cut(string(p), "serving http://"); ok {
		l.address <- rest[:strings.Index(rest, "/")]
	}
	return l.Buffer.Write(p)
}

// A serving is a serve command under way over loopback.
type serving struct {
	address string
	signal  func(syscall.Signal)
	done    chan call
}

// serve starts the command on a free port and waits for its address.
func serve(t *testing.T, args ...string) serving {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	s := serving{signal: func(s syscall.Signal) { cancel(signalError{s}) }, done: make(chan call, 1)}
	errs := &lines{address: make(chan string, 1)}
	go func() {
		var out bytes.Buffer
		code := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--quiet"}, args...),
			world{in: strings.NewReader(""), out: &out, err: errs})
		s.done <- call{code, out.String(), errs.String()}
		close(errs.address)
	}()
	if s.address = <-errs.address; s.address == "" {
		t.Fatalf("no address: %+v", <-s.done)
	}
	return s
}

// get sends a request with a key and returns the status.
func (s serving) get(t *testing.T, key string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func TestServeReportsWhatArrived(t *testing.T) {
	dir := t.TempDir()
	file, address := filepath.Join(dir, "r.json"), filepath.Join(dir, "address")
	s := serve(t, "--capacity", "0", "--status", "429", "--json", file, "--csv", filepath.Join(dir, "r.csv"),
		"--address-file", address, "--gate", "arrivals==4")
	if b, err := os.ReadFile(address); err != nil || string(b) != s.address+"\n" {
		t.Errorf("address file = %q, %v; want %s", b, err, s.address)
	}
	for _, key := range []string{"a", "b", "a", "a"} {
		if status, err := s.get(t, key); status != 429 || err != nil {
			t.Errorf("status %d, %v", status, err)
		}
	}
	s.signal(syscall.SIGINT)
	got := <-s.done
	for _, want := range []string{"4 arrived: 2 first, 2 retries", "4 × 429", "Operations    –", "balanced"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if got.code != 130 {
		t.Errorf("code %d, stderr %s; want 130", got.code, got.err)
	}
	if strings.Contains(got.err, "WARNING") || strings.Contains(got.out, "INTERRUPTED") {
		t.Errorf("loopback and a signal are as they should be:\n%s%s", got.err, got.out)
	}
	again := do(t.Context(), nil, "report", file)
	if again.code != codePassed || again.out != got.out {
		t.Errorf("report of the saved result differs:\n%s%s\nfrom\n%s", again.out, again.err, got.out)
	}
}

func TestServeEnds(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		signal syscall.Signal // 0: the duration ends it
		code   int
	}{
		{"duration", []string{"--duration", "300ms", "--bucket", "10ms"}, 0, codePassed},
		{"SIGTERM", nil, syscall.SIGTERM, 143},
		{"a gate holds", []string{"--gate", "arrivals==1", "--duration", "300ms", "--bucket", "10ms"}, 0, codePassed},
		{"a gate fails", []string{"--gate", "arrivals>1"}, syscall.SIGTERM, codeGate},
		{"a gate without data", []string{"--gate", "convoy_index<0.1"}, syscall.SIGTERM, codeGate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "r.json")
			s := serve(t, append(tt.args, "--json", file)...)
			if status, err := s.get(t, "x"); status != 200 || err != nil {
				t.Errorf("status %d, %v", status, err)
			}
			if tt.signal != 0 {
				s.signal(tt.signal)
			}
			got := <-s.done
			if got.code != tt.code {
				t.Errorf("code %d, want %d; stderr %s", got.code, tt.code, got.err)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := report.ReadJSON(bytes.NewReader(b))
			if err != nil || r.Runs[0].Books.Arrivals != 1 || r.Runs[0].Convoy.Verdict != record.VerdictClear {
				t.Errorf("result = %+v, %v; want one arrival", r, err)
			}
		})
	}
}

// While the target refuses, nothing listens; then it is back on the same port.
func TestServeRefuses(t *testing.T) {
	s := serve(t, "--capacity", "0", "--outage", "100ms..600ms=refuse")
	refused, back := false, false
	for end := time.Now().Add(10 * time.Second); !back && time.Now().Before(end); {
		status, err := s.get(t, "x")
		refused = refused || errors.Is(err, syscall.ECONNREFUSED)
		back = refused && status == 503
	}
	if !back {
		t.Errorf("refused %v, back %v; want both within 10 s", refused, back)
	}
	s.signal(syscall.SIGINT)
	if got := <-s.done; got.code != 130 {
		t.Errorf("code %d, stderr %s", got.code, got.err)
	}
}

func TestServeRefusesBadInput(t *testing.T) {
	tests := []struct {
		args []string
		want []string
	}{
		{[]string{"--listen", ":8080"}, []string{"--listen", "127.0.0.1:8080", "0.0.0.0:8080"}},
		{[]string{"--listen", "example.com:80"}, []string{"--listen", "IP address"}},
		{[]string{"--listen", "127.0.0.1:99999"}, []string{"--listen", "ADDRESS:PORT"}},
		{[]string{"--listen", ""}, []string{"--listen", "ADDRESS:PORT"}},
		{[]string{"--start", "later"}, []string{"--start", "first-request", "now"}},
		{[]string{"--key-header", "two words"}, []string{"--key-header"}},
		{[]string{"--clients", "5"}, []string{"--clients"}},
		{[]string{"--capacity", "-1"}, []string{"--capacity"}},
		{[]string{"--model", "occ"}, []string{`--model: "occ"`, "stormtest sim"}},
		{[]string{"--outage", "9s..8s", "--listen", "x"}, []string{"--outage", "--listen"}},
		{[]string{"--gate", "amplification<3"}, []string{"--gate", "only the clients know amplification"}},
		{[]string{"here"}, []string{`"here"`, "Run 'stormtest serve --help' for the flags."}},
		{[]string{"--no-such-flag"}, []string{"--no-such-flag", "Run 'stormtest serve --help' for the flags."}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			got := do(t.Context(), nil, append([]string{"serve"}, tt.args...)...)
			if got.code != codeUsage || got.out != "" {
				t.Errorf("code %d, stdout %q; want 2 and nothing", got.code, got.out)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("stderr = %q, want it to contain %q", got.err, want)
				}
			}
		})
	}
}

func TestServeOnAnAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	for _, env := range [][]string{nil, {"STORMTEST_LISTEN=" + ln.Addr().String()}} {
		args := []string{"serve"}
		if env == nil {
			args = append(args, "--listen", ln.Addr().String())
		}
		got := do(t.Context(), env, args...)
		if want := "--listen " + ln.Addr().String() + ": the address is in use"; got.code != codeFailed || !strings.Contains(got.err, want) {
			t.Errorf("code %d, stderr %q; want 1 and %q", got.code, got.err, want)
		}
	}
}

func TestListenAddress(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", "localhost:0": "127.0.0.1:0", "9000": "127.0.0.1:9000", "[::1]:8": "[::1]:8",
		"0.0.0.0:1": "0.0.0.0:1", "[::ffff:10.0.0.1]:1": "10.0.0.1:1",
		"[fe80::1%eth0]:1": "", "::1": "", "x:1": "", "127.0.0.1:": "",
	} {
		if addr, fault := listenAddress(text); (fault == "") != (want != "") || want != "" && addr.String() != want {
			t.Errorf("listenAddress(%q) = %v, %q; want %q", text, addr, fault, want)
		}
	}
}

// An address that others reach is said loudly. Nothing listens here.
func TestServeWarnsOfOthers(t *testing.T) {
	port, err := target.OpenPort(netip.MustParseAddrPort("0.0.0.0:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = port.Close() }()
	var errs bytes.Buffer
	a := announcer{Port: port, w: world{err: &errs}, flags: &serveFlags{start: startNow}, told: new(bool)}
	if err := a.announce(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WARNING", "not loopback", ":" + strconv.Itoa(int(port.Addr().Port())), "--duration", "from now"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("stderr = %q, want it to contain %q", errs.String(), want)
		}
	}
}

// A base above the default cap of delays, which a service does not read, is no fault.
func TestServeTakesAnyBase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte("cap: 5s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--file", file}} {
		s := serve(t, append(args, "--base", "30s")...)
		s.signal(syscall.SIGINT)
		if got := <-s.done; got.code != 130 {
			t.Errorf("%v: code %d, stderr %s", args, got.code, got.err)
		}
	}
}

// A scenario of a whole storm serves too: what is of its fleet does not count. Small buckets need no
// duration.
func TestServeTakesAScenario(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte("clients: 3\nstrategy: none\nstatus: 418\ncapacity: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--file", file, "--bucket", "5ms")
	if status, err := s.get(t, "x"); status != 418 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	s.signal(syscall.SIGINT)
	if got := <-s.done; got.code != 130 {
		t.Errorf("code %d, stderr %s", got.code, got.err)
	}
}

// TestServeRefusesWhatIsNotItsOwn: a scenario's fleet is nobody's business here, but a network and seeds would change the
// figures that were asked for.
func TestServeRefusesWhatIsNotItsOwn(t *testing.T) {
	for text, want := range map[string]string{
		"latency: 10ms\n": "1: latency: \"10ms\": want 0s in real time", "loss: 1%\n": "want 0% in real time", "repeat: 3\n": "1: repeat: \"3\": want 1 of a service",
	} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := do(t.Context(), nil, "serve", "--listen", "127.0.0.1:0", "--duration", "1ms", "--start", "now", "--bucket", "1ms", "-f", file); got.code != codeUsage || !strings.Contains(got.err, want) {
			t.Errorf("%q: code %d, %q, want %q", text, got.code, got.err, want)
		}
	}
}
