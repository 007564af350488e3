package record

import (
	"encoding/json"
	"time"
)

// Schema names the form of a Result; a reader refuses any other.
const Schema = "stormtest.result/v1"

// A Result is everything one invocation measured: one Run for each strategy, in the
// order they ran. It is what JSON files hold and every report is rendered from.
//
// Lengths of time are integers in ns. A figure without a value is nil (null in JSON),
// never 0, NaN or -1.
type Result struct {
	Schema         string          `json:"schema"`
	Tool           Tool            `json:"tool"`
	Plan           json.RawMessage `json:"plan"`
	PlanHash       string          `json:"plan_hash"`
	Seed           uint64          `json:"seed"`
	StartedAt      time.Time       `json:"started_at"`
	Interrupted    bool            `json:"interrupted"`
	Valid          bool            `json:"valid"`
	InvalidReasons []string        `json:"invalid_reasons"`
	// Addresses are what a target that is not ours was dialled at, in turn; nil for the built-in one.
	Addresses []string `json:"addresses,omitempty"`
	// Probe is the target's healthy baseline, taken before the storm; nil without one.
	Probe *Probe `json:"probe,omitempty"`
	Runs  []Run  `json:"runs"`
	Gates []Gate `json:"gates"`
	// Merged is of how many results of one plan this one was made; 0 for one that was measured as it is.
	Merged int64 `json:"merged,omitempty"`
}

// Tool says which build measured.
type Tool struct {
	Version string `json:"version"`
}

// A Gate is one condition of the plan with what it found. Value is nil where the figure
// has none, and such a gate is never OK. Over several seeds it is the figure of the worst of them, the mean or, of a gate
// on a share of the seeds, the share that held. A word is its place in Metric.Words.
type Gate struct {
	Gate   string   `json:"gate"`
	Value  *float64 `json:"value"`
	OK     bool     `json:"ok"`
	Reason string   `json:"reason"`
}

// The words of Run.Engine.
const (
	EngineReal    = "real"
	EngineVirtual = "virtual"
)

// A Run is what one strategy did to the target.
type Run struct {
	Strategy           string        `json:"strategy"`
	Engine             string        `json:"engine"`               // EngineReal or EngineVirtual
	ArrivalsMeasuredAt string        `json:"arrivals_measured_at"` // "target" or "client"
	Duration           time.Duration `json:"duration_ns"`
	Whole              bool          `json:"whole,omitempty"` // it came to its end; missing in files from before it was kept
	Bucket             time.Duration `json:"bucket_ns"`
	CapacityPerSecond  *float64      `json:"capacity_per_second"` // nil where nobody knows it
	Operations         Operations    `json:"operations"`
	Attempts           Attempts      `json:"attempts"`
	// Amplification is attempts sent for each operation started.
	Amplification *float64 `json:"amplification"`
	// Completion is the moment of the last operation's success; nil unless every started
	// operation succeeded.
	Completion *int64   `json:"completion_ns"`
	Buckets    []Bucket `json:"buckets"`
	Convoy     Convoy   `json:"convoy"`
	Recovery   Recovery `json:"recovery"`

	Latency          Distribution `json:"latency_ns"`           // of an answered attempt, from when it was due
	OperationLatency Distribution `json:"operation_latency_ns"` // of a succeeded operation, sleeps included
	Delay            Distribution `json:"delay_ns"`             // planned sleeps
	AttemptAtSuccess Distribution `json:"attempt_at_success"`   // 1 is the first attempt; one that was not let out counts
	Elapsed          Distribution `json:"elapsed_ns"`           // of every ended operation, succeeded or not
	Lateness         Distribution `json:"lateness_ns"`          // of a send against its due moment

	DelayShares DelayShares `json:"delay_shares"`
	Generator   Generator   `json:"generator"`
	Hints       Hints       `json:"retry_after"`
	Budget      *Budget     `json:"budget,omitempty"` // nil where every retry is allowed
	Books       Books       `json:"books"`
	Notes       []string    `json:"notes"`
	// FromLog marks a run of which the arrivals alone are known; nil for every other.
	FromLog *FromLog `json:"from_log,omitempty"`
	// Repeats is set where several seeds ran; all else in the Run is of the first of them.
	Repeats *Repeats `json:"repeats,omitempty"`
	// Outside is set where the clients were not ours: then all that only clients know has no value,
	// null in JSON.
	Outside *Outside `json:"outside,omitempty"`
	// Detail holds the histograms and series behind the figures.
	Detail *Detail `json:"detail,omitempty"`

	// Preset is set where the policy is that of a client as it is shipped.
	Preset *Preset `json:"preset,omitempty"`
	// Phases are the stretches before, in and after the outages; nil where there is no outage.
	Phases []Phase `json:"phases,omitempty"`
	// Breaker is nil where nothing breaks the circuit.
	Breaker *Breaker `json:"breaker,omitempty"`
	// Hedging is nil where no attempt is hedged.
	Hedging *Hedging `json:"hedging,omitempty"`
	// Effects is nil where the target is not ours.
	Effects *Effects `json:"effects,omitempty"`
	// Dropped counts attempts that the target took and later threw out of its queue unserved.
	Dropped *Dropped `json:"dropped,omitempty"`
	// Parts are the figures of each policy of a mixed fleet, whose figures together are the Run's.
	Parts []Part `json:"parts,omitempty"`
	// Layers are the services behind the first one, in the order of the calls. The Run itself is of the
	// clients and the first service.
	Layers []Layer `json:"layers,omitempty"`
}

