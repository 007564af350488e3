package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
)

// Warnings returns, one line each, what the plan asks for without any effect: a field off
// its default that nothing in this plan reads, and what cannot come out as asked. None of
// it stops a run, but none of it may go unsaid. The plan must be valid.
//
// With presets or in a mixed fleet each says what it is of, unless all of them say it.
func (p Plan) Warnings() []string {
	switch {
	case len(p.Presets) > 0:
		return p.ofEach(Plan.warnings)
	case len(p.Mix) > 0:
		return append(p.idleClients(), p.ofEach(Plan.warnings)...)
	}
	return append(p.warnings(), p.idleThrottledBase()...)
}

// warnings are those of a plan without presets and of one policy.
func (p Plan) warnings() []string {
	var w []string
	w = append(w, p.idleStrategyFields()...)
	w = append(w, p.idlePolicyFields()...)
	w = append(w, p.idleDeadline()...)
	w = append(w, p.budgetWarnings()...)
	w = append(w, p.breakerWarnings()...)
	w = append(w, p.idleTargetFields()...)
	w = append(w, p.layerWarnings()...)
	w = append(w, p.idleClients()...)
	for _, o := range p.Outages {
		if o.To >= p.Duration {
			w = append(w, fmt.Sprintf("outage %v: not over before the run ends at %s, so no recovery is seen", o, formatDuration(p.Duration)))
		}
	}
	for _, s := range p.Surges {
		switch {
		case s.Factor == 1:
			w = append(w, "surge "+formatSurge(s)+": no effect, for the rate is as it was")
		case s.Factor > 1 && s.To >= p.Duration:
			w = append(w, fmt.Sprintf("surge %s: not over before the run ends at %s, so no recovery is seen", formatSurge(s), formatDuration(p.Duration)))
		}
	}
	return w
}

// servedTogether is the share of its capacity that a target serves all of whose workers are busy.
func (p *Plan) servedTogether() float64 {
	n := float64(p.Workers)
	return 1 / (1 + float64(p.ContentionShare*(n-1)) + float64(float64(p.CoherencyShare*n)*(n-1)))
}

// Notes returns facts about the plan that a reader of its result must know, one line each.
// The plan must be valid. With presets as Warnings.
func (p Plan) Notes() []string {
	if len(p.Presets)+len(p.Mix) > 0 {
		return p.ofEach(Plan.Notes)
	}
	var notes []string
	if served := p.servedTogether(); p.URL == "" && served < 1 {
		notes = append(notes, fmt.Sprintf("contention %s and coherency %s: the %d workers together serve %.3g of the capacity of %s, with which peaks and waves are compared",
			formatNumber(p.ContentionShare), formatNumber(p.CoherencyShare), p.Workers, served, formatRate(p.CapacityPerSecond)))
	}
	if p.Base <= p.Bucket && p.draws() {
		notes = append(notes, fmt.Sprintf("base %s is not longer than bucket %s: jitter cannot lower the first peak",
			formatDuration(p.Base), formatDuration(p.Bucket)))
	}
	if p.URL == "" && !p.retries(retry.Outcome{Kind: retry.Responded, Status: p.Status}) {
		notes = append(notes, fmt.Sprintf("status %d is not in retry-on: an operation that the target refuses is not retried", p.Status))
	}
	if p.Model == ModelOCC && p.Latency == (Law{}) {
		notes = append(notes, "model occ without a latency: a client writes at the moment it reads, so that only clients of one moment conflict")
	}
	return notes
}

// ofEach collects what is said of the plan's presets, and of the strategies of a mixed fleet together: first what is said
// of all of them.
func (p *Plan) ofEach(say func(Plan) []string) []string {
	heads, plans := p.each()
	count := map[string]int{}
	said := make([][]string, len(plans))
	for i, one := range plans {
		said[i] = say(*one)
		for _, text := range said[i] {
			count[text]++
		}
	}
	var all, own []string
	for i := range plans {
		for _, text := range said[i] {
			switch {
			case count[text] < len(plans):
				own = append(own, heads[i]+": "+text)
			case i == 0:
				all = append(all, text)
			}
		}
	}
	return append(all, own...)
}

// idleClients warns of clients for which there are no operations.
func (p *Plan) idleClients() []string {
	total := p.OperationsTotal()
	if p.RatePerSecond > 0 || total >= int64(p.Clients) {
		return nil
	}
	return []string{fmt.Sprintf("operations %d: %d of the %d clients have nothing to do", total, int64(p.Clients)-total, p.Clients)}
}

