package probe

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/target/targettest"
)

// A target is at rest once three answers in a row are good and quick; until then it is asked ever more
// seldom, and not for longer than 10 s. In a bubble, over a network in memory.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(n int) (took time.Duration, status int) // n from 1
		want   Calm
	}{
		{"at rest", func(int) (time.Duration, int) { return 0, 200 }, Calm{true, 3, 300 * time.Millisecond}},
		{"refuses twice", func(n int) (time.Duration, int) { return 0, map[bool]int{true: 503, false: 204}[n == 1 || n == 3] },
			Calm{true, 6, (100 + 200 + 200 + 3*400) * time.Millisecond}},
		{"slow at first", func(n int) (time.Duration, int) { return time.Duration(max(0, 3-n)) * time.Second, 200 },
			Calm{true, 5, 3*time.Second + (100+200+3*400)*time.Millisecond}},
		{"never", func(int) (time.Duration, int) { return 0, 503 }, Calm{false, 12, 10 * time.Second}},
		{"hangs", func(int) (time.Duration, int) { return time.Hour, 200 }, Calm{false, 2, 10 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var network targettest.Network
				listener, err := network.Listen("t")
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					n++
					took, status := tt.answer(n)
					select {
					case <-time.After(took):
						w.WriteHeader(status)
					case <-r.Context().Done():
					}
				})}
				go func() { _ = server.Serve(listener) }()
				c := Config{Host: "t", Dial: func(ctx context.Context) (net.Conn, error) { return network.DialContext(ctx, "mem", "t") }}
				got, err := Settle(t.Context(), c, 5*time.Millisecond)
				if err != nil || got != tt.want {
					t.Errorf("Settle = %+v, %v; want %+v", got, err, tt.want)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if got, err := Settle(ctx, c, time.Millisecond); err != nil || got != (Calm{}) {
					t.Errorf("Settle without a context = %+v, %v; want nothing", got, err)
				}
				_ = server.Close()
			})
		})
	}
	if _, err := Settle(t.Context(), Config{}, 0); err == nil {
		t.Error("Settle without a Dial: no error")
	}
}
