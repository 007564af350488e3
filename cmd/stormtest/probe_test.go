package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stormtest/load/record"
)

// A service that answers nothing well ends a probe after its first step.
func TestProbeOfAFailingService(t *testing.T) {
	var got atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(strings.Join([]string{r.Method, r.RequestURI, r.Host, r.Header.Get("X-Of"), r.UserAgent(), string(body)}, " "))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "p.json")
	c := do(t.Context(), nil, "probe", server.URL+"/a/{client}?b", "-m", "PUT", "-H", "X-Of: {operation}", "-H", "Host: other", "--body", "no {attempt}", "--json", file)
	if c.code != codePassed || !strings.Contains(c.out, "no answer was good") || !strings.Contains(c.out, "404") {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and that nothing was good", c.code, c.out, c.err)
	}
	if want := "PUT /a/0?b other 0 stormtest/" + version + " no 0"; got.Load() != want {
		t.Errorf("the service got %q, want %q", got.Load(), want)
	}
	b, err := os.ReadFile(file)
	var p record.Probe
	if err != nil || json.Unmarshal(b, &p) != nil || p.Limit != record.ProbeFailing || p.ByStatus["404"] != p.Requests || p.CapacityPerSecond != nil {
		t.Errorf("--json wrote %s, error %v", b, err)
	}
	if c := do(t.Context(), nil, "probe", server.URL, "--json", "-"); json.Unmarshal([]byte(c.out), &p) != nil {
		t.Errorf("--json - wrote %q, want JSON alone", c.out)
	}
}

// Certificates are verified, though hey verifies none.
func TestProbeVerifies(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	if c := do(t.Context(), nil, "probe", server.URL); c.code != codeFailed || !strings.Contains(c.err, "certificate") {
		t.Errorf("exit code %d, stderr %q; want 1 and a word on the certificate", c.code, c.err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := do(t.Context(), nil, "probe", server.URL, "--cacert", ca); c.code != codePassed || !strings.Contains(c.out, "404") {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and answers of 404", c.code, c.out, c.err)
	}
}

func TestProbeRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"probe"}, codeUsage, "want the URL"},
		{[]string{"probe", "localhost"}, codeUsage, "want a URL"},
		{[]string{"probe", "http://service.example/"}, codeUsage, "--allow-host service.example"},
		{[]string{"probe", "--http", "2", "https://127.0.0.1:1/"}, codeUsage, "HTTP/1.1"},
		{[]string{"probe", "--clients", "3", "http://127.0.0.1:1/"}, codeUsage, "unknown flag"},
		{[]string{"probe", "--json", "/nowhere/p.json", "http://127.0.0.1:1/"}, codeUsage, "--json"},
		{[]string{"probe", "http://127.0.0.1:1/"}, codeFailed, "connect"},
	} {
		if c := do(t.Context(), nil, tt.args...); c.code != tt.code || !strings.Contains(c.err, tt.want) || c.out != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q; want %d and %q", tt.args, c.code, c.out, c.err, tt.code, tt.want)
		}
	}
}

// A signal ends it at once, and what was measured is shown.
func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 10 {
			cancel(signalError{syscall.SIGTERM})
		}
	}))
	defer server.Close()
	began := time.Now()
	c := do(ctx, nil, "probe", server.URL)
	if c.code != codeOfSignal(syscall.SIGTERM) || !strings.Contains(c.out, "ended the probe early") || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d after %v, stdout %q; want 143 at once", c.code, time.Since(began), c.out)
	}
}
