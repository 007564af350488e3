package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"stormtest/report/strict"
)

// A listener is stdout or stderr of a program that is looked at from inside: told is called with what is written, before
// the program goes on.
type listener struct {
	mu   sync.Mutex
	text bytes.Buffer
	told func(text string)
}

func (l *listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told != nil {
		l.told(string(b))
	}
	return l.text.Write(b)
}

// metricsAt finds where the metrics are.
var metricsAt = regexp.MustCompile(`http://\S+/metrics`)

// get scrapes a URL.
func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	if _, err := strict.Read("prom", b); err != nil {
		t.Error(err)
	}
	return string(b)
}

// TestMetricsWhileItRuns: they are there before the first request and until the reports are written, and not after.
func TestMetricsWhileItRuns(t *testing.T) {
	var before, during, url string
	errs := listener{told: func(text string) {
		if at := metricsAt.FindString(text); at != "" {
			url = at
			before = get(t, url)
		}
	}}
	out := listener{told: func(string) { during = get(t, url) }}
	file := filepath.Join(t.TempDir(), "m.prom")
	code := run(t.Context(), small("--listen-metrics", "0", "--strategy", "full,none", "--gate", "success_share>=1", "--prom", file), world{
		in: strings.NewReader(""), out: &out, err: &errs,
	})
	// A busy machine makes it invalid, which is not what this is about.
	if code != codePassed && code != codeInvalid || url == "" || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("code %d, stderr %s", code, errs.text.String())
	}
	if !strings.Contains(before, "stormtest_build_info") || strings.Contains(before, "stormtest_arrivals_total") {
		t.Errorf("before the first request:\n%s", before)
	}
	for _, want := range []string{
		`stormtest_operations_ended_total{backoff_strategy="full",result="succeeded"} 10`, `stormtest_run_finished{backoff_strategy="none"} 1`,
		`stormtest_gate_passed{gate="full: success_share>=1"} 1`, "stormtest_valid ",
	} {
		if !strings.Contains(during, "\n"+want) {
			t.Errorf("while the reports are written there is no %s in\n%s", want, during)
		}
	}
	if after := get(t, url); !strings.Contains(after, "refused") {
		t.Errorf("after the end: %s", after)
	}
	// The file is the last scrape.
	if text, err := os.ReadFile(file); err != nil || withoutStart(string(text)) != withoutStart(during) {
		t.Errorf("the file differs from the last scrape: %v\n%s", err, text)
	}
}

// withoutStart leaves out the moment of the start, which the result has to the ms.
func withoutStart(text string) string {
	return regexp.MustCompile(`(?m)^stormtest_start_timestamp_seconds .*$`).ReplaceAllString(text, "")
}

// TestMetricsOfAService: also where the clients are not ours.
func TestMetricsOfAService(t *testing.T) {
	var during, url string
	errs := listener{told: func(text string) {
		if at := metricsAt.FindString(text); at != "" {
			url = at
		}
		if at := regexp.MustCompile(`serving http://\S+`).FindString(text); at != "" {
			go func() {
				for range 3 { // the strict reader would not read what the target answers
					if response, err := http.Get(strings.TrimPrefix(at, "serving ")); err == nil { //nolint:noctx // it ends with the service
						_ = response.Body.Close()
					}
				}
			}()
		}
	}}
	out := listener{told: func(string) { during = get(t, url) }}
	code := run(t.Context(), []string{"serve", "--listen", "0", "--listen-metrics", "127.0.0.1:0", "--duration", "300ms", "--quiet"}, world{
		in: strings.NewReader(""), out: &out, err: &errs,
	})
	if code != codePassed || !strings.Contains(during, `stormtest_arrivals_total{attempt="first",backoff_strategy="outside"} 3`) || strings.Contains(during, "stormtest_operations_started_total") {
		t.Errorf("code %d, stderr %s\n%s", code, errs.text.String(), during)
	}
}

// endless is a listener to which somebody always connects.
type endless struct{ net.Listener }

func (endless) Accept() (net.Conn, error) {
	here, there := net.Pipe()
	_ = there.Close()
	return here, nil
}

