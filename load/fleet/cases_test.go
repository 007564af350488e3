package fleet_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/targettest"
)

// Public faults of other tools that must not happen here, against a server of the case's own.
// Each test says which case it is.

// respond is an answer without a body, with more header lines where there are any.
func respond(status int, headers ...string) string {
	text := fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Length: 0\r\n", status)
	for _, h := range headers {
		text += h + "\r\n"
	}
	return text + "\r\n"
}

// firstThen answers the first request with what first returns, and all others with 200.
func firstThen(first func() string) server {
	return func(n int, _ *http.Request, c *targettest.Conn) {
		text := ok
		if n == 0 {
			text = first()
		}
		_, _ = io.WriteString(c, text)
	}
}

// D-04: a date in each of its three forms, a date that is past, zero and what is no number: the
// second request never comes before the second that was named, and never before the strategy's
// own 200 ms.
func TestRetryAfterInEachForm(t *testing.T) {
	const base = 200 * time.Millisecond
	in := func(form string, after time.Duration) func() string {
		return func() string {
			// 400 ms into a second of the bubble's clock, whose dates know whole seconds only.
			now := time.Now()
			time.Sleep(now.Truncate(time.Second).Add(1400 * time.Millisecond).Sub(now))
			return respond(503, "Retry-After: "+strings.ReplaceAll(time.Now().Add(after).UTC().Format(form), "UTC", "GMT"))
		}
	}
	text := func(value string) func() string {
		return func() string { return respond(503, "Retry-After: "+value) }
	}
	own := [2]time.Duration{base, base + 100*time.Millisecond}
	named := [2]time.Duration{2 * time.Second, 3100 * time.Millisecond}
	tests := []struct {
		name    string
		first   func() string
		gap     [2]time.Duration // from the first answer to the second request, both ends included
		invalid int64
	}{
		{"a date", in(http.TimeFormat, 3*time.Second), named, 0},
		{"a date of RFC 850", in(time.RFC850, 3*time.Second), named, 0},
		{"a date of C's asctime", in(time.ANSIC, 3*time.Second), named, 0},
		{"a date an hour past", in(http.TimeFormat, -time.Hour), own, 0},
		{"-5", text("-5"), own, 1},
		{"0", text("0"), own, 0},
		{"+3", text("+3"), own, 1},
		{"3.5", text("3.5"), own, 1},
		{"a word", text("soon"), own, 1},
		{"seconds", text("2"), [2]time.Duration{2 * time.Second, 2100 * time.Millisecond}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := storm(t, plan{clients: 1, retries: 1, base: base, honour: true}, firstThen(tt.first))
			if len(got.rows) != 2 || got.rows[1].Outcome.Status != 200 {
				t.Fatalf("outcomes = %s, want 503 and 200", got.outcomes())
			}
			if gap := got.rows[1].Sent - got.rows[0].End; gap < tt.gap[0] || gap > tt.gap[1] {
				t.Errorf("the second request came %v after the first answer, want %v..%v", gap, tt.gap[0], tt.gap[1])
			}
			if h := got.run.Hints; h.Seen != 1 || h.Invalid != tt.invalid || h.Early != 0 {
				t.Errorf("hints = %+v, want one seen, %d invalid, none early", h, tt.invalid)
			}
		})
	}
}

// D-04: a delay that is too long for any clock ends neither in a crash nor in the past.
func TestRetryAfterBeyondEveryClock(t *testing.T) {
	for _, value := range []string{"9223372036854775807", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		got := storm(t, plan{clients: 1, retries: 1, honour: true}, firstThen(func() string { return respond(503, "Retry-After: "+value) }))
		if s := got.outcomes(); s != "503@0s" || got.stats.Unfinished != 1 {
			t.Errorf("Retry-After: %s: outcomes = %s, unfinished = %d; want one 503 and a wait to the end", value, s, got.stats.Unfinished)
		}
	}
}

// statuses are those of case D-06, with the requests that ten clients of a fleet of one retry
// send for each. 500 is opt-in here, by the reference of this field.
var statuses = []struct{ code, requests int }{
	{200, 10}, {204, 10}, {400, 10}, {404, 10}, {408, 20}, {429, 20}, {500, 10}, {501, 10}, {502, 20}, {503, 20}, {504, 20},
}

