package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stormtest/load/backoff"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/target/station"
)

// An Engine is what runs a plan.
type Engine uint8

// The engines.
const (
	Real    Engine = iota // a fleet over sockets or in memory, by the clock
	Virtual               // a queue of events in virtual time
)

// clientsMostReal bounds the fleet of goroutines.
const clientsMostReal = 1_000_000

// Has reports whether the engine can do something with the fields of the group.
func (g Group) Has(e Engine) bool {
	return e == Real && g != Network || e == Virtual && g != Elsewhere
}

// For returns what the engine cannot do of p, a *FieldError with the reason for each field, joined;
// nil where it can run p. The plan must be valid.
func (p Plan) For(e Engine) error {
	var faults []*FieldError
	shown := p.Redacted() // a message must hold no secret
	refuse := func(name, want string) {
		f, _ := FieldNamed(name)
		faults = append(faults, &FieldError{Field: name, Got: strings.Join(f.texts(&shown), "; "), Want: want})
	}
	for _, f := range table {
		switch {
		case f.Group.Has(e) || f.atDefault(&p):
		case e == Virtual && f.Name == "probe" && p.Probe == ProbeOff: // which is what it does
		case e == Virtual:
			refuse(f.Name, f.elsewhereWant())
		default:
			refuse(f.Name, f.Default()+" in real time: the network is the one that there is; stormtest sim has a model of it")
		}
	}
	if e == Virtual {
		if field, want := p.standing(); want != "" {
			refuse(field, want)
		}
		return joinFaults(faults)
	}
	if p.Transport == TransportMemory {
		if len(p.Layers) > 0 {
			refuse("layer", "none with transport "+TransportMemory+" in real time: services call each other over sockets; stormtest sim has chains of any size")
		}
		if p.Hedge.Most > 0 {
			refuse("hedge", hedgeOff+" with transport "+TransportMemory+" in real time: copies of an attempt go over connections of their own; stormtest sim has fleets of any size with them")
		}
	}
	if p.Clients > clientsMostReal {
		refuse("clients", bounds("1", strconv.Itoa(clientsMostReal))+" in real time; stormtest sim takes up to "+strconv.Itoa(clientsMost))
	}
	switch p.Model {
	case ModelRejectIfBusy:
		refuse("model", ModelSlots+" in real time, which with one worker and no queue refuses the same: a client over HTTP learns of its success only when it is served; stormtest sim has "+p.Model)
	case ModelOCC:
		refuse("model", oneOf([]string{ModelSlots, ModelTokenBucket})+" in real time: the HTTP target has no versioned row; stormtest sim has "+p.Model)
	}
	return joinFaults(faults)
}

// retriesOfAMomentMost bounds what virtual time has to get through before it moves: minutes of work.
const retriesOfAMomentMost = 1_000_000_000

// standing is stands of the plan's first run of which it says something.
func (p *Plan) standing() (field, want string) {
	for _, v := range p.Variants() {
		for _, part := range v.Parts {
			field, want := part.Plan.stands()
			switch {
			case want == "" || field != "strategy":
			case v.Mixed():
				field = "fleet"
			case len(p.Presets) > 0:
				field, want = "preset", want+" (with preset "+part.Name+")"
			}
			if want != "" {
				return field, want
			}
		}
	}
	return "", ""
}

// stands says what is wanted of which field where virtual time would stand still, for ever or for long; nothing where
// it goes on.
func (p *Plan) stands() (field, want string) {
	total, still := 1.0, ""
	links := p.Chain()
	for i, l := range links {
		q := *l.Plan
		if i < len(links)-1 {
			q.SendRetryAfter = 0 // in the answer to a request whose call has failed there is none
		}
		field, where := "strategy", ""
		if i > 0 {
			field, where = "layer", " of layer "+l.Name
		}
		if name := q.neverWaits(); name != "" && q.breaks() {
			return field, "a limit of max-retries with " + name + where + " and a breaker in virtual time: what an open breaker refuses comes back at the same moment, for ever"
		} else if name != "" {
			return field, "a latency, a Retry-After that is sent and honoured, a limit of max-retries or a budget other than envoy with " + name + where + " in virtual time: a client that is refused comes back at the same moment, for ever"
		}
		name := q.standsStill()
		switch n := q.retriesOfAMoment(); {
		case name == "":
		case i == 0:
			total, still = n, name
		case q.MaxRetries != Unlimited:
			total, still = float64(total*float64(1+q.MaxRetries)), name+where
		default: // the budget of the one service that calls
			q.Clients, q.Operations, q.RatePerSecond = 1, max(1, int64(min(total, operationsMost))), 0
			total, still = total+q.retriesOfAMoment(), name+where
		}
		if still != "" && total > retriesOfAMomentMost {
			return field, fmt.Sprintf("a latency or a lower max-retries or budget with %s in virtual time: up to %.0f retries may come at one moment, so that time would stand still for long; it takes %d", still, total, retriesOfAMomentMost)
		}
	}
	return "", ""
}