// TestConnectionsOfTheMetricsAreLimited: who comes when all places are taken waits until one is free.
func TestConnectionsOfTheMetricsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := limited{endless{}, make(chan struct{}, 2)}
		first, _ := ln.Accept()
		_, _ = ln.Accept()
		accepted := false
		go func() {
			_, _ = ln.Accept()
			accepted = true
		}()
		synctest.Wait()
		if accepted {
			t.Error("a third connection has a place")
		}
		_ = first.Close()
		_ = first.Close() // which frees no second one
		synctest.Wait()
		if !accepted || len(ln.places) != 2 {
			t.Errorf("accepted %v, %d places taken", accepted, len(ln.places))
		}
	})
}

func TestListenMetricsIsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"a port in use", small("--listen-metrics", taken.Addr().String()), nil, "the address is in use"},
		{"a port in use, by the environment", small(), []string{"STORMTEST_LISTEN_METRICS=" + taken.Addr().String()}, "the address is in use"},
		{"every address, unasked", small("--listen-metrics", ":9464"), nil, "127.0.0.1:9464 for this machine alone"},
		{"no port", small("--listen-metrics", "localhost"), nil, "ADDRESS:PORT, such as 127.0.0.1:9464"},
		{"not this machine's", small("--listen-metrics", "192.0.2.1:9464"), nil, "--listen-metrics: 192.0.2.1:9464"},
		{"of the environment", small(), []string{"STORMTEST_LISTEN_METRICS=localhost"}, `STORMTEST_LISTEN_METRICS: "localhost"`},
		{"of a service", []string{"serve", "--listen", "0", "--listen-metrics", taken.Addr().String()}, nil, "the address is in use"},
		{"in virtual time", []string{"sim", "--listen-metrics", "9464"}, nil, "virtual time is over before"},
		{"of a saved result", []string{"report", "--listen-metrics", "9464", "x"}, nil, "--listen-metrics"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t.Context(), tt.env, tt.args...)
			if got.code != codeUsage || !strings.Contains(got.err, tt.want) || got.out != "" {
				t.Errorf("code %d, stdout %q, stderr %s; want 2 and %s", got.code, got.out, got.err, tt.want)
			}
		})
	}
	// What is set for every command is passed over by one that has no use for it.
	if got := do(t.Context(), []string{"STORMTEST_LISTEN_METRICS=" + taken.Addr().String()}, "sim", "--clients", "10", "--quiet"); got.code != codePassed {
		t.Errorf("sim: code %d, stderr %s", got.code, got.err)
	}
}

// TestOTLP: where the environment asks for it, a collector gets the metrics at the end of a run of either engine; one
// that is away costs a warning.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	var bodies [][]byte
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, b)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	take := func() [][]byte { // what came since the last time
		mu.Lock()
		defer mu.Unlock()
		all := bodies
		bodies = nil
		return all
	}
	set := func(url string) []string {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url) // for the SDK, which reads the process' own
		return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url}
	}
	for _, args := range [][]string{small(), append([]string{"sim"}, small()...)} {
		got := do(t.Context(), set(collector.URL), args...)
		came := take()
		if got.code != codePassed || got.err != "" || len(came) != 1 {
			t.Fatalf("code %d, stderr %q, %d requests", got.code, got.err, len(came))
		}
		for _, want := range []string{"retry_delay_ms", "stormtest_arrivals_total", "stormtest_valid", "backoff_strategy", "service.name"} {
			if !bytes.Contains(came[0], []byte(want)) {
				t.Errorf("%q: the collector got no %s", args, want)
			}
		}
	}
	collector.Close()
	got := do(t.Context(), set(collector.URL), small("--gate", "success_share>=1")...)
	if got.code != codePassed && got.code != codeInvalid || !strings.Contains(got.err, "WARNING: OTLP: 1 of 1 exports") {
		t.Errorf("without a collector: code %d, stderr %q", got.code, got.err)
	}
	if got := do(t.Context(), nil, small()...); got.err != "" {
		t.Errorf("nothing asked for: %q", got.err)
	}
}