// D-06: one table says which statuses are retried; the server's floor counts on all of those
// alike, and each status is counted by its own number.
func TestStatusesThatAreRetried(t *testing.T) {
	for _, retryOn := range []string{"", "+500"} {
		got := storm(t, plan{clients: 10 * len(statuses), retries: 1, base: 50 * time.Millisecond, honour: true, retryOn: retryOn},
			func(_ int, r *http.Request, c *targettest.Conn) {
				var client int
				_, _ = fmt.Sscan(r.Header.Get("Client"), &client)
				_, _ = io.WriteString(c, respond(statuses[client/10].code, "Retry-After: 1"))
			})
		requests := map[int]int{}
		for _, row := range got.rows {
			want := statuses[row.Client/10]
			requests[want.code]++
			if row.Outcome.Status != want.code {
				t.Errorf("client %d saw %v, want %d", row.Client, row.Outcome, want.code)
			}
			if row.Attempt == 1 && row.Sent < time.Second {
				t.Errorf("retryOn %q: the retry after a %d came at %v, want 1s at least", retryOn, want.code, row.Sent)
			}
		}
		total := 0
		for _, s := range statuses {
			want := s.requests
			if s.code == 500 && retryOn == "+500" {
				want = 20
			}
			total += want
			if counted := got.run.Attempts.ByOutcome[strconv.Itoa(s.code)]; requests[s.code] != want || counted != int64(want) {
				t.Errorf("retryOn %q: status %d had %d requests, counted %d, want %d", retryOn, s.code, requests[s.code], counted, want)
			}
		}
		if len(got.requests) != total || len(got.run.Attempts.ByOutcome) != len(statuses) {
			t.Errorf("retryOn %q: the server saw %d requests, want %d; outcomes %v", retryOn, len(got.requests), total, got.run.Attempts.ByOutcome)
		}
	}
}

// D-11: 4,000 answers with a body, each of them a failure, come over the 200 connections that
// the fleet opened; at the end every one of them is closed. That no goroutine is left is the
// bubble's own check.
func TestFailuresDoNotChurnConnections(t *testing.T) {
	body := "HTTP/1.1 503 x\r\nContent-Length: 65536\r\n\r\n" + strings.Repeat("x", 65536)
	connections := map[*targettest.Conn]bool{}
	var mu sync.Mutex
	got := storm(t, plan{clients: 200, retries: 19, base: 5 * time.Millisecond}, func(_ int, _ *http.Request, c *targettest.Conn) {
		mu.Lock()
		connections[c] = true
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		_, _ = io.WriteString(c, body)
	})
	if len(got.requests) != 4000 || len(connections) != 200 || got.stats.Connections != 200 {
		t.Errorf("%d requests over %d connections, and the fleet counts %d; want 4000 over 200", len(got.requests), len(connections), got.stats.Connections)
	}
	for c := range connections {
		if _, err := c.Write([]byte("x")); err == nil {
			t.Fatal("a connection is open after the run")
		}
	}
}

// D-13: opening connections, one tenth of a second each, is no part of the run: the first
// requests leave together, and none before every client is ready.
func TestConnectingIsBeforeTheStart(t *testing.T) {
	got := storm(t, plan{clients: 500, dial: 100 * time.Millisecond}, answer(ok))
	for _, r := range got.rows {
		if r.Due != 0 || r.Sent != 0 || r.End != 0 {
			t.Fatalf("client %d: due %v, sent %v, answered %v; want all at t0", r.Client, r.Due, r.Sent, r.End)
		}
	}
	if len(got.rows) != 500 || got.stats.End != 0 {
		t.Errorf("%d attempts, end at %v; want 500 and 0s", len(got.rows), got.stats.End)
	}
}

// quantile returns the value of rank q*n of sorted values.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(q*float64(len(sorted))+0.5)-1)]
}

// latencies returns the latencies of the trace from the due moments, sorted.
func latencies(rows []retry.Row) []time.Duration {
	var list []time.Duration
	for _, r := range rows {
		list = append(list, r.End-r.Due)
	}
	slices.Sort(list)
	return list
}

// D-14 (a): a server that stops for five seconds holds up every operation that was due then,
// and each counts from when it was due. So the percentiles are the exact ones of the case.
func TestAStoppedServerShowsInThePercentiles(t *testing.T) {
	var t0 atomic.Int64
	got := storm(t, plan{clients: 100, perSecond: 10, duration: 20 * time.Second}, func(_ int, _ *http.Request, c *targettest.Conn) {
		now := time.Now()
		t0.CompareAndSwap(0, now.UnixNano())
		if at := time.Duration(now.UnixNano() - t0.Load()); at >= 5*time.Second && at < 10*time.Second {
			time.Sleep(10*time.Second - at)
		}
		time.Sleep(5 * time.Millisecond)
		_, _ = io.WriteString(c, ok)
	})
	if len(got.rows) != 200 || got.stats.Unstarted != 0 {
		t.Fatalf("%d requests, %d unstarted; want 200 and none", len(got.rows), got.stats.Unstarted)
	}
	sorted := latencies(got.rows)
	for q, want := range map[float64]time.Duration{
		0.5: 5 * time.Millisecond, 0.75: 5 * time.Millisecond, 0.9: 3005 * time.Millisecond, 0.95: 4005 * time.Millisecond, 0.99: 4805 * time.Millisecond,
	} {
		if v := quantile(sorted, q); v != want {
			t.Errorf("p%g = %v, want %v", 100*q, v, want)
		}
	}
	l := got.run.Latency
	for name, p := range map[string]struct {
		got  *int64
		want time.Duration
	}{"p50": {l.P50, 5 * time.Millisecond}, "p90": {l.P90, 3005 * time.Millisecond}, "p99": {l.P99, 4805 * time.Millisecond}, "max": {l.Max, 5005 * time.Millisecond}} {
		if p.got == nil || !near(time.Duration(*p.got), p.want) {
			t.Errorf("the report's %s = %v, want %v to 3 digits", name, p.got, p.want)
		}
	}
}