// A Preset says whose policy a run follows.
type Preset struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`  // whose code or documentation
	Version string   `json:"version"` // that it was read in
	Hazards []string `json:"hazards"` // what is known to go wrong with it
}

// A Phase is a stretch of a run: Name is "before", "outage" or "surge" or, where there are several, "outage 1",
// "between 1 and 2", "surge 2" and so on, and "after". Counts are of the buckets that begin in it.
type Phase struct {
	Name string        `json:"name"`
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`

	Arrivals int64 `json:"arrivals"`
	First    int64 `json:"first"`
	Retries  int64 `json:"retries"`
	Served   int64 `json:"served"`
	Wasted   int64 `json:"wasted"`
	Rejected int64 `json:"rejected"`
	// GoodputPerSecond is what was served and not wasted; nil for a phase without length.
	GoodputPerSecond *float64 `json:"goodput_per_second"`
	// Amplification is arrivals for each first attempt; nil without one.
	Amplification *float64 `json:"amplification"`
	// WastedShare is of what was served; nil where nothing was, and of a target that does not tell.
	WastedShare *float64 `json:"wasted_share"`
}

// Breaker is what the circuit breakers of the fleet did.
type Breaker struct {
	Kind       string `json:"kind"`
	Parameters string `json:"parameters"` // KEY=VALUE,... as in the plan
	Breakers   int64  `json:"breakers"`   // 1, or one for each client
	Opened     int64  `json:"opened"`     // from closed
	Reopened   int64  `json:"reopened"`   // from half-open: circuit_breaker_reopen_total
	Closed     int64  `json:"closed"`     // from half-open
	Probes     int64  `json:"probes"`     // attempts let through while half-open
	// ShortCircuited counts attempts that were not sent, hedges that it withheld among them.
	ShortCircuited int64 `json:"short_circuited"`
	OpenAtEnd      int64 `json:"open_at_end"` // breakers that were open or half-open
	// OpenShare is of the breakers' time, in 0..1: that in which they were open or half-open. nil for a run without length.
	OpenShare *float64 `json:"open_share"`
}

// Hedging is what became of hedges: attempts sent while another one of the same operation was under way.
type Hedging struct {
	Sent      int64 `json:"sent"`
	Won       int64 `json:"won"`       // their answer was the operation's
	Cancelled int64 `json:"cancelled"` // attempts, hedges or not, that another one's answer made needless
	Withheld  int64 `json:"withheld"`  // due, and not sent: a breaker, a budget, a limit or the server did not allow it
}

// Effects counts work that the target finished, by operation: an operation whose work was done twice had a double
// effect, unless its server knows repeats by their key.
type Effects struct {
	Done       int64 `json:"done"`       // operations whose work was done at least once
	Duplicated int64 `json:"duplicated"` // of these, more than once
	Extra      int64 `json:"extra"`      // times that work was done again
}

