package target

import (
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// UnknownAttempt is the Attempt of an arrival that says nothing of it.
const UnknownAttempt = -1

// KeyHeader is the header that many clients send unchanged with every attempt of an operation.
const KeyHeader = "Idempotency-Key"

// KeysMax is how many keys an Attempts remembers where it is not told.
const KeysMax = 1 << 20

// Attempts tells first attempts from retries by what requests of clients that are not ours
// carry. Make it with NewAttempts. Safe for concurrent use. Memory is at most some 60 bytes for
// each of the keys remembered.
type Attempts struct {
	key  string
	most int
	seed maphash.Seed

	mu        sync.Mutex
	seen      map[uint64]int // how often, by the hash of the key
	order     []uint64       // the keys of seen as they came, a ring once it has most entries
	oldest    int            // in order, once it is a ring
	forgotten int64
}

// NewAttempts returns an Attempts that looks at a header which stays the same in every attempt of
// an operation and differs between operations; empty means KeyHeader. It remembers the last most
// keys, KeysMax where most is 0.
func NewAttempts(key string, most int) *Attempts {
	if key == "" {
		key = KeyHeader
	}
	if most <= 0 {
		most = KeysMax
	}
	return &Attempts{key: http.CanonicalHeaderKey(key), most: most, seed: maphash.MakeSeed(), seen: make(map[uint64]int)}
}

// counters are the headers in which clients and proxies say which attempt a request is. first is
// the number of the first attempt. A proxy counts its own alone: its first attempt may be a retry of the
// client behind it, so that it says nothing.
var counters = []struct {
	name  string
	first int
	proxy bool
}{
	{HeaderAttempt, 0, false},
	{"X-Retry-Count", 0, false},
	{"X-Stainless-Retry-Count", 0, false},    // the generated SDKs of OpenAI, Anthropic and others
	{"Grpc-Previous-Rpc-Attempts", 0, false}, // gRPC proposal A6; sent with retries alone
	{"Amz-Sdk-Request", 1, false},            // AWS SDKs: attempt=2; max=3
	{"X-Envoy-Attempt-Count", 1, true},       // Envoy, Istio
}

// Number returns which attempt of its operation a request is: 0 the first, n the n-th retry,
// UnknownAttempt where nothing tells. It is the largest of what the request says by a header that
// counts attempts (Stormtest-Attempt, X-Retry-Count, X-Stainless-Retry-Count,
// grpc-previous-rpc-attempts, amz-sdk-request, x-envoy-attempt-count) and of how often its key was
// seen before: a client in two layers, each of which retries, starts to count anew in the inner one.
// For the same reason x-envoy-attempt-count: 1 tells nothing.
func (a *Attempts) Number(h http.Header) int {
	number := UnknownAttempt
	for _, c := range counters {
		text := h.Get(c.name)
		if text == "" {
			continue
		}
		if n := counted(text, c.first); n > 0 || !c.proxy {
			number = max(number, n)
		}
	}
	if key := h.Get(a.key); key != "" {
		number = max(number, a.sighting(key))
	}
	return number
}

// counted reads a number, or "attempt=NUMBER; ..." as AWS writes it. What is neither says nothing.
func counted(text string, first int) int {
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok && strings.EqualFold(name, "attempt") {
			text = value
			break
		}
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil || int(n) < first {
		return UnknownAttempt
	}
	return int(n) - first
}

// sighting returns how often the key was seen before, and remembers it. The oldest key is forgotten
// where there is no room.
func (a *Attempts) sighting(key string) int {
	hash := maphash.String(a.seed, key)
	a.mu.Lock()
	defer a.mu.Unlock()
	n, known := a.seen[hash]
	a.seen[hash] = n + 1
	switch {
	case known:
	case len(a.order) < a.most:
		a.order = append(a.order, hash)
	default:
		delete(a.seen, a.order[a.oldest])
		a.order[a.oldest] = hash
		a.oldest = (a.oldest + 1) % a.most
		a.forgotten++
	}
	return n
}

// Forgotten returns how many keys made room for others. A retry that came after that was taken
// for a first attempt.
func (a *Attempts) Forgotten() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forgotten
}
