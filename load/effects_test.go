package load_test

import (
	"testing"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// What a target does twice is counted, and by hand it is this: two clients come at 0, and a service takes 1 s. The first is
// served. The second waits, is worked on from 1 s, and gives up at 1.5 s. Its retry comes at 1.6 s. A target that works on finishes
// the first attempt for nobody at 2 s, and the retry at 3 s: one operation of two was done twice. One that drops abandoned work
// has the retry done at 2.6 s, once.
func TestEffectsByHand(t *testing.T) {
	lines := []string{
		"clients: 2", "capacity: 1/s", "queue: 5", "timeout: 1.5s", "strategy: constant", "base: 100ms", "duration: 10s", "seed: 1",
	}
	for _, c := range []struct {
		abandoned string
		want      record.Effects
	}{
		{plan.AbandonedProcess, record.Effects{Done: 2, Duplicated: 1, Extra: 1}},
		{plan.AbandonedCancel, record.Effects{Done: 2}},
	} {
		p := scenario(t, append(lines, "abandoned: "+c.abandoned)...)
		for _, o := range []outcome{virtually(t, p), overHTTP(t, p), inMemory(t, p)} {
			if o.run.Operations.Succeeded != 2 {
				t.Fatalf("%s, %s: %d operations succeeded, want 2", o.engine, c.abandoned, o.run.Operations.Succeeded)
			}
			if got := o.run.Effects; got == nil || *got != c.want {
				t.Errorf("%s, %s: effects %+v, want %+v", o.engine, c.abandoned, got, c.want)
			}
		}
	}
}

// Every piece of work is an operation's first or a further one: in all engines, with retries that meet their own abandoned
// attempts, and behind a network too.
func TestEffectsAreTheServed(t *testing.T) {
	lines := []string{"clients: 60", "operations: 100000", "capacity: 40/s", "workers: 3", "queue: 30", "timeout: 400.1ms", "max-retries: 4", "base: 103.7ms", "duration: 8.0037s", "seed: 3"}
	check := func(engine string, run *record.Run) {
		t.Helper()
		var served int64
		for _, b := range run.Buckets {
			if b.At < run.Duration {
				served += b.Served
			}
		}
		e := run.Effects
		if e == nil || e.Done+e.Extra != served || e.Duplicated == 0 || e.Extra < e.Duplicated || e.Done < run.Operations.Succeeded {
			t.Errorf("%s: effects %+v of %d pieces of work and %d operations that succeeded", engine, e, served, run.Operations.Succeeded)
		}
	}
	p := scenario(t, lines...)
	for _, o := range []outcome{virtually(t, p), overHTTP(t, p), inMemory(t, p)} {
		check(o.engine, &o.run)
	}
	far := scenario(t, append(lines, "latency: 20ms~5ms", "loss: 2%")...)
	result := simulate(t, far, load.Env{})
	check("behind a network", &result.Runs[0])
}

// Over sockets the target knows an operation by its key alone; without one nothing is said of effects.
func TestEffectsWithoutKeys(t *testing.T) {
	p := scenario(t, "clients: 5", "capacity: 100/s", "queue: 10", "idempotency-key: false", "duration: 2s", "seed: 1")
	if got := overHTTP(t, p).run.Effects; got != nil {
		t.Errorf("over HTTP: effects %+v without a key", got)
	}
	if got := inMemory(t, p).run.Effects; got == nil || got.Done != 5 {
		t.Errorf("in memory: effects %+v, want 5 done", got)
	}
}

// A copy of an attempt is a piece of work of its own: a service takes 1 s, the copy leaves at 0.3 s, and at 1.3 s it is done for
// a client that had its answer at 1 s.
func TestEffectsOfHedges(t *testing.T) {
	p := scenario(t, "clients: 2", "operations: 4", "capacity: 4/s", "workers: 4", "hedge: 300ms", "timeout: 5s", "duration: 10s", "seed: 1")
	run := simulate(t, p, load.Env{}).Runs[0]
	if got := run.Effects; got == nil || got.Done != 4 || got.Duplicated != got.Extra || got.Duplicated == 0 {
		t.Errorf("effects %+v, want four operations done, and some twice", got)
	}
}
