package load_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/target/wake"
)

// A tallied counts texts from many goroutines.
type tallied struct {
	mu     sync.Mutex
	counts map[string]int
}

func (l *tallied) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[fmt.Sprintf(format, args...)]++
}

const refusal = "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"

// posts is a plan of 20 clients that post a body of so many bytes four times each, and what goes with it.
func posts(t *testing.T, connect load.Connect, size int, lines ...string) (plan.Plan, load.Env) {
	t.Helper()
	p := scenario(t, append(lines, "url: http://127.0.0.1/", "clients: 20", "strategy: constant", "base: 20ms", "cap: 20ms", "max-retries: 3",
		"method: POST", "retry-non-idempotent: true", "body-file: b")...)
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i * 7)
	}
	return p, load.Env{Connect: connect, Material: load.Material{Body: body}}
}

// D-10: every attempt carries the whole body under its length, one that is long, or empty, or
// of which the first attempt was cut off half-way, included.
func TestEveryAttemptHasTheWholeBody(t *testing.T) {
	for _, size := range []int{0, 3000, 16 << 10, 1 << 20} {
		for _, cut := range []bool{false, true} {
			if cut && size == 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				var got tallied
				s := stub{
					answer: func(*http.Request, int) (string, bool) { return refusal, false },
					read: func(r *http.Request) error {
						if attempt, _ := strconv.Atoi(r.Header.Get("Stormtest-Attempt")); cut && attempt == 0 {
							_, _ = io.CopyN(io.Discard, r.Body, int64(size/2))
							return errors.New("cut off")
						}
						body, err := io.ReadAll(r.Body)
						got.add("%s %x", r.Header.Get("Content-Length"), sha256.Sum256(body))
						return err
					},
				}
				defer s.start(t)()
				p, env := posts(t, s.network.DialContext, size, "retry-on: +reset")
				result := visit(t.Context(), t, p, env)
				want, outcome := 80, "map[503:80] map[]"
				if cut {
					want, outcome = 60, "map[503:60 reset:20] map[]"
				}
				key := fmt.Sprintf("%d %x", size, sha256.Sum256(env.Material.Body))
				if len(got.counts) != 1 || got.counts[key] != want || outcomes(result) != outcome {
					t.Errorf("%d bytes, cut off %v: %s, lengths and hashes %v; want %d of %s", size, cut, outcomes(result), got.counts, want, key)
				}
			})
		}
	}
}

// An answer that comes before the body has been read is the attempt's, and the connection, on which
// the rest of the body is under way, is not used again.
func TestAnAnswerBeforeTheBodyWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stub{
			answer: func(*http.Request, int) (string, bool) {
				return "HTTP/1.1 503 Later\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", true
			},
			read:   func(*http.Request) error { return nil },
			linger: time.Second,
		}
		defer s.start(t)()
		p, env := posts(t, s.network.DialContext, 1<<20)
		result := visit(t.Context(), t, p, env)
		if got := outcomes(result); got != "map[503:80] map[]" || s.opened.Load() != 80 {
			t.Errorf("%s over %d connections, want 80 answers over 80", got, s.opened.Load())
		}
	})
}

// Templates stand in the path, the query, headers and the body of each attempt, in every way an
// attempt can travel, and what is no template stays as it is.
func TestTemplatesTravelEveryWay(t *testing.T) {
	const body = `{"client":{client},"operation":{operation},"attempt":{attempt},"other":"{other}"}`
	filler := strings.Repeat("x", 20<<10)
	for _, way := range []struct{ http, filler string }{{"1.1", ""}, {"1.1", filler}, {"2", ""}} {
		synctest.Test(t, func(t *testing.T) {
			var s goServer
			s.Protocols = every()
			var got tallied
			defer s.start(t, nil, func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				got.add("%s %s %s %s", r.Host, r.RequestURI, r.Header.Get("X-Who"), strings.TrimSuffix(string(text), way.filler))
				w.WriteHeader(http.StatusServiceUnavailable)
			})()
			p := scenario(t, "url: http://127.0.0.1:443//a/{client}/%7Bclient%7D?o={operation}&a={attempt}&q=[1]", "http: "+way.http, "clients: 2", "operations: 4", "max-retries: 1",
				"method: PUT", `header: ["X-Who: {client}.{operation}.{attempt}", "Host: elsewhere.example"]`, "body-file: b")
			result := visit(t.Context(), t, p, load.Env{Connect: s.network.DialContext, Material: load.Material{Body: []byte(body + way.filler)}})
			want := 0
			for client := range 2 {
				for operation := range 2 {
					for attempt := range 2 {
						line := fmt.Sprintf(`elsewhere.example //a/%[1]d/%%7Bclient%%7D?o=%[2]d&a=%[3]d&q=[1] %[1]d.%[2]d.%[3]d {"client":%[1]d,"operation":%[2]d,"attempt":%[3]d,"other":"{other}"}`, client, operation, attempt)
						want += got.counts[line]
					}
				}
			}
			if want != 8 || len(got.counts) != 8 || outcomes(result) != "map[503:8] map[]" {
				t.Errorf("HTTP/%s, %d bytes more: %s, %d of 8 as they should be; got %v", way.http, len(way.filler), outcomes(result), want, got.counts)
			}
		})
	}
}

