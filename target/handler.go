package target

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"stormtest/target/station"
)

// Handled is what became of one request, where nothing is set besides the Arrival: the client left
// before it had an answer, or the server ended.
type Handled struct {
	Arrival
	// Counted says that it was an arrival: false before Start, and where nothing is there to arrive at.
	Counted bool
	Status  int  // of the answer; 0 is none
	Reset   bool // the target reset the connection instead
}

// ServeHTTP answers one request by the target's rules, on any server. Run must be running.
//
// A hang ends with the request's context. A reset, and a refused connection (which a handler
// cannot show otherwise), aborts the connection, or the stream where HTTP/2 shares one. A body is
// read to its end before the answer, as most services do, unless the request is turned away.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ready: make(chan struct{})}
	h := Handled{Arrival: Arrival{Client: headerClient(r.Header)}}
	stamp := time.Now()
	h.Attempt = t.attempt(r.Header)
	adm, _ := t.arrive(stamp, call{origin{h.Client, keyNumber([]byte(r.Header.Get(KeyHeader)))}, h.Attempt, headerTimeout(r.Header)}, x)
	select {
	case <-t.started:
		h.At = stamp.Sub(t.t0)
		h.Counted = adm.Kind != station.Refused
	default:
	}
	switch adm.Kind {
	case station.Accepted:
		if answered(r, x.ready) {
			adm = x.answer
			h.Status = adm.Status
		} else {
			t.gone(x)
		}
	case station.Rejected, station.Failed:
		h.Status, h.Rejected = adm.Status, h.Counted
	case station.Hung:
		answered(r, nil)
	default:
		h.Reset, h.Rejected = true, h.Counted
	}
	h.Reset = h.Reset || h.Status == 0 && resetByTarget(r.Context())
	if t.cfg.OnHandled != nil {
		t.cfg.OnHandled(h)
	}
	if h.Status == 0 {
		abortRequest(w) // also where the client has only stopped to send, which looks the same
		return
	}
	if text := retryAfter(adm.RetryAfter, t.texts.dated, time.Now()); text != "" {
		w.Header().Set("Retry-After", text)
		if t.texts.dated {
			w.Header()["Date"] = nil // a date of whole seconds would make the hint early by a part of one
		}
	}
	w.WriteHeader(h.Status)
}

// answered reads the request's body, which the server must have done to see its client leave, and
// waits until ready is closed. It is false where the client left before that.
func answered(r *http.Request, ready <-chan struct{}) bool {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return false
		}
	}
	select {
	case <-ready:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (t *Target) attempt(h http.Header) int {
	if t.cfg.Attempts != nil {
		return t.cfg.Attempts.Number(h)
	}
	return headerAttempt(h)
}

// abortRequest resets an HTTP/1.1 connection; net/http resets the stream of another.
func abortRequest(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		abort(c)
		return
	}
	panic(http.ErrAbortHandler)
}

func headerClient(h http.Header) uint32 {
	n, err := strconv.ParseUint(h.Get(HeaderClient), 10, 32)
	if err != nil {
		return Unknown
	}
	return uint32(n)
}

func headerAttempt(h http.Header) int {
	n, err := strconv.ParseUint(h.Get(HeaderAttempt), 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func headerTimeout(h http.Header) time.Duration {
	for _, name := range []string{HeaderTimeout, "Grpc-Timeout"} {
		if timeout, ok := parseTimeout(h.Get(name)); ok {
			return timeout
		}
	}
	return noTimeout
}
