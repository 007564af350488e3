// Package plan says what a run is asked to do: one flat struct, one field a flag, one
// scenario file of the same names.
//
// Flags, STORMTEST_* environment variables and scenario files all reach a [Plan] through
// [Field.Set], so one text means one value, and gives one error, wherever it was written.
// [Resolve] puts the sources in their order of precedence; [Plan.YAML] prints a plan as a
// scenario file that reads back as the same plan.
//
// The package reads no clock, file or environment: the caller passes bytes and texts.
package plan

import (
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/target/station"
)

// Words for values that no number can say.
const (
	// Unlimited is the MaxRetries of a policy that stops only for another reason.
	Unlimited = retry.Unlimited
	// ByStrategy is the RetryAfterJitter that adds the strategy's own draw to a hint.
	ByStrategy = retry.StrategyDraw
	// AutoRetryAfter is the SendRetryAfter that the target works out from its backlog.
	AutoRetryAfter time.Duration = -1
)

// The words of Plan.Arrivals.
const (
	ArrivalsEven    = "even"
	ArrivalsPoisson = "poisson"
)

// The words of Plan.RetryAfter, Plan.Model, Plan.Service, Plan.Abandoned, Plan.Discipline, Plan.Expired and Plan.Transport.
const (
	RetryAfterHonour = "honour"
	RetryAfterIgnore = "ignore"

	ModelSlots        = "slots"
	ModelTokenBucket  = "token-bucket"
	ModelRejectIfBusy = "reject-if-busy" // in virtual time only, as the next one
	ModelOCC          = "occ"

	ServiceFixed = "fixed"
	ServiceExp   = "exp"

	AbandonedProcess = "process"
	AbandonedCancel  = "cancel"

	DisciplineFIFO              = "fifo"
	DisciplineLIFO              = "lifo"
	DisciplineAdaptiveLIFO      = "adaptive-lifo"
	DisciplineCoDel             = "codel"
	DisciplineAdaptiveLIFOCoDel = "adaptive-lifo-codel"

	ExpiredProcess = "process"
	ExpiredDrop    = "drop"

	TransportTCP    = "tcp"
	TransportMemory = "memory"
)

// The words of Plan.HTTP and Plan.Probe.
const (
	HTTPAuto = "auto"
	HTTP1    = "1.1"
	HTTP2    = "2"

	ProbeAuto = "auto" // of methods that change nothing
	ProbeOn   = "on"
	ProbeOff  = "off"
)

