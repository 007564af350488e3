package probe

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// A Calm is how a wait for a target to come to rest ended.
type Calm struct {
	Rested   bool // false: time was up, or the context ended
	Requests int
	Took     time.Duration
}

// How a target is waited for.
const (
	settleMost  = 10 * time.Second
	settleGood  = 3 // answers in a row
	settlePause = 100 * time.Millisecond
	pauseMost   = time.Second
)

// Settle waits until the target has worked off what it was asked before: until three requests in a row, one
// at a time, get good answers within a time. It sends one every 100 ms, and after an answer that is not good
// waits twice as long, up to 1 s, so that a limit is not used up by the asking. It gives up after 10 s and
// at the end of ctx. The error is of the configuration.
func Settle(ctx context.Context, c Config, within time.Duration) (Calm, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return Calm{}, err
	}
	request, err := c.request("target")
	if err != nil {
		return Calm{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, settleMost)
	defer cancel()
	transport := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx) },
		DisableCompression: true,
	}
	defer transport.CloseIdleConnections()
	calm, began, pause := Calm{}, time.Now(), settlePause
	for row := 0; row < settleGood; {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			calm.Took = time.Since(began)
			return calm, nil
		}
		calm.Requests++
		if c.ask(ctx, transport, request, within) {
			row++
		} else {
			row, pause = 0, min(2*pause, pauseMost)
		}
	}
	calm.Rested, calm.Took = true, time.Since(began)
	return calm, nil
}

// ask makes one request and reports whether it got a good answer in time.
func (c Config) ask(ctx context.Context, transport *http.Transport, request *http.Request, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r := request.Clone(ctx)
	if len(c.Body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(c.Body))
	}
	began := time.Now()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return err == nil && sample{status: answer.StatusCode}.good() && time.Since(began) <= within
}
