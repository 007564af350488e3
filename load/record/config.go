package record

import (
	"fmt"
	"math"
	"time"
)

// Defaults that a zero in a [Config] stands for.
const (
	BucketDefault        = 100 * time.Millisecond
	ShardsDefault        = 4
	RecoveryWatchDefault = 120 * time.Second
)

// Limits of a [Config].
const (
	BucketMin  = time.Microsecond
	BucketsMax = 10_000_000 // in one run
)

// A Config says what a Recorder is to expect and over which windows the measures are taken.
// The zero value records into buckets of 100 ms with no known capacity, window or outage.
//
// All moments are since t0 and all windows are half-open. Not modified after New.
type Config struct {
	// Bucket is the width of a bucket; 0 means BucketDefault.
	Bucket time.Duration
	// Duration is the planned length of the run. It sizes the storage; End.At says how long
	// the run really was. 0 is unknown.
	Duration time.Duration
	// CapacityPerSecond is what the target can serve; nil where nobody knows it, and 0 is a
	// real capacity: a target that serves nothing.
	CapacityPerSecond *float64

	// WindowFrom and WindowTo bound the window of the convoy index and of the verdict. They are
	// clipped to the run and widened to whole cells (see CellWidth). 0, 0 is no window.
	WindowFrom, WindowTo time.Duration
	// Triggers are the outages and surges, in any order. What comes after the last is held against what was before the
	// first.
	Triggers []Trigger
	// OpenLoop says that operations start at a rate whatever the target does. Only then has
	// recovery a meaning: a closed fleet runs out of work and falls quiet by itself.
	OpenLoop bool
	// RecoveryWatch is how long the target must be watched after the last trigger before a run without
	// recovery is called METASTABLE; 0 means RecoveryWatchDefault.
	RecoveryWatch time.Duration

	// Drops says that the target may throw attempts out of its queue, so that Run.Dropped is wanted where it is 0 too.
	Drops bool

	// Period is the lag of the periodicity measure: the cap, or a constant delay. 0 is none.
	Period time.Duration
	// PeriodFrom and PeriodTo bound the traffic in which the period is looked for.
	PeriodFrom, PeriodTo time.Duration

	// Cap and Floor are the two delays whose exact share is counted; 0 counts nothing.
	Cap, Floor time.Duration
	// FirstDelayJittered says that the strategy draws the first retry's delay, so that one delay
	// shared by most of the fleet betrays a shared seed.
	FirstDelayJittered bool
	// StartTogether says that every client starts at t0, so that the start spread is measured:
	// false with a ramp or a rate.
	StartTogether bool

	// KindNames are the keys of by_outcome for KindKey(0), KindKey(1), ...; at most KindsMax.
	KindNames []string
	// ReasonNames are the keys of gave_up for Operation.Reason 0, 1, ...; at most NamesMax.
	ReasonNames []string
	// LostNames are the keys of lost for Lost(client, 0), Lost(client, 1), ...; at most NamesMax.
	LostNames []string

	// Detail says that Run.Detail is wanted.
	Detail bool

	// Shards is how many parts the client side has, each with its own lock and 2 MB of
	// histograms; 0 means ShardsDefault. A single-threaded caller wants 1, which makes its histograms
	// as it needs them.
	Shards int
}

// Validate returns every fault of c.
func (c Config) Validate() []error {
	var faults []error
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("record: "+format, args...))
	}
	if c.Bucket != 0 && c.Bucket < BucketMin {
		add("bucket = %v, want %v or more", c.Bucket, BucketMin)
	} else if n := int64(c.Duration / c.withDefaults().Bucket); n > BucketsMax {
		add("%d buckets of %v in %v, want at most %d", n, c.withDefaults().Bucket, c.Duration, BucketsMax)
	}
	if c.Duration < 0 {
		add("duration = %v, want 0 or more", c.Duration)
	}
	if v := c.CapacityPerSecond; v != nil && (!(*v >= 0) || math.IsInf(*v, 0)) {
		add("capacity = %v/s, want a finite number >= 0, or none", *v)
	}
	for _, w := range []struct {
		name     string
		from, to time.Duration
	}{
		{"window", c.WindowFrom, c.WindowTo},
		{"period window", c.PeriodFrom, c.PeriodTo},
	} {
		if w.from < 0 || w.to < w.from {
			add("%s = %v..%v, want 0 <= from <= to", w.name, w.from, w.to)
		}
	}
	for _, t := range c.Triggers {
		if t.From < 0 || t.To < t.From {
			add("trigger = %v..%v, want 0 <= from <= to", t.From, t.To)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"recovery watch", c.RecoveryWatch}, {"period", c.Period}, {"cap", c.Cap}, {"floor", c.Floor}} {
		if d.value < 0 {
			add("%s = %v, want 0 or more", d.name, d.value)
		}
	}
	if n := len(c.KindNames); n > KindsMax {
		add("%d kind names, want at most %d", n, KindsMax)
	}
	if n := len(c.ReasonNames); n > NamesMax {
		add("%d reason names, want at most %d", n, NamesMax)
	}
	if n := len(c.LostNames); n > NamesMax {
		add("%d loss names, want at most %d", n, NamesMax)
	}
	if c.Shards < 0 || c.Shards > 1024 {
		add("shards = %d, want 0..1024", c.Shards)
	}
	return faults
}

// withDefaults returns c with its zeros replaced.
func (c Config) withDefaults() Config {
	if c.Bucket == 0 {
		c.Bucket = BucketDefault
	}
	if c.RecoveryWatch == 0 {
		c.RecoveryWatch = RecoveryWatchDefault
	}
	if c.Shards == 0 {
		c.Shards = ShardsDefault
	}
	return c
}

// An End is what only the engine knows when a run is over.
type End struct {
	// At is when the run ended: Duration, or earlier when every operation had ended.
	At time.Duration
	// InFlight counts attempts that were sent and have no outcome.
	InFlight int64
	// Unfinished counts operations that were started and have not ended.
	Unfinished int64
	// Unstarted counts operations of an open loop that were due while no client was idle. It is
	// reported only where Config.OpenLoop is set.
	Unstarted int64

	Strategy           string
	Engine             string // EngineReal or EngineVirtual
	ArrivalsMeasuredAt string // "target" or "client"
	Connections        int64
	Replayed           int64
	TimerSource        string
	Budget             *Budget  // nil where every retry is allowed
	Breaker            *Breaker // nil where nothing breaks the circuit
	Hedging            *Hedging
	Notes              []string

	// Outside is set where the clients were not ours.
	Outside *Outside
	// WindowFrom and WindowTo, where not 0, 0, take the place of the Config's: for a run of which
	// only its course tells when the clients failed.
	WindowFrom, WindowTo time.Duration
}
