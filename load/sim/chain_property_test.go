package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"stormtest/load/plan"
	"stormtest/load/retry"
)

// anyChain draws a small plan with layers, hedges or both.
func anyChain(rt *rapid.T) plan.Plan {
	p, strategy := anyPlan(rt)
	p.Strategies = []string{strategy}
	p.Latency, p.LossShare = plan.Law{}, 0
	if p.Model != plan.ModelTokenBucket {
		p.Model = plan.ModelSlots
	}
	p.Clients = min(p.Clients, 20)
	p.Operations = min(p.Operations, 40)
	p.MaxRetries = rapid.IntRange(0, 3).Draw(rt, "few retries")
	p.PropagateDeadline = rapid.Bool().Draw(rt, "propagate-deadline")
	give(rt, &p, "hedge", rapid.SampledFrom([]string{"off", "20ms,1", "50ms,4"}).Draw(rt, "hedge"))
	give(rt, &p, "breaker", rapid.SampledFrom([]string{"none", "consecutive:failures=2,open=100ms"}).Draw(rt, "breaker"))
	var layers []string
	for i := range rapid.IntRange(0, 3).Draw(rt, "layers") {
		layers = append(layers, "l"+string(rune('a'+i))+rapid.SampledFrom([]string{"", ";capacity=100/s;queue=5", ";capacity=20/s;queue=100;timeout=100ms", ";capacity=0", ";abandoned=cancel;hedge=30ms,2",
			";outage=300ms..900ms=hang;timeout=200ms", ";outage=300ms..900ms=refuse;outage=1s..2s=reset;retry-on=connect,reset,503", ";budget=grpc;breaker=consecutive:failures=3,open=50ms", ";model=token-bucket;burst=3;capacity=50/s",
			";expired=drop;queue=50;capacity=30/s;propagate-deadline=true", ";max-retries=0;status=500"}).Draw(rt, "layer"))
	}
	if layers != nil {
		give(rt, &p, "layer", layers...)
	}
	if err := p.For(plan.Virtual); err != nil {
		rt.Skip(err)
	}
	return p
}

// give sets a field; where that does not go with the rest of the plan it keeps what it has.
func give(rt *rapid.T, p *plan.Plan, name string, texts ...string) {
	f, ok := plan.FieldNamed(name)
	next := *p
	if err := f.Set(&next, texts...); !ok || err != nil {
		rt.Fatalf("%s: %v", name, err)
	}
	if next.Validate() == nil {
		*p = next
	}
}

// TestChainConserves checks of any chain that every link's books balance, that each attempt which arrived has one end, that a
// service has served exactly what it was answered, and that the same seed gives the same bytes.
func TestChainConserves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := anyChain(rt)
		stats, runs := chained(&p, 7, nil)
		for i := range runs {
			r := &runs[i]
			if !r.Books.Balanced {
				rt.Errorf("link %d: %v", i, r.Books.Faults)
			}
			l := linkOf(stats.Links[i], r)
			if i+1 < len(runs) && l.served != stats.Links[i+1].Succeeded {
				rt.Errorf("link %d served %d, and %d calls behind it succeeded", i, l.served, stats.Links[i+1].Succeeded)
			}
			if i+1 < len(runs) {
				var failed int64 // behind it, with a caller to be told so
				for reason, n := range runs[i+1].Operations.GaveUp {
					if reason != retry.CallerGone.String() {
						failed += n
					}
				}
				if l.rejected < failed {
					rt.Errorf("link %d rejected %d, and %d calls behind it failed, which are to be among them", i, l.rejected, failed)
				}
			}
			if l.succeeded > l.served-l.wasted {
				rt.Errorf("link %d: %d operations succeeded of %d served, %d in vain", i, l.succeeded, l.served, l.wasted)
			}
			if ended := l.served + l.rejected; ended > r.Books.Arrivals {
				rt.Errorf("link %d: %d arrivals, and %d served or rejected", i, r.Books.Arrivals, ended)
			}
			most := r.Operations.Started * int64(1+others(p.Chain()[i].Plan))
			if r.Attempts.Sent > most {
				rt.Errorf("link %d: %d attempts of %d operations, want at most %d", i, r.Attempts.Sent, r.Operations.Started, most)
			}
		}
		again, runsAgain := chained(&p, 7, nil)
		for i := range runs {
			if a, b := marshal(rt, runs[i]), marshal(rt, runsAgain[i]); a != b || again.Events != stats.Events {
				rt.Errorf("link %d: the same seed gave\n%.200s and\n%.200s", i, a, b)
			}
		}
	})
}

// others is how many attempts beside the first an operation may have.
func others(p *plan.Plan) int { return p.MaxRetries + p.Hedge.Most }

// TestChainSeeds checks that another seed is another run at each link.
func TestChainSeeds(t *testing.T) {
	p := scenario(t, "clients: 20", "service: exp", "queue: 100", "max-retries: 3", "layer: [b;capacity=50/s;queue=10, c;capacity=30/s;queue=5]")
	var all [2][]string
	for seed := range uint64(2) {
		_, runs := chained(&p, seed, nil)
		for i := range runs {
			all[seed] = append(all[seed], marshal(t, runs[i].Latency))
		}
	}
	for i := range all[0] {
		if all[0][i] == all[1][i] {
			t.Errorf("link %d is alike with seeds 0 and 1", i)
		}
	}
}