// Dropped counts attempts that were thrown out of the queue, by why.
type Dropped struct {
	Expired int64 `json:"expired"` // their deadline had passed
	Shed    int64 `json:"shed"`    // they had waited too long for the queue's discipline
}

// A Part is the clients of a mixed fleet that follow one policy. What the target alone knows, such as its capacity,
// is the whole's.
type Part struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // asked for, of the clients
	Clients int64   `json:"clients"`
	Run     *Run    `json:"run"`
}

// A Layer is a service behind the first one. Its operations are the calls that the service before it had to make.
type Layer struct {
	Name string `json:"name"`
	// EndToEnd is attempts that were sent to this service for each operation that a client started; nil without one.
	EndToEnd *float64 `json:"amplification_end_to_end"`
	Run      *Run     `json:"run"`
}

// Operations counts what the clients wanted done:
// Started = Succeeded + the sum of GaveUp + Unfinished.
// Unstarted counts operations of an open loop that were due while no client was idle.
type Operations struct {
	Started    int64            `json:"started"`
	Succeeded  int64            `json:"succeeded"`
	GaveUp     map[string]int64 `json:"gave_up"` // by reason; those without any are left out
	Unfinished int64            `json:"unfinished"`
	Unstarted  *int64           `json:"unstarted,omitempty"` // nil in a closed loop
}

// Attempts counts requests: Sent = First + Retries + Hedges = the sum of ByOutcome + InFlightAtEnd.
type Attempts struct {
	Sent          int64            `json:"sent"`
	First         int64            `json:"first"`
	Retries       int64            `json:"retries"`
	ByOutcome     map[string]int64 `json:"by_outcome"` // by status number or kind of failure, the 20 most frequent and "other"; those without any are left out
	InFlightAtEnd int64            `json:"in_flight_at_end"`
	Hedges        int64            `json:"hedges,omitempty"` // sent while another attempt of the operation was under way
	// ShortCircuited were due and not sent: a breaker or a throttle of the client's refused them. They are in no other
	// count of attempts; hedges that it refused are in Hedging.Withheld alone.
	ShortCircuited int64 `json:"short_circuited,omitempty"`
}

// A Bucket is one half-open interval [At, At+width) of the run.
//
// Arrivals, First, Retries and Rejected count attempts by the moment they arrived; Served
// and Wasted count work by the moment the target finished it.
type Bucket struct {
	At       time.Duration `json:"at_ns"`
	Arrivals int64         `json:"arrivals"`
	First    int64         `json:"first"`
	Retries  int64         `json:"retries"`
	Served   int64         `json:"served"`   // finished by the target, Wasted included
	Wasted   int64         `json:"wasted"`   // of Served: the answer reached nobody, for the client had gone
	Rejected int64         `json:"rejected"` // answered over capacity, by the outage or, in a chain, as what is behind failed
	// Dropped counts what was thrown out of the queue unserved, by the moment when that happened. It is in no other count
	// but Arrivals.
	Dropped int64 `json:"dropped,omitempty"`
	// Unknown is how many of Arrivals nothing told a first attempt from a retry by: they are in
	// First or Retries as was supposed (Run.Outside says how), and not in ByAttempt.
	Unknown int64 `json:"unknown,omitempty"`
	// ByAttempt counts arrivals by retry index 0, 1, 2, ... 7 and, last, all beyond.
	// Index 0 is the first attempt.
	ByAttempt []int64 `json:"by_attempt"`
	// RSI is retry_synchronisation_index over this bucket's retries; nil under 5 of them.
	RSI *float64 `json:"retry_synchronisation_index"`
	// OffsetP50 and its like are quantiles of the arrivals' offsets inside the bucket.
	OffsetP50 *int64 `json:"offset_p50_ns"`
	OffsetP99 *int64 `json:"offset_p99_ns"`
}

