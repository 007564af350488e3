package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stormtest/target/station"
)

// A Group is a part of a plan, in the order of the help and of a scenario file.
type Group string

// The groups.
const (
	Fleet     Group = "fleet"
	Policy    Group = "policy"
	Target    Group = "target"
	Network   Group = "network"
	Elsewhere Group = "elsewhere"
	Record    Group = "record"
	Gates     Group = "gates"
)

// Title says in one line what the group's fields are about.
func (g Group) Title() string {
	switch g {
	case Fleet:
		return "Fleet: the clients, their strategies and how long they run"
	case Policy:
		return "Policy: what one client does after a failure"
	case Target:
		return "Target: the service that fails"
	case Network:
		return "Network, in virtual time only (stormtest sim): what is between the clients and the target"
	case Elsewhere:
		return "Target elsewhere: a service of yours in place of the built-in one"
	case Record:
		return "Record: what is written down"
	case Gates:
		return "Gates: what must hold for the run to pass"
	}
	return string(g)
}

// A Field is one row of the table: one flag, one environment variable and one key of a
// scenario file, all of one name.
type Field struct {
	Name      string // of the flag and the key
	Shorthand string // one letter, or empty
	Group     Group
	Usage     string // one sentence for the help, without the default
	later     bool   // came after the first results were saved: not in the hash while at its default
	value     scalar // nil for a repeatable field
	list      list   // nil for the others
}

// Fields returns the table in the order of the help. The slice is the caller's.
func Fields() []Field { return slices.Clone(table) }

// FieldNamed returns the row of a name.
func FieldNamed(name string) (Field, bool) {
	for i := range table {
		if table[i].Name == name {
			return table[i], true
		}
	}
	return Field{}, false
}

// Repeatable reports whether the field holds a list: its flag may be given many times.
func (f Field) Repeatable() bool { return f.list != nil }

// Type is the word for the field's value in a help text: count, duration, rate, share,
// number, bool, seed, method, the choices joined by |, or a form in capital letters.
func (f Field) Type() string {
	if f.list != nil {
		return f.list.form()
	}
	return f.value.word()
}

// Choices lists the only words that the field takes, or for strategy the words that its
// list is made of; nil where it takes other texts.
func (f Field) Choices() []string {
	if f.list != nil {
		return nil
	}
	return slices.Clone(f.value.choices())
}

// TypeFor and ChoicesFor are Type and Choices with the words that the engine takes.
func (f Field) TypeFor(e Engine) string {
	if c, ok := f.value.(choice); ok && e == Real && c.later > 0 {
		return strings.Join(f.ChoicesFor(e), "|")
	}
	return f.Type()
}

// ChoicesFor is described at TypeFor.
func (f Field) ChoicesFor(e Engine) []string {
	words := f.Choices()
	if c, ok := f.value.(choice); ok && e == Real {
		words = words[:len(words)-c.later]
	}
	return words
}

// Env is the name of the field's environment variable, STORMTEST_MAX_RETRIES for
// max-retries.
func (f Field) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Default is the canonical text of the field in [Default]; "none" for an empty list.
func (f Field) Default() string { return defaultTexts()[f.Name] }

// defaultTexts holds the Default of every field. Each plan that is validated asks for all of them, more than once.
var defaultTexts = sync.OnceValue(func() map[string]string {
	p := Default()
	texts := map[string]string{}
	for _, f := range table {
		texts[f.Name] = strings.Join(f.texts(&p), "; ")
	}
	return texts
})

// Get returns the canonical texts of the field in p: exactly one, or for a repeatable
// field one for each element. Set takes them back to the same value.
func (f Field) Get(p *Plan) []string {
	if f.list != nil {
		return f.list.write(p)
	}
	return []string{f.value.write(p)}
}

// atDefault reports whether the field of p has the value that it has in [Default].
func (f Field) atDefault(p *Plan) bool { return strings.Join(f.texts(p), "; ") == f.Default() }

// texts is Get, with an empty list written as the word for it.
func (f Field) texts(p *Plan) []string {
	if texts := f.Get(p); len(texts) > 0 {
		return texts
	}
	return []string{listNone}
}

// Set gives the field in p the value of texts, one for a scalar field; a repeatable one
// takes any number, and "none" alone is no element. A *FieldError, or several joined,
// names every text that the field does not take, and p keeps its value then.
func (f Field) Set(p *Plan, texts ...string) error {
	return joinFaults(f.set(p, texts))
}

