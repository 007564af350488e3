package load_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// A watcher looks at a run every second, as a terminal or a scrape does.
type watcher struct {
	stage load.Stage
	looks []record.Run
	ticks []record.Tick // of buckets that were over
	stop  chan struct{}
	wg    sync.WaitGroup
}

func (w *watcher) watch(s load.Stage) {
	w.stage, w.stop = s, make(chan struct{})
	w.wg.Go(func() {
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-every.C:
			}
			w.looks = append(w.looks, s.Interim())
			list := s.Arrivals(len(w.ticks))
			over := int(time.Since(s.Start)/s.Bucket) - len(w.ticks) - 1
			w.ticks = append(w.ticks, list[:max(0, min(over, len(list)))]...)
		}
	})
}

// end looks once more and checks what was seen against the run.
func (w *watcher) end(t *testing.T, run *record.Run) {
	t.Helper()
	close(w.stop)
	w.wg.Wait()
	if len(w.looks) < 2 {
		t.Fatalf("%d looks in %v", len(w.looks), run.Duration)
	}
	var arrivals int64
	for i, look := range w.looks {
		switch {
		case look.Books.Balanced || !slices.Contains(look.Books.Faults, record.UnderWay):
			t.Errorf("look %d: books = %+v, want them open", i, look.Books)
		case look.Strategy != run.Strategy || look.Engine != run.Engine || look.Bucket != run.Bucket || look.ArrivalsMeasuredAt != run.ArrivalsMeasuredAt:
			t.Errorf("look %d is of %s, %s, %v", i, look.Strategy, look.Engine, look.Bucket)
		case look.Books.Arrivals < arrivals || look.Books.Arrivals > run.Books.Arrivals:
			t.Errorf("look %d: %d arrivals, after %d and before %d", i, look.Books.Arrivals, arrivals, run.Books.Arrivals)
		}
		arrivals = look.Books.Arrivals
	}
	if arrivals == 0 {
		t.Error("nothing was seen")
	}
	for i, tick := range w.ticks {
		b := run.Buckets[i]
		if tick.Arrivals != b.Arrivals || tick.First != b.First || tick.Retries != b.Retries || tick.Served != b.Served || tick.Rejected != b.Rejected {
			t.Errorf("bucket %d was %+v, and is %+v", i, tick, b)
		}
	}
	if got, want := asJSON(t, w.stage.Interim()), asJSON(t, run); got != want {
		t.Errorf("after the end it is still\n%.300s\nand the run\n%.300s", got, want)
	}
	if w.stage.Bucket != run.Bucket || w.stage.CapacityPerSecond == nil || *w.stage.CapacityPerSecond != *run.CapacityPerSecond {
		t.Errorf("stage = %+v", w.stage)
	}
}

// A run can be looked at while it goes on, and is finished with what the result has.
func TestStageShowsTheRun(t *testing.T) {
	for _, transport := range []string{"tcp", "memory"} {
		t.Run(transport, func(t *testing.T) {
			p := scenario(t, "strategy: full,none", "clients: 200", "capacity: 50/s", "duration: 5s", "transport: "+transport)
			synctest.Test(t, func(t *testing.T) {
				w := &watcher{}
				var finished []record.Run
				result, err := load.Run(t.Context(), p, load.Env{Network: memory, Wake: wake.Timers, Progress: func(s load.Stage) { w.watch(s) }, Finished: func(run record.Run) {
					w.end(t, &run)
					finished = append(finished, run)
					w = &watcher{}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := asJSON(t, finished), asJSON(t, result.Runs); got != want {
					t.Errorf("finished = %.300s, want %.300s", got, want)
				}
			})
		})
	}
}

func TestStageShowsAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, finished, m := &watcher{}, 0, &lan{}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := load.Serve(t.Context(), servePlan(), load.Service{Opener: m}, load.Env{Wake: wake.Timers, Progress: func(s load.Stage) { w.watch(s) }, Finished: func(run record.Run) {
				finished++
				w.end(t, &run)
				if run.Outside.Failure == nil || w.looks[len(w.looks)-1].Outside.Failure == nil {
					t.Error("the first failure is not told")
				}
			}})
			if err != nil || finished != 1 {
				t.Errorf("finished %d times, %v", finished, err)
			}
		})
		synctest.Wait()
		fleet(true, true)(t, m, nil)
		wg.Wait()
	})
}

// In virtual time every strategy is finished once, with all its seeds, as it ends or when the run is cut.
func TestSimulateFinishes(t *testing.T) {
	for _, cut := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := scenario(t, "strategy: all", "clients: 100", "repeat: 5")
		finished := map[string]string{}
		var stage load.Stage
		result, err := load.Simulate(ctx, p, load.Env{Progress: func(s load.Stage) { stage = s }, Finished: func(run record.Run) {
			if finished[run.Strategy] != "" {
				t.Errorf("%s has finished twice", run.Strategy)
			}
			finished[run.Strategy] = asJSON(t, run)
			if cut {
				cancel()
			}
		}})
		if err != nil || result.Interrupted != cut || len(result.Runs) != len(finished) {
			t.Fatalf("%d runs, %d finished, interrupted %v, %v", len(result.Runs), len(finished), result.Interrupted, err)
		}
		for _, run := range result.Runs {
			if want := asJSON(t, run); finished[run.Strategy] != want {
				t.Errorf("%s finished as %.300s, and is %.300s", run.Strategy, finished[run.Strategy], want)
			}
		}
		if stage.Bucket != p.Bucket || stage.CapacityPerSecond == nil || stage.Interim != nil || stage.Arrivals != nil {
			t.Errorf("stage = %+v", stage)
		}
	}
}
