package fleet_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stormtest/load/retry"
	"stormtest/target/targettest"
)

// late answers the requests of these numbers, from 0, after a second, and the others at once.
func late(numbers string) server {
	return func(n int, _ *http.Request, c *targettest.Conn) {
		if strings.Contains(numbers, string(rune('0'+n))) {
			time.Sleep(time.Second)
		}
		_, _ = io.WriteString(c, ok)
	}
}

// What a client with copies sends when, and what it makes of the answers.
func TestHedgedClient(t *testing.T) {
	hedge := retry.Hedge{After: 100 * time.Millisecond, Most: 2}
	tests := []struct {
		name        string
		plan        plan
		server      server
		want        string
		hedging     string
		connections int64
	}{
		{"answered in time", plan{operations: 2}, late(""), "200@0s 200@0s", "0 0 0 0", 1},
		{"a copy wins", plan{}, late("0"), "200@100ms cancelled@100ms", "1 1 1 0", 2},
		{"the second copy wins", plan{}, late("01"), "200@200ms cancelled@200ms cancelled@200ms", "2 1 2 0", 3},
		{"the attempt wins", plan{}, func(n int, r *http.Request, c *targettest.Conn) {
			time.Sleep(150 * time.Millisecond)
			_, _ = io.WriteString(c, ok)
		}, "200@150ms cancelled@150ms", "1 0 1 0", 2},
		{"a failure sends the next copy at once", plan{}, firstThen(func() string { return respond(503) }), "200@0s 503@0s", "1 1 0 0", 1},
		{"all fail, then a retry without copies", plan{retries: 1, base: time.Second}, answer(respond(503)), "503@0s 503@0s 503@0s 503@1s", "2 0 0 0", 1},
		{"a failure that is final ends the others", plan{}, func(n int, _ *http.Request, c *targettest.Conn) {
			if n > 0 {
				_, _ = io.WriteString(c, respond(400))
			}
		}, "400@100ms cancelled@100ms", "1 0 1 0", 2},
		{"the next operation goes over the lane that is idle", plan{operations: 3}, late("0"), "200@100ms 200@100ms 200@100ms cancelled@100ms", "1 1 1 0", 2},
		{"a copy that has to dial", plan{dial: 80 * time.Millisecond}, late("0"), "200@180ms cancelled@180ms", "1 1 1 0", 2},
		{"an answer while a copy dials", plan{dial: 80 * time.Millisecond}, func(_ int, _ *http.Request, c *targettest.Conn) {
			time.Sleep(150 * time.Millisecond)
			_, _ = io.WriteString(c, ok)
		}, "200@150ms cancelled@180ms", "1 0 1 0", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.clients, tt.plan.hedge = 1, hedge
			got := storm(t, tt.plan, tt.server)
			outcomes := strings.Fields(got.outcomes())
			slices.SortStableFunc(outcomes, func(a, b string) int { return strings.Compare(momentOf(a), momentOf(b)) })
			if s := strings.Join(outcomes, " "); s != tt.want {
				t.Errorf("outcomes = %s, want %s", s, tt.want)
			}
			h := got.stats.Hedging
			if s := fmt.Sprint(h.Sent, h.Won, h.Cancelled, h.Withheld); s != tt.hedging {
				t.Errorf("sent, won, cancelled, withheld = %s, want %s", s, tt.hedging)
			}
			if got.stats.Connections != tt.connections {
				t.Errorf("%d connections, want %d", got.stats.Connections, tt.connections)
			}
			if sent := int64(len(outcomes)); got.stats.Sent[0] != sent || got.run.Attempts.Sent != sent || got.stats.Unfinished != 0 || got.stats.InFlight != 0 {
				t.Errorf("stats = %+v and %+v, want %d sent, and nothing under way", got.stats, got.run.Attempts, sent)
			}
		})
	}
}

// momentOf sorts outcomes by their moments, and those of one moment by their names.
func momentOf(outcome string) string {
	kind, at, _ := strings.Cut(outcome, "@")
	return at + kind
}

// The target sees that a copy which nobody wants any more has gone.
func TestHedgesThatLostAreHungUp(t *testing.T) {
	var mu sync.Mutex
	var closed []time.Duration
	begin := time.Time{}
	storm(t, plan{clients: 1, hedge: retry.Hedge{After: 100 * time.Millisecond, Most: 1}}, func(n int, _ *http.Request, c *targettest.Conn) {
		if n == 0 {
			begin = time.Now()
			_, _ = c.Read(make([]byte, 1))
			mu.Lock()
			defer mu.Unlock()
			closed = append(closed, time.Since(begin))
			return
		}
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(c, ok)
	})
	if len(closed) != 1 || closed[0] != 150*time.Millisecond {
		t.Errorf("the attempt was hung up at %v, want 150 ms", closed)
	}
}