// Where the storm goes: every address of a name in turn, also past a dead one; an IPv6 literal; a
// unix socket; a public name only where it is allowed, and otherwise not even the resolver is asked.
func TestWhereTheStormGoes(t *testing.T) {
	addresses := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")}
	tests := []struct {
		name  string
		lines []string
		want  map[string]int // connections by what was dialled; "" is a fault of the user's
		host  string
	}{
		{"a name with a dead address", []string{"url: http://storm.example/", `allow-host: ["storm.example"]`}, map[string]int{"tcp 192.0.2.1:80": 2, "tcp 192.0.2.3:80": 4}, "storm.example"},
		{"an IPv6 literal", []string{"url: http://[::1]:8080/"}, map[string]int{"tcp [::1]:8080": 6}, "[::1]:8080"},
		{"a unix socket", []string{"url: http://service/", "unix-socket: /run/service.sock"}, map[string]int{"unix /run/service.sock": 6}, "service"},
		{"a public name that is not allowed", []string{"url: http://storm.example/"}, nil, ""},
		{"another is allowed", []string{"url: http://storm.example/", `allow-host: ["calm.example"]`}, nil, ""},
		{"a public address", []string{"url: http://192.0.2.1/"}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hosts, dialled, lookups tallied
				s := stub{answer: func(r *http.Request, _ int) (string, bool) {
					hosts.add("%s", r.Host)
					return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
				}}
				defer s.start(t)()
				env := load.Env{
					Wake: wake.Timers,
					Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
						lookups.add("%s", name)
						return addresses, nil
					},
					Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
						if address == "192.0.2.2:80" {
							return closedPort()(ctx, network, address)
						}
						if network != "udp" { // which only asks for a route
							dialled.add("%s %s", network, address)
						}
						return s.network.DialContext(ctx, network, "127.0.0.1:80")
					},
				}
				p := scenario(t, append(tt.lines, "clients: 6", "probe: off")...)
				if tt.want == nil {
					_, err := load.Run(t.Context(), p, env)
					if !load.IsUsage(err) || !strings.Contains(err.Error(), "--allow-host") || len(lookups.counts)+len(dialled.counts) > 0 || load.Check(p, load.Material{}) == nil {
						t.Errorf("error %v, looked up %v, dialled %v; want a usage error and nothing", err, lookups.counts, dialled.counts)
					}
					return
				}
				result := visit(t.Context(), t, p, env)
				if fmt.Sprint(dialled.counts) != fmt.Sprint(tt.want) || hosts.counts[tt.host] != 6 || outcomes(result) != "map[200:6] map[]" {
					t.Errorf("%s, dialled %v, hosts %v; want %v and %s", outcomes(result), dialled.counts, hosts.counts, tt.want, tt.host)
				}
				if len(lookups.counts) > 0 && lookups.counts["storm.example"] != 1 {
					t.Errorf("look-ups %v, want one", lookups.counts)
				}
				if n := len(result.Addresses); n != max(1, len(lookups.counts)*3) {
					t.Errorf("addresses in the result: %v", result.Addresses)
				}
			})
		})
	}
}

// D-14: a target that stops for 5 s shows in the percentiles, for attempts are timed from when they
// were due; and sleeps belong to the operation's latency alone.
func TestCoordinatedOmissionElsewhere(t *testing.T) {
	within := func(t *testing.T, name string, got *int64, want, by time.Duration) {
		t.Helper()
		if d := time.Duration(*got); d < want-by || d > want+by {
			t.Errorf("%s = %v, want %v +- %v", name, d, want, by)
		}
	}
	for _, way := range []string{"body: x", "body-file: b"} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now().Add(21 * time.Millisecond) // the lead of 100 clients
			s := stub{answer: func(*http.Request, int) (string, bool) {
				time.Sleep(5 * time.Millisecond)
				if at := time.Since(begun); at > 5*time.Second && at < 10*time.Second {
					time.Sleep(10*time.Second - at)
				}
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
			}}
			defer s.start(t)()
			run := &elsewhere(t, scenario(t, "url: http://127.0.0.1/", "rate: 10/s", "duration: 20s", "clients: 100", "max-retries: 0", "timeout: 10s", "method: POST", way), s.network.DialContext).Runs[0]
			if run.Attempts.Sent != 200 {
				t.Errorf("%d attempts, want 200", run.Attempts.Sent)
			}
			within(t, "p50", run.Latency.P50, 5*time.Millisecond, time.Millisecond)
			within(t, "p90", run.Latency.P90, 3*time.Second, 200*time.Millisecond)
			within(t, "p99", run.Latency.P99, 4800*time.Millisecond, 200*time.Millisecond)
		})
		synctest.Test(t, func(t *testing.T) {
			s := stub{answer: func(r *http.Request, _ int) (string, bool) {
				if attempt, _ := strconv.Atoi(r.Header.Get("Stormtest-Attempt")); attempt < 2 {
					return refusal, false
				}
				time.Sleep(10 * time.Millisecond)
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
			}}
			defer s.start(t)()
			run := &elsewhere(t, scenario(t, "url: http://127.0.0.1/", "clients: 50", "strategy: constant", "base: 500ms", "max-retries: 2", "method: PUT", way), s.network.DialContext).Runs[0]
			within(t, "attempt latency p50", run.Latency.P50, 0, 10*time.Millisecond)
			within(t, "operation latency p50", run.OperationLatency.P50, 1010*time.Millisecond, 10*time.Millisecond)
		})
	}
}
