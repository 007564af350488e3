package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestValidateTells(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.json")
	c := do(t.Context(), nil, "validate", "--only", "published", "--json", file, "--quiet")
	if c.code != codePassed || !strings.Contains(c.out, " checks passed, 0 failed in ") || c.err != "" {
		t.Errorf("exit code %d, stderr %q, stdout %s", c.code, c.err, c.out)
	}
	b, err := os.ReadFile(file)
	var v validation
	if err != nil || json.Unmarshal(b, &v) != nil || v.Passed != len(v.Checks) || v.Passed == 0 || v.Failed != 0 || v.Seed != 1 {
		t.Errorf("--json wrote %s, error %v", b, err)
	}
	if c := do(t.Context(), nil, "validate", "--only", "published", "--json", "-", "--quiet"); json.Unmarshal([]byte(c.out), &v) != nil {
		t.Errorf("--json - wrote %q, want JSON alone", c.out)
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, args := range [][]string{{"--only", "nonsense"}, {"--json", "no/such/folder"}, {"--seed", "-1"}, {"more"}} {
		if c := do(t.Context(), nil, append([]string{"validate"}, args...)...); c.code != codeUsage || c.out != "" {
			t.Errorf("%v: exit code %d, stderr %q, want 2", args, c.code, c.err)
		}
	}
}

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
		groups: "analytic", failing: []string{"full k=3: mean", "full k=3: sd", "full k=3: least", "full, AWS 2026"},
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
		from: "delay = floor + time.Duration(j.hint", to: "delay = time.Duration(j.hint",
		groups: "retry-after", failing: []string{"Retry-After 5s + U[0, 50ms): attempts", "Retry-After 5s + U[0, 5s): completion"},
		spared: []string{"Retry-After 5s exactly"},
	},
	{
		name: "operations have no limit", file: "load/retry/judge.go",
		from: "if p.MaxElapsed != 0 && delay", to: "if p.MaxElapsed < 0 && delay",
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
		t.Skip("no go tool to build with")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]bool{}
	for _, m := range mutations {
		for g := range strings.SplitSeq(m.groups, ",") {
			groups[g] = true
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.check(t, root, goTool)
		})
	}
	var names []string
	for g := range groups {
		names = append(names, g)
	}
	if c := do(t.Context(), nil, "validate", "--only", strings.Join(names, ","), "--quiet"); c.code != codePassed {
		t.Errorf("without a mutation: exit code %d, stderr %s, stdout %s", c.code, c.err, c.out)
	}
}

func (m mutation) check(t *testing.T, root, goTool string) {
	v, code := m.validate(t, root, goTool)
	if code != codeGate {
		t.Errorf("exit code %d, want %d", code, codeGate)
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

// validate builds the mutated program and returns what it said.
func (m mutation) validate(t *testing.T, root, goTool string) (validation, int) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(m.from)); n != 1 {
		t.Fatalf("%s has %q %d times, want once: the mutation must follow the code", m.file, m.from, n)
	}
	mutated := filepath.Join(dir, "mutated.go")
	overlay := filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {source: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		mutated: bytes.Replace(text, []byte(m.from), []byte(m.to), 1), overlay: replaced,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "stormtest")
	build := exec.CommandContext(t.Context(), goTool, "build", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./cmd/stormtest")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", build.Args, err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "validate", "--only", m.groups, "--json", "-", "--quiet")
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	_ = run.Run() // its exit code is what is asked about
	var v validation
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatal(fmt.Errorf("%s: %w: %s%s", m.name, err, out.Bytes(), errs.Bytes()))
	}
	return v, run.ProcessState.ExitCode()
}
