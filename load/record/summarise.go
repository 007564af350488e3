package record

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// summarise computes the Run of everything r holds.
func summarise(r *Recorder, e End) Run {
	c := r.config
	clients, release := r.clients()
	defer release()
	if e.WindowFrom != 0 || e.WindowTo != 0 {
		c.WindowFrom, c.WindowTo = e.WindowFrom, e.WindowTo
	}
	s := &r.site
	s.mu.Lock()
	defer s.mu.Unlock()

	run := Run{
		Strategy:           e.Strategy,
		Engine:             e.Engine,
		ArrivalsMeasuredAt: e.ArrivalsMeasuredAt,
		Duration:           e.At,
		Bucket:             c.Bucket,
		CapacityPerSecond:  c.CapacityPerSecond,
		Buckets:            s.buckets.list(max(s.buckets.used(), bucketsUntil(e.At, c.Bucket))),
		Latency:            clients.latency.distribution(),
		OperationLatency:   clients.operationLatency.distribution(),
		Delay:              clients.delay.distribution(),
		AttemptAtSuccess:   clients.attempts.distribution(),
		Elapsed:            clients.elapsed.distribution(),
		Lateness:           clients.lateness.distribution(),
		DelayShares:        delayShares(clients, c),
		Hints:              clients.hints,
		Budget:             e.Budget,
		Hedging:            e.Hedging,
		Breaker:            e.Breaker,
		Notes:              append([]string{}, e.Notes...),
		Outside:            e.Outside.known(),
	}
	summariseClients(&run, clients, c, e)
	if d := s.buckets.dropped(); c.Drops || d != (Dropped{}) {
		run.Dropped = &d
	}
	run.Generator = Generator{
		StartSpread:    s.startSpread(),
		Connections:    e.Connections,
		LatenessRest:   clients.latenessRest.distribution(),
		TimerSource:    e.TimerSource,
		ConnectionWait: clients.waited.distribution(),
		Replayed:       e.Replayed,
	}
	run.Generator.KeptUp = len(Validity(run)) == 0
	run.Phases = phases(c.Triggers, run.Buckets, c.Bucket, e.At)
	run.Recovery = recovery(s, c, run.Buckets, e.At)
	if e.ArrivalsMeasuredAt == "client" {
		forgetWasted(&run)
	}
	run.Convoy = convoy(s, c, run.Buckets, e.At)
	run.Convoy.Flags = flags(&run, s, c, e.At)
	balance(&run, clients, s, c.LostNames)
	if c.Detail {
		run.Detail = detail(clients, s, c, e.At)
	}
	return run
}

// clients returns what all shards hold together, which is not to be changed, and what to call when it was read.
func (r *Recorder) clients() (all *shard, release func()) {
	if len(r.shards) == 1 {
		r.shards[0].mu.Lock()
		return &r.shards[0], r.shards[0].mu.Unlock
	}
	all = new(shard)
	all.init(r.config)
	for i := range r.shards {
		all.merge(&r.shards[i])
	}
	return all, func() {}
}

// bucketsUntil returns how many buckets begin before end.
func bucketsUntil(end, width time.Duration) int {
	if end <= 0 {
		return 0
	}
	return int((end-1)/width) + 1
}

// summariseClients fills what the clients counted.
func summariseClients(run *Run, clients *shard, c Config, e End) {
	run.Operations = Operations{
		Started:    clients.started,
		Succeeded:  clients.succeeded,
		GaveUp:     byName(clients.gaveUp[:], c.ReasonNames),
		Unfinished: e.Unfinished,
	}
	if c.OpenLoop {
		run.Operations.Unstarted = ptr(e.Unstarted)
	}
	run.Attempts = Attempts{
		Sent:          clients.sent,
		First:         clients.first,
		Retries:       clients.retries,
		Hedges:        clients.hedges,
		ByOutcome:     map[string]int64{},
		InFlightAtEnd: e.InFlight,

		ShortCircuited: clients.shortCircuited,
	}
	for k, n := range clients.outcomes {
		if n != 0 {
			run.Attempts.ByOutcome[outcomeName(OutcomeKey(k), c.KindNames)] += n
		}
	}
	boundOutcomes(run.Attempts.ByOutcome)
	if clients.started > 0 {
		run.Amplification = ptr(float64(clients.sent) / float64(clients.started))
		if clients.succeeded == clients.started {
			run.Completion = ptr(int64(clients.completed))
		}
	}
}

// boundOutcomes keeps the OutcomesMax most frequent outcomes, and of equals the first by name; the
// others become one.
func boundOutcomes(by map[string]int64) {
	other := outcomeName(outcomeOther, nil)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return name == other })
	for _, name := range names[min(OutcomesMax, len(names)):] {
		by[other] += by[name]
		delete(by, name)
	}
}

// delayShares returns the mass of the drawn delays on single points; nil where there is no such point or
// no delay.
func delayShares(clients *shard, c Config) DelayShares {
	shares := DelayShares{FirstMode: clients.firstDelay.modeShare(SharedSeedMin)}
	if clients.delays == 0 {
		return shares
	}
	if c.Cap > 0 {
		shares.AtCap = ptr(float64(clients.atCap) / float64(clients.delays))
	}
	if c.Floor > 0 {
		shares.AtFloor = ptr(float64(clients.atFloor) / float64(clients.delays))
	}
	return shares
}

