package station

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Model is a rule of admission and service; see the package's description.
type Model uint8

// The models.
const (
	// Slots is Workers slots behind a queue of Queue places.
	Slots Model = iota
	// TokenBucket is a bucket of Burst tokens that refills at PerSecond.
	TokenBucket
)

// String returns "slots" or "token-bucket".
func (m Model) String() string {
	switch m {
	case Slots:
		return "slots"
	case TokenBucket:
		return "token-bucket"
	default:
		return "model " + strconv.Itoa(int(m))
	}
}

// A RetryAfterMode says which Retry-After a refusal carries.
type RetryAfterMode uint8

// The modes of RetryAfterRule.
const (
	// RetryAfterNone sends no hint.
	RetryAfterNone RetryAfterMode = iota
	// RetryAfterFixed sends RetryAfterRule.After.
	RetryAfterFixed
	// RetryAfterAuto sends how long a newcomer would have to wait.
	RetryAfterAuto
	// RetryAfterReset sends the time until the next whole multiple of RetryAfterRule.After on the clock, as a limit that is
	// counted by such windows does.
	RetryAfterReset
)

// A RetryAfterRule is the Retry-After of answers that reject or fail an arrival. The hint
// is a whole number of seconds (RFC 9110, 10.2.3), rounded up so that it is never early; but with
// RetryAfterReset it is exact, above 0 and at most After, for it stands for a moment: all that are turned away
// between two resets are told of the same one. The clock shows 0 at moment 0, unless SetClock says otherwise.
//
// RetryAfterAuto sends, at least one second,
//
//   - during an outage of mode status: the time until it ends;
//   - otherwise the time until the target would serve one more. With Slots that is the
//     next completion plus 1/PerSecond for each job in the queue: the moment a slot is
//     free for a newcomer behind them, exact without a queue and with fixed service where
//     Workers is 1, an estimate otherwise. With TokenBucket it is the moment of the next
//     token. Coming outages of mode slow and capacity are reckoned in;
//   - nothing where that moment never comes (PerSecond 0).
//
// A job that is dropped from the queue carries the same hint, as of the moment when that happened. What a
// Discipline or Config.DropExpired will throw out is not reckoned with.
type RetryAfterRule struct {
	// Mode is where the hint comes from. Zero: RetryAfterNone.
	Mode RetryAfterMode
	// After is the hint of RetryAfterFixed, above 0 and at most a year; it is rounded
	// up. Or the length of a window of RetryAfterReset, whole seconds. Zero for the other modes.
	After time.Duration
}

// Bounds of a Config. A year is longer than any run.
const (
	perSecondMax = 1e9
	workersMax   = 1_000_000
	queueMax     = 10_000_000
	burstMax     = 1_000_000_000
	year         = 365 * 24 * time.Hour
)

// A Config describes a station. The zero value is valid: it serves nothing and rejects
// every arrival.
type Config struct {
	// PerSecond is the capacity in jobs a second, 0..1e9. Zero serves nothing, and every
	// arrival outside an outage is rejected at once, for waiting would be in vain.
	// It is taken as the decimal number of jobs an hour that was meant; 100.0/60 is
	// exactly 100 a minute.
	PerSecond float64
	// Model is the admission rule. Zero: Slots.
	Model Model

	// Workers is the number of slots, 1..1000000; a job's service takes Workers/PerSecond
	// seconds, at most a year. Zero: 1. Slots only.
	Workers int
	// Queue is how many accepted jobs may wait for a slot, 0..10000000. Slots only.
	Queue int
	// Discipline is the order of the queue. Zero: FIFO. Slots only.
	Discipline Discipline
	// DropExpired drops a job whose turn comes at or after the deadline that ArriveBy was given,
	// instead of serving it for a client that waits no longer. False: such work is done. Slots only.
	DropExpired bool
	// Contention s and Coherency q are those of the Universal Scalability Law, each 0..1 in steps of 1e-9: while n
	// jobs are in service, all of them go on at 1/(1 + s(n-1) + q n(n-1)) of their speed, a billionth at least. So n busy slots
	// together serve PerSecond * n/Workers of that, most at n = sqrt((1-s)/q); PerSecond is what Workers would serve if they
	// were not in each other's way. Zero, zero: they are not. Slots only.
	// Source: Gunther, "Guerrilla Capacity Planning", Springer 2007, chapter 4.
	Contention, Coherency float64
	// ShedCost is what each answer with Status costs, over capacity, of an outage or dropped from the queue, as a part of
	// the mean service time of one slot, 0..1 in steps of 1e-9. Idle slots pay for it, one after another, for as long as there
	// are some; where all slots are busy all work stands still until all of them have paid together, which takes ShedCost/PerSecond
	// for each such answer. Zero: nothing. Slots only.
	ShedCost float64
	// ServiceExp draws service times from the exponential distribution with that mean.
	// False: all are equal. Slots only.
	ServiceExp bool

	// Burst is the size of the bucket, 1..1000000000; it fills in at most a year.
	// Zero: 1. TokenBucket only.
	Burst int

	// Status is the HTTP status of an arrival that is rejected or failed, 400..599.
	// Zero: 503.
	Status int
	// RetryAfter is the hint that goes with it. Zero: none.
	RetryAfter RetryAfterRule

	// CancelAbandoned stops work whose client has gone and frees its slot or place in
	// the queue. False: such work is finished for nobody, as most real services do.
	CancelAbandoned bool

	// Outages may not overlap, but for one of mode errors and one of mode slow or capacity; their order does not matter.
	Outages []Outage
}

