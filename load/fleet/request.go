package fleet

import (
	"bytes"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stormtest/target"
)

// A Request is what every attempt sends.
//
// In Target, the values of Header and Body, {client}, {operation} and {attempt} stand for
// the client's index, the number of its operation and the number of the attempt, each from 0.
type Request struct {
	Method string
	Host   string // the authority of the target
	Target string // the request target: path and query
	Agent  string // User-Agent, where Header has none
	Header []Field
	Body   []byte
	// ClientHeader and AttemptHeader are the names of the headers that carry the client's
	// index, and how many attempts of the operation came before.
	ClientHeader, AttemptHeader string
	// TimeoutHeader is the name of the one that carries how much time the attempt has left when it leaves, as
	// target.AppendTimeout writes it; empty for none.
	TimeoutHeader string
	// KeyPrefix, where not empty, starts the Idempotency-Key, which is the same for all
	// attempts of one operation and another for every other operation.
	KeyPrefix string
	// KeyShared says that no two operations have one number, whosoever they are: then the key has no client in it.
	KeyShared bool
	// CloseEach asks the server to end the connection after its answer.
	CloseEach bool
}

// A Field is one header line.
type Field struct{ Name, Value string }

// Widths of the numbers that are written into a built request.
const (
	attemptDigits   = 10
	operationDigits = 19
)

// A built request is bytes ready to be sent, in which the numbers of the attempt and of the
// operation are overwritten in place: sending allocates nothing, unless a template has to be
// filled in anew.
type built struct {
	text      []byte
	attempt   []byte   // part of text
	operation []byte   // part of text; nil without an Idempotency-Key
	timeout   []byte   // part of text; nil without a TimeoutHeader
	renew     *Request // where the text changes from one attempt to the next
	client    int
}

// places are what a template's words stand for.
type places struct {
	client    int
	operation int64
	attempt   int
}

var placeWords = [...]string{"{client}", "{operation}", "{attempt}"}

// changing reports whether text depends on more than the client.
func changing(text string) bool {
	return strings.Contains(text, placeWords[1]) || strings.Contains(text, placeWords[2])
}

// fill puts the numbers into a template.
func (p places) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer(
		placeWords[0], strconv.Itoa(p.client),
		placeWords[1], strconv.FormatInt(p.operation, 10),
		placeWords[2], strconv.Itoa(p.attempt),
	).Replace(text)
}

// template reports whether the request has to be built for every attempt.
func (r *Request) template() bool {
	for _, h := range r.Header {
		if changing(h.Value) {
			return true
		}
	}
	return changing(r.Target) || changing(string(r.Body))
}

// longest is how many bytes a request may have at most.
func (r *Request) longest() int {
	var b built
	r.write(&b, places{math.MaxInt32, math.MaxInt64, math.MaxInt32})
	return len(b.text)
}

// bodyTemplate reports whether the body differs between attempts or clients.
func (r *Request) bodyTemplate() bool {
	for _, word := range placeWords {
		if bytes.Contains(r.Body, []byte(word)) {
			return true
		}
	}
	return false
}

// build returns the request of a client.
func (r *Request) build(client int) built {
	b := built{client: client}
	r.write(&b, places{client: client})
	if r.template() {
		b.renew = r
	}
	return b
}

// write builds the request's text.
func (r *Request) write(out *built, p places) {
	var b bytes.Buffer
	b.WriteString(r.Method + " " + p.fill(r.Target) + " HTTP/1.1\r\n")
	for _, h := range r.fields(p) {
		b.WriteString(h.Name + ": " + h.Value + "\r\n")
	}
	b.WriteString(r.AttemptHeader + ": ")
	attemptAt := b.Len()
	b.WriteString(strings.Repeat("0", attemptDigits))
	operationAt, timeoutAt := 0, 0
	if r.TimeoutHeader != "" {
		b.WriteString("\r\n" + r.TimeoutHeader + ": ")
		timeoutAt = b.Len()
		b.Write(target.AppendTimeout(nil, math.MaxInt64))
	}
	if r.KeyPrefix != "" {
		b.WriteString("\r\nIdempotency-Key: \"" + r.keyOf(p.client))
		operationAt = b.Len()
		b.WriteString(strings.Repeat("0", operationDigits) + "\"")
	}
	body := p.fill(string(r.Body))
	if len(body) > 0 || r.hasBody() {
		b.WriteString("\r\nContent-Length: " + strconv.Itoa(len(body)))
	}
	if r.CloseEach {
		b.WriteString("\r\nConnection: close")
	}
	b.WriteString("\r\n\r\n" + body)
	out.text = bytes.Clone(b.Bytes())
	out.attempt = out.text[attemptAt : attemptAt+attemptDigits]
	if timeoutAt > 0 {
		out.timeout = out.text[timeoutAt : timeoutAt+target.TimeoutBytes]
	}
	if operationAt > 0 {
		out.operation = out.text[operationAt : operationAt+operationDigits]
	}
}

// keyOf is the key of a client's operations, but for their numbers.
func (r *Request) keyOf(client int) string {
	if r.KeyShared {
		return r.KeyPrefix + "-"
	}
	return r.KeyPrefix + "-" + strconv.Itoa(client) + "-"
}

// fields returns the header lines that do not change from one attempt to the next.
func (r *Request) fields(p places) []Field {
	host, agent := r.Host, r.Agent
	var others []Field
	for _, h := range r.Header {
		switch value := p.fill(h.Value); {
		case strings.EqualFold(h.Name, "Host"):
			host = value
		case strings.EqualFold(h.Name, "User-Agent"):
			agent = value
		default:
			others = append(others, Field{h.Name, value})
		}
	}
	first := []Field{{"Host", host}, {"User-Agent", agent}, {r.ClientHeader, strconv.Itoa(p.client)}}
	return append(first, others...)
}

// hasBody reports whether the method says how long its body is even where there is none.
func (r *Request) hasBody() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// set writes the numbers of an attempt into the request.
func (b *built) set(operation int64, attempt int) {
	if b.renew != nil {
		b.renew.write(b, places{b.client, operation, attempt})
	}
	putDecimal(b.attempt, int64(attempt))
	putDecimal(b.operation, operation)
}

// setTimeout writes how much time the attempt has left into the request, where that says so.
func (b *built) setTimeout(left time.Duration) {
	if b.timeout != nil {
		target.AppendTimeout(b.timeout[:0], left)
	}
}

// putDecimal fills b with n in decimal, with leading zeros.
func putDecimal(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}
