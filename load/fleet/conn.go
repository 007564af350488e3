package fleet

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"stormtest/load/remote"
	"stormtest/load/retry"
	"stormtest/target/wire"
)

// end is when the time of the attempt under way is over.
func (c *client) end() time.Time { return c.f.t0.Add(c.ends()) }

// ends is end as a moment.
func (c *client) ends() time.Duration {
	if c.try != nil {
		return c.try.ends
	}
	return c.due + c.policy.AttemptTimeout(c.due)
}

// timeLeft is how long the attempt under way has from now on; nothing where its time is over.
func (c *client) timeLeft(now time.Duration) time.Duration { return max(c.ends()-now, 0) }

// connect opens a new connection and, where that speaks HTTP/1.1, sends the attempt over it.
// The error comes with the outcome that it means.
func (c *client) connect(ctx context.Context) (retry.Outcome, error) {
	dialing, cancel := c.until(ctx)
	defer cancel()
	begun := c.f.now()
	conn, err := c.f.dial(dialing, c.id)
	if err != nil {
		return c.f.dialOutcome(err), err
	}
	c.f.cfg.Recorder.Waited(uint32(c.id), c.f.now()-begun)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adopt(conn)
	if c.trip != nil {
		c.trip.fresh = true
		return retry.Outcome{}, nil
	}
	c.deadline(c.end())
	c.post(c.f.now())
	return retry.Outcome{}, nil
}

// adopt takes a new connection for the client's own. The caller holds mu, or is alone.
func (c *client) adopt(conn net.Conn) {
	if c.f.tripsOver(conn) {
		c.trip = newTrip(c, conn)
		return
	}
	c.conn = wire.New(conn)
}

// post writes the attempt to the connection, now. The caller holds mu.
func (c *client) post(now time.Duration) {
	c.request.setTimeout(c.timeLeft(now))
	switch err := c.write(); {
	case err == nil:
		c.depart(now)
	case errors.Is(err, os.ErrDeadlineExceeded): // that of what is read is over too
	default:
		c.broken = true
		c.deadline(longAgo) // the answer will not come
	}
}

// write sends the request. A target that is not ours may not read, and nobody waits for it then:
// what a socket does not take at once is not sent, and what is no socket waits until the
// attempt's time is over, or the run. The caller holds mu.
func (c *client) write() error {
	if !c.f.cfg.Foreign {
		return c.conn.Send(c.request.text)
	}
	c.writing.Store(c.conn)
	defer c.writing.Store(nil)
	if c.f.stopped.Load() {
		return os.ErrDeadlineExceeded
	}
	return c.conn.SendNow(c.request.text)
}

// ErrTLS marks an error of Config.Dial that is TLS's and not the connection's.
var ErrTLS = errors.New("TLS")

// ErrMisfit marks an error of Config.Dial that no retry mends, because client and target do
// not fit, such as that of a certificate.
var ErrMisfit = errors.New("client and target do not fit")

// dialOutcome is what a failure to connect means, and counts those of this machine.
func (f *Fleet) dialOutcome(err error) retry.Outcome {
	if kind, ok := remote.LocalFault(err); ok {
		if kind == retry.LocalNetwork {
			f.barred.Add(1)
		} else {
			f.exhausted.Add(1)
		}
		return retry.Outcome{Kind: kind}
	}
	return retry.Outcome{Kind: dialKind(err)}
}

func dialKind(err error) retry.Kind {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, new(*net.DNSError)):
		return retry.LookupFailed
	case errors.Is(err, syscall.ECONNREFUSED):
		return retry.Refused
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return retry.ConnectTimeout
	case errors.Is(err, ErrTLS):
		return retry.TLSFailed
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
		r.bodyBytes, r.chunked, r.untilEnd = 0, false, false
	}
	last := r.last || c.f.cfg.Request.CloseEach || r.status == http.StatusSwitchingProtocols // to what nobody asked for
	spent, err := c.finish(r, c.in[head+len(headEnd):n])
	if err != nil {
		return retry.Outcome{}, err
	}
	if last || spent {
		c.drop()
	}
	return o, nil
}

// retryAfterMax is where a Retry-After in seconds saturates; it is longer than any run.
const retryAfterMax = 365 * 24 * time.Hour

// lostBy is the outcome of an attempt whose answer ended in err.
func (c *client) lostBy(err error) retry.Outcome {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	switch {
	case broken:
		c.f.wary.Store(c.f.wary.Load() || c.prompt)
		return retry.Outcome{Kind: retry.Reset}
	case refusedTLS(err):
		return retry.Outcome{Kind: retry.TLSFailed}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return retry.Outcome{Kind: retry.Timeout}
	case errors.Is(err, errMalformed):
		return retry.Outcome{Kind: retry.Malformed}
	}
	c.f.wary.Store(c.f.wary.Load() || c.prompt)
	return retry.Outcome{Kind: retry.Reset}
}

// refusedTLS reports whether the server refused TLS, which in version 1.3 it says only after the
// handshake, where it wants another certificate of the client's.
func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// failed ends an attempt without an answer: with its outcome or, when only the end of the
// run cut it short, in flight.
func (c *client) failed(ctx context.Context, o retry.Outcome) (retry.Outcome, time.Duration, ending) {
	at := c.f.now()
	c.reached = c.arrived() // before anything is booked
	connected := c.conn != nil || c.trip != nil && c.departed
	if c.conn != nil {
		c.drop()
	}
	if c.unwanted() {
		return c.givenUp(connected), at, answered
	}
	cut := ctx.Err() != nil || c.f.stopped.Load()
	if cut && (o.Kind == retry.Timeout || !connected) {
		c.recordSent(c.number())
		c.f.inFlight.Add(1)
		c.flying = true
		switch {
		case !connected:
			c.recordLost(lostConnecting)
		case c.f.cfg.Foreign && !c.departed:
			c.recordLost(LostUnread)
		}
		return retry.Outcome{}, 0, interrupted
	}
	switch {
	case !connected:
		c.recordLost(dialLost[o.Kind])
	case c.f.cfg.Foreign && !c.departed && o.Kind == retry.Timeout:
		c.recordLost(LostUnread)
	case c.f.cfg.Foreign && !c.departed:
		c.recordLost(LostReset)
	case o.Kind == retry.Reset && c.f.cfg.Arrived != nil && c.reached < 0:
		c.resets++ // booked at the end, for the target may be about to see it
	}
	return o, at, answered
}

// arrived returns when the attempt under way reached the target, negative where it did not or
// nobody knows. The attempts before it have all arrived or are known to be lost, apart from
// those that timed out before the target read them, which are rare and few.
func (c *client) arrived() time.Duration {
	switch {
	case c.departed:
		return c.departedAt
	case c.f.cfg.Arrived == nil:
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
	retry.TLSFailed:      lostTLSFailed,
	retry.NoDescriptor:   lostNoDescriptor,
	retry.NoPort:         lostNoPort,
	retry.LocalNetwork:   lostLocalNetwork,
	retry.LookupFailed:   lostLookup,
	retry.Reset:          LostReset, // of a trip whose connection was lost before its head was written
	retry.Malformed:      LostReset,
	retry.Timeout:        LostUnread, // of a trip whose head the target did not take
}
