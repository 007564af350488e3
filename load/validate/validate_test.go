package validate_test

import (
	"context"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stormtest/load/validate"
)

// config checks groups with the seed of the command.
func config(groups ...string) validate.Config {
	return validate.Config{Groups: groups, Seed: 1, Fresh: [2]uint64{3, 5}}
}

// quickResult is one run of the quick groups, for the tests that only read it.
var quickResult = sync.OnceValue(func() validate.Result {
	return validate.Run(context.Background(), config(quick...))
})

func TestQuickGroupsPass(t *testing.T) {
	r := quickResult()
	for _, c := range r.Checks {
		if !c.OK {
			t.Errorf("%s: %s = %v, want %v (%v..%v)", c.Group, c.Name, value(c), c.Expected, c.Low, c.High)
		}
	}
	if r.Failed > 0 || r.Passed != len(r.Checks) || r.Passed < 30 {
		t.Errorf("%d passed, %d failed of %d", r.Passed, r.Failed, len(r.Checks))
	}
}

// value is what a check got, NaN for nothing.
func value(c validate.Check) float64 {
	if c.Got == nil {
		return math.NaN()
	}
	return *c.Got
}

// Equal seeds give equal results whatever the number of cores, and another seed other ones.
func TestResultsDependOnTheSeedAlone(t *testing.T) {
	one := validate.Run(t.Context(), config("published"))
	cores := runtime.GOMAXPROCS(1)
	again := validate.Run(t.Context(), config("published"))
	runtime.GOMAXPROCS(cores)
	if !reflect.DeepEqual(one, again) {
		t.Errorf("one core gave %+v, %d cores %+v", again, cores, one)
	}
	c := config("published")
	c.Seed = 1_000_000
	if other := validate.Run(t.Context(), c); reflect.DeepEqual(one, other) {
		t.Errorf("seeds 1 and 1,000,000 both gave %+v", one)
	}
}

// Two processes that drew one seed are found.
func TestOneSeedForTwoProcessesFails(t *testing.T) {
	c := config("analytic")
	c.Fresh = [2]uint64{7, 7}
	r := validate.Run(t.Context(), c)
	if r.Failed != 1 {
		t.Errorf("%d checks failed with one seed for two processes, want 1", r.Failed)
	}
}

func TestProgressComesToTheWhole(t *testing.T) {
	var shares []float64
	c := config("published")
	c.Progress = func(p validate.Progress) { shares = append(shares, p.DoneShare) }
	validate.Run(t.Context(), c)
	if len(shares) == 0 || !slices.IsSorted(shares) || math.Abs(shares[len(shares)-1]-1) > 1e-9 {
		t.Errorf("progress was told %d times, ending with %v, want 1", len(shares), shares[max(0, len(shares)-3):])
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := validate.Run(ctx, config("analytic")); !r.Interrupted || len(r.Checks) != 0 || r.PartsNotRun != r.Parts || r.Parts == 0 {
		t.Errorf("a validation without time gave %+v, want one that was interrupted", r)
	}
}

// A validation that is interrupted keeps what was finished, and says how much was not.
func TestInterruptedKeepsWhatWasFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := config("analytic")
	c.Progress = func(p validate.Progress) {
		if p.DoneShare > 0.5 {
			cancel()
		}
	}
	r := validate.Run(ctx, c)
	if !r.Interrupted || len(r.Checks) == 0 || r.Failed != 0 || r.PartsNotRun == 0 || r.PartsNotRun >= r.Parts {
		t.Fatalf("interrupted half way: %d checks, %d failed, %d of %d parts not run", len(r.Checks), r.Failed, r.PartsNotRun, r.Parts)
	}
	var b strings.Builder
	if err := r.Text(&b, time.Second); err != nil || !strings.Contains(b.String(), ", interrupted:\n") || !strings.HasSuffix(b.String(), " were not run\n") {
		t.Errorf("error %v, the report ends with %q", err, b.String()[max(0, b.Len()-120):])
	}
}

func TestCheckNames(t *testing.T) {
	if err := validate.CheckNames(quick); err != nil {
		t.Error(err)
	}
	if err := validate.CheckNames([]string{"guide", "", "convoy"}); err == nil || !strings.Contains(err.Error(), "without a name") {
		t.Errorf("error = %v, want one that says that a name is missing", err)
	}
	err := validate.CheckNames([]string{"analytic", "analytics"})
	if err == nil || !strings.Contains(err.Error(), `"analytics"`) || !strings.Contains(err.Error(), "retry-after") {
		t.Errorf("error = %v, want one that names the group and the groups", err)
	}
}

// The report is ASCII, at most 80 columns wide, and tells a failure at its
// place and at the end.
func TestText(t *testing.T) {
	r := quickResult()
	got := 12.5
	r.Checks = append(slices.Clone(r.Checks), validate.Check{
		Group: "convoy", Name: "full: index", Source: "a book", Expected: 1, Low: 0.5, High: 2, Got: &got, Unit: "ms", Note: "a note",
	}, validate.Check{Group: "convoy", Name: "full: nothing", Source: "a book"},
		validate.Check{Group: "convoy", Name: "full with every parameter that there is: a point", Source: "a book", Expected: 3150, Low: 3150, High: 3150.0003})
	r.Failed += 3
	var b strings.Builder
	if err := r.Text(&b, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for line := range strings.Lines(text) {
		if len(line) > 81 || strings.ContainsFunc(line, func(c rune) bool { return c > '~' || c < ' ' && c != '\n' }) {
			t.Errorf("line of %d: %q", len(line), line)
		}
	}
	for _, want := range []string{
		"expected numbers from: the guides' model, by an independent program\n",
		"  none N=100\n    ok   attempts                          5050             exactly        5050\n",
		"    FAIL index, ms                            1              0.5..2        12.5\n         a note\n",
		"Failed:\n  convoy: full: index = 12.5 ms, want 1 (0.5..2), from: a book\n         a note\n",
		"  convoy: full: nothing = nothing, want 0 (exactly), from: a book\n",
		"  full (a book)\n",
		"  convoy: full with every parameter that there is: a point = nothing, want 3150\n     (3150.0000..3150.0003), from: a book\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if !strings.HasSuffix(text, " checks passed, 3 failed in 2 s\n") {
		t.Errorf("the report ends with %q", text[max(0, len(text)-60):])
	}
}

// Names are what failures are known by.
func TestChecksHaveNamesOfTheirOwn(t *testing.T) {
	var names []string
	for _, c := range quickResult().Checks {
		names = append(names, c.Group+": "+c.Name)
	}
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Errorf("%d names of %d checks", len(slices.Compact(names)), n)
	}
}

// A reader of the report has no list of sections: where a number comes from is said in words.
func TestSourcesAreWords(t *testing.T) {
	for _, c := range quickResult().Checks {
		if len(strings.Fields(c.Source)) < 2 || strings.Contains(c.Note, "the reference") {
			t.Errorf("%s: %s: source %q, note %q", c.Group, c.Name, c.Source, c.Note)
		}
	}
}