// Convoy holds the measures of synchronisation. ConvoyIndex, RSI, WindowPeakOverCapacity
// and Verdict speak of the retries inside [WindowFrom, WindowTo); the rest of the whole run.
type Convoy struct {
	WindowFrom     time.Duration `json:"window_from_ns"`
	WindowTo       time.Duration `json:"window_to_ns"`
	WindowArrivals int64         `json:"window_arrivals"`
	// WindowPeakOverCapacity is the fullest of the buckets that begin in the window, retries only, over
	// capacity*width; nil without a known capacity, with a capacity of 0 or without such a bucket.
	WindowPeakOverCapacity *float64 `json:"window_peak_over_capacity"`
	Insufficient           bool     `json:"insufficient"` // under 100 arrivals, under 1 s or no pair within 1 s: ConvoyIndex is nil

	ConvoyIndex *float64 `json:"convoy_index"`
	RSI         *float64 `json:"retry_synchronisation_index"`
	// PostOutageIndex is the convoy index of the retries after the last outage or surge; nil without one or with too few.
	PostOutageIndex *float64 `json:"post_outage_convoy_index"`

	PeakArrivals        int64    `json:"peak_arrivals"`         // fullest bucket, first attempts included
	PeakSlidingArrivals int64    `json:"peak_sliding_arrivals"` // fullest interval of one bucket's width that begins on a whole millisecond, or bucket
	PeakOverCapacity    *float64 `json:"peak_over_capacity"`
	PeakOverMean        *float64 `json:"peak_over_mean"`
	Dispersion          *float64 `json:"dispersion"`  // Fano factor of the retries in the window's whole buckets; 1 is Poisson
	Periodicity         *float64 `json:"periodicity"` // autocorrelation of retries by bucket at lag = Config.Period, in its window; nil under 3 lags
	Waves               *int64   `json:"waves"`       // maximal runs of buckets above capacity; nil without a known capacity
	WavePeaks           []int64  `json:"wave_peaks"`  // of the first 32 waves
	HalfLifeWaves       *float64 `json:"half_life_waves"`

	Verdict Verdict  `json:"verdict"`
	Flags   []string `json:"flags"`
}

// A Verdict is one word of domain 5.4's matrix.
type Verdict string

// The four verdicts.
const (
	VerdictConvoy   Verdict = "CONVOY"
	VerdictClumped  Verdict = "CLUMPED"
	VerdictOverload Verdict = "OVERLOAD"
	VerdictClear    Verdict = "CLEAR"
)

// The flags that stand beside a verdict.
const (
	FlagPeriodic   = "PERIODIC"
	FlagSharedSeed = "SHARED-SEED"
	FlagMetastable = "METASTABLE"
)

// Recovery says whether goodput came back after the last outage or surge (domain 4.4). Every field
// but Watched is nil where the run had none, or no healthy phase before the first.
type Recovery struct {
	GoodputBefore *float64       `json:"goodput_before_per_second"`
	GoodputLast   *float64       `json:"goodput_last_per_second"` // mean over the last 5 s
	RecoveredAt   *time.Duration `json:"recovered_after_ns"`      // since the last one ended; nil: not within Watched
	Watched       time.Duration  `json:"watched_ns"`
	// WatchNeeded is how long it takes to be watched before a run without recovery is METASTABLE; 0 in files from before it
	// was kept, where it was RecoveryWatchDefault.
	WatchNeeded time.Duration `json:"watch_needed_ns,omitempty"`
	// AmplificationLast and WastedShareLast are of the last 60 s, and of no more than Watched: arrivals for each first
	// attempt, and finished work whose answer reached nobody. Nil where there is nothing to divide by.
	AmplificationLast *float64 `json:"amplification_last_60s,omitempty"`
	WastedShareLast   *float64 `json:"wasted_share_last_60s,omitempty"`
}

// A Distribution summarises one histogram. Count, Min, Mean and Max are exact; percentiles
// carry 3 significant digits. Every figure is nil when Count is 0. Clamped counts values
// beyond the histogram's range (their percentiles are understated, Max is not) and Faults
// counts negative ones, which are recorded nowhere else.
type Distribution struct {
	Count   int64    `json:"count"`
	Min     *int64   `json:"min"`
	Mean    *float64 `json:"mean"`
	P50     *int64   `json:"p50"`
	P90     *int64   `json:"p90"`
	P99     *int64   `json:"p99"`
	P999    *int64   `json:"p999"`
	Max     *int64   `json:"max"`
	Clamped int64    `json:"clamped,omitempty"`
	Faults  int64    `json:"faults,omitempty"`
}

