package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/target/station"
)

// Validate returns every fault of p joined, each a *FieldError: fields out of their range
// first, in the order of the table, then fields that do not go together. Plans that
// [Resolve] returned without an error have none.
func (p Plan) Validate() error {
	var faults []*FieldError
	bad := map[string]bool{}
	for _, f := range table {
		if fault := f.check(&p); fault != nil {
			faults = append(faults, fault...)
			bad[f.Name] = true
		}
	}
	return joinFaults(append(faults, p.conflicts(bad)...))
}

// check returns the faults of the field's value in p: it must be one that a text gives.
func (f Field) check(p *Plan) []*FieldError {
	scratch, texts := Default(), f.Get(p)
	if faults := f.set(&scratch, texts); faults != nil {
		return faults
	}
	if back := f.Get(&scratch); !slices.Equal(texts, back) {
		return []*FieldError{{Field: f.Name, Got: strings.Join(texts, "; "), Want: strings.Join(back, "; ")}}
	}
	return nil
}

// A rule is a condition on fields that are good each by itself.
type rule struct {
	// fields are those that the rule reads. The first is the one to blame; where one of
	// them is bad already, the rule does not apply.
	fields []string
	// broken returns what the blamed field should be, or nothing. got is the text to
	// quote where it is not the whole field.
	broken func(p *Plan) (got, want string)
}

// conflicts returns the faults of every broken rule that reads no bad field.
func (p *Plan) conflicts(bad map[string]bool) []*FieldError {
	var faults []*FieldError
	for _, r := range rules {
		if slices.ContainsFunc(r.fields, func(name string) bool { return bad[name] }) {
			continue
		}
		if fault := p.against(r); fault != nil {
			faults = append(faults, fault)
		}
	}
	faults = append(faults, p.layerConflicts(bad)...)
	return append(faults, p.presetFaults(bad)...)
}

// against returns the fault of p under the rule, nil where it has none.
func (p *Plan) against(r rule) *FieldError {
	got, want := r.broken(p)
	if want == "" {
		return nil
	}
	if got == "" {
		f, _ := FieldNamed(r.fields[0])
		got = strings.Join(f.Get(p), "; ")
	}
	return &FieldError{Field: r.fields[0], Got: got, Want: want}
}

const (
	bucketsMost  = 1_000_000
	fillTimeMost = 365 * day // of a token bucket
)

