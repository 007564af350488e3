// Package compare holds results against each other: what was asked differently, how every figure differs, and whether
// that is more than chance. It is a pure function of its results.
//
// What is compared with what:
//
//   - of several results, the first is the base of every other. Strategies of one name are compared. Where
//     both results have one strategy each, these are compared whatever their names, and the strategy is what changed.
//   - of one result, each of its strategies is compared with the first, or with the one that is named.
//
// What cannot be compared is refused with the reasons (*Refusal): see refuse.go. Whether a difference is more than
// chance is known where both sides ran several seeds: see noise.
package compare

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"stormtest/load/record"
)

// Schema names the form of a Comparison.
const Schema = "stormtest.comparison/v1"

// ResultsMost is how many results may be compared at a time.
const ResultsMost = 50

// An Input is a result and the name that it is shown by.
type Input struct {
	Name   string
	Result *record.Result
}

// A Field is what is known of a field of a plan: its name and what it holds where nothing was asked.
type Field struct{ Name, Default string }

// Options say how to compare. The zero is complete.
type Options struct {
	// Version is of the program that compares.
	Version string
	// Fields are those of a plan in the order to show them. Fields of a plan that are not among them come last, and
	// have no default.
	Fields []Field
	// Against is the strategy of a single result that the others are compared with; empty is its first.
	Against string
}

// A Comparison is what [Compare] found. A figure without a value is nil, null in JSON. Lengths of time are in ns.
type Comparison struct {
	Schema string      `json:"schema"`
	Tool   record.Tool `json:"tool"` // that compared
	// FalsePositiveShare is at most the share of the comparisons of a plan with itself in which any figure
	// comes out as beyond noise.
	FalsePositiveShare float64 `json:"false_positive_share"`
	// Inside is the name of the one result whose strategies are compared with each other; empty for several results.
	Inside string        `json:"inside"`
	Base   Side          `json:"base"`
	Others []Other       `json:"others"`
	Gates  []record.Gate `json:"gates"` // on differences
}

// A Side is where the figures of one side come from.
type Side struct {
	Name     string `json:"name"` // of the file or, in a comparison inside one result, of the strategy
	Version  string `json:"version"`
	Engine   string `json:"engine"`
	PlanHash string `json:"plan_hash"`
	Seed     uint64 `json:"seed"`
	Seeds    int64  `json:"seeds"` // that came to their end, of the strategy with most
	// Each are these seeds where they do not follow each other, as those of results that were merged may.
	Each           []uint64  `json:"each,omitempty"`
	StartedAt      time.Time `json:"started_at"`
	Valid          bool      `json:"valid"`
	InvalidReasons []string  `json:"invalid_reasons"`
	Interrupted    bool      `json:"interrupted"`
	FromLog        bool      `json:"from_log"` // it was made from a log, which holds arrivals and no figures
	Strategies     []string  `json:"strategies"`

	// Plan is that of the result, for pictures.
	Plan json.RawMessage `json:"-"`
}

// SameSeeds reports whether both sides are of the same seeds.
func (s *Side) SameSeeds(t *Side) bool {
	return s.Seed == t.Seed && s.Seeds == t.Seeds && slices.Equal(s.Each, t.Each)
}

// An Other is one result, or one strategy, held against the base.
type Other struct {
	Side
	// Same says that both were asked the same, seeds and gates aside. False where a plan is not known.
	Same         bool     `json:"same_plan"`
	PlanChanges  []Change `json:"plan_changes"`
	OtherChanges []Change `json:"other_changes"` // what is not of the plan
	// Notes say what a reader must know before the figures.
	Notes     []string `json:"notes"`
	Pairs     []Pair   `json:"pairs"`
	OnlyBase  []string `json:"strategies_only_in_base"`
	OnlyOther []string `json:"strategies_only_in_other"`

	rated bool // a side asks for a rate
}

// A Change is something that differs between base and other. A list is written as its elements joined by "; ".
type Change struct {
	Name         string `json:"name"`
	Base         string `json:"base"`
	Other        string `json:"other"`
	BaseDefault  bool   `json:"base_is_default"`
	OtherDefault bool   `json:"other_is_default"`
}

// A Pair is a strategy of the base and the strategy of the other that it is compared with.
type Pair struct {
	BaseStrategy  string `json:"base_strategy"`
	OtherStrategy string `json:"other_strategy"`
	// Inner says that it is of a part of a mixed fleet, or of a service of a chain, inside the pair before it. No gate is
	// held against it.
	Inner        bool      `json:"inner,omitempty"`
	Grounds      Grounds   `json:"grounds"`
	BaseVerdict  Judgement `json:"base_verdict"`
	OtherVerdict Judgement `json:"other_verdict"`
	// VerdictFinding says what is known of a difference between the verdicts.
	VerdictFinding Finding `json:"verdict_finding"`
	// BaseWindow and OtherWindow are where verdict, convoy index and the figures of the window are taken from. Those of a
	// run that was over before their end say how far they came with the first seed.
	BaseWindow  Window `json:"base_window"`
	OtherWindow Window `json:"other_window"`
	// Flags are those that some seed of a side has, METASTABLE first.
	Flags []Flag `json:"flags"`
	// ArrivalsEqual says that as many arrived in every bucket.
	ArrivalsEqual bool     `json:"arrivals_equal"`
	Figures       []Figure `json:"figures"`

	// Service is the name of the service of a chain that it is of; nil for none.
	Service *string `json:"-"`
	// The runs, of the first seeds, for pictures.
	Base  *record.Run `json:"-"`
	Other *record.Run `json:"-"`
}

