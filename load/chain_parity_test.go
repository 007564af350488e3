package load_test

import (
	"testing"

	"stormtest/load/record"
)

// chainParities are plans with services behind the first, and with copies of attempts, of which nothing is due together.
var chainParities = []parity{
	{"two services", []string{"clients: 40", "rate: 47/s", "arrivals: poisson", "capacity: 170/s", "queue: 20", "max-retries: 3",
		"layer: 'b;capacity=43/s;queue=5;outage=2.0001s..3.0007s'"}, false},
	{"three, each with its policy", []string{"clients: 40", "rate: 47/s", "arrivals: poisson", "capacity: 170/s", "queue: 20", "max-retries: 2", "service: exp",
		"layer: ['b;capacity=110.3/s;max-retries=1;strategy=equal', 'c;capacity=41/s;queue=3;base=51.7ms;outage=2.0001s..3.0007s=hang;timeout=300.1ms']"}, false},
	{"callers who go", []string{"clients: 40", "rate: 47/s", "arrivals: poisson", "capacity: 170/s", "queue: 20", "max-retries: 2", "timeout: 400.3ms",
		"layer: 'b;capacity=33/s;queue=50;timeout=900.7ms'"}, false},
	{"callers who go, and what they wanted", []string{"clients: 40", "rate: 47/s", "arrivals: poisson", "capacity: 170/s", "queue: 20", "max-retries: 2", "timeout: 400.3ms", "abandoned: cancel", "operations: 130",
		"layer: 'b;capacity=33/s;queue=50;timeout=900.7ms'"}, false},
	{"budget and breaker of a service", []string{"clients: 40", "rate: 47/s", "arrivals: poisson", "capacity: 170/s", "queue: 20", "max-retries: 3",
		"layer: 'b;capacity=33/s;queue=5;budget=grpc;breaker=consecutive:failures=3,open=300.3ms;outage=2.0001s..3.0007s'"}, false},
	{"hedges", []string{"clients: 40", "rate: 17/s", "arrivals: poisson", "capacity: 60/s", "workers: 4", "queue: 20", "max-retries: 3", "service: exp", "hedge: '70.3ms,2'",
		"outage: 2.0001s..3.0007s=hang", "timeout: 500.1ms"}, false},
	{"hedges of a service", []string{"clients: 40", "rate: 17/s", "arrivals: poisson", "capacity: 170/s", "workers: 4", "queue: 20", "max-retries: 3", "service: exp",
		"layer: 'b;capacity=60/s;hedge=70.3ms,2;outage=2.0001s..3.0007s;budget=aws'"}, false},
}

// bare is a run without what is of the engine itself.
func bare(r record.Run) record.Run {
	r.Engine, r.Generator, r.Notes = "", record.Generator{}, nil
	for len(r.Buckets) > 0 && r.Buckets[len(r.Buckets)-1].At >= r.Duration {
		r.Buckets = r.Buckets[:len(r.Buckets)-1]
	}
	return r
}

// TestParityOfChains: chains and hedges over the real HTTP stack in a bubble come out as in virtual time, every attempt of every
// client and every figure of every service.
func TestParityOfChains(t *testing.T) {
	for _, c := range chainParities {
		t.Run(c.name, func(t *testing.T) {
			p := c.plan(t, "full")
			virtual, real := virtually(t, p), overHTTP(t, p)
			layers := [2][]record.Layer{virtual.run.Layers, real.run.Layers}
			virtual.run.Layers, real.run.Layers = nil, nil
			for i := range min(len(virtual.rows), len(real.rows)) {
				if virtual.rows[i].arrived != real.rows[i].arrived && p.Hedge.Most > 0 {
					virtual.rows[i].arrived = real.rows[i].arrived // of attempts that overlap a client does not learn when they arrived
				}
			}
			if fault := real.differs(t, virtual); fault != "" {
				t.Error(fault)
			}
			for i, l := range layers[0] {
				v, r := outcome{engine: "in virtual time", run: bare(*l.Run)}, outcome{engine: "over HTTP", run: bare(*layers[1][i].Run)}
				if fault := r.differs(t, v); fault != "" {
					t.Errorf("layer %s: %s", l.Name, fault)
				}
				if !l.Run.Books.Balanced {
					t.Errorf("layer %s: %v", l.Name, l.Run.Books.Faults)
				}
			}
		})
	}
}
