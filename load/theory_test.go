package load_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stormtest/load"
	"stormtest/load/backoff"
	"stormtest/load/record"
)

// drawsGap returns the largest difference between the share of the draws and that of a theory below any edge that the
// theory tells apart.
func drawsGap(d *record.Draws, theory *record.Theory) float64 {
	gap, drawn, expected, i := 0.0, 0.0, 0.0, 0
	for k, from := range theory.From {
		for ; i < len(d.Bins.From) && d.Bins.From[i] < from; i++ {
			drawn += float64(d.Bins.Count[i]) / float64(d.Count)
		}
		if k != 1 || theory.From[0] != 0 { // the bin 0 reaches up to where the next one begins, or further
			gap = max(gap, math.Abs(drawn-expected))
		}
		expected += theory.Share[k]
	}
	return gap
}

// drawsClients draw at every retry. The bound is passed by chance at a rate of 1e-9 (DKW, any n), 1e-6 over the tests here,
// and by what a Theory leaves out, a hundredth; it sees a difference of 0.1.
const drawsClients = 5000

var drawsBound = math.Sqrt(math.Log(2/1e-9)/(2*drawsClients)) + 0.01

// drawn is a storm of a strategy on a target that serves nobody, so that no retry depends on how long the
// delays before it were.
func drawn(t *testing.T, lines ...string) *record.Run {
	t.Helper()
	for _, line := range []string{"max-retries: 13", "max-elapsed: unlimited"} {
		key, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, key) }) {
			lines = append(lines, line)
		}
	}
	p := scenario(t, append([]string{fmt.Sprint("clients: ", drawsClients), "capacity: 0/s", "duration: 2h", "bucket: 10s"}, lines...)...)
	run := simulate(t, p, load.Env{}).Runs[0]
	if err := run.CheckDetail(); err != nil {
		t.Fatal(err)
	}
	return &run
}

// Of every strategy the draws of each retry are spread as the theory beside them says, and not as that of another retry
// would, where it is another.
func TestDrawsFollowTheirTheory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	told := 0
	for _, e := range backoff.Table {
		draws := drawn(t, "strategy: "+e.Name).Detail.Draws
		if len(draws) != record.DrawColumns {
			t.Fatalf("%s: draws of %d retries, want %d", e.Name, len(draws), record.DrawColumns)
		}
		for k := range draws {
			d := &draws[k]
			if d.Beyond {
				if d.Theory != nil || d.Count != 2*drawsClients {
					t.Errorf("%s: %d draws beyond, with the theory %v", e.Name, d.Count, d.Theory)
				}
				continue
			}
			if d.Count != drawsClients || d.Theory == nil || d.Theory.Chained != (e.Chained && k > 0) {
				t.Fatalf("%s, retry %d: %d draws, theory %+v", e.Name, k, d.Count, d.Theory)
			}
			if gap := drawsGap(d, d.Theory); gap > drawsBound {
				t.Errorf("%s, retry %d: distance from theory = %.4f, want <= %.4f", e.Name, k, gap, drawsBound)
			}
			if k > 0 && theoriesGap(draws[k-1].Theory, d.Theory) > 2*drawsBound {
				told++
				if drawsGap(d, draws[k-1].Theory) <= drawsBound {
					t.Errorf("%s: retry %d is taken for the one before", e.Name, k)
				}
			}
		}
	}
	if told < 100 {
		t.Errorf("only %d retries were told from the one before", told)
	}
}

// A limit that forbids the long delays near its end, or a budget, does not make the draws look shorter: those that were
// forbidden are among them.
func TestLimitsDoNotBendTheDraws(t *testing.T) {
	for _, limit := range []string{"max-elapsed: 3s", "max-retries: 4", "budget: finagle:ratio=100%,scope=fleet"} {
		lines := []string{"strategy: full", limit}
		run := drawn(t, lines...)
		if run.Detail.Delay != nil && run.Detail.Delay.Total() == drawnOf(run) && limit != "max-retries: 4" {
			t.Errorf("%s: nothing was forbidden", limit)
		}
		for k := range run.Detail.Draws {
			d := &run.Detail.Draws[k]
			if gap, bound := drawsGap(d, d.Theory), math.Sqrt(math.Log(2/1e-9)/(2*float64(d.Count)))+0.01; gap > bound {
				t.Errorf("%s, retry %d: distance of %d draws from theory = %.4f, want <= %.4f", limit, d.Retry, d.Count, gap, bound)
			}
		}
	}
}

// drawnOf is how many delays were drawn in all.
func drawnOf(run *record.Run) int64 {
	var n int64
	for i := range run.Detail.Draws {
		n += run.Detail.Draws[i].Count
	}
	return n
}

// theoriesGap returns the largest difference between the shares of two theories below any edge of the first.
func theoriesGap(a, b *record.Theory) float64 {
	gap, x, y, i := 0.0, 0.0, 0.0, 0
	for k, from := range a.From {
		for ; i < len(b.From) && b.From[i] < from; i++ {
			y += b.Share[i]
		}
		gap = max(gap, math.Abs(x-y))
		x += a.Share[k]
	}
	return gap
}

// A fleet that shares one seed draws one delay: theory shows it, and so would every other fault of chance.
func TestSharedSeedIsFarFromTheory(t *testing.T) {
	for _, d := range drawn(t, "strategy: full", "shared-seed: true").Detail.Draws {
		if d.Theory != nil && drawsGap(&d, d.Theory) < 0.4 {
			t.Errorf("retry %d: distance from theory = %.4f", d.Retry, drawsGap(&d, d.Theory))
		}
	}
}

// A repeat keeps the detail of its first seed, in both engines. That both have the same TestParity sees.
func TestDetailIsOfTheFirstSeed(t *testing.T) {
	for _, run := range []func(lines ...string) record.Run{
		func(lines ...string) record.Run { return simulate(t, scenario(t, lines...), load.Env{}).Runs[0] },
		func(lines ...string) record.Run {
			result, _ := bubble(t, scenario(t, lines...), 0)
			return result.Runs[0]
		},
	} {
		one, three := run("strategy: none", "clients: 30"), run("strategy: none", "clients: 30", "repeat: 3")
		if got, want := asJSON(t, three.Detail), asJSON(t, one.Detail); got != want || one.Detail == nil || len(one.Detail.Draws) == 0 {
			t.Errorf("of three seeds %.300s\nof one %.300s", got, want)
		}
	}
}

// The draw of a first retry that a limit forbids is one of the first retry, however many copies were sent before it.
func TestDrawsAfterCopies(t *testing.T) {
	p := scenario(t, "clients: 200", "hedge: 10ms,2", "outage: 0s..30s", "strategy: constant", "base: 1s", "max-elapsed: 500ms")
	run := simulate(t, p, load.Env{}).Runs[0]
	if d := run.Detail.Draws; len(d) != 1 || d[0].Retry != 0 || d[0].Count != 200 || run.Attempts.Hedges != 400 {
		t.Errorf("draws %+v after %d hedges, want 200 of the first retry after 400", d, run.Attempts.Hedges)
	}
}