// A Judgement is the headline of a run, and of how many seeds it was each.
type Judgement struct {
	Verdict record.Verdict           `json:"verdict"`
	Seeds   map[record.Verdict]int64 `json:"seeds"` // empty where one seed ran
}

// Compare holds every other result against the base, or the strategies of a single one against each other. The
// inputs are not changed; the Comparison shares their runs. An error is a *Refusal.
func Compare(inputs []Input, o Options) (*Comparison, error) {
	m, err := match(inputs, o)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Schema: Schema, Tool: record.Tool{Version: o.Version}, FalsePositiveShare: FalsePositiveShare,
		Base: m.base.side(), Others: []Other{}, Gates: []record.Gate{},
	}
	if len(inputs) == 1 {
		c.Inside = inputs[0].Name
	}
	for _, one := range m.others {
		c.Others = append(c.Others, one.other(m.base, o.Fields))
	}
	judgeNoise(c)
	return c, nil
}

// Valid reports whether every result in the comparison is.
func (c *Comparison) Valid() bool {
	return c.Base.Valid && !slices.ContainsFunc(c.Others, func(o Other) bool { return !o.Valid })
}

// other compares one match with the base.
func (m matched) other(base side, fields []Field) Other {
	o := Other{
		Side: m.side.side(), Pairs: []Pair{},
		OnlyBase: append([]string{}, m.onlyBase...), OnlyOther: append([]string{}, m.onlyOther...),
	}
	var known bool
	o.PlanChanges, known = planChanges(base, m, fields)
	o.OtherChanges = otherChanges(base, m)
	o.rated = rated(base.result) || rated(m.result)
	o.Same = known && len(o.PlanChanges) == 0
	for _, p := range m.pairs {
		sameDraw := o.Same && base.result.Seed == m.result.Seed
		o.Pairs = append(o.Pairs, newPair(p, &o, sameDraw))
		for _, part := range innerPairs(p) {
			inner := newPair(part.match2, &o, sameDraw)
			inner.Inner, inner.Service = true, part.service
			o.Pairs = append(o.Pairs, inner)
		}
	}
	o.Notes = notes(base, m, &o)
	return o
}

// newPair compares two runs, but for the noise. sameDraw says that they were asked the same of the same first seed.
func newPair(m match2, o *Other, sameDraw bool) Pair {
	p := Pair{
		BaseStrategy: m.base.Strategy, OtherStrategy: m.other.Strategy, Base: m.base, Other: m.other,
		BaseVerdict: judgement(m.base), OtherVerdict: judgement(m.other), ArrivalsEqual: arrivalsEqual(m.base, m.other),
		BaseWindow: windowOf(m.base), OtherWindow: windowOf(m.other),
	}
	p.Grounds = grounds(m, sameDraw)
	p.Figures = figures(m.base, m.other)
	p.Flags = flags(m.base, m.other)
	p.weigh(o)
	if p.BaseVerdict.equal(p.OtherVerdict) {
		p.VerdictFinding = Equal
	}
	return p
}

func judgement(run *record.Run) Judgement {
	j := Judgement{Verdict: run.Headline(), Seeds: map[record.Verdict]int64{}}
	if r := repeats(run); r != nil {
		for v, n := range r.Verdicts {
			j.Seeds[v] = n
		}
	}
	return j
}

// equal reports whether as large a share of the seeds had each verdict.
func (j Judgement) equal(k Judgement) bool {
	a, seedsA := j.counts()
	b, seedsB := k.counts()
	for _, v := range verdictsOf(a, b) {
		if a[v]*seedsB != b[v]*seedsA {
			return false
		}
	}
	return true
}

// counts is how many seeds had each verdict, and how many there are, one where one ran.
func (j Judgement) counts() (counts map[record.Verdict]int64, seeds int64) {
	if len(j.Seeds) == 0 {
		return map[record.Verdict]int64{j.Verdict: 1}, 1
	}
	for _, n := range j.Seeds {
		seeds += n
	}
	return j.Seeds, seeds
}

// verdictsOf are the verdicts that some seed of either side had, sorted.
func verdictsOf(a, b map[record.Verdict]int64) []record.Verdict {
	list := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(list)
	return slices.Compact(list)
}

// arrivalsEqual reports whether every bucket of both runs has as many arrivals. Buckets without any may be missing.
func arrivalsEqual(a, b *record.Run) bool {
	filled := func(run *record.Run) map[time.Duration]int64 {
		m := map[time.Duration]int64{}
		for i := range run.Buckets {
			if n := run.Buckets[i].Arrivals; n != 0 {
				m[run.Buckets[i].At] = n
			}
		}
		return m
	}
	x, y := filled(a), filled(b)
	if len(x) != len(y) {
		return false
	}
	for at, n := range x {
		if y[at] != n {
			return false
		}
	}
	return true
}