// each returns the plan with each of its presets, also of a mixed fleet, and then with all strategies of that. In a mixed
// fleet they are plans of their own clients, whatever the operations.
func (p *Plan) each() (heads []string, plans []*Plan) {
	if len(p.Mix) == 0 {
		for _, name := range p.Presets {
			heads, plans = append(heads, "preset "+name), append(plans, p.withPreset(name))
		}
		return heads, plans
	}
	v := p.mixed()
	own := *p
	own.Presets, own.Mix, own.Strategies, own.Clients, own.Operations = nil, nil, nil, 0, 0
	for i, n := range v.Counts(p.Clients) {
		part := v.Parts[i]
		if !part.Preset {
			own.Strategies = append(own.Strategies, part.Name)
			own.Clients += n
			continue
		}
		part.Plan.Clients, part.Plan.Operations = n, 0
		heads, plans = append(heads, "preset "+part.Name), append(plans, part.Plan)
	}
	if own.Strategies != nil {
		heads, plans = append(heads, "strategy "+strings.Join(own.Strategies, ",")), append(plans, &own)
	}
	return heads, plans
}

// idle returns the warning for a field that is off its default without effect, or nothing.
func (p *Plan) idle(name, why string) []string {
	f, _ := FieldNamed(name)
	if f.atDefault(p) {
		return nil
	}
	return []string{name + " " + strings.Join(f.texts(p), "; ") + ": no effect " + why}
}

// idleStrategyFields warns of strategy numbers that none of the plan's strategies reads:
// with the default in its place, the same draws give the same delays.
func (p *Plan) idleStrategyFields() []string {
	var w []string
	if p.MaxRetries == 0 {
		if len(p.Strategies) > 1 {
			w = append(w, fmt.Sprintf("strategy %s: they do not differ with max-retries 0", strings.Join(p.Strategies, ",")))
		}
		return w
	}
	why := "on strategy " + strings.Join(p.Strategies, ",")
	for _, name := range []string{"base", "cap", "multiplier", "first-exponent", "cap-mode", "cap-jitter", "noise", "spread", "floor"} {
		f, _ := FieldNamed(name)
		other, fallback := *p, Default()
		if err := f.Set(&other, f.Get(&fallback)...); err != nil || other.Params().Validate() != nil {
			continue // the default does not go with the rest, so the field has an effect
		}
		if !p.delaysDiffer(other.Params()) {
			w = append(w, p.idle(name, why)...)
		}
	}
	if p.SharedSeed && !p.draws() {
		w = append(w, p.idle("shared-seed", why+", which draws nothing")...)
	}
	return w
}

// delaysDiffer reports whether, for one of the plan's strategies, other numbers give other
// delays from the same draws.
func (p *Plan) delaysDiffer(other backoff.Params) bool {
	return slices.ContainsFunc(p.Strategies, func(name string) bool {
		e := entry(name)
		return delays(e.New(p.Params()), 1) != delays(e.New(other), 1)
	})
}

// draws reports whether one of the plan's strategies is random: whether other draws give
// other delays.
func (p *Plan) draws() bool {
	return slices.ContainsFunc(p.Strategies, func(name string) bool {
		s := p.Backoff(name)
		return delays(s, 1) != delays(s, 2)
	})
}

// delays returns the delays of one long operation, the same for the same seed. 128 is
// enough to reach most caps: 1.1^128 is 198,000.
func delays(s backoff.Strategy, seed uint64) (all [128]time.Duration) {
	r := rand.New(rand.NewPCG(seed, 0))
	var carry float64
	a := backoff.Attempt{Carry: &carry}
	for k := range all {
		a.Retry = k
		a.Prev = s.Delay(r, a)
		all[k] = a.Prev
	}
	return all
}

// retries reports whether the policy retries after o at all.
func (p *Plan) retries(o retry.Outcome) bool { return p.RetryOn.Classify(o) == retry.Retryable }

// idlePolicyFields warns of policy fields that others make void.
func (p *Plan) idlePolicyFields() []string {
	var w []string
	if p.MaxRetries == 0 {
		for _, name := range p.ofRetriesAlone() {
			w = append(w, p.idle(name, "with max-retries 0")...)
		}
		if p.Hedge.Most == 0 {
			return w
		}
	}
	switch {
	case idempotent(p.Method):
		w = append(w, p.idle("retry-non-idempotent", "on method "+p.Method)...)
	case p.IdempotencyKey:
		w = append(w, p.idle("retry-non-idempotent", "with idempotency-key "+strconv.FormatBool(true))...)
	case !p.RetryNonIdempotent:
		w = append(w, p.idle("hedge", "on method "+p.Method+" without an idempotency-key: a copy might do the work twice")...)
	}
	return w
}

