package retry

import "strconv"

// A Kind says how one attempt ended on the wire. The zero Kind is Responded.
type Kind uint8

// The kinds of ending, in the order of the stages of an attempt.
const (
	Responded      Kind = iota // an answer came; Outcome.Status says which
	Refused                    // ECONNREFUSED
	ConnectTimeout             // the attempt's time ran out before it had a connection
	ConnectFailed              // any other failure to get a connection
	TLSFailed                  // there was a connection, and no TLS over it
	NoDescriptor               // this machine's fault: no descriptor was left for a connection
	NoPort                     // this machine's fault: no local port, or no memory for a socket
	LocalNetwork               // this machine's fault: no route, no permission, or a firewall of its own
	LookupFailed               // the name was not found, which is no fault of the server's; load/remote looks it up before the start
	Timeout                    // the attempt's time ran out after it was sent
	Reset                      // the connection was lost after the send and before a whole answer
	Malformed                  // what came is not HTTP
	ShortCircuited             // it was not sent: a breaker or a throttle of the client's refused it
	Cancelled                  // the client gave it up, for it has its answer from another attempt, or nobody wants it any more
	KindCount                  // of kinds: the length of a table indexed by Kind
)

// kinds is the one table of what is known of each Kind.
var kinds = [KindCount]struct {
	key   string // in by_outcome of a result
	token string // in a Set's text; "" for Responded, which statuses stand for
	idle  bool   // the server did no work, so a repeat is safe for every method
}{
	Responded:      {key: "responded"},
	Refused:        {key: "refused", token: "connect", idle: true},
	ConnectTimeout: {key: "connect_timeout", token: "connect", idle: true},
	ConnectFailed:  {key: "connect_failed", token: "connect", idle: true},
	TLSFailed:      {key: "tls_failed", token: "connect", idle: true},
	NoDescriptor:   {key: "local_descriptors", token: "connect", idle: true},
	NoPort:         {key: "local_ports", token: "connect", idle: true},
	LocalNetwork:   {key: "local_network", token: "connect", idle: true},
	LookupFailed:   {key: "dns", token: "connect", idle: true},
	Timeout:        {key: "timeout", token: "timeout"},
	Reset:          {key: "reset", token: "reset"},
	Malformed:      {key: "malformed", token: "malformed"},
	ShortCircuited: {key: "short_circuited", idle: true},
	Cancelled:      {key: "cancelled"},
}

// String returns the kind's key in by_outcome of a result, such as "connect_timeout".
// Responded has no key there, its statuses have; it is "responded".
func (k Kind) String() string {
	if k >= KindCount {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kinds[k].key
}

// An Outcome is how one attempt ended. Status and Hint are read only where Kind is
// Responded.
type Outcome struct {
	Kind   Kind
	Status int  // of the final answer: 200..999, or 101
	Hint   Hint // of the answer's Retry-After; the zero Hint where it had none
}

// String returns the outcome's key in by_outcome of a result: "503", "timeout". It is for
// reports; it allocates.
func (o Outcome) String() string {
	if o.Kind == Responded {
		return strconv.Itoa(o.Status)
	}
	return o.Kind.String()
}