// set is Set, with the errors apart.
func (f Field) set(p *Plan, texts []string) []*FieldError {
	if f.list != nil {
		return f.list.read(p, f.Name, texts)
	}
	if len(texts) != 1 {
		return []*FieldError{{Field: f.Name, Got: strings.Join(texts, " "), Want: "one value"}}
	}
	if want := f.value.read(p, texts[0]); want != "" {
		return []*FieldError{{Field: f.Name, Got: texts[0], Want: want}}
	}
	return nil
}

// A list reads and writes a field of many elements, one text each.
type list interface {
	read(p *Plan, name string, texts []string) []*FieldError
	write(p *Plan) []string
	form() string // of one element, for help texts
}

// listOf is a list of T. parse returns the element, or what it wanted; format returns the
// text that parse reads back.
type listOf[T any] struct {
	at     func(*Plan) *[]T
	shape  string
	parse  func(text string) (element T, want string)
	format func(T) string
}

const (
	listNone = "none" // alone: no element
	listMost = 100    // elements
)

func (l listOf[T]) read(p *Plan, name string, texts []string) []*FieldError {
	if len(texts) > listMost {
		return []*FieldError{{Field: name, Got: strconv.Itoa(len(texts)) + " of them", Want: "at most " + strconv.Itoa(listMost)}}
	}
	if len(texts) == 1 && texts[0] == listNone {
		texts = nil
	}
	var faults []*FieldError
	var elements []T
	for i, text := range texts {
		element, want := l.parse(text)
		if want != "" {
			faults = append(faults, &FieldError{Field: name, Got: text, Want: want, element: i})
		}
		elements = append(elements, element)
	}
	if len(faults) > 0 {
		return faults
	}
	*l.at(p) = elements
	return nil
}

func (l listOf[T]) write(p *Plan) []string {
	var texts []string
	for _, element := range *l.at(p) {
		texts = append(texts, l.format(element))
	}
	return texts
}

func (l listOf[T]) form() string { return l.shape }

// The bounds that several fields share.
const (
	clientsMost    = 10_000_000
	repeatMost     = 10_000
	operationsMost = 1_000_000_000
	retriesMost    = 1_000_000
	workersMost    = 1_000_000
	queueMost      = 10_000_000
	perSecondMost  = 1_000_000_000
	perSecondLeast = 1.0 / 3600 // 1/h
	ratePerSecMost = 10_000_000
)

