package target_test

import (
	"fmt"
	"net/http"
	"testing"

	"stormtest/target"
)

func TestAttemptsReadWhatClientsSay(t *testing.T) {
	const unknown = target.UnknownAttempt
	tests := []struct {
		name   string
		header http.Header
		want   int
	}{
		{"nothing", http.Header{}, unknown},
		{"ours", http.Header{"Stormtest-Attempt": {"3"}}, 3},
		{"ours, the first", http.Header{"Stormtest-Attempt": {"0"}}, 0},
		{"a retry count", http.Header{"X-Retry-Count": {" 2 "}}, 2},
		{"a generated SDK", http.Header{"X-Stainless-Retry-Count": {"1"}}, 1},
		{"gRPC", http.Header{"Grpc-Previous-Rpc-Attempts": {"1"}}, 1},
		{"AWS, the first", http.Header{"Amz-Sdk-Request": {"attempt=1; max=3"}}, 0},
		{"AWS, a retry", http.Header{"Amz-Sdk-Request": {"ttl=20200928T173044Z; attempt=2; max=3"}}, 1},
		{"Envoy, its first", http.Header{"X-Envoy-Attempt-Count": {"1"}}, unknown}, // of any of the client's
		{"Envoy's first of a client's retry", http.Header{"X-Envoy-Attempt-Count": {"1"}, "X-Retry-Count": {"2"}}, 2},
		{"Envoy, a retry", http.Header{"X-Envoy-Attempt-Count": {"4"}}, 3},
		{"the largest counts", http.Header{"X-Retry-Count": {"0"}, "X-Envoy-Attempt-Count": {"2"}}, 1},
		{"no number", http.Header{"X-Retry-Count": {"many"}}, unknown},
		{"too low a number", http.Header{"X-Envoy-Attempt-Count": {"0"}}, unknown},
		{"too high a number", http.Header{"X-Retry-Count": {"99999999999999999999"}}, unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := target.NewAttempts("", 0).Number(tt.header); got != tt.want {
				t.Errorf("Number(%v) = %d, want %d", tt.header, got, tt.want)
			}
		})
	}
}

func TestAttemptsCountSightingsOfAKey(t *testing.T) {
	a := target.NewAttempts("x-request-id", 2)
	number := func(key string) int { return a.Number(http.Header{"X-Request-Id": {key}}) }
	for i, want := range []struct {
		key string
		n   int
	}{
		{"a", 0}, {"a", 1}, {"b", 0}, {"a", 2},
		{"c", 0},           // for which a, the oldest, is forgotten
		{"b", 1}, {"c", 1}, // still known
		{"a", 0}, // b is forgotten
		{"b", 0},
	} {
		if got := number(want.key); got != want.n {
			t.Errorf("sighting %d, of %q = %d, want %d", i, want.key, got, want.n)
		}
	}
	if got := a.Forgotten(); got != 3 {
		t.Errorf("forgotten = %d, want 3", got)
	}
	if got := a.Number(http.Header{target.KeyHeader: {"a"}}); got != target.UnknownAttempt {
		t.Errorf("a header that was not named says %d, want nothing", got)
	}
	// A client in two layers: the inner one counts anew, the key does not.
	h := http.Header{"X-Request-Id": {"b"}, "X-Retry-Count": {"0"}}
	if got := a.Number(h); got != 1 {
		t.Errorf("Number(%v) = %d, want 1", h, got)
	}
}

func TestAttemptsFromManyGoroutines(t *testing.T) {
	a := target.NewAttempts("", 8)
	done := make(chan int)
	for i := range 4 {
		go func() {
			for j := range 100 {
				a.Number(http.Header{target.KeyHeader: {fmt.Sprint(i, j)}})
			}
			done <- i
		}()
	}
	for range 4 {
		<-done
	}
	if got := a.Forgotten(); got != 400-8 {
		t.Errorf("forgotten = %d, want 392", got)
	}
}