// Beyond reports whether the value at a quantile in 0..1 lies among those beyond the histogram, so that it is
// only known to be above its end. At 1 it does not: Max is exact.
func (d *Distribution) Beyond(quantile float64) bool {
	return quantile < 1 && d.Clamped > 0 && quantile*float64(d.Count) > float64(d.Count-d.Clamped)
}

// DelayShares is the mass of planned delays on single points (domain 5.7).
type DelayShares struct {
	AtCap   *float64 `json:"at_cap"`   // exactly the cap
	AtFloor *float64 `json:"at_floor"` // exactly the strategy's floor
	// FirstMode is the largest share of first-retry delays in one histogram bin.
	FirstMode *float64 `json:"first_retry_mode"`
}

// Generator is the health of the measuring side.
type Generator struct {
	// StartSpread is p99-p1 of the arrivals of the first wave; nil with a ramp or a rate.
	StartSpread *int64 `json:"start_spread_ns"`
	Connections int64  `json:"connections"` // opened over the whole run
	KeptUp      bool   `json:"kept_up"`
	// LatenessOutsideFirstWave leaves out the sends of the first bucket.
	LatenessRest Distribution `json:"lateness_rest_ns"`
	TimerSource  string       `json:"timer_source"`
	// ConnectionWait is how long attempts waited for a connection that had to be opened for them; it is
	// inside their latency. Count 0: every one found its connection open.
	ConnectionWait Distribution `json:"connection_wait_ns"`
	// Replayed counts requests that the transport sent again by itself, because the server had said
	// (HTTP/2 GOAWAY, REFUSED_STREAM) that it did not handle them: the server saw so many more.
	Replayed int64 `json:"replayed_by_transport"`
}

// Hints counts the Retry-After headers that answers carried.
type Hints struct {
	Seen    int64 `json:"seen"`
	Obeyed  int64 `json:"obeyed"`  // waits set by the server's floor
	Invalid int64 `json:"invalid"` // not RFC 9110's grammar, so treated as absent
	Early   int64 `json:"early"`   // retries sent before an obeyed floor; always 0 unless something is broken
}

// Budget is what the retry budgets of the fleet allowed: Taken = Returned + Spent,
// Spent = Attempts.Retries, Refused = the operations that gave up for it. Balances are in
// retries that would be allowed, and the sum over the accounts unless said otherwise.
type Budget struct {
	Kind       string `json:"kind"`
	Parameters string `json:"parameters"` // KEY=VALUE,... as in the plan
	Accounts   int64  `json:"accounts"`   // 1, or one for each client
	Deposits   int64  `json:"deposits"`   // first attempts that paid in
	Taken      int64  `json:"taken"`      // retries allowed, before their sleep
	Returned   int64  `json:"returned"`   // of these, cancelled in their sleep
	Spent      int64  `json:"spent"`      // of these, sent
	Refused    int64  `json:"refused"`
	// RefusedFirst counts first attempts that a throttle did not let out, Delayed attempts that it made wait, by
	// DelayTotal in all.
	RefusedFirst int64         `json:"refused_first,omitempty"`
	Delayed      int64         `json:"delayed,omitempty"`
	DelayTotal   time.Duration `json:"delay_total_ns,omitempty"`
	// BalanceLowest and BalanceHighest are the extremes of any one account, at any moment.
	BalanceLowest  int64 `json:"balance_lowest"`
	BalanceHighest int64 `json:"balance_highest"`
	BalanceLast    int64 `json:"balance_last"` // at the end of the run
	// Balance is at the end of each whole bucket, what happens in the next one not counted;
	// empty where clients with an account each would have over two million.
	Balance []int64 `json:"balance"`
	// FloorPerSecond is what all accounts allow together whatever the ratio says; nil where the
	// kind has no such floor.
	FloorPerSecond    *float64 `json:"floor_per_second"`
	FloorOverCapacity *float64 `json:"floor_over_capacity"` // nil without a capacity above 0
}

// Books shows that nothing was lost: AttemptsSent = Arrivals + the sum of Lost.
type Books struct {
	AttemptsSent int64            `json:"attempts_sent"`
	Arrivals     int64            `json:"arrivals"`
	Lost         map[string]int64 `json:"lost"`
	Balanced     bool             `json:"balanced"`
	// Faults names in words each equation that does not hold, and each moment that cannot be.
	Faults []string `json:"faults,omitempty"`
}
