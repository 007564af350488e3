package fleet

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"stormtest/load/retry"
)

// connect opens a new connection and sends the attempt over it. The error comes with the
// outcome that it means.
func (c *client) connect(ctx context.Context) (retry.Outcome, error) {
	end := c.f.t0.Add(c.due + c.policy.AttemptTimeout(c.due))
	dialing, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	conn, err := c.f.dial(dialing)
	if err != nil {
		if exhausted(err) {
			c.f.exhausted.Add(1)
		}
		return retry.Outcome{Kind: dialKind(err)}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	c.deadline(end)
	_ = c.conn.Send(c.request.text)
	return retry.Outcome{}, nil
}

// exhausted reports whether it was this machine that ran out of something.
func exhausted(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL}, func(e error) bool { return errors.Is(err, e) })
}

func dialKind(err error) retry.Kind {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return retry.Refused
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return retry.ConnectTimeout
	}
	return retry.ConnectFailed
}

// drop closes the connection.
func (c *client) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.Close()
	c.conn = nil
}

// read goes on reading an answer of which n bytes are there, or an error.
func (c *client) read(ctx context.Context, n int, err error) (retry.Outcome, time.Duration, ending) {
	o, err := c.receive(n, err)
	if err != nil {
		return c.failed(ctx, c.lostBy(err))
	}
	at := c.f.now()
	c.reached = c.arrived()
	return o, at, answered
}

// receive reads an answer to its end. The connection is dropped where it is of no more use.
func (c *client) receive(n int, err error) (retry.Outcome, error) {
	var r response
	var head int
	for {
		if head = bytes.Index(c.in[:n], headEnd); head >= 0 {
			if r, err = parseResponse(c.in[:head+len(crlf)]); err != nil {
				return retry.Outcome{}, err
			}
			if r.status >= 200 || r.status == 101 {
				break
			}
			n = copy(c.in, c.in[head+len(headEnd):n]) // an interim answer; the real one follows
			continue
		}
		if err != nil {
			return retry.Outcome{}, err
		}
		if n == len(c.in) {
			if n >= headMaxBytes {
				return retry.Outcome{}, errMalformed
			}
			c.in = append(c.in, make([]byte, n)...)
		}
		var more int
		more, err = c.conn.Receive(c.in[n:])
		n += more
	}
	o := retry.Outcome{Kind: retry.Responded, Status: r.status}
	if r.retryAfter != nil {
		o.Hint = retry.ParseRetryAfter(string(r.retryAfter), string(r.date), time.Now(), retryAfterMax)
	}
	if c.f.cfg.Request.Method == http.MethodHead {
		r.bodyBytes = 0
	}
	rest := r.bodyBytes - int64(n-head-len(headEnd))
	if err := c.discard(rest); err != nil {
		return retry.Outcome{}, err
	}
	if r.last || rest < 0 { // rest < 0: more came than was asked for
		c.drop()
	}
	return o, nil
}

// retryAfterMax is where a Retry-After in seconds saturates; it is longer than any run.
const retryAfterMax = 365 * 24 * time.Hour

// discard reads over the rest of a body.
func (c *client) discard(rest int64) error {
	for rest > 0 {
		n, err := c.conn.Receive(c.in[:min(rest, int64(len(c.in)))])
		rest -= int64(n)
		if err != nil && rest > 0 {
			return err
		}
	}
	return nil
}

// lostBy is the outcome of an attempt whose answer ended in err.
func (c *client) lostBy(err error) retry.Outcome {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	switch {
	case broken:
		return retry.Outcome{Kind: retry.Reset}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return retry.Outcome{Kind: retry.Timeout}
	case errors.Is(err, errMalformed):
		return retry.Outcome{Kind: retry.Malformed}
	}
	return retry.Outcome{Kind: retry.Reset}
}

// failed ends an attempt without an answer: with its outcome or, when only the end of the
// run cut it short, in flight.
func (c *client) failed(ctx context.Context, o retry.Outcome) (retry.Outcome, time.Duration, ending) {
	at := c.f.now()
	c.reached = c.arrived() // before anything is booked
	connected := c.conn != nil
	if connected {
		c.drop()
	}
	cut := ctx.Err() != nil || c.f.stopped.Load()
	if cut && (o.Kind == retry.Timeout || !connected) {
		c.recordSent(c.policy.Attempt())
		c.f.inFlight.Add(1)
		if !connected {
			c.recordLost(lostConnecting)
		}
		return retry.Outcome{}, 0, interrupted
	}
	switch {
	case !connected:
		c.recordLost(dialLost[o.Kind])
	case o.Kind == retry.Reset && c.f.cfg.Arrived != nil && c.reached < 0:
		c.resets++ // booked at the end, for the target may be about to see it
	}
	return o, at, answered
}

// arrived returns when the attempt under way reached the target, negative where it did not or
// nobody knows. The attempts before it have all arrived or are known to be lost, apart from
// those that timed out before the target read them, which are rare and few.
func (c *client) arrived() time.Duration {
	if c.f.cfg.Arrived == nil {
		return -1
	}
	if count, last := c.f.cfg.Arrived(c.id); count > c.attempts-c.lost-c.resets {
		return last
	}
	return -1
}

var dialLost = [retry.KindCount]int{
	retry.Refused:        lostRefused,
	retry.ConnectTimeout: lostConnectTimeout,
	retry.ConnectFailed:  lostConnectFailed,
}
