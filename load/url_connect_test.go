package load_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The notes tell a target that takes no connection before the start from one for which the time did not
// suffice, and connecting on purpose for every attempt from both.
func TestWhyThereWasNoConnection(t *testing.T) {
	const clients = 300
	for _, tt := range []struct {
		name  string
		each  time.Duration // what a connection takes; 0: nobody listens
		keep  bool
		notes string // part of them; "": of none
	}{
		{"slow", 5 * time.Second, true, "172 of 300 clients had no connection yet when the 13s for connecting were over"},
		{"quick enough", time.Second, true, ""},
		{"nobody", 0, true, "the target took no connection of 300 of 300 clients before the start"},
		{"nobody, one for each attempt", 0, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := stub{answer: func(*http.Request, int) (string, bool) {
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
			}}
			defer s.start(t)()
			connect := func(ctx context.Context, network, address string) (net.Conn, error) {
				timer := time.NewTimer(tt.each)
				defer timer.Stop()
				select {
				case <-timer.C:
					return s.network.DialContext(ctx, network, address)
				case <-ctx.Done():
					return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
				}
			}
			if tt.each == 0 {
				connect = closedPort()
			}
			result := elsewhere(t, scenario(t, "url: http://127.0.0.1/", fmt.Sprint("clients: ", clients), "max-retries: 0", "timeout: 10s", "duration: 20s",
				fmt.Sprint("keepalive: ", tt.keep)), connect)
			notes := strings.Join(result.Runs[0].Notes, "\n")
			if tt.notes == "" && strings.Contains(notes, "of 300 clients") || !strings.Contains(notes, tt.notes) {
				t.Errorf("%s: notes\n%s\nwant %q", tt.name, notes, tt.notes)
			}
		})
	}
}
