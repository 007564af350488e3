package target

import (
	"net/http"
	"strconv"
	"time"

	"stormtest/target/station"
)

// ServeHTTP answers one request by the target's rules, on any server. Run must be running.
//
// A hang ends with the request's context. A reset, and a refused connection (which a handler
// cannot show otherwise), aborts the connection, or the stream where HTTP/2 shares one.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ready: make(chan struct{})}
	adm, _ := t.arrive(time.Now(), headerClient(r.Header), headerAttempt(r.Header), x)
	switch adm.Kind {
	case station.Accepted:
		select {
		case <-x.ready:
			w.WriteHeader(http.StatusOK)
		case <-r.Context().Done():
			t.gone(x)
		}
	case station.Rejected, station.Failed:
		if adm.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt(int64(adm.RetryAfter/time.Second), 10))
		}
		w.WriteHeader(adm.Status)
	case station.Hung:
		<-r.Context().Done()
	default:
		abortRequest(w)
	}
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
