package target

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"stormtest/target/station"
)

// A responder writes answers from one goroutine. The goroutines that read requests only
// stamp and decide, so in a wave the arrivals are stamped before the answers take the
// processor: 2,000 simultaneous requests were stamped within 13 ms in this way and within
// 27 ms where each reader also answered (scripts/bench/README.md).
type responder struct {
	mu     *sync.Mutex
	queue  []answer
	kicked chan struct{}
}

type answer struct {
	to   sender
	text []byte // shared; never changed
}

// A sender is a connection, of a goroutine's own (wire.Conn) or of a loop (wire.Peer).
type sender interface {
	// SendNow writes b at once or gives the connection up. It is safe for concurrent use with
	// everything but itself.
	SendNow(b []byte) error
}

func newResponder() responder {
	return responder{mu: new(sync.Mutex), kicked: make(chan struct{}, 1)}
}

func (r *responder) send(to sender, text []byte) {
	r.mu.Lock()
	r.queue = append(r.queue, answer{to, text})
	first := len(r.queue) == 1
	r.mu.Unlock()
	if first {
		select {
		case r.kicked <- struct{}{}:
		default:
		}
	}
}

func (r *responder) run(ctx context.Context) {
	var batch []answer
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kicked:
		}
		r.gather()
		for {
			r.mu.Lock()
			batch, r.queue = r.queue, batch[:0]
			r.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			for i, a := range batch {
				if i%answersInTurn == answersInTurn-1 {
					runtime.Gosched() // whoever has requests to send goes first
				}
				// A client that has gone, or that does not read, is no fault of the target's;
				// its reader sees the end too.
				_ = a.to.SendNow(a.text)
			}
		}
	}
}

// answersInTurn is how many answers are written before others get the processor: a hundred
// microseconds' worth.
const answersInTurn = 8

// Bounds of gather: how long an answer waits at most, and how many new answers it takes to
// wait on.
const (
	gatherMax = 10 * time.Millisecond
	gatherMin = 16
)

// gather lets the readers run as long as they bring answers: an answer that is written while
// requests wait to be read makes their arrivals look later than they are.
func (r *responder) gather() {
	begun := time.Now()
	for last := 0; time.Since(begun) < gatherMax; {
		runtime.Gosched()
		r.mu.Lock()
		n := len(r.queue)
		r.mu.Unlock()
		if n-last < gatherMin {
			return
		}
		last = n
	}
}

// answerText is the answer with a status and, where not empty, a Retry-After.
func answerText(status int, retryAfter string) []byte {
	text := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n"
	if retryAfter != "" {
		text += "Retry-After: " + retryAfter + "\r\n"
	}
	return []byte(text + "Content-Length: 0\r\n\r\n")
}

// answerTexts keeps the few answers that a target gives. Not safe for concurrent use.
type answerTexts struct {
	served   []byte
	rejected map[int64][]byte // by Retry-After, in seconds
	status   int
	dated    bool // Retry-After is a date
}

func newAnswerTexts(c *station.Config) answerTexts {
	return answerTexts{
		served:   answerText(http.StatusOK, ""),
		rejected: make(map[int64][]byte),
		status:   cmp.Or(c.Status, http.StatusServiceUnavailable), // the station's default
		dated:    c.RetryAfter.Mode == station.RetryAfterReset,
	}
}

// retryAfter is the Retry-After of an answer that is given now: so many seconds or, where it stands for a moment, a date. Nothing is empty.
func retryAfter(hint time.Duration, dated bool, now time.Time) string {
	switch {
	case hint <= 0:
		return ""
	case dated: // what now is late by does not matter, for the moment is a whole second
		return now.Add(hint).Round(time.Second).UTC().Format(http.TimeFormat)
	}
	return strconv.FormatInt(int64(hint/time.Second), 10)
}

// The longest table of Retry-After texts; beyond, a text is made for each answer.
const answerTextsMax = 1024

// text is the answer that is given now.
func (a *answerTexts) text(adm station.Admission, now time.Time) []byte {
	key := int64(adm.RetryAfter / time.Second)
	if a.dated && adm.RetryAfter > 0 {
		key = now.Add(adm.RetryAfter).Round(time.Second).Unix()
	}
	if text, ok := a.rejected[key]; ok && adm.Status == a.status {
		return text
	}
	text := answerText(adm.Status, retryAfter(adm.RetryAfter, a.dated, now))
	if adm.Status == a.status && len(a.rejected) < answerTextsMax {
		a.rejected[key] = text
	}
	return text
}