// near reports whether a histogram of three digits can give got for want.
func near(got, want time.Duration) bool { return (got - want).Abs() <= want/500 }

// D-14: an attempt that leaves late, because its connection was lost and opening another took a
// second, counts from when it was due.
func TestLatencyCountsFromWhenItWasDue(t *testing.T) {
	got := storm(t, plan{clients: 1, retries: 1, dial: time.Second}, func(n int, _ *http.Request, c *targettest.Conn) {
		_, _ = io.WriteString(c, map[bool]string{true: respond(503, "Connection: close"), false: ok}[n == 0])
	})
	if s := got.outcomes(); s != "503@0s 200@1.1s" {
		t.Fatalf("outcomes = %s", s)
	}
	if l := got.run.Latency; *l.Max != int64(time.Second) {
		t.Errorf("latency = %v, want 1s: connecting included", time.Duration(*l.Max))
	}
}

// D-14: where the generator itself is late, each attempt counts from when it was due all the same,
// and the lateness stands beside it.
func TestLatencyHoldsTheLateness(t *testing.T) {
	got := storm(t, plan{clients: 100, send: 10 * time.Millisecond}, answer(ok))
	var latest, longest time.Duration
	for _, r := range got.rows {
		latest, longest = max(latest, r.Sent-r.Due), max(longest, r.End-r.Due)
	}
	if latest < 100*time.Millisecond || *got.run.Lateness.Max != int64(latest) {
		t.Errorf("lateness = %v, in the report %v; want the same, 100ms at least", latest, time.Duration(*got.run.Lateness.Max))
	}
	if longest < latest || *got.run.Latency.Max != int64(longest) {
		t.Errorf("longest latency = %v, in the report %v; want the same, the lateness of %v included", longest, time.Duration(*got.run.Latency.Max), latest)
	}
}

// D-14 (b): sleeps belong to the operation's latency and to no other.
func TestTwoLatenciesOfTwoNames(t *testing.T) {
	got := storm(t, plan{clients: 50, retries: 2, base: 500 * time.Millisecond}, func(_ int, r *http.Request, c *targettest.Conn) {
		text := ok
		if strings.TrimLeft(r.Header.Get("Attempt"), "0") != "2" {
			text = respond(503)
		} else {
			time.Sleep(10 * time.Millisecond)
		}
		_, _ = io.WriteString(c, text)
	})
	attempt, operation := got.run.Latency, got.run.OperationLatency
	if attempt.Count != 150 || *attempt.P50 != 0 || *attempt.Max != int64(10*time.Millisecond) {
		t.Errorf("attempt latency: %d, p50 %v, max %v; want 150, 0s, 10ms", attempt.Count, *attempt.P50, *attempt.Max)
	}
	if operation.Count != 50 || !near(time.Duration(*operation.P50), 1010*time.Millisecond) {
		t.Errorf("operation latency: %d, p50 %v; want 50, 1.01s", operation.Count, *operation.P50)
	}
}

// D-15: an attempt longer than the histograms reach is counted, and its length is kept.
func TestAnAnswerAfterTwoHours(t *testing.T) {
	got := storm(t, plan{clients: 2, duration: 3 * time.Hour}, func(n int, _ *http.Request, c *targettest.Conn) {
		time.Sleep(2 * time.Hour)
		_, _ = io.WriteString(c, ok)
	})
	if l := got.run.Latency; l.Count != 2 || l.Clamped != 2 || l.Faults != 0 || *l.Max != int64(2*time.Hour) {
		t.Errorf("latency = %+v, want two, both clamped, the longest exactly 2h", l)
	}
}

// D-18: a server that answers with every status there is makes 20 classes, the most frequent,
// and one for the rest; none is lost.
func TestClassesAreBounded(t *testing.T) {
	got := storm(t, plan{clients: 1, operations: 2000}, func(n int, _ *http.Request, c *targettest.Conn) {
		status := 200
		if n%2 == 1 {
			status = 200 + n%800
		}
		_, _ = io.WriteString(c, respond(status, "X: "+strconv.Itoa(n)))
	})
	by := got.run.Attempts.ByOutcome
	var sum int64
	for _, n := range by {
		sum += n
	}
	if len(by) != record.OutcomesMax+1 || by["200"] != 1000 || by["other"] == 0 || sum != 2000 {
		t.Errorf("%d classes, %d in all, 200 %d times, others %d times; want 20 and other, 2000 in all", len(by), sum, by["200"], by["other"])
	}
}
