package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stormtest/report"
	"stormtest/report/compare"
)

// saved runs a small storm in virtual time and returns the file of its result.
func saved(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append([]string{"sim", "--quiet", "--clients", "200", "--capacity", "200/s", "--duration", "10s", "--json", path}, args...)
	if got := do(t.Context(), nil, args...); got.code != codePassed {
		t.Fatalf("%v: code %d: %s", args, got.code, got.err)
	}
	return path
}

// plainly takes the blanks that keep a number and its unit together out of a report.
func plainly(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", " ")), " ")
}

// Two runs with another --base: the change is named, the difference shown, and what is beyond noise is flagged, in
// every format alike; a gate that fails is exit code 3.
func TestCompareNamesTheChangeAndWhatItDid(t *testing.T) {
	base, slow := saved(t, "base.json", "--seed", "1", "--repeat", "20"), saved(t, "slow.json", "--seed", "1", "--repeat", "20", "--base", "400ms")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	got := do(t.Context(), nil, "compare", base, slow, "--gate", "amplification<=+10%", "--gate", "amplification>=+1%", "--gate", "latency_max<=+1h",
		"--json", file("c.json"), "--html", file("c.html"), "--markdown", file("c.md"), "--junit", file("c.xml"))
	if got.code != codeGate {
		t.Fatalf("code %d, want %d: %s", got.code, codeGate, got.err)
	}
	text := plainly(got.out)
	for _, want := range []string{"Changed --base 100ms (default) -> 400ms", "better: attempts -", "amplification -", "better, p<0.001", "FAILED: 1 of 3 does not hold", "FAILED amplification>=+1%", "20 seeds each"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, got.out)
		}
	}
	read := func(name string) string {
		b, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var c compare.Comparison
	if err := json.Unmarshal([]byte(read("c.json")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Schema != compare.Schema || len(c.Gates) != 3 || !c.Gates[0].OK || c.Gates[1].OK || !c.Gates[2].OK {
		t.Errorf("schema %s, gates %+v", c.Schema, c.Gates)
	}
	if f := c.Others[0].Pairs[0].Figure("amplification"); f.Finding != compare.Beyond || f.Effect != compare.Better || *f.P > 0.001 {
		t.Errorf("amplification: %+v", f)
	}
	var suites struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(read("c.xml")), &suites); err != nil || len(suites.Cases) != 4 {
		t.Fatalf("%d test cases, want 4; %v", len(suites.Cases), err)
	}
	for i, g := range c.Gates {
		if one := suites.Cases[i+1]; one.Name != g.Gate || (one.Failure == nil) != g.OK {
			t.Errorf("JUnit has %+v for %+v", one, g)
		}
	}
	if md := read("c.md"); !strings.Contains(md, "gates FAILED: 1 of 3 does not hold") || !strings.Contains(md, "| **FAILED** | `amplification>=+1%` |") {
		t.Errorf("Markdown: %s", md)
	}
	if page := read("c.html"); !strings.Contains(page, "400ms") || !strings.Contains(page, "FAILED") {
		t.Error("the page names neither the change nor the gate")
	}
}

// A plan with other seeds: nothing is beyond noise. Of such comparisons at most compare.FalsePositiveShare, one in a
// hundred, show anything; these seeds are fixed and show nothing, and so do gates that ask for what is beyond noise alone.
func TestCompareOfOnePlanShowsNoise(t *testing.T) {
	a, b := saved(t, "a.json", "--seed", "1", "--repeat", "20", "--strategy", "all"), saved(t, "b.json", "--seed", "1001", "--repeat", "20", "--strategy", "all")
	got := do(t.Context(), nil, "compare", a, b, "--gate", "amplification<=+0%@beyond-noise", "--gate", "peak_over_capacity==+0@beyond-noise")
	text := plainly(got.out)
	if quiet := strings.Count(text, "NOISE nothing beyond noise") + strings.Count(text, "SAME no difference"); got.code != codePassed || quiet != 4 || strings.Contains(text, "p<") {
		t.Errorf("code %d, %d of 4 strategies are quiet:\n%s", got.code, quiet, got.out)
	}
	if same := do(t.Context(), nil, "compare", a, a); same.code != codePassed || strings.Count(plainly(same.out), "SAME no difference") != 4 {
		t.Errorf("a result and itself: code %d:\n%s", same.code, same.out)
	}
}

// What is wrong is told at once and before anything is written.
func TestCompareRefuses(t *testing.T) {
	base, wide, all := saved(t, "base.json", "--seed", "1"), saved(t, "wide.json", "--seed", "1", "--bucket", "1s"), saved(t, "all.json", "--strategy", "none,full", "--seed", "1")
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"nothing", nil, []string{"no results"}},
		{"one strategy", []string{base}, []string{"has one strategy, full"}},
		{"no such file", []string{base, "nowhere.json", bad}, []string{"nowhere.json", "bad.json: not a result that --json wrote: it has no schema"}},
		{"buckets", []string{base, wide}, []string{"100ms and 1s wide"}},
		{"gates", []string{base, base, "--gate", "amplification<3", "--gate", "completon<=+1s"}, []string{`--gate: "amplification<3": "3" has no sign`, "did you mean completion"}},
		{"a gate of nobody", []string{base, base, "--gate", "none:waves<=+1"}, []string{"strategy none is not compared, but full"}},
		{"against nobody", []string{all, "--against", "ful"}, []string{`no strategy "ful", but none, full`}},
		{"against, of two", []string{all, all, "--against", "full"}, []string{"against full"}},
		{"stdin twice", []string{"-", "-"}, []string{"stdin"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "c.json")
			got := do(t.Context(), nil, append(append([]string{"compare"}, tt.args...), "--json", out)...)
			if _, err := os.Stat(out); got.code != codeUsage || got.out != "" || err == nil {
				t.Errorf("code %d, want %d; stdout %q; the file was written: %v", got.code, codeUsage, got.out, err == nil)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("stderr %q does not say %q", got.err, want)
				}
			}
		})
	}
}