// neverWaits returns a strategy of p under which virtual time stands still for ever; empty where there is none.
func (p *Plan) neverWaits() string {
	if p.MaxRetries != Unlimited {
		return ""
	}
	if p.breaks() {
		return p.standsStill() // what is refused is not sent, and costs no budget
	}
	if k := p.Budget.Kind; k != budget.None && k != budget.Envoy {
		return "" // it is used up; what Envoy's allows comes back with every retry that fails
	}
	return p.standsStill()
}

// standsStill returns a strategy of p under which nothing that a client does takes any virtual time, as long as it
// may retry; empty where there is none.
func (p *Plan) standsStill() string {
	if !p.breaks() && (p.Latency != (Law{}) || p.Model == ModelOCC || p.hinted()) {
		return "" // writers of one row take turns: one of each moment succeeds
	}
	for _, name := range p.Strategies {
		if _, most := p.Backoff(name).Range(backoff.Attempt{Retry: retriesMost, Prev: p.Base}); most == 0 {
			return name
		}
	}
	return ""
}

// breaks reports whether there is a circuit breaker.
func (p *Plan) breaks() bool { return p.Breaker.Kind != breaker.None }

// hinted says that every answer that can be retried at its own moment has a Retry-After, of a second or more, that clients
// honour.
func (p *Plan) hinted() bool {
	if p.SendRetryAfter == 0 || p.RetryAfter != RetryAfterHonour || p.SendRetryAfter == AutoRetryAfter && p.CapacityPerSecond == 0 {
		return false // the backlog of a target that serves nothing has no end to tell
	}
	return !slices.ContainsFunc(p.Outages, func(o station.Outage) bool {
		return o.Mode == station.ModeReset || o.Mode == station.ModeRefuse // which is no answer
	})
}

// retriesOfAMoment is about how many retries max-retries and the budget allow at one moment, where there is a limit.
func (p *Plan) retriesOfAMoment() float64 {
	operations := float64(min(int64(p.Clients), p.OperationsTotal()))
	if p.RatePerSecond == 0 {
		operations = float64(p.OperationsTotal()) // one that gives up is followed by the next
	}
	most := math.Inf(1)
	if p.MaxRetries != Unlimited {
		most = float64(operations * float64(p.MaxRetries))
	}
	if p.breaks() {
		return most
	}
	accounts := float64(p.budgets())
	switch b := p.Budget; b.Kind {
	case budget.Finagle:
		most = min(most, float64(float64(accounts*float64(b.Min))*b.TTL.Seconds())+float64(operations*b.Ratio))
	case budget.AWS, budget.AWSAdaptive:
		most = min(most, float64(accounts*float64(b.Size))/float64(min(b.Cost, b.CostThrottled)))
	case budget.AWSLegacy:
		most = min(most, float64(accounts*float64(b.Size))/float64(min(b.Cost, b.CostTimeout)))
	case budget.GRPC:
		most = min(most, float64(accounts*float64(b.Size)))
	case budget.SRE:
		most = min(most, float64(operations*b.K))
	}
	return most
}

// elsewhereWant is what a field of a target elsewhere may hold in virtual time, and why.
func (f Field) elsewhereWant() string {
	return f.defaultWord() + " in virtual time: no request leaves this process, and the target is the plan's own"
}

// defaultWord is the default of the field, in a word where that is the empty text.
func (f Field) defaultWord() string {
	if d := f.Default(); d != "" {
		return d
	}
	return "nothing"
}

// Locate puts into every *FieldError that err is, or joins, where the field's value came from, and
// returns err.
func (s Sources) Locate(err error) error {
	for _, e := range leaves(err) {
		var f *FieldError
		if errors.As(e, &f) && f.Source == "" {
			f.Source = s[f.Field]
		}
	}
	return err
}

// leaves returns the errors that were joined into err.
func leaves(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
