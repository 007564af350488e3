package metrics

import (
	"slices"
	"sync"
	"time"

	"stormtest/load/record"
)

// lookEvery is how old metrics may be: whoever asks more often gets the same again, so that it costs the run nothing.
const lookEvery = 200 * time.Millisecond

// A Live is the metrics of an invocation while it goes on.
//
// Each strategy has its series from when its run begins, and keeps them. What counts never falls: with a repeat, counts and
// histograms go on from one seed to the next, while gauges and quantiles are of the seed under way, and of the first once
// the strategy has ended, as in the result. Safe for concurrent use.
type Live struct {
	mu     sync.Mutex
	result *record.Result // what is known of it
	over   bool
	slots  []*slot
	news   bool // since the last look

	looking sync.Mutex // one looks at a time; taken before mu
	at      time.Time
	now     []Family
}

// A slot is one strategy.
type slot struct {
	strategy string
	earlier  []Family            // the seeds before the one that look is of; nil without any
	look     func() record.Run   // at the run under way, or what came of it; nil in virtual time
	final    *record.Run         // as the result has it; nil while it goes on
	shown    []map[string]Sample // what counts, of each family by its labels, as it was shown last; guarded by Live.looking
}

// NewLive returns the metrics of an invocation of which nothing has run. Of head counts what is known from the
// beginning: tool, plan hash, seed and start.
func NewLive(head record.Result) *Live {
	return &Live{result: &head}
}

// Begin says that a run of a strategy begins, of its first seed or the next; look returns what the run is so far, and
// what came of it once it has ended.
func (l *Live) Begin(strategy string, look func() record.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slot(strategy)
	if s.look != nil {
		run := s.look() // which has ended
		s.earlier = added(ofRun(&run, s.strategy), s.earlier)
	}
	s.look, s.final, l.news = look, nil, true
}

// Finished says what came of a strategy, with all its seeds.
func (l *Live) Finished(run record.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slot(run.Strategy).final, l.news = &run, true
}

// Over says what came of the invocation.
func (l *Live) Over(r *record.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result, l.over, l.news = r, true, true
}

// slot returns that of a strategy. The caller holds mu.
func (l *Live) slot(strategy string) *slot {
	if i := slices.IndexFunc(l.slots, func(s *slot) bool { return s.strategy == strategy }); i >= 0 {
		return l.slots[i]
	}
	s := &slot{strategy: strategy, shown: make([]map[string]Sample, len(table))}
	l.slots = append(l.slots, s)
	return s
}

// Families returns the metrics of now, or of at most lookEvery ago. They are not to be changed.
func (l *Live) Families() []Family {
	l.looking.Lock()
	defer l.looking.Unlock()
	l.mu.Lock()
	slots := make([]slot, len(l.slots))
	for i, s := range l.slots {
		slots[i] = *s
	}
	result, over, news := l.result, l.over, l.news
	l.news = false
	l.mu.Unlock()
	if !news && time.Since(l.at) < lookEvery {
		return l.now
	}
	all := blank()
	for i := range slots {
		list := slots[i].families()
		slots[i].rise(list)
		join(all, list)
	}
	l.now, l.at = filled(append(all, ofResult(result, over)...)), time.Now()
	return l.now
}

// families returns those of a strategy.
func (s *slot) families() []Family {
	if s.look == nil {
		return ofRun(s.final, s.strategy)
	}
	run := s.look()
	list := added(ofRun(&run, s.strategy), s.earlier)
	if s.final == nil {
		return list
	}
	final := ofRun(s.final, s.strategy)
	for i := range final {
		if final[i].Kind.cumulative() && s.earlier != nil {
			final[i].Samples = counting(list[i].Samples, final[i].Samples)
		}
	}
	return final
}

// added returns list with the counts of earlier ones, nil or as many families, in it.
func added(list, earlier []Family) []Family {
	for i := range earlier {
		if !list[i].Kind.cumulative() {
			continue
		}
		places := placesOf(list[i].Samples)
		for j := range earlier[i].Samples {
			own := earlier[i].Samples[j].clone()
			own.Quantiles = nil
			if k, there := places[own.key()]; there {
				list[i].Samples[k].add(&own)
			} else {
				list[i].Samples = append(list[i].Samples, own)
			}
		}
	}
	return list
}

// counting returns the samples with the quantiles of others.
func counting(samples, others []Sample) []Sample {
	places := placesOf(others)
	for i := range samples {
		samples[i].Quantiles = nil
		if k, there := places[samples[i].key()]; there {
			samples[i].Quantiles = others[k].Quantiles
		}
	}
	return samples
}

// placesOf returns where each series stands.
func placesOf(samples []Sample) map[string]int {
	places := make(map[string]int, len(samples))
	for i := range samples {
		places[samples[i].key()] = i
	}
	return places
}