// An invalid result is compared, and said so first; with gates the exit code is 4.
func TestCompareOfAnInvalidResult(t *testing.T) {
	base := saved(t, "base.json", "--seed", "1")
	b, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	invalid := filepath.Join(t.TempDir(), "invalid.json")
	b = bytes.Replace(bytes.Replace(b, []byte(`"valid": true`), []byte(`"valid": false`), 1), []byte(`"invalid_reasons": []`), []byte(`"invalid_reasons": ["it was late"]`), 1)
	if err := os.WriteFile(invalid, b, 0o600); err != nil {
		t.Fatal(err)
	}
	got := do(t.Context(), nil, "compare", base, invalid)
	if got.code != codePassed || !strings.HasPrefix(got.out, "INVALID") || !strings.Contains(got.out, "* it was late") {
		t.Errorf("code %d:\n%s", got.code, got.out)
	}
	if got := do(t.Context(), nil, "compare", base, invalid, "--gate", "waves<=+0"); got.code != codeInvalid {
		t.Errorf("with a gate: code %d, want %d", got.code, codeInvalid)
	}
}

// The strategies of one result, of which one is named; and all figures where they are asked for.
func TestCompareInsideAResult(t *testing.T) {
	all := saved(t, "all.json", "--strategy", "none,full,equal", "--seed", "1")
	got := do(t.Context(), nil, "compare", all, "--against", "full", "--gate", "none:amplification>=+1%")
	if got.code != codePassed || !strings.Contains(got.out, "none against full") || !strings.Contains(got.out, "equal against full") || strings.Contains(got.out, "operation_latency_p999 ") {
		t.Errorf("code %d: %s\n%s", got.code, got.err, got.out)
	}
	if got := do(t.Context(), nil, "compare", all, "--all"); !strings.Contains(got.out, "full against none") || !strings.Contains(got.out, "operation_latency_p999 ") {
		t.Errorf("with --all: code %d: %s\n%s", got.code, got.err, got.out)
	}
	if got := do(t.Context(), nil, "__complete", "compare", all, "--against", ""); !strings.Contains(got.out, "equal") {
		t.Errorf("completion of --against: %s", got.out)
	}
	if got := do(t.Context(), nil, "__complete", "compare", all, "--gate", "amp"); !strings.Contains(got.out, "amplification<=+") {
		t.Errorf("completion of --gate: %s", got.out)
	}
}