// ofRetriesAlone are the fields of the policy that do nothing where there are no retries. A copy of an attempt is one to
// most of them.
func (p *Plan) ofRetriesAlone() []string {
	if p.Hedge.Most > 0 {
		return []string{"throttled-base", "retry-after-jitter"}
	}
	return []string{"throttled-base", "retry-after", "retry-after-jitter", "retry-on", "retry-non-idempotent"}
}

// idleThrottledBase warns of a base for an answer that no service of the plan's own gives.
func (p *Plan) idleThrottledBase() []string {
	if p.URL != "" || p.MaxRetries == 0 || slices.ContainsFunc(p.Chain(), func(l Link) bool { return l.Plan.Status == statusThrottled }) {
		return nil
	}
	return p.idle("throttled-base", fmt.Sprintf("where the target answers %d, and never %d", p.Status, statusThrottled))
}

// idleDeadline warns of deadlines that are told to a target of ours that does nothing with them.
func (p *Plan) idleDeadline() []string {
	if p.URL != "" || len(p.Layers) > 0 || p.Expired == ExpiredDrop {
		return nil
	}
	return p.idle("propagate-deadline", "on a target that serves what has expired: with expired "+ExpiredDrop+" it would not")
}

// layerWarnings warns of what layers set of their own without any effect.
func (p *Plan) layerWarnings() []string {
	var w []string
	for _, l := range p.Layers {
		q := l.plan(p)
		idle := append(q.idleStrategyFields(), q.idlePolicyFields()...)
		if q.MaxRetries == 0 && q.Hedge.Most == 0 && !q.asksFirst() {
			idle = append(idle, q.idle("budget", "with max-retries 0")...)
		}
		for _, text := range append(idle, q.idleTargetFields()...) {
			if key, _, _ := strings.Cut(text, " "); slices.ContainsFunc(l.Texts, func(t string) bool { return strings.HasPrefix(t, key+"=") }) {
				w = append(w, "layer "+l.Name+": "+text)
			}
		}
		for _, o := range q.Outages {
			if o.To >= p.Duration {
				w = append(w, fmt.Sprintf("layer %s: outage %v: not over before the run ends at %s, so no recovery is seen", l.Name, o, formatDuration(p.Duration)))
			}
		}
	}
	return w
}

// idempotent reports whether RFC 9110 (9.2.2) calls the method idempotent.
func idempotent(method string) bool {
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}, method)
}

// Probes reports whether a target elsewhere is probed: with auto only where the method is safe,
// for a probe sends it up to 20,000 times (RFC 9110, 9.2.1).
func (p Plan) Probes() bool {
	return p.Probe == ProbeOn || p.Probe == ProbeAuto && slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, p.Method)
}

// idleTargetFields warns of target fields that belong to another model.
func (p *Plan) idleTargetFields() []string {
	var w []string
	if p.URL != "" {
		for _, f := range table {
			if f.Group == Target && f.Name != "outage" {
				w = append(w, p.idle(f.Name, "on a target elsewhere")...)
			}
		}
		return w
	}
	for _, name := range []string{"allow-host", "keepalive", "cacert", "cert", "insecure", "probe"} {
		w = append(w, p.idle(name, "on the built-in target")...)
	}
	for _, name := range p.unreadByModel() {
		w = append(w, p.idle(name, "on model "+p.Model)...)
	}
	if p.Model == ModelSlots && p.CapacityPerSecond == 0 && p.Abandoned == AbandonedProcess {
		for _, name := range []string{"service", "discipline", "expired", "contention", "coherency", "shed-cost"} {
			w = append(w, p.idle(name, "with a capacity of 0: the work that is begun has no end")...)
		}
	}
	return w
}

// unreadByModel returns the target's fields that the plan's model does not read and its rules
// let pass.
func (p *Plan) unreadByModel() []string {
	switch p.Model {
	case ModelTokenBucket:
		return []string{"workers", "queue", "service", "abandoned"}
	case ModelRejectIfBusy:
		return []string{"burst", "abandoned"} // what is accepted is answered at once: there is no work left to drop
	case ModelOCC:
		return []string{"capacity", "workers", "queue", "burst", "service", "send-retry-after", "abandoned"}
	}
	return []string{"burst"}
}