// A Plan is everything a run is asked to do. Each field is one flag, and the comment names
// it where the names differ; [Fields] is the table of them, with ranges.
//
// Start from [Default]: the zero Plan is not a plan. A Plan is plain data; copies share
// its slices, so treat those as read-only.
type Plan struct {
	// The fleet.

	Clients    int      // 1..10000000, in real time at most 1000000
	Strategies []string // strategy: names of backoff.Table, each a run of its own, in order
	Base, Cap  time.Duration
	// ThrottledBase is the base after an answer 429; 0 is Base.
	ThrottledBase time.Duration
	Multiplier    float64 // at least 1
	// FirstExponent is the exponent of the first retry's ceiling, 0 or 1.
	FirstExponent  int
	CapMode        backoff.CapMode
	CapJitterShare float64       // cap-jitter: of cap mode random-cap, in (0, 1]
	Noise          time.Duration // of strategies fixed and fixed-up
	SpreadShare    float64       // spread: of strategies proportional, additive, subtractive and the like, in (0, 1]
	Floor          time.Duration // of strategies full-floor, full-clamp and equal-clamp; 0 is half of Base
	SharedSeed     bool          // every client draws the same delays: a fault to be studied
	Presets        []string      // preset: names of policies as they are shipped, each a run of its own in place of Strategies
	Mix            []MixPart     // fleet: policies that share the clients of one run, in place of Strategies
	// Operations is the total over the fleet; 0 is one a client or, with a rate, rate x duration.
	// See [Plan.OperationsTotal].
	Operations    int64
	RatePerSecond float64 // rate: of the open loop, whole fleet; 0 is a closed loop
	Arrivals      string  // even or poisson, with a rate
	Surges        []Surge // surge: stretches of a higher or lower rate
	Ramp          time.Duration
	Duration      time.Duration
	Seed          Seed
	Repeat        int    // how many seeds are run: Seed, Seed+1, ...; 1..10000
	Transport     string // tcp or memory: how attempts get to the built-in target

	// The policy.

	Timeout            time.Duration  // of one attempt
	MaxRetries         int            // after the first attempt; Unlimited, or 0..1000000
	MaxElapsed         time.Duration  // of one operation; 0 is no limit
	Budget             budget.Config  // of retries, for each client or the fleet
	Breaker            breaker.Config // of each client or the fleet
	Hedge              Hedge
	PropagateDeadline  bool          // attempts tell the target how much time they have left
	RetryAfter         string        // honour or ignore
	RetryAfterJitter   time.Duration // ByStrategy, or a width of its own
	RetryOn            retry.Set
	Method             string // HTTP method, upper case
	RetryNonIdempotent bool
	IdempotencyKey     bool // the fleet sends one stable key an operation

	// The target.

	CapacityPerSecond float64 // capacity; 0 serves nothing
	Workers, Queue    int
	Model             string           // slots, token-bucket, reject-if-busy or occ
	Burst             int              // of the token bucket
	Service           string           // fixed or exp
	Status            int              // the answer when over capacity, 400..599
	SendRetryAfter    time.Duration    // 0 is none; AutoRetryAfter; ResetRetryAfter of a window; else whole seconds
	Abandoned         string           // process or cancel
	Outages           []station.Outage // outage
	Discipline        string           // fifo, lifo, adaptive-lifo, codel or adaptive-lifo-codel
	Expired           string           // process or drop: what the target does at dequeue with work whose deadline has passed
	ContentionShare   float64          // contention: s of the Universal Scalability Law
	CoherencyShare    float64          // coherency: q of it
	ShedCostShare     float64          // shed-cost: of a service time, what a rejection costs

	// Layers are the services behind the target, each called by the one before it.
	Layers []Layer

	// The network of virtual time, between the clients and the target.

	Latency   Law     // one way, of each message
	LossShare float64 // loss: chance of each message, request or answer, to be lost; 0..1

	// A target elsewhere, in place of the built-in one.

	URL        string   // http or https; "" is the built-in target
	UnixSocket string   // unix-socket: path; "" is TCP to the URL's host
	AllowHosts []string // allow-host: names that may be stormed though they are not this machine
	Headers    []string // header: "Name: value"
	Body       string
	BodyFile   string // body-file: path, "-" is stdin; "" is Body
	HTTP       string // http: auto, 1.1 or 2
	KeepAlive  bool   // keepalive: one connection for many attempts
	CACert     string // cacert: path of PEM; "" is the system's roots
	Cert, Key  string // paths of PEM; "" is no client certificate
	Insecure   bool   // certificates are not verified
	Probe      string // auto, on or off; see [Plan.Probes]

	// The record.

	Bucket time.Duration

	// Label is a name for the run, which the titles of its reports show; empty is none. It is not in the hash.
	Label string

	// The gates.

	Gates []string // gate: 'metric op value', syntax checked by report/check
}

// A MixPart is one policy of a mixed fleet: the name of a strategy or a preset, and its share of the clients.
type MixPart struct {
	Name  string
	Share float64 // in (0, 1]
}

// A Surge multiplies the rate of an open loop within [From, To).
type Surge struct {
	From, To time.Duration
	Factor   float64 // 0 or more
}

// A Hedge sends further copies of an attempt that is not answered. The zero Hedge sends none.
type Hedge struct {
	After time.Duration // after the last attempt of the operation left; above 0
	Most  int           // copies of an operation beside its first attempt, 1..4
}

// A Layer is a service behind another one, and how it is called. See [Plan.Chain].
type Layer struct {
	Name string
	// Texts are what it sets, KEY=VALUE, of the target's and the policy's fields; the rest it has from the plan.
	Texts []string
}

// A Seed is a run seed, or its absence: while Set is false the caller draws one from the
// operating system, puts it here and prints it.
type Seed struct {
	Value uint64
	Set   bool
}

// Default returns the plan of a run without flags, environment and file.
func Default() Plan {
	return Plan{
		Clients:        2000,
		Strategies:     []string{"full"},
		Base:           100 * time.Millisecond,
		Cap:            20 * time.Second,
		Multiplier:     2,
		CapMode:        backoff.CapCeiling,
		CapJitterShare: 0.2,
		Noise:          50 * time.Millisecond,
		SpreadShare:    0.2,
		Arrivals:       ArrivalsEven,
		Duration:       30 * time.Second,
		Repeat:         1,
		Transport:      TransportTCP,

		Timeout:          5 * time.Second,
		MaxRetries:       Unlimited,
		MaxElapsed:       60 * time.Second,
		RetryAfter:       RetryAfterHonour,
		RetryAfterJitter: ByStrategy,
		RetryOn:          retry.DefaultSet(),
		Method:           "GET",
		IdempotencyKey:   true,

		CapacityPerSecond: 1000,
		Workers:           1,
		Model:             ModelSlots,
		Burst:             1,
		Service:           ServiceFixed,
		Status:            503,
		Abandoned:         AbandonedProcess,
		Discipline:        DisciplineFIFO,
		Expired:           ExpiredProcess,

		HTTP:      HTTPAuto,
		KeepAlive: true,
		Probe:     ProbeAuto,

		Bucket: 100 * time.Millisecond,
	}
}