// table has one row a flag, in the order of the help.
var table = []Field{
	{Name: "clients", Shorthand: "c", Group: Fleet, Usage: "Clients of the fleet",
		value: count[int]{at: func(p *Plan) *int { return &p.Clients }, lo: 1, hi: clientsMost}},
	{Name: "strategy", Shorthand: "s", Group: Fleet, Usage: "Delay strategies, each a run of its own: one, a comma list, or all (" + strings.Join(allStrategies, ", ") + ")",
		value: strategies{}},
	{Name: "base", Group: Fleet, Usage: "Base delay: the first ceiling, before jitter",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Base }, lo: 1, hi: day}},
	{Name: "throttled-base", Group: Fleet, Usage: "Base delay after an answer 429, which says that the client asks too often; same is base", later: true,
		value: duration{at: func(p *Plan) *time.Duration { return &p.ThrottledBase }, lo: 1, hi: day, specials: []special{{"same", 0}}}},
	{Name: "cap", Group: Fleet, Usage: "Longest delay; how it is applied is cap-mode's to say",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Cap }, lo: 1, hi: day}},
	{Name: "multiplier", Group: Fleet, Usage: "Growth of the ceiling from one retry to the next",
		value: number{at: func(p *Plan) *float64 { return &p.Multiplier }, lo: 1, hi: 1000}},
	{Name: "first-exponent", Group: Fleet, Usage: "Exponent of the first retry's ceiling: 0 is base, 1 is base x multiplier",
		value: count[int]{at: func(p *Plan) *int { return &p.FirstExponent }, lo: 0, hi: 1}},
	{Name: "cap-mode", Group: Fleet, Usage: "How the cap meets the jitter: cap then jitter, jitter then cap, exactly the cap, or a cap drawn for each delay",
		value: capMode{}},
	{Name: "cap-jitter", Group: Fleet, Usage: "With cap-mode random-cap: how far below the cap a drawn cap may lie",
		value: share{at: func(p *Plan) *float64 { return &p.CapJitterShare }}},
	{Name: "noise", Group: Fleet, Usage: "Half width of the noise of strategy fixed, whole width of fixed-up",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Noise }, lo: 1, hi: day}},
	{Name: "spread", Group: Fleet, Usage: "Share of the delay by which strategies proportional, additive and subtractive vary it",
		value: share{at: func(p *Plan) *float64 { return &p.SpreadShare }}},
	{Name: "floor", Group: Fleet, Usage: "Least delay of the strategies with a floor, such as full-floor; auto is half of base",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Floor }, lo: 1, hi: day, specials: []special{{"auto", 0}}}},
	{Name: "shared-seed", Group: Fleet, Usage: "Give every client the same stream of chance, the fault of a fleet that seeds alike",
		value: flag{at: func(p *Plan) *bool { return &p.SharedSeed }}},
	{Name: "preset", Group: Fleet, Usage: "Policies as clients ship them, each a run of its own, in place of strategy; 'stormtest presets' lists them", later: true,
		value: presets{}},
	{Name: "fleet", Group: Fleet, Usage: "Policies that share the clients of one run, as full=70%,none=30%, in place of strategy: each by name, a strategy or, where none has the name, a preset. Each has budgets and breakers of its own: with scope=fleet one for each", later: true,
		value: mix{}},
	{Name: "operations", Shorthand: "n", Group: Fleet, Usage: "Operations of the whole fleet, shared out with the remainder; auto is one a client or, with a rate, rate x duration",
		value: count[int64]{at: func(p *Plan) *int64 { return &p.Operations }, lo: 1, hi: operationsMost, special: "auto"}},
	{Name: "rate", Group: Fleet, Usage: "Operations started per second by the whole fleet, whatever the target does; off starts every client at t0",
		value: rate{at: func(p *Plan) *float64 { return &p.RatePerSecond }, lo: perSecondLeast, hi: ratePerSecMost, zero: "off"}},
	{Name: "arrivals", Group: Fleet, Usage: "Spacing of the operations of a rate",
		value: choice{at: func(p *Plan) *string { return &p.Arrivals }, words: []string{ArrivalsEven, ArrivalsPoisson}}},
	{Name: "surge", Group: Fleet, Usage: "Stretch of the run in which the rate is so many times as high", later: true,
		list: listOf[Surge]{at: func(p *Plan) *[]Surge { return &p.Surges }, shape: surgeShape,
			parse: parseSurge, format: formatSurge}},
	{Name: "ramp", Group: Fleet, Usage: "Time over which the clients' first attempts are spread",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Ramp }, lo: 0, hi: day}},
	{Name: "duration", Shorthand: "d", Group: Fleet, Usage: "End of the run; what is still waiting then is unfinished",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Duration }, lo: time.Millisecond, hi: day}},
	{Name: "seed", Group: Fleet, Usage: "Seed of all chance in the run; random takes one from the operating system and prints it",
		value: seed{at: func(p *Plan) *Seed { return &p.Seed }}},
	{Name: "repeat", Group: Fleet, Usage: "Seeds to run: the given one and those that follow it; the report has the range of each figure and counts the verdicts. A gate must hold in every seed, unless its @ says otherwise", later: true,
		value: count[int]{at: func(p *Plan) *int { return &p.Repeat }, lo: 1, hi: repeatMost}},
	{Name: "transport", Group: Fleet, Usage: "How attempts reach the built-in target: over real sockets or, for more clients than a process has sockets, handed over in memory, in real time; no effect in virtual time, which has neither",
		value: choice{at: func(p *Plan) *string { return &p.Transport }, words: []string{TransportTCP, TransportMemory}}},

	{Name: "timeout", Group: Policy, Usage: "Longest time of one attempt",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Timeout }, lo: 1, hi: day}},
	{Name: "max-retries", Group: Policy, Usage: "Retries after the first attempt; 0 is none",
		value: count[int]{at: func(p *Plan) *int { return &p.MaxRetries }, lo: 0, hi: retriesMost, special: unlimited, means: Unlimited}},
	{Name: "max-elapsed", Group: Policy, Usage: "Longest time of one operation; a retry that would start at or after it is refused before the sleep",
		value: duration{at: func(p *Plan) *time.Duration { return &p.MaxElapsed }, lo: 1, hi: day, specials: []special{{unlimited, 0}}}},
	{Name: "budget", Group: Policy, Usage: "What a retry needs beside the limits, and with aws-adaptive and sre a first attempt, too: none, finagle (ratio of first attempts, min/s, ttl), envoy (ratio of operations under way, min), aws (size, cost, throttled, first), aws-legacy (size, cost, timeout, first), aws-adaptive (as aws, and once the target has answered 429 attempts wait for their turn), grpc (tokens, ratio) or sre (window, k, retries), each for one client or the fleet (scope), as in finagle:ratio=20%,min=10/s,ttl=10s,scope=client, envoy:ratio=20%,min=3,scope=fleet and aws:size=500,cost=14,throttled=5,first=1,scope=client",
		value: retryBudget{}},
	{Name: "breaker", Group: Policy, Usage: "Circuit breaker, which every attempt must pass and which refuses them, unsent, while the target fails: none, consecutive (failures in a row), rate (share of failures among at least so many calls of a window, which is a number of outcomes or a time), gobreaker, resilience4j or polly, which are as shipped; each with open (time), jitter (share of it on top), probes (let through when it is over, at a time), successes (of them, that close it) and scope (client or fleet), as in consecutive:failures=5,open=60s,scope=client and rate:share=50%,calls=20,window=10s", later: true,
		value: circuitBreaker{}},
	{Name: "hedge", Group: Policy, Usage: "Send a copy of a first attempt that has no answer after this time, or has failed before, up to so many copies (1..4), each after the same time; the first success counts. Retries follow when all of them have failed", later: true,
		value: hedge{}},
	{Name: "propagate-deadline", Group: Policy, Usage: "Tell the target with every attempt how much time it has left", later: true,
		value: flag{at: func(p *Plan) *bool { return &p.PropagateDeadline }}},
	{Name: "retry-after", Group: Policy, Usage: "What a client does with the target's Retry-After: a floor under the delay, or nothing",
		value: choice{at: func(p *Plan) *string { return &p.RetryAfter }, words: []string{RetryAfterHonour, RetryAfterIgnore}}},
	{Name: "retry-after-jitter", Group: Policy, Usage: "Jitter added after Retry-After: the strategy's own draw, or a width",
		value: duration{at: func(p *Plan) *time.Duration { return &p.RetryAfterJitter }, lo: 0, hi: day, specials: []special{{"strategy", ByStrategy}}}},
	{Name: "retry-on", Group: Policy, Usage: "What is retried: connect, timeout, reset, malformed, statuses and classes such as 5xx, in a comma list",
		value: retryOn{}},
	{Name: "method", Shorthand: "m", Group: Policy, Usage: "HTTP method of an operation",
		value: method{at: func(p *Plan) *string { return &p.Method }}},
	{Name: "retry-non-idempotent", Group: Policy, Usage: "Retry a POST or PATCH without an idempotency key after the target may have done the work",
		value: flag{at: func(p *Plan) *bool { return &p.RetryNonIdempotent }}},
	{Name: "idempotency-key", Group: Policy, Usage: "Send one Idempotency-Key with every attempt of an operation",
		value: flag{at: func(p *Plan) *bool { return &p.IdempotencyKey }}},

	{Name: "capacity", Group: Target, Usage: "What the target can serve; 0 serves nothing",
		value: rate{at: func(p *Plan) *float64 { return &p.CapacityPerSecond }, lo: perSecondLeast, hi: perSecondMost, zero: "0"}},
	{Name: "workers", Group: Target, Usage: "Requests served at once; service time is workers / capacity",
		value: count[int]{at: func(p *Plan) *int { return &p.Workers }, lo: 1, hi: workersMost}},
	{Name: "queue", Group: Target, Usage: "Requests that may wait for a worker; the next one is refused",
		value: count[int]{at: func(p *Plan) *int { return &p.Queue }, lo: 0, hi: queueMost}},
	{Name: "model", Group: Target, Usage: "How capacity is enforced: workers and a queue, or a token bucket that answers at once; in virtual time (stormtest sim) also reject-if-busy, slots whose one worker answers at once, and occ, writers of one versioned row, who conflict and have no capacity",
		value: choice{at: func(p *Plan) *string { return &p.Model }, words: []string{ModelSlots, ModelTokenBucket, ModelRejectIfBusy, ModelOCC}, later: 2}},
	{Name: "burst", Group: Target, Usage: "With model token-bucket: tokens that the bucket holds",
		value: count[int]{at: func(p *Plan) *int { return &p.Burst }, lo: 1, hi: queueMost}},
	{Name: "service", Group: Target, Usage: "Service times: all alike, or exponential with the same mean",
		value: choice{at: func(p *Plan) *string { return &p.Service }, words: []string{ServiceFixed, ServiceExp}}},
	{Name: "status", Group: Target, Usage: "Answer when over capacity, to a conflict and in an outage of mode status",
		value: count[int]{at: func(p *Plan) *int { return &p.Status }, lo: 400, hi: 599}},
	{Name: "send-retry-after", Group: Target, Usage: "Retry-After in the target's refusals: none, whole seconds, auto from the backlog, or reset:5s, the date of the clock's next whole multiple of 5s",
		value: sentHint{duration{at: func(p *Plan) *time.Duration { return &p.SendRetryAfter }, lo: time.Second, hi: day, step: time.Second,
			specials: []special{{"none", 0}, {"auto", AutoRetryAfter}}}}},
	{Name: "abandoned", Group: Target, Usage: "Work whose client has timed out: go on with it, as most services do, or drop it",
		value: choice{at: func(p *Plan) *string { return &p.Abandoned }, words: []string{AbandonedProcess, AbandonedCancel}}},
	{Name: "outage", Group: Target, Usage: "Window in which the target fails; MODE is status, hang, reset, refuse, slow:N, capacity:P% or errors:P%, of which the last goes together with slow or capacity; with a URL it is yours to make, and only marked",
		list: listOf[station.Outage]{at: func(p *Plan) *[]station.Outage { return &p.Outages }, shape: outageShape,
			parse: parseOutage, format: station.Outage.String}},
	{Name: "discipline", Group: Target, Usage: "Who of the queue is served next: the first, the last, the last while there is a backlog, or the first with those thrown out that waited too long", later: true,
		value: choice{at: func(p *Plan) *string { return &p.Discipline }, words: []string{DisciplineFIFO, DisciplineLIFO, DisciplineAdaptiveLIFO, DisciplineCoDel, DisciplineAdaptiveLIFOCoDel}}},
	{Name: "expired", Group: Target, Usage: "What the target does with queued work whose deadline it knows, by propagate-deadline, to have passed", later: true,
		value: choice{at: func(p *Plan) *string { return &p.Expired }, words: []string{ExpiredProcess, ExpiredDrop}}},
	{Name: "contention", Group: Target, Usage: "Share of the work that only one worker can do at a time: s of the Universal Scalability Law", later: true,
		value: number{at: func(p *Plan) *float64 { return &p.ContentionShare }, lo: 0, hi: 1}},
	{Name: "coherency", Group: Target, Usage: "Cost of keeping each pair of workers consistent, as a share of the work: q of the Universal Scalability Law", later: true,
		value: number{at: func(p *Plan) *float64 { return &p.CoherencyShare }, lo: 0, hi: 1}},
	{Name: "shed-cost", Group: Target, Usage: "What a rejection costs the target, as a share of a service", later: true,
		value: share{at: func(p *Plan) *float64 { return &p.ShedCostShare }, zero: true}},
	{Name: "layer", Group: Target, Usage: "Service behind the target, which calls it for each request, and how it does: NAME, and fields of the policy and of the target with values of its own, as in 'db;capacity=500/s;max-retries=3'; all others but the outages are the plan's", later: true,
		list: layers{}},

	{Name: "latency", Group: Network, Usage: "Time of a message on its way, request or answer; with a deviation, as in 10ms~2ms, the size of a normal draw for each", later: true,
		value: law{at: func(p *Plan) *Law { return &p.Latency }}},
	{Name: "loss", Group: Network, Usage: "Share of the messages that get lost, requests and answers alike; a client learns of it by its timeout", later: true,
		value: share{at: func(p *Plan) *float64 { return &p.LossShare }, zero: true}},

	{Name: "url", Group: Elsewhere, Usage: "Service to storm, also as an argument: http or https; {client}, {operation} and {attempt} stand for their numbers in its path, in headers and in the body",
		value: word{at: func(p *Plan) *string { return &p.URL }, shape: "URL", none: true}},
	{Name: "unix-socket", Group: Elsewhere, Usage: "Connect to this socket; the URL then gives Host and path only",
		value: word{at: func(p *Plan) *string { return &p.UnixSocket }, shape: "PATH", none: true}},
	{Name: "allow-host", Group: Elsewhere, Usage: "Name of a host that may be stormed; without it loopback and private addresses only",
		list: listOf[string]{at: func(p *Plan) *[]string { return &p.AllowHosts }, shape: "NAME", parse: parseHost, format: asIs}},
	{Name: "header", Shorthand: "H", Group: Elsewhere, Usage: "Header of every attempt",
		list: listOf[string]{at: func(p *Plan) *[]string { return &p.Headers }, shape: "'NAME: VALUE'", parse: parseHeader, format: asIs}},
	{Name: "body", Group: Elsewhere, Usage: "Body of every attempt",
		value: text{at: func(p *Plan) *string { return &p.Body }}},
	{Name: "body-file", Group: Elsewhere, Usage: "File with the body of every attempt, read once; - is stdin",
		value: word{at: func(p *Plan) *string { return &p.BodyFile }, shape: "PATH", none: true}},
	{Name: "http", Group: Elsewhere, Usage: "Version of HTTP; auto is what the server chooses over TLS, else 1.1",
		value: choice{at: func(p *Plan) *string { return &p.HTTP }, words: []string{HTTPAuto, HTTP1, HTTP2}}},
	{Name: "keepalive", Group: Elsewhere, Usage: "Use a connection again; false opens one for every attempt",
		value: flag{at: func(p *Plan) *bool { return &p.KeepAlive }}},
	{Name: "cacert", Group: Elsewhere, Usage: "PEM file of the only authorities to trust; none is the system's",
		value: word{at: func(p *Plan) *string { return &p.CACert }, shape: "PATH", none: true}},
	{Name: "cert", Group: Elsewhere, Usage: "PEM file of the client's certificate",
		value: word{at: func(p *Plan) *string { return &p.Cert }, shape: "PATH", none: true}},
	{Name: "key", Group: Elsewhere, Usage: "PEM file of the client's key; none where it stands in cert's",
		value: word{at: func(p *Plan) *string { return &p.Key }, shape: "PATH", none: true}},
	{Name: "insecure", Group: Elsewhere, Usage: "Do not verify the server's certificate",
		value: flag{at: func(p *Plan) *bool { return &p.Insecure }}},
	{Name: "probe", Group: Elsewhere, Usage: "Before the storm, measure what the healthy service can do; auto does so by GET, HEAD and OPTIONS alone",
		value: choice{at: func(p *Plan) *string { return &p.Probe }, words: []string{ProbeAuto, ProbeOn, ProbeOff}}},

	{Name: "bucket", Group: Record, Usage: "Width of the buckets in which arrivals are counted",
		value: duration{at: func(p *Plan) *time.Duration { return &p.Bucket }, lo: time.Millisecond, hi: 10 * time.Second}},

	{Name: "label", Group: Record, Usage: "Name of the run, up to 100 characters, in the title of every report",
		value: label{at: func(p *Plan) *string { return &p.Label }}},

	{Name: "gate", Group: Gates, Usage: "Condition that the result must meet, with units; no data fails it. With a repeat every seed must meet it, unless it ends in @mean, @95% (of the seeds) or @first; 'stormtest gates' lists the metrics",
		list: listOf[string]{at: func(p *Plan) *[]string { return &p.Gates }, shape: "METRIC OP VALUE",
			parse: parseGate, format: asIs}},
}

const unlimited = "unlimited"

func asIs(text string) string { return text }

// outageShape is the form of an outage.
const outageShape = "FROM..TO[=MODE]"

// parseOutage reads an outage as package station does and says its error in our form.
func parseOutage(text string) (station.Outage, string) {
	o, err := station.ParseOutage(text)
	if err == nil {
		return o, ""
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // without the text, which our error quotes itself
	}
	return o, outageShape + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
}

// parseGate takes any line: package report/check knows the syntax.
func parseGate(text string) (gate, want string) {
	if !isLine(text) || text == listNone {
		return "", "one line, METRIC OP VALUE, such as 'amplification < 3'"
	}
	return text, ""
}