// recovery returns what there is to say about the time after the last trigger.
func recovery(s *site, c Config, list []Bucket, end time.Duration) Recovery {
	from, to := around(c.Triggers)
	switch {
	case to <= from:
		return Recovery{}
	case !c.OpenLoop:
		return Recovery{Watched: max(0, end-to)}
	}
	r := s.goodput.recovery(from, to, end)
	if r.GoodputBefore != nil && r.Watched > 0 {
		r.WatchNeeded = c.RecoveryWatch
		r.addLast(list, c.Bucket, to, end)
	}
	return r
}

// convoy returns every measure of synchronisation but the flags.
func convoy(s *site, c Config, list []Bucket, end time.Duration) Convoy {
	from, to := cellWindow(c.WindowFrom, c.WindowTo, end)
	v := Convoy{WindowFrom: from, WindowTo: to, WavePeaks: []int64{}, Flags: []string{}}
	v.WindowArrivals = s.cells.retriesIn(int(from/CellWidth), int(to/CellWidth))
	v.ConvoyIndex = cellIndex(s, from, to)
	v.Insufficient = v.ConvoyIndex == nil
	if outages, to := around(c.Triggers); to > outages {
		v.PostOutageIndex = cellIndex(s, to-to%CellWidth, end)
	}
	if r, _, ok := periodicity(&s.buckets, c, end); ok {
		v.Periodicity = &r
	}
	first, last := wholeBuckets(from, to, c.Bucket)
	v.Dispersion = optional(Fano(s.buckets.retries(first, last)))
	v.RSI = shown(s.buckets.rsi(first, last))

	arrivals := make([]int64, len(list))
	for i := range list {
		arrivals[i] = list[i].Arrivals
	}
	v.PeakArrivals = peakOf(arrivals)
	v.PeakSlidingArrivals = max(v.PeakArrivals, s.cells.slidingMax(int(c.Bucket/CellWidth)))
	v.PeakOverMean = optional(peakOverMean(arrivals, end, c.Bucket))

	first, last = begunBuckets(from, to, c.Bucket)
	begun := s.buckets.retries(first, last)
	evidence := Evidence{Index: v.ConvoyIndex, Peak: peakOf(begun)}
	if c.CapacityPerSecond != nil {
		capacity := capacityOf(*c.CapacityPerSecond, c.Bucket)
		evidence.Capacity = &capacity
		v.againstCapacity(arrivals, begun, capacity)
	}
	v.Verdict = Judge(evidence)
	return v
}

// againstCapacity fills what compares counts of buckets with what one bucket's width can serve.
func (v *Convoy) againstCapacity(arrivals, window []int64, capacity float64) {
	peaks := Waves(arrivals, capacity)
	v.Waves = ptr(int64(len(peaks)))
	v.WavePeaks = peaks[:min(len(peaks), wavePeaksMax)]
	v.HalfLifeWaves = optional(HalfLife(peaks))
	if capacity == 0 {
		return // over nothing there is no ratio
	}
	v.PeakOverCapacity = ptr(float64(v.PeakArrivals) / capacity)
	if len(window) > 0 {
		v.WindowPeakOverCapacity = ptr(float64(peakOf(window)) / capacity)
	}
}

// wavePeaksMax is how many peaks a result lists.
const wavePeaksMax = 32

// flags returns the flags that stand beside the verdict.
func flags(run *Run, s *site, c Config, end time.Duration) []string {
	flags := []string{}
	if _, periodic, _ := periodicity(&s.buckets, c, end); periodic {
		flags = append(flags, FlagPeriodic)
	}
	if sharedSeed(c.FirstDelayJittered, run.DelayShares.FirstMode) {
		flags = append(flags, FlagSharedSeed)
	}
	if run.Recovery.metastable(c.RecoveryWatch) {
		flags = append(flags, FlagMetastable)
	}
	return flags
}

// periodicity looks for Config.Period in the retries of Config.PeriodFrom..PeriodTo.
func periodicity(b *buckets, c Config, end time.Duration) (r float64, periodic, ok bool) {
	first, last := wholeBuckets(c.PeriodFrom, min(c.PeriodTo, end), c.Bucket)
	lag := int((c.Period + c.Bucket/2) / c.Bucket)
	return Periodic(b.retries(first, last), lag)
}

// cellIndex returns the convoy index over [from, to), nil where the arrivals or the window do not suffice.
func cellIndex(s *site, from, to time.Duration) *float64 {
	first, last := int(from/CellWidth), int(to/CellWidth)
	if to-from < ConvoyWindowMin || s.cells.retriesIn(first, last) < ConvoyArrivalsMin {
		return nil
	}
	return shown(s.cells.pairs(first, last).ConvoyIndex(to - from))
}

// cellWindow returns [from, to) clipped to a run that ends at end and widened to whole cells.
func cellWindow(from, to, end time.Duration) (time.Duration, time.Duration) {
	from -= from % CellWidth
	to = min(to, end)
	if to <= from {
		return from, from
	}
	if rest := to % CellWidth; rest > 0 {
		to += CellWidth - rest
	}
	return from, to
}

// wholeBuckets returns the range of the buckets that lie in [from, to) whole.
func wholeBuckets(from, to, width time.Duration) (first, last int) {
	first = bucketsUntil(from, width)
	return first, max(first, int(to/width))
}

// begunBuckets returns the range of the buckets that begin in [from, to).
func begunBuckets(from, to, width time.Duration) (first, last int) {
	first = bucketsUntil(from, width)
	return first, max(first, bucketsUntil(to, width))
}

// optional returns x, nil where it has no value.
func optional(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}
