package record

import "time"

// A Detail is what pictures and metrics need of a run beside its figures: histograms and series. It is nil
// in a result from before it was kept, in a run from a log, and of the seeds of a repeat but the first.
type Detail struct {
	// Each is the histogram that the Distribution of the same name in Run summarises; nil where that has no value.
	Latency          *Bins `json:"latency_ns"`
	OperationLatency *Bins `json:"operation_latency_ns"`
	Delay            *Bins `json:"delay_ns"`
	AttemptAtSuccess *Bins `json:"attempt_at_success"`
	Elapsed          *Bins `json:"elapsed_ns"`
	Lateness         *Bins `json:"lateness_ns"`

	// Draws are the delays that the strategy drew, by the retry they came before; empty where there was none.
	Draws []Draws `json:"draws"`
	// Synchrony is the two indexes in windows of one width that follow each other from t0 to the run's end; the
	// last may be shorter. There are at most SynchronyMax.
	Synchrony []Synchrony `json:"synchrony"`
}

// SynchronyMax bounds Detail.Synchrony: in a longer run the windows are wider than a second.
const SynchronyMax = 600

// DrawColumns is the most there can be of Detail.Draws: retry index 0 to DrawColumns-2, and all beyond.
const DrawColumns = 12

// A Draws is what one strategy drew before its retries of one index: the delays before anything else, such as a server's
// Retry-After, made them longer, and also of retries that were forbidden then, because they would have begun too late or the
// budget was spent. Without these the long ones would be missing near the longest time that an operation may take.
type Draws struct {
	Retry  int64 `json:"retry"`  // index, 0 is the first; DrawColumns-1 stands for itself and all beyond
	Beyond bool  `json:"beyond"` // it is the one that stands for all beyond
	Count  int64 `json:"count"`
	// Bins are exact, unlike those that come from a histogram of three digits. Bin 0 holds all below 1 µs, and that
	// of 10,000 s all from there on.
	Bins Bins `json:"bins"`
	// Theory is how the strategy's formula spreads such a delay; nil in the column of all beyond, and while the run is
	// under way.
	Theory *Theory `json:"theory"`
}

// A Theory is a distribution over bins as those of Draws: the share of the values in each, which add up to 1 within
// 0.001. Bin 0 also holds the shortest, up to a hundredth of all, so that they take no bins of their own.
type Theory struct {
	From  []int64   `json:"from"`
	Share []float64 `json:"share"` // above 0, four digits
	// Chained says that the formula goes by the delays that the operation drew before, and that this is the distribution
	// over operations that are all retried so often. Those that a target left to be retried were not chosen so, and
	// what they drew may differ from it without any fault: mostly to the short side.
	Chained bool `json:"chained,omitempty"`
}

// A Synchrony is the indexes of the retries that arrived in [At, To), to a ms at the run's end. Each is nil where there
// were too few, or the window is too short for it.
type Synchrony struct {
	At          time.Duration `json:"at_ns"`
	To          time.Duration `json:"to_ns"`
	Retries     int64         `json:"retries"`
	ConvoyIndex *float64      `json:"convoy_index"`
	RSI         *float64      `json:"retry_synchronisation_index"`
}

// A Wave is a maximal run of buckets above capacity, [From, To).
type Wave struct {
	From, To     time.Duration
	Arrivals     int64         // of all its buckets
	PeakArrivals int64         // of its fullest bucket
	PeakAt       time.Duration // where that begins
}

// detail returns what is kept of a run beside its figures.
func detail(clients *shard, s *site, c Config, end time.Duration) *Detail {
	return &Detail{
		Latency:          clients.latency.bins(),
		OperationLatency: clients.operationLatency.bins(),
		Delay:            clients.delay.bins(),
		AttemptAtSuccess: clients.attempts.bins(),
		Elapsed:          clients.elapsed.bins(),
		Lateness:         clients.lateness.bins(),
		Draws:            clients.draws.list(),
		Synchrony:        synchrony(s, c, end),
	}
}