// withDefaults returns c with its zero fields filled in.
func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, 1)
	c.Burst = cmp.Or(c.Burst, 1)
	c.Status = cmp.Or(c.Status, 503)
	return c
}

// Validate returns every fault of c, nil for none. Each names the field, what it holds and
// what it may hold.
func (c Config) Validate() []error {
	c = c.withDefaults()
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("station: "+format, args...))
		}
	}
	check(c.Model <= TokenBucket, "model = %d, want %d (%v) or %d (%v)", c.Model, Slots, Slots, TokenBucket, TokenBucket)
	check(c.Discipline < disciplines, "discipline = %d, want %d (%v)..%d (%v)", c.Discipline, FIFO, FIFO, disciplines-1, disciplines-1)
	rateOK := c.PerSecond >= 0 && c.PerSecond <= perSecondMax // false for NaN
	check(rateOK, "per second = %v, want 0..%.0f", c.PerSecond, perSecondMax)
	check(within(c.Workers, 1, workersMax), "workers = %d, want 1..%d", c.Workers, workersMax)
	check(within(c.Queue, 0, queueMax), "queue = %d, want 0..%d", c.Queue, queueMax)
	check(within(c.Burst, 1, burstMax), "burst = %d, want 1..%d", c.Burst, burstMax)
	check(within(c.Status, 400, 599), "status = %d, want 400..599", c.Status)
	if rateOK && c.PerSecond > 0 {
		jobs, what := c.Workers, "workers/per second, the service time,"
		if c.Model == TokenBucket {
			jobs, what = c.Burst, "burst/per second, the time to fill the bucket,"
		}
		seconds := float64(jobs) / c.PerSecond
		check(seconds <= year.Seconds(), "%s = %.4gs, want at most %v", what, seconds, year)
	}
	isShare := func(x float64) bool { return x >= 0 && x <= 1 } // false for NaN
	check(isShare(c.ShedCost), "shed cost = %v, want 0..1", c.ShedCost)
	check(isShare(c.Contention), "contention = %v, want 0..1", c.Contention)
	check(isShare(c.Coherency), "coherency = %v, want 0..1", c.Coherency)
	if isShare(c.Contention) && isShare(c.Coherency) {
		_, ok := slowdownOf(c.strainSteps(), min(c.Workers, workersMax))
		check(ok, "contention = %v and coherency = %v slow %d workers down more than a billion times", c.Contention, c.Coherency, c.Workers)
	}
	faults = append(faults, c.RetryAfter.validate()...)
	return append(faults, validateOutages(c.Outages)...)
}

func within(n, low, high int) bool {
	return low <= n && n <= high
}

func (r RetryAfterRule) validate() []error {
	switch {
	case r.Mode > RetryAfterReset:
		return []error{fmt.Errorf("station: retry-after mode = %d, want 0 (none), 1 (fixed), 2 (auto) or 3 (reset)", r.Mode)}
	case r.Mode == RetryAfterReset && r.After%time.Second != 0:
		return []error{fmt.Errorf("station: retry-after = %v, want whole seconds for a reset", r.After)}
	case r.timed() && (r.After <= 0 || r.After > year):
		return []error{fmt.Errorf("station: retry-after = %v, want above 0s and at most %v", r.After, year)}
	case !r.timed() && r.After != 0:
		return []error{fmt.Errorf("station: retry-after = %v, want 0s where it is neither fixed nor a reset", r.After)}
	}
	return nil
}

// timed reports whether the rule has a length of time.
func (r RetryAfterRule) timed() bool { return r.Mode == RetryAfterFixed || r.Mode == RetryAfterReset }

func validateOutages(outages []Outage) []error {
	var faults []error
	for _, o := range outages {
		for _, err := range o.Validate() {
			faults = append(faults, fmt.Errorf("station: outage %q: %w", o, err))
		}
	}
	for _, o := range Overlaps(outages) {
		faults = append(faults, fmt.Errorf("station: outage %q overlaps %q, want windows apart", o.Outage, o.Before))
	}
	return faults
}

// sorted returns a copy of outages in the order of their beginnings.
func sorted(outages []Outage) []Outage {
	byFrom := slices.Clone(outages)
	slices.SortStableFunc(byFrom, func(a, b Outage) int { return cmp.Compare(a.From, b.From) })
	return byFrom
}
