package fleet

import (
	"fmt"
	"strings"
)

// A Request is what every attempt sends.
type Request struct {
	Method string
	Host   string // the authority of the target
	Path   string // the request target
	Agent  string // User-Agent
	// ClientHeader and AttemptHeader are the names of the headers that carry the client's
	// index, and how many attempts of the operation came before.
	ClientHeader, AttemptHeader string
	// KeyPrefix, where not empty, starts the Idempotency-Key, which is the same for all
	// attempts of one operation and another for every other operation.
	KeyPrefix string
}

// Widths of the numbers that are written into a built request.
const (
	attemptDigits   = 10
	operationDigits = 19
)

// A built request is bytes ready to be sent, in which the numbers of the attempt and of the
// operation are overwritten in place: sending allocates nothing.
type built struct {
	text      []byte
	attempt   []byte // part of text
	operation []byte // part of text; nil without an Idempotency-Key
}

func (r Request) build(client int) built {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n", r.Method, r.Path, r.Host, r.Agent)
	fmt.Fprintf(&b, "%s: %d\r\n", r.ClientHeader, client)
	fmt.Fprintf(&b, "%s: ", r.AttemptHeader)
	attemptAt := b.Len()
	b.WriteString(strings.Repeat("0", attemptDigits))
	operationAt := 0
	if r.KeyPrefix != "" {
		fmt.Fprintf(&b, "\r\nIdempotency-Key: \"%s-%d-", r.KeyPrefix, client)
		operationAt = b.Len()
		b.WriteString(strings.Repeat("0", operationDigits) + "\"")
	}
	if r.Method != "GET" && r.Method != "HEAD" {
		b.WriteString("\r\nContent-Length: 0")
	}
	b.WriteString("\r\n\r\n")
	out := built{text: []byte(b.String())}
	out.attempt = out.text[attemptAt : attemptAt+attemptDigits]
	if operationAt > 0 {
		out.operation = out.text[operationAt : operationAt+operationDigits]
	}
	return out
}

// set writes the numbers of an attempt into the request.
func (b *built) set(operation int64, attempt int) {
	putDecimal(b.attempt, int64(attempt))
	putDecimal(b.operation, operation)
}

// putDecimal fills b with n in decimal, with leading zeros.
func putDecimal(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}
