package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
)

// The whole program against a service over loopback.

// seen is what a service got, by its text.
type seen struct {
	mu     sync.Mutex
	counts map[string]int
}

func (s *seen) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[text]++
}

// all returns what came, and how often.
func (s *seen) all() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// resultAt reads the one run of a result file.
func resultAt(t *testing.T, path string) *record.Run {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := report.ReadJSON(f)
	if err != nil || len(r.Runs) != 1 || !r.Runs[0].Books.Balanced {
		t.Fatalf("%s: %v; want one run with balanced books", path, err)
	}
	return &r.Runs[0]
}

// D-10: stdin is read once, and all of 80 attempts carry it.
func TestABodyFromStdin(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 300)
	var got seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got.add(fmt.Sprintf("%s %s %x", r.Method, r.Header.Get("Content-Length"), sha256.Sum256(b)))
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--clients", "20", "--strategy", "constant", "--base", "20ms", "--cap", "20ms", "--max-retries", "3", "--retry-non-idempotent", "--bucket", "1s",
		"--probe", "off", "-m", "POST", "--body-file", "-", "--quiet", s.URL}, world{in: bytes.NewReader(body), out: &out, err: &errs})
	want := fmt.Sprintf("POST 3000 %x", sha256.Sum256(body))
	if code != codePassed || errs.Len() > 0 || len(got.all()) != 1 || got.all()[want] != 80 {
		t.Errorf("code %d, stderr %q, got %v; want 80 of %s", code, errs.String(), got.all(), want)
	}
}

// A certificate that does not hold is exit code 1, one sentence and no request; accepted all the same,
// it is said on stderr and in the report, also with --quiet.
func TestCertificatesFromTheCommandLine(t *testing.T) {
	var requests atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	args := []string{"--clients", "5", "--max-retries", "0", "--bucket", "1s", "--quiet", "--probe", "off", s.URL}
	got := do(t.Context(), nil, args...)
	if got.code != codeFailed || requests.Load() != 0 || got.out != "" || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, "--cacert FILE") || strings.Contains(got.err, "x509") {
		t.Errorf("code %d, %d requests, stderr %q; want 1, none and one sentence", got.code, requests.Load(), got.err)
	}
	got = do(t.Context(), nil, append(args, "--insecure")...)
	if got.code != codePassed || requests.Load() != 5 || !strings.Contains(got.err, "not verified") || !strings.Contains(got.out, "INSECURE") {
		t.Errorf("code %d, %d requests, stderr %q, stdout:\n%s", got.code, requests.Load(), got.err, got.out)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	got = do(t.Context(), nil, append(args, "--cacert", path)...)
	if got.code != codePassed || requests.Load() != 10 || got.err != "" || strings.Contains(got.out, "INSECURE") {
		t.Errorf("code %d, %d requests, stderr %q; want 0, 10 and nothing", got.code, requests.Load(), got.err)
	}
}

// A unix socket and an IPv6 literal, of which the Host header is that of the URL.
func TestOtherNetworks(t *testing.T) {
	dir, err := os.MkdirTemp("", "") // a socket's path is short, a test's folder may not be
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "s")
	for _, tt := range []struct{ network, address, host string }{{"unix", socket, "service"}, {"tcp", "[::1]:0", ""}} {
		listener, err := net.Listen(tt.network, tt.address)
		if err != nil {
			t.Logf("%s %s: %v", tt.network, tt.address, err) // a machine without IPv6
			continue
		}
		var got seen
		server := http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.add(r.Host + r.URL.String()) })}
		go func() { _ = server.Serve(listener) }()
		args := []string{"--clients", "5", "--bucket", "1s", "--quiet", "--probe", "off"}
		host := tt.host
		if tt.network == "unix" {
			args = append(args, "--unix-socket", socket, "http://service/a?b=1")
		} else {
			host = listener.Addr().String()
			args = append(args, "http://"+host+"/a?b=1")
		}
		c := do(t.Context(), nil, args...)
		if c.code != codePassed || got.all()[host+"/a?b=1"] != 5 || !strings.Contains(c.out, "5 × 200") {
			t.Errorf("%s: code %d, stderr %q, got %v; want 5 at %s", tt.network, c.code, c.err, got.all(), host)
		}
		_ = server.Close()
	}
}

// A signal in the middle of a storm elsewhere ends it as one on the built-in target: every report is
// written, and the books balance.
func TestASignalInAStormElsewhere(t *testing.T) {
	var requests atomic.Int64
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 100 {
			cancel(signalError{syscall.SIGINT})
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "r.json")
	got := do(ctx, nil, "--clients", "20", "--base", "5ms", "--quiet", "--probe", "off", "--json", path, s.URL)
	r := resultAt(t, path)
	if got.code != 130 || !strings.Contains(got.out, "INTERRUPTED") || r.Operations.Unfinished != 20 || r.Attempts.Sent < 100 {
		t.Errorf("code %d, %d unfinished, %d sent; want 130, 20 and 100 at least", got.code, r.Operations.Unfinished, r.Attempts.Sent)
	}
}

// The report of a target elsewhere names it, and keeps secrets, and says nothing of the built-in one.
func TestTheReportOfATargetElsewhere(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	dir := t.TempDir()
	args := []string{"--clients", "3", "--bucket", "1s", "--quiet", "--probe", "off", "-H", "Authorization: Bearer hush", "-m", "PUT", s.URL + "/a?token=hush&page=7"}
	var files []string
	for _, name := range []string{"json", "csv", "hlog", "trace"} {
		files = append(files, filepath.Join(dir, name))
		args = append(args, "--"+name, filepath.Join(dir, name))
	}
	got := do(t.Context(), nil, args...)
	text := strings.Join(strings.Fields(got.out), " ")
	if got.code != codePassed || !strings.Contains(text, "Target url "+s.URL+"/a?token=left-out&page=7, method PUT, http auto") {
		t.Errorf("code %d, stdout:\n%s", got.code, got.out)
	}
	for _, wrong := range []string{"model", "capacity 1000", "clients that had gone", "hush"} {
		if strings.Contains(text, wrong) {
			t.Errorf("the report says %q:\n%s", wrong, got.out)
		}
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil || len(b) == 0 || bytes.Contains(b, []byte("hush")) {
			t.Errorf("%s: %v; a secret stands in it, or nothing", filepath.Base(name), err)
		}
	}
}

// There is one target, and what is said of two shows no secret.
func TestTwoTargetsAreRefused(t *testing.T) {
	for _, command := range []string{"", "plan", "probe"} {
		var args []string
		if command != "" {
			args = []string{command}
		}
		const a, b = "http://127.0.0.1:1/?token=hush", "http://127.0.0.1:2/?token=hush"
		got := do(t.Context(), nil, append(args, "--url", a, b)...)
		if got.code != codeUsage || !strings.Contains(got.err, "want one target") || strings.Contains(got.err, "hush") {
			t.Errorf("%s --url A B: exit %d, %s; want %d and why, without the secret", command, got.code, got.err, codeUsage)
		}
	}
	if got := do(t.Context(), nil, "plan", "--url", "http://127.0.0.1:1/", "http://127.0.0.1:1/"); got.code != codePassed {
		t.Errorf("the same target twice: exit %d, %s", got.code, got.err)
	}
	for _, arg := range []string{"localhost/?token=hush", "http://service.example/?pass=hush"} {
		if got := do(t.Context(), nil, arg); got.code != codeUsage || strings.Contains(got.err, "hush") {
			t.Errorf("%s: exit %d, %s; want %d without the secret", arg, got.code, got.err, codeUsage)
		}
	}
}
