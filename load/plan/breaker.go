package plan

import (
	"fmt"
	"strings"
	"time"

	"stormtest/load/retry/breaker"
)

// breakerKeys are the numbers of each kind, in the order in which they are written.
var breakerKeys = [breaker.KindCount][]keyed{
	breaker.Consecutive:  append(breakerRow, breakerEnd...),
	breaker.Rate:         append(breakerShare, breakerEnd...),
	breaker.GoBreaker:    append(breakerRow, breakerEnd...),
	breaker.Resilience4j: append(breakerShare, append(breakerHalf, breakerScope)...),
	breaker.Polly:        append(breakerShare, breakerEnd...),
}

// The groups of numbers that kinds have in common.
var (
	breakerRow = []keyed{
		{"failures", breakerCount(func(c *breaker.Config) *int { return &c.Failures })},
	}
	breakerShare = []keyed{
		{"share", breakerPart{share{at: func(p *Plan) *float64 { return &p.Breaker.Share }}}},
		{"calls", breakerCount(func(c *breaker.Config) *int { return &c.Calls })},
		{"window", breakerWindow{}},
	}
	breakerHalf = []keyed{
		{"open", duration{at: func(p *Plan) *time.Duration { return &p.Breaker.Open }, lo: breaker.OpenMin, hi: breaker.OpenMax}},
		{"jitter", breakerPart{share{at: func(p *Plan) *float64 { return &p.Breaker.JitterShare }, zero: true}}},
		{"probes", breakerCount(func(c *breaker.Config) *int { return &c.Probes })},
	}
	breakerScope = keyed{"scope", scope{at: func(p *Plan) *bool { return &p.Breaker.Shared }}}
	breakerEnd   = append(breakerHalf[:len(breakerHalf):len(breakerHalf)],
		keyed{"successes", breakerCount(func(c *breaker.Config) *int { return &c.Successes })}, breakerScope)
)

// breakerCount is a whole number of a breaker.Config, in 1..breaker.CountMax.
func breakerCount(at func(*breaker.Config) *int) scalar {
	return count[int]{at: func(p *Plan) *int { return at(&p.Breaker) }, lo: 1, hi: breaker.CountMax}
}

// breakerPart is a share of a breaker.Config, of whole breaker.ShareParts.
type breakerPart struct{ share }

func (v breakerPart) read(p *Plan, text string) string {
	scratch := *p
	if want := v.share.read(&scratch, text); want != "" {
		return want
	}
	if _, decimals, _ := strings.Cut(strings.TrimSuffix(text, "%"), "."); len(strings.TrimRight(decimals, "0")) > 5 {
		return "a share in percent with at most five decimals"
	}
	*v.at(p) = *v.at(&scratch)
	return ""
}

// circuitBreaker is a breaker.Config, a kind of breaker.Table with its breakerKeys.
type circuitBreaker struct{}

func (circuitBreaker) read(p *Plan, text string) string {
	scratch := Plan{}
	form := kinded{names: breakerNames(), like: "consecutive:failures=5,open=10s", begin: func(p *Plan, at int) []keyed {
		p.Breaker = breaker.Table[at].Defaults
		return breakerKeys[at]
	}}
	if want := form.read(&scratch, text); want != "" {
		return want
	}
	c := scratch.Breaker
	if c.Last > 0 && c.Last < c.Calls {
		return fmt.Sprintf("a window of no fewer outcomes than calls, which is %d", c.Calls)
	}
	p.Breaker = c
	return ""
}

func (circuitBreaker) write(p *Plan) string {
	kind := p.Breaker.Kind
	if numbers := p.BreakerNumbers(); numbers != "" {
		return kind.String() + ":" + numbers
	}
	return kind.String()
}

func (circuitBreaker) word() string      { return keyedForm }
func (circuitBreaker) choices() []string { return nil }

// BreakerNumbers returns every number of the plan's breaker as text, KEY=VALUE,...; empty where there is none.
func (p Plan) BreakerNumbers() string {
	if p.Breaker.Kind >= breaker.KindCount {
		return ""
	}
	return writeKeyed(&p, breakerKeys[p.Breaker.Kind])
}

func breakerNames() []string {
	var names []string
	for k := range breaker.KindCount {
		names = append(names, k.String())
	}
	return names
}

// breakerWindow is Config.Last, or Config.Window.
type breakerWindow struct{}

var (
	breakerLast = count[int]{at: func(p *Plan) *int { return &p.Breaker.Last }, lo: 1, hi: breaker.LastMax}
	breakerTime = duration{at: func(p *Plan) *time.Duration { return &p.Breaker.Window }, lo: breaker.WindowMin, hi: breaker.WindowMax, step: time.Second}
)

func (breakerWindow) read(p *Plan, text string) string {
	if isDecimal(text) {
		if want := breakerLast.read(p, text); want != "" {
			return want + " outcomes, or a time"
		}
		p.Breaker.Window = 0
		return ""
	}
	if want := breakerTime.read(p, text); want != "" {
		return want + ", or a number of outcomes"
	}
	p.Breaker.Last = 0
	return ""
}

func (breakerWindow) write(p *Plan) string {
	if p.Breaker.Last > 0 {
		return breakerLast.write(p)
	}
	return breakerTime.write(p)
}

func (breakerWindow) word() string      { return "count|duration" }
func (breakerWindow) choices() []string { return nil }

// breakerWarnings says where what is refused comes back at once, and where breakers that trip together probe together: a wave of
// all their probes, which the target may not be able to take. Source: the domain reference, 3.8.
func (p *Plan) breakerWarnings() []string {
	b := p.Breaker
	if b.Kind != breaker.None && p.MaxRetries == 0 && p.RatePerSecond == 0 && p.OperationsTotal() > int64(p.Clients) {
		return []string{fmt.Sprintf("breaker %v: with max-retries 0 an operation that is refused takes no time, and without a rate its client begins the next one at once", b.Kind)}
	}
	if b.Kind == breaker.None || b.Shared || b.JitterShare > 0 || p.URL != "" || p.CapacityPerSecond == 0 {
		return nil
	}
	room := float64(p.CapacityPerSecond * p.Bucket.Seconds())
	wave := float64(p.Clients) / room // a client has one attempt at a time
	if wave <= 1 {
		return nil
	}
	return []string{fmt.Sprintf("breaker %v: the breakers of clients that fail together let probes out together, %s later: up to %d, %.3gx what the target serves in a bucket, and the jitter of the retries alone keeps them apart; jitter=50%% spreads the breakers, too",
		b.Kind, formatDuration(b.Open), p.Clients, wave)}
}
