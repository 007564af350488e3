package validate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stormtest/load/validate"
)

// A mutation is one formula broken on purpose.
type mutation struct {
	name     string
	file     string // from the root of the module
	from, to string // the first is found once
	groups   string
	// failing are parts of names of which each is in a check that fails; spared are parts that no failing
	// check has.
	failing, spared []string
}

// mutations are the formulas: where one of them was rewritten the row has to follow it.
var mutations = []mutation{
	{
		name: "full draws from the upper half", file: "load/backoff/full.go",
		from: "window{width: uint64(raw)}", to: "window{lo: int64(raw / 2), width: uint64(raw - raw/2)}",
		groups: "analytic", failing: []string{"full k=3: mean", "full k=3: sd", "full k=3: min", "full, AWS 2026"},
		spared: []string{"equal k=3", "decorrelated k=", "proportional"},
	},
	{
		name: "decorrelated doubles", file: "load/backoff/decorrelated.go",
		from: "return times(3, max(s.Base, a.Prev))", to: "return times(2, max(s.Base, a.Prev))",
		groups: "analytic,published", failing: []string{"decorrelated k=0: mean", "decorrelated k=2: sd", "decorrelated, clamp, far", "decorrelated against full, N=1000"},
		spared: []string{"full k=", "equal k="},
	},
	{
		name: "the cap is twice what was asked for", file: "load/backoff/capmode.go",
		from: "raw = min(raw, p.Cap)", to: "raw = min(raw, 2*p.Cap)",
		groups: "analytic,closed", failing: []string{"proportional k=8: mean", "none N=100: completion"},
		spared: []string{"constant N=", "full k=3"},
	},
	{
		name: "all clients draw from one stream", file: "load/seed/seed.go",
		from: "uint64(p)<<32 | uint64(client)", to: "uint64(p)<<32 | uint64(client&0)",
		groups: "cap-modes", failing: []string{"full, cap ceiling: dispersion", "equal, cap fixed: dispersion"},
		spared: []string{"none, cap ceiling"},
	},
	{
		name: "a hint is no floor", file: "load/retry/judge.go",
		from: "floor + time.Duration(j.hint", to: "time.Duration(j.hint",
		groups: "retry-after", failing: []string{"Retry-After 5s + U[0, 50ms): attempts", "Retry-After 5s + U[0, 5s): completion"},
		spared: []string{"Retry-After 5s exactly"},
	},
	{
		name: "operations have no limit", file: "load/retry/judge.go",
		from: "p.MaxElapsed != 0 &&", to: "p.MaxElapsed < 0 &&",
		groups: "analytic", failing: []string{"max-elapsed 5s, target status: end"}, spared: []string{"k="},
	},
	{
		name: "gRPC's throttling stops one late", file: "load/retry/budget/grpc.go",
		from: "return g.tokens > g.size/2 }", to: "return g.tokens >= g.size/2 }",
		groups: "budgets", failing: []string{"grpc 10/0.1"}, spared: []string{"aws", "sre", "finagle"},
	},
	{
		name: "service takes twice as long", file: "target/station/station.go",
		from: "s.demand = serviceWork(int64(c.Workers), c.PerSecond)", to: "s.demand = serviceWork(2*int64(c.Workers), c.PerSecond)",
		groups: "closed,retry-after", failing: []string{"none N=100: completion", "constant N=1000: completion", "Retry-After 5s + U[0, 1s): attempts"},
		spared: []string{"none N=100: attempts"},
	},
	{
		name: "the convoy index compares other scales", file: "load/record/convoy.go",
		from: "scaleMiddle = 100 * time.Millisecond", to: "scaleMiddle = 200 * time.Millisecond",
		groups: "index", failing: []string{"one wave: uniform over 500ms", "waves 1/s of sd 5ms"},
		spared: []string{"rsi", "dispersion"},
	},
	{
		name: "a write may miss one version", file: "load/sim/occ.go",
		from: "f.version == e.row.version", to: "f.version+1 >= e.row.version",
		groups: "occ", failing: []string{"full N=100: writes", "immediate N=100: writes"},
	},
}

// TestABrokenFormulaIsNamed builds the program with one formula broken, for each of the mutations, and has it
// validated: it must end with exit code 3 and name what is broken. The program as it is passes the same groups.
func TestABrokenFormulaIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program several times")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, m := range mutations {
		groups = append(groups, strings.Split(m.groups, ",")...)
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.check(t, root, goTool)
		})
	}
	none := mutation{name: "none", groups: strings.Join(groups, ",")}
	if v, code := none.validate(t, root, goTool); code != 0 || v.Failed != 0 {
		t.Errorf("without a mutation: exit code %d, %d checks failed", code, v.Failed)
	}
}

func (m mutation) check(t *testing.T, root, goTool string) {
	v, code := m.validate(t, root, goTool)
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	var failed []string
	for _, c := range v.Checks {
		if !c.OK {
			failed = append(failed, c.Group+": "+c.Name)
		}
	}
	named := func(part string) bool {
		return slices.ContainsFunc(failed, func(name string) bool { return strings.Contains(name, part) })
	}
	for _, part := range m.failing {
		if !named(part) {
			t.Errorf("no check of %q failed; those that did: %q", part, failed)
		}
	}
	for _, part := range m.spared {
		if named(part) {
			t.Errorf("a check of %q failed; all that did: %q", part, failed)
		}
	}
}

// A verdict is what the program writes with --json.
type verdict struct {
	Failed int
	Checks []validate.Check
}

// validate builds the mutated program, or the program as it is where there is no file, and returns what it
// said.
func (m mutation) validate(t *testing.T, root, goTool string) (verdict, int) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "stormtest")
	args := []string{"build", "-ldflags=-s -w", "-o", binary}
	if m.file != "" {
		args = append(args, "-overlay", m.overlay(t, root, dir))
	}
	build := exec.CommandContext(t.Context(), goTool, append(args, "./cmd/stormtest")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", build.Args, err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "validate", "--only", m.groups, "--json", "-", "--quiet")
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	_ = run.Run() // its exit code is what is asked about
	var v verdict
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v: %s%s", m.name, err, out.Bytes(), errs.Bytes())
	}
	return v, run.ProcessState.ExitCode()
}

// overlay writes the mutated file, and what tells the compiler to take it in the place of the one that stands
// there.
func (m mutation) overlay(t *testing.T, root, dir string) string {
	t.Helper()
	source := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(m.from)); n != 1 {
		t.Fatalf("%s has %q %d times, want once: the mutation must follow the code", m.file, m.from, n)
	}
	mutated := filepath.Join(dir, "mutated.go")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {source: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	for name, content := range map[string][]byte{
		mutated: bytes.Replace(text, []byte(m.from), []byte(m.to), 1), overlay: replaced,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