// Results of one plan become one, in whatever order: what one invocation would have measured with as many seeds. Its
// report says what it is of, and it can be compared and read again.
func TestMerge(t *testing.T) {
	parts := []string{saved(t, "1.json", "--seed", "1", "--repeat", "3"), saved(t, "2.json", "--seed", "4", "--gate", "amplification<=100"), saved(t, "3.json", "--seed", "9", "--repeat", "2")}
	one := do(t.Context(), nil, "merge", parts[0], parts[1], parts[2], "--json", "-")
	slices.Reverse(parts)
	two := do(t.Context(), nil, append([]string{"merge", "--json", "-"}, parts...)...)
	if one.code != codePassed || two.code != codePassed || one.out != two.out {
		t.Fatalf("codes %d and %d, the same in another order %v: %s", one.code, two.code, one.out == two.out, one.err)
	}
	r, err := report.ReadJSON(strings.NewReader(one.out))
	if err != nil || r.Merged != 3 || r.Seed != 1 || !slices.Equal(r.Runs[0].Repeats.Each, []uint64{1, 2, 3, 4, 9, 10}) {
		t.Fatalf("merged %+v, %v", r.Runs[0].Repeats.Each, err)
	}
	merged := filepath.Join(t.TempDir(), "merged.json")
	if err := os.WriteFile(merged, []byte(one.out), 0o600); err != nil {
		t.Fatal(err)
	}
	got := do(t.Context(), nil, "report", merged)
	if text := plainly(got.out); got.code != codePassed || !strings.Contains(text, "6 seeds between 1 and 10 ran.") || !strings.Contains(text, "Merged from 3 results of this plan") {
		t.Errorf("code %d:\n%s", got.code, got.out)
	}
	whole := saved(t, "whole.json", "--seed", "101", "--repeat", "6")
	if got := do(t.Context(), nil, "compare", merged, whole); got.code != codePassed || !regexp.MustCompile(`nothing beyond noise`).MatchString(plainly(got.out)) {
		t.Errorf("code %d: %s\n%s", got.code, got.err, got.out)
	}
	if got := do(t.Context(), nil, "merge", parts[0], parts[0]); got.code != codeUsage || !strings.Contains(got.err, "both have seed 9") {
		t.Errorf("the same seeds twice: code %d: %s", got.code, got.err)
	}
}

// A result comes from a pipe.
func TestCompareReadsStdin(t *testing.T) {
	base := saved(t, "base.json", "--seed", "1")
	b, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"compare", "-", base}, world{in: bytes.NewReader(b), out: &out, err: &errs})
	if code != codePassed || !strings.Contains(out.String(), "stdin, virtual time") || !strings.Contains(plainly(out.String()), "SAME no difference") {
		t.Errorf("code %d: %s\n%s", code, errs.String(), out.String())
	}
}

// Every gate of every plan is judged again on all seeds, and the exit code says what came of it, as that of a run does.
func TestMergeJudgesEveryGate(t *testing.T) {
	free, asked := saved(t, "1.json", "--seed", "1"), saved(t, "2.json", "--seed", "2", "--gate", "amplification<=100")
	other := saved(t, "3.json", "--seed", "3")
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	failing := filepath.Join(t.TempDir(), "failing.json")
	if err := os.WriteFile(failing, bytes.Replace(b, []byte(`"gate": []`), []byte(`"gate": ["amplification<1"]`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	invalid := filepath.Join(t.TempDir(), "invalid.json")
	if err := os.WriteFile(invalid, bytes.Replace(b, []byte(`"valid": true`), []byte(`"valid": false`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		files []string
		code  int
		gates []string
	}{
		{"none", []string{free, other}, codePassed, nil},
		{"of the second", []string{free, asked}, codePassed, []string{"amplification<=100"}},
		{"one fails", []string{free, asked, failing}, codeGate, []string{"amplification<1", "amplification<=100"}},
		{"invalid", []string{free, asked, invalid}, codeInvalid, []string{"amplification<=100"}},
		{"invalid, without gates", []string{free, invalid}, codePassed, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t.Context(), nil, append([]string{"merge", "--json", "-"}, tt.files...)...)
			r, err := report.ReadJSON(strings.NewReader(got.out))
			if err != nil || got.code != tt.code {
				t.Fatalf("code %d, want %d: %s, %v", got.code, tt.code, got.err, err)
			}
			var gates []string
			for _, g := range r.Gates {
				gates = append(gates, g.Gate)
			}
			var plan struct{ Gate []string }
			if err := json.Unmarshal(r.Plan, &plan); err != nil || !slices.Equal(gates, tt.gates) || !slices.Equal(plan.Gate, tt.gates) {
				t.Errorf("judged %q, the plan has %q, want %q; %v", gates, plan.Gate, tt.gates, err)
			}
		})
	}
	nonsense := []string{filepath.Join(t.TempDir(), "n1.json"), filepath.Join(t.TempDir(), "n2.json")}
	for i, from := range []string{free, other} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte(`"gate": []`), []byte(`"gate": ["nonsense<5"]`), 1)
		if err := os.WriteFile(nonsense[i], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := do(t.Context(), nil, append([]string{"merge", "--json", "-"}, nonsense...)...); got.code != codeUsage || got.out != "" || !strings.Contains(got.err, "nonsense<5") {
		t.Errorf("a gate that is none: code %d, want %d with its name: %s", got.code, codeUsage, got.err)
	}
}