// rules has one row for each condition, in the order of the messages.
var rules = []rule{
	{fields: []string{"cap", "base"}, broken: func(p *Plan) (got, want string) {
		if p.Cap >= p.Base {
			return "", ""
		}
		return "", "at least base, which is " + formatDuration(p.Base)
	}},
	{fields: []string{"throttled-base", "cap"}, broken: func(p *Plan) (got, want string) {
		if p.ThrottledBase <= p.Cap {
			return "", ""
		}
		return "", "at most cap, which is " + formatDuration(p.Cap)
	}},
	{fields: []string{"floor", "cap"}, broken: func(p *Plan) (got, want string) {
		if p.Floor <= p.Cap {
			return "", ""
		}
		return "", "at most cap, which is " + formatDuration(p.Cap)
	}},
	{fields: []string{"ramp", "duration"}, broken: func(p *Plan) (got, want string) {
		if p.Ramp < p.Duration {
			return "", ""
		}
		return "", "less than duration, which is " + formatDuration(p.Duration)
	}},
	{fields: []string{"ramp", "rate"}, broken: func(p *Plan) (got, want string) {
		if p.Ramp == 0 || p.RatePerSecond == 0 {
			return "", ""
		}
		return "", "0s with a rate: operations start when the rate of " + formatRate(p.RatePerSecond) + " says"
	}},
	{fields: []string{"repeat", "seed"}, broken: func(p *Plan) (got, want string) {
		if left := math.MaxUint64 - p.Seed.Value; p.Seed.Set && uint64(p.Repeat-1) > left {
			return "", "at most " + strconv.FormatUint(left+1, 10) + " with seed " + strconv.FormatUint(p.Seed.Value, 10) + ": there are no seeds above " + strconv.FormatUint(math.MaxUint64, 10)
		}
		return "", ""
	}},
	{fields: []string{"arrivals", "rate"}, broken: func(p *Plan) (got, want string) {
		if p.Arrivals == ArrivalsEven || p.RatePerSecond > 0 {
			return "", ""
		}
		return "", "a rate with it: without one every client starts at t0"
	}},
	{fields: []string{"rate", "duration"}, broken: func(p *Plan) (got, want string) {
		most := operationsMost / p.Duration.Seconds()
		if p.RatePerSecond <= most {
			return "", ""
		}
		return "", "at most " + strconv.FormatFloat(math.Floor(most), 'f', -1, 64) + "/s in a duration of " +
			formatDuration(p.Duration) + ": a run has at most " + strconv.Itoa(operationsMost) + " operations"
	}},
	{fields: []string{"fleet", "strategy"}, broken: func(p *Plan) (got, want string) {
		if f, _ := FieldNamed("strategy"); len(p.Mix) == 0 || f.atDefault(p) {
			return "", ""
		}
		return "", mixNone + " with a strategy: a mixed fleet names its own"
	}},
	{fields: []string{"fleet", "preset"}, broken: func(p *Plan) (got, want string) {
		if len(p.Mix) == 0 || len(p.Presets) == 0 {
			return "", ""
		}
		return "", mixNone + " with presets: a mixed fleet names its own"
	}},
	{fields: []string{"fleet", "clients"}, broken: func(p *Plan) (got, want string) {
		name := ""
		if len(p.Mix) > 0 {
			name = p.without()
		}
		if name == "" {
			return "", ""
		}
		return "", "a larger share for " + name + ", or more clients: of " + strconv.Itoa(p.Clients) + " it gets none"
	}},
	{fields: []string{"surge", "rate"}, broken: func(p *Plan) (got, want string) {
		if len(p.Surges) == 0 || p.RatePerSecond > 0 {
			return "", ""
		}
		return "", "a rate with it: without one every client starts at t0, and there is no rate to multiply"
	}},
	{fields: []string{"surge", "duration"}, broken: func(p *Plan) (got, want string) {
		var late []string
		for _, s := range p.Surges {
			if s.From >= p.Duration {
				late = append(late, formatSurge(s))
			}
		}
		if late == nil {
			return "", ""
		}
		return strings.Join(late, "; "), "FROM before the end of the run at " + formatDuration(p.Duration)
	}},
	{fields: []string{"surge"}, broken: func(p *Plan) (got, want string) {
		if before, s, found := p.overlappingSurges(); found {
			return formatSurge(s), "windows that do not overlap, but " + formatSurge(before) + " does"
		}
		return "", ""
	}},
	{fields: []string{"surge", "rate", "duration"}, broken: func(p *Plan) (got, want string) {
		if _, _, overlap := p.overlappingSurges(); len(p.Surges) == 0 || p.RatePerSecond == 0 || overlap {
			return "", ""
		}
		if n := float64(p.RatePerSecond * p.Schedule().PlainSeconds(p.Duration)); n > operationsMost {
			return "", "a lower factor or rate: they are " + strconv.FormatFloat(math.Ceil(n), 'f', -1, 64) + " operations in a duration of " +
				formatDuration(p.Duration) + ", and a run has at most " + strconv.Itoa(operationsMost)
		}
		return "", ""
	}},
	{fields: []string{"retry-after-jitter", "retry-after"}, broken: func(p *Plan) (got, want string) {
		if p.RetryAfterJitter == ByStrategy || p.RetryAfter == RetryAfterHonour {
			return "", ""
		}
		return "", "retry-after honour with it: a hint that is ignored has no jitter"
	}},
	{fields: []string{"workers", "capacity", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Model != ModelSlots || float64(p.Workers) <= p.CapacityPerSecond*day.Seconds() || p.CapacityPerSecond == 0 {
			return "", ""
		}
		return "", "at most " + strconv.FormatFloat(math.Floor(p.CapacityPerSecond*day.Seconds()), 'f', -1, 64) + " at a capacity of " +
			formatRate(p.CapacityPerSecond) + ": the service time, workers / capacity, is at most " + formatDuration(day)
	}},
	{fields: []string{"workers", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Model != ModelRejectIfBusy || p.Workers == 1 {
			return "", ""
		}
		return "", "1 with model " + ModelRejectIfBusy + ": it has one worker, which is busy for 1 / capacity"
	}},
	{fields: []string{"queue", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Model != ModelRejectIfBusy || p.Queue == 0 {
			return "", ""
		}
		return "", "0 with model " + ModelRejectIfBusy + ": what finds the worker busy is refused"
	}},
	{fields: []string{"outage", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Model != ModelOCC || len(p.Outages) == 0 {
			return "", ""
		}
		return "", "none with model " + ModelOCC + ": what fails there is a write that another one overtook, and nothing else"
	}},
	{fields: []string{"burst", "capacity", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Model != ModelTokenBucket || float64(p.Burst) <= p.CapacityPerSecond*fillTimeMost.Seconds() || p.CapacityPerSecond == 0 {
			return "", ""
		}
		return "", "at most " + strconv.FormatFloat(math.Floor(p.CapacityPerSecond*fillTimeMost.Seconds()), 'f', -1, 64) + " at a capacity of " +
			formatRate(p.CapacityPerSecond) + ": the bucket fills within a year"
	}},
	{fields: []string{"outage", "duration"}, broken: func(p *Plan) (got, want string) {
		var late []string
		for _, o := range p.Outages {
			if o.From >= p.Duration {
				late = append(late, o.String())
			}
		}
		if late == nil {
			return "", ""
		}
		return strings.Join(late, "; "), "FROM before the end of the run at " + formatDuration(p.Duration)
	}},
	{fields: []string{"outage"}, broken: func(p *Plan) (got, want string) {
		if found := station.Overlaps(p.Outages); found != nil {
			return found[0].Outage.String(), "windows that do not overlap, but " + found[0].Before.String() + " does"
		}
		return "", ""
	}},
	{fields: []string{"discipline", "model", "queue"}, broken: func(p *Plan) (got, want string) {
		if p.Discipline == DisciplineFIFO {
			return "", ""
		}
		return "", p.queueless("fifo")
	}},
	{fields: []string{"expired", "model", "queue"}, broken: func(p *Plan) (got, want string) {
		if p.Expired == ExpiredProcess {
			return "", ""
		}
		return "", p.queueless("process")
	}},
	{fields: []string{"expired", "propagate-deadline"}, broken: func(p *Plan) (got, want string) {
		if p.Expired == ExpiredProcess || p.PropagateDeadline {
			return "", ""
		}
		return "", "process without propagate-deadline: the target knows of no deadline"
	}},
	{fields: []string{"contention", "model", "workers"}, broken: func(p *Plan) (got, want string) {
		return "", p.alone(p.ContentionShare)
	}},
	{fields: []string{"coherency", "model", "workers"}, broken: func(p *Plan) (got, want string) {
		return "", p.alone(p.CoherencyShare)
	}},
	{fields: []string{"coherency", "contention", "workers"}, broken: func(p *Plan) (got, want string) {
		n, slower := float64(p.Workers), 1.0
		slower += float64(p.ContentionShare*(n-1)) + float64(float64(p.CoherencyShare*n)*(n-1))
		if slower <= slowdownMost {
			return "", ""
		}
		return "", "less, or fewer workers: " + strconv.Itoa(p.Workers) + " of them slow each other down more than a million times"
	}},
	{fields: []string{"shed-cost", "model"}, broken: func(p *Plan) (got, want string) {
		if p.ShedCostShare == 0 || p.Model == ModelSlots || p.URL != "" {
			return "", ""
		}
		return "", "0% with model " + p.Model + ": only slots lose time by a rejection"
	}},
	{fields: []string{"transport", "url"}, broken: func(p *Plan) (got, want string) {
		if p.URL == "" || p.Transport == TransportTCP {
			return "", ""
		}
		return "", "tcp with a URL: only the built-in target is reached in memory"
	}},
	{fields: []string{"unix-socket", "url"}, broken: needsURL(func(p *Plan) bool { return p.UnixSocket != "" })},
	{fields: []string{"body-file", "body"}, broken: func(p *Plan) (got, want string) {
		if p.Body == "" || p.BodyFile == "" {
			return "", ""
		}
		return "", "none with a body: an attempt has one of the two"
	}},
	{fields: []string{"body", "url"}, broken: needsURL(func(p *Plan) bool { return p.Body != "" })},
	{fields: []string{"body-file", "url"}, broken: needsURL(func(p *Plan) bool { return p.BodyFile != "" })},
	{fields: []string{"header", "url"}, broken: needsURL(func(p *Plan) bool { return len(p.Headers) > 0 })},
	{fields: []string{"http", "url"}, broken: needsURL(func(p *Plan) bool { return p.HTTP == HTTP2 })},
	{fields: []string{"key", "cert"}, broken: func(p *Plan) (got, want string) {
		if p.Key == "" || p.Cert != "" {
			return "", ""
		}
		return "", "none without a cert that it belongs to"
	}},
	{fields: []string{"layer", "strategy", "preset"}, broken: func(p *Plan) (got, want string) {
		if len(p.Layers) > layersMost {
			return strconv.Itoa(len(p.Layers)) + " of them", "at most " + strconv.Itoa(layersMost)
		}
		names := map[string]bool{}
		for _, l := range p.Layers {
			if slices.Contains(p.Strategies, l.Name) || slices.Contains(p.Presets, l.Name) {
				return formatLayer(l), "another name than " + l.Name + ", which is a run's: a gate could not tell them apart"
			}
			if names[l.Name] {
				return formatLayer(l), "names that differ: there are two layers " + l.Name
			}
			names[l.Name] = true
		}
		return "", ""
	}},
	{fields: []string{"layer", "url"}, broken: func(p *Plan) (got, want string) {
		if len(p.Layers) == 0 || p.URL == "" {
			return "", ""
		}
		return "", "none with a URL: what is behind a service of yours is yours"
	}},
	{fields: []string{"layer", "fleet"}, broken: func(p *Plan) (got, want string) {
		if len(p.Layers) == 0 || len(p.Mix) == 0 {
			return "", ""
		}
		return "", "none with a fleet of several policies: the layers' figures would be those of all of them together"
	}},
	{fields: []string{"layer", "model"}, broken: func(p *Plan) (got, want string) {
		if len(p.Layers) == 0 || p.Model != ModelRejectIfBusy && p.Model != ModelOCC {
			return "", ""
		}
		return "", "none with model " + p.Model + ": a service whose work has no end does not call another one when it is done"
	}},
	{fields: []string{"layer", "latency", "loss"}, broken: func(p *Plan) (got, want string) {
		if len(p.Layers) == 0 || p.Latency == (Law{}) && p.LossShare == 0 {
			return "", ""
		}
		return "", "none with a latency or a loss: between the services of a chain messages take no time"
	}},
	{fields: []string{"hedge", "model"}, broken: func(p *Plan) (got, want string) {
		if p.Hedge.Most == 0 || p.Model != ModelOCC {
			return "", ""
		}
		return "", hedgeOff + " with model " + ModelOCC + ": copies of a write would conflict with each other"
	}},
	{fields: []string{"hedge", "fleet"}, broken: func(p *Plan) (got, want string) {
		if p.Hedge.Most == 0 || len(p.Mix) == 0 {
			return "", ""
		}
		return "", hedgeOff + " with a fleet of several policies"
	}},
	{fields: []string{"hedge", "latency", "loss"}, broken: func(p *Plan) (got, want string) {
		if p.Hedge.Most == 0 || p.Latency == (Law{}) && p.LossShare == 0 {
			return "", ""
		}
		return "", hedgeOff + " with a latency or a loss: attempts that overlap are not sent over the network of virtual time"
	}},
	{fields: []string{"bucket", "duration"}, broken: func(p *Plan) (got, want string) {
		least := (p.Duration-1)/bucketsMost + 1 // rounded up
		switch {
		case p.Bucket > p.Duration:
			return "", "at most duration, which is " + formatDuration(p.Duration)
		case p.Bucket < least:
			return "", "at least " + formatDuration((least + time.Millisecond - 1).Truncate(time.Millisecond)) + " in a duration of " +
				formatDuration(p.Duration) + ": a run has at most " + strconv.Itoa(bucketsMost) + " buckets"
		}
		return "", ""
	}},
}

// slowdownMost is how many times slower workers may make each other.
const slowdownMost = 1e6

// alone is why a cost of working beside others must be 0; empty where it need not.
func (p *Plan) alone(cost float64) string {
	switch {
	case cost == 0 || p.URL != "":
		return ""
	case p.Model != ModelSlots:
		return "0 with model " + p.Model + ", which has no workers beside each other"
	case p.Workers == 1:
		return "0 with 1 worker, which nobody is beside"
	}
	return ""
}

// queueless is why a field that is of the queue alone must have its default; empty where there is a queue.
func (p *Plan) queueless(word string) string {
	switch {
	case p.URL != "": // the built-in target is not there
		return ""
	case p.Model != ModelSlots:
		return word + " with model " + p.Model + ", which has no queue"
	case p.Queue == 0:
		return word + " with a queue of 0: nothing waits in it"
	}
	return ""
}

// needsURL is the rule of a field that only a target elsewhere reads.
func needsURL(set func(p *Plan) bool) func(p *Plan) (got, want string) {
	return func(p *Plan) (got, want string) {
		if p.URL != "" || !set(p) {
			return "", ""
		}
		return "", "a URL with it: the built-in target takes none"
	}
}
