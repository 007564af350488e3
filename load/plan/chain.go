package plan

import (
	"slices"
	"strings"

	"stormtest/load/retry"
)

// A Link is a service of a chain, and how it is called.
//
// What holds for a chain, in either engine:
//
//   - A request to a service first gets that service's own work, at its station. When that is done, and there is a
//     service behind, the service calls that one by the policy of the next link, with its retries, hedges, budget and
//     breaker; nothing of its own is held meanwhile, so that a service waits for as many calls as there are requests.
//   - The caller is answered 200 when that call has succeeded in the end, else with the service's own status, without
//     a Retry-After. So a service whose status is not retried, as 500, keeps its callers from retrying what it has
//     retried itself.
//   - A budget or a breaker of a layer is the calling service's: it is one process, so that there is one of each,
//     whatever the scope says.
//   - Where a caller has gone, a service that processes abandoned work goes on with its call, and with its retries;
//     one that cancels it breaks the call off.
//   - With propagate-deadline a call is given up, and no attempt of it starts, when its caller's attempt times out.
//   - At most [CallsMost] calls of a service are under way; a request that would need one more is answered at once
//     as if its call had failed.
type Link struct {
	// Name is FrontName or the layer's.
	Name string
	// Plan is the whole plan with the policy of the callers and the target of this service in it, and one strategy.
	// Of the clients' part, as their number, nothing is a layer's. Read only.
	Plan *Plan
}

// Policy is the retry policy of the calls.
//
// Where a call has no limit of its time by itself, it has the longest there is, so that its caller's can stand in
// its place.
func (l Link) Policy() retry.Policy {
	p := l.Plan.Policy(l.Plan.Strategies[0])
	if l.Name != FrontName && p.MaxElapsed == 0 {
		p.MaxElapsed = retry.NoLimit
	}
	return p
}

// CallsMost is how many calls of one service may be under way.
const CallsMost = 1_000_000

// Chain returns the services that a request passes, the first service first: it is the plan itself, and each layer
// has of it what it does not set, but for the outages. p must be valid and of one strategy, as those of [Part] are.
func (p *Plan) Chain() []Link {
	links := make([]Link, 1, 1+len(p.Layers))
	links[0] = Link{Name: FrontName, Plan: p}
	for _, l := range p.Layers {
		links = append(links, Link{Name: l.Name, Plan: l.plan(p)})
	}
	return links
}

// plan returns p with what the layer sets.
func (l Layer) plan(p *Plan) *Plan {
	q := *p
	q.Layers, q.Outages, q.Gates = nil, nil, nil
	lists := map[string][]string{}
	for _, text := range l.Texts {
		key, value, _ := strings.Cut(text, "=")
		lists[key] = append(lists[key], value)
	}
	for _, f := range table {
		if texts := lists[f.Name]; texts != nil {
			f.set(&q, texts) // which reads them, as it wrote them
		}
	}
	return &q
}

// layerConflicts returns the faults of what layers set and of what they have of the plan that do not go together.
// What is broken in the plan itself is said there.
func (p *Plan) layerConflicts(bad map[string]bool) []*FieldError {
	if bad["layer"] {
		return nil
	}
	var faults []*FieldError
	for _, l := range p.Layers {
		q := l.plan(p)
		for _, r := range rules {
			if !r.ofLayers() || slices.ContainsFunc(r.fields, func(name string) bool { return bad[name] }) {
				continue
			}
			if _, want := r.broken(p); want != "" {
				continue
			}
			if _, want := r.broken(q); want != "" {
				f, _ := FieldNamed(r.fields[0])
				faults = append(faults, &FieldError{Field: "layer", Got: formatLayer(l),
					Want: "in layer " + l.Name + " not " + f.Name + "=" + strings.Join(f.texts(q), "; ") + ", but " + want})
			}
		}
	}
	return faults
}

// ofLayers reports whether layers can break the rule.
func (r rule) ofLayers() bool {
	return slices.ContainsFunc(r.fields, func(name string) bool {
		f, _ := FieldNamed(name)
		return f.ofLayer()
	})
}

// Chained reports whether an attempt is more than one request to one target: there are layers, or hedges.
func (p *Plan) Chained() bool {
	return len(p.Layers) > 0 || slices.ContainsFunc(p.Chain(), func(l Link) bool { return l.Plan.Hedge.Most > 0 })
}
