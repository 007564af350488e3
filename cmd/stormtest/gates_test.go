package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
)

// The list has every metric, by its name or as a part of a table of names, and what it says is taken.
func TestGatesListsEveryMetric(t *testing.T) {
	got := do(t.Context(), nil, "gates")
	if got.code != codePassed || got.err != "" {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	words := strings.Fields(got.out)
	for _, m := range check.All() {
		name := m.Name
		if m.Histogram != "" {
			name = m.Histogram + "_*"
		}
		if !slices.Contains(words, name) {
			t.Errorf("the list lacks %s", name)
		}
	}
	for _, f := range record.Families() {
		for _, name := range append(f.Names(), f.Prefix+"*") {
			if !slices.Contains(words, name) {
				t.Errorf("the list lacks %s", name)
			}
		}
	}
}

func TestGatesAsJSON(t *testing.T) {
	got := do(t.Context(), nil, "gates", "--json")
	var list struct {
		Operators, Over []string
		Metrics         []gateMetric
		Families        []gateFamily
	}
	if err := json.Unmarshal([]byte(got.out), &list); got.code != codePassed || err != nil {
		t.Fatalf("code %d, %v", got.code, err)
	}
	if len(list.Metrics) != len(check.All()) || len(list.Families) != len(record.Families()) || len(list.Operators) != 6 {
		t.Errorf("%d metrics, %d families, operators %q", len(list.Metrics), len(list.Families), list.Operators)
	}
	for _, m := range list.Metrics {
		for _, over := range append(list.Over, "") {
			text := m.Example
			if over != "" {
				text += " @" + over
			}
			g, err := check.Parse(text)
			if wordMean := m.Unit == "word" && over == "mean"; (err != nil) != wordMean || err == nil && g.Metric != m.Name {
				t.Errorf("the example %q of %s: %+v, %v", text, m.Name, g, err)
			}
		}
	}
	for _, f := range list.Families {
		for _, name := range f.Names {
			if _, err := check.Parse(name + "==0"); err != nil {
				t.Error(err)
			}
		}
	}
	if one := do(t.Context(), nil, "gates", "--json", "p99"); strings.Count(one.out, `"name"`) != 1 || !strings.Contains(one.out, `"latency_p99"`) {
		t.Errorf("of p99: %s", one.out)
	}
}

func TestGatesExplains(t *testing.T) {
	got := do(t.Context(), nil, "gates", "convoy_index", "p99", "outcome_503", "verdict", "answer_429")
	for _, want := range []string{
		"convoy_index: synchrony of the retries", "No data fewer than 100 retries", "--gate 'convoy_index<0.1 @95%' in 95 % of the seeds",
		"latency_p99: 99th percentile", "a number with a unit, as in 250ms", "Also p99", "outcome_503: attempts that ended so",
		"one of CONVOY CLUMPED OVERLOAD UNSERVED CLEAR, with == or != alone", "In serve yes, and only there", "In serve no: only the clients know it",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, got.out)
		}
	}
	if strings.Contains(got.out, "verdict!=CONVOY @mean") || strings.Contains(got.out, "full:answer_429") {
		t.Errorf("it shows gates that are none:\n%s", got.out)
	}
	for _, text := range regexp.MustCompile(`--gate '([^']*)'`).FindAllStringSubmatch(got.out, -1) {
		if _, err := check.Parse(text[1]); err != nil {
			t.Error(err)
		}
	}
	bad := do(t.Context(), nil, "gates", "convoy_indx", "waves", "outcome_5xx")
	if bad.code != codeUsage || bad.out != "" || !strings.Contains(bad.err, "did you mean convoy_index?") || !strings.Contains(bad.err, "as in outcome_503") {
		t.Errorf("code %d, stdout %q, stderr %q; want 2 and names that are near", bad.code, bad.out, bad.err)
	}
}

// The list fits whatever the width, and an ASCII terminal.
func TestGatesFit(t *testing.T) {
	for _, width := range []int{20, 40, 80, 200} {
		var b strings.Builder
		o := report.Options{Width: width, ASCII: true}
		if err := report.Gates(&b, o); err != nil {
			t.Fatal(err)
		}
		if err := report.GateMetrics(&b, check.All(), o); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if line = strings.TrimSuffix(line, "\n"); len(line) > width || strings.TrimFunc(line, func(r rune) bool { return r < 0x80 }) != "" {
				t.Errorf("at %d columns: %q", width, line)
			}
		}
	}
}

func TestGatesAreCompleted(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		want  string
		every string // what each begins with
	}{
		{[]string{"--gate", "convoy"}, "convoy_index\t", "convoy"},
		{[]string{"sim", "--gate", "full:outcome_t"}, "full:outcome_timeout\t", "full:outcome_t"},
		{[]string{"report", "--gate", "p9"}, "p99\t", "p9"},
		{[]string{"gates", "wav"}, "waves\t", "wav"},
	} {
		got := do(t.Context(), nil, append([]string{"__complete"}, tt.args...)...)
		lines := strings.Split(got.out, "\n")
		if !strings.HasPrefix(lines[0], tt.every) || !strings.Contains(got.out, tt.want) || strings.Contains(got.out, "success_share\t") {
			t.Errorf("%q completes to %q", tt.args, got.out)
		}
	}
}

// Every fault of every gate is told, beside those of the plan, with where it stood; before anything is sent.
func TestEveryFaultOfGatesIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "storm.yaml")
	if err := os.WriteFile(file, []byte("clients: 5\ngate:\n  - p99<1\n  - waves<3 @best\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want []string
	}{
		{"D-19", nil, []string{"--gate", "no_such_metric<1", "--gate", "p99<1", "--gate", "success_rate>=90%", "--gate", "waves=<3"}, []string{
			`--gate: "no_such_metric<1": unknown metric "no_such_metric"`, `--gate: "p99<1": latency_p99 needs a unit`,
			`--gate: "success_rate>=90%": success_share takes no percent: write 0.9 for 90%`, `--gate: "waves=<3": operator "=<"`}},
		{"beside the plan's", nil, []string{"--clients", "0", "--gate", "x<1", "--gate", "none:waves<1"}, []string{`--clients: "0"`, `--gate: "x<1": unknown metric`}},
		{"beside the engine's", nil, []string{"--latency", "1ms", "--gate", "x<1", "--gate", "none:waves<1"}, []string{`--latency: "1ms"`, `"x<1"`, "none is no strategy, part or service of the plan, which runs full"}},
		{"of a file", nil, []string{"--file", file}, []string{`storm.yaml:2: gate: "p99<1"`, `"waves<3 @best": @best: want worst, mean, first`}},
		{"of a file, planned", nil, []string{"plan", "--file", file}, []string{`storm.yaml:2: gate: "p99<1"`, "@best"}},
		{"of a file, simulated", nil, []string{"sim", "--file", file}, []string{`storm.yaml:2: gate: "p99<1"`, "@best"}},
		{"of the environment", []string{"STORMTEST_GATE=waves<3; verdict<CLEAR"}, nil, []string{`STORMTEST_GATE: "verdict<CLEAR": verdict is a word: want == or !=`}},
		{"of serve alone", nil, []string{"--gate", "answer_503<1", "--gate", "first_failure>1s"}, []string{"only stormtest serve counts answer_503", "only stormtest serve counts first_failure"}},
		{"in serve", nil, []string{"serve", "--capacity", "x", "--gate", "p99<1s", "--gate", "full:waves<3", "--gate", "answer_503<1 @0%"}, []string{
			`--capacity: "x"`, "only the clients know latency_p99", "full is no strategy, part or service of the plan, which runs outside", "@0%"}},
		{"seeds", nil, []string{"sim", "--repeat", "3", "--gate", "verdict==CLEAR @mean", "--gate", "waves<1@101%", "--gate", "waves<1@5"}, []string{
			"verdict is a word, of which there is no mean", "@101%: want a share above 0% and up to 100%", "@5 needs a unit"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t.Context(), tt.env, tt.args...)
			if got.code != codeUsage || got.out != "" {
				t.Errorf("code %d, stdout %q; want 2 and nothing", got.code, got.out)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("stderr lacks %q:\n%s", want, got.err)
				}
			}
		})
	}
}

// virtual is a small storm in virtual time, whose seeds differ.
func virtual(more ...string) []string {
	return append([]string{"sim", "--clients", "30", "--capacity", "100/s", "--duration", "5s", "--seed", "11", "--quiet"}, more...)
}

// Over seeds: the exit code is what the rows say, and one seed is judged alike by every suffix.
func TestGatesOverSeeds(t *testing.T) {
	seeds := readResult(t, do(t.Context(), nil, virtual("--repeat", "20", "--json", "-")...)).Runs[0].Repeats.Figures["attempts_sent"]
	least, most := *seeds.Values[0], *seeds.Values[0]
	for _, v := range seeds.Values {
		least, most = min(least, *v), max(most, *v)
	}
	if len(seeds.Values) != 20 || least == most {
		t.Fatalf("attempts of %d seeds from %v to %v: they should differ", len(seeds.Values), least, most)
	}
	for gate, code := range map[string]int{
		fmt.Sprintf("attempts_sent<=%v", most): codePassed, fmt.Sprintf("attempts_sent<%v", most): codeGate, fmt.Sprintf("attempts_sent>=%v @worst", least): codePassed,
		fmt.Sprintf("attempts_sent>%v@worst", least): codeGate, fmt.Sprintf("attempts_sent<%v @50%%", most): codePassed, fmt.Sprintf("attempts_sent<%v @100%%", most): codeGate,
		fmt.Sprintf("attempts_sent<=%v @mean", *seeds.Mean): codePassed, fmt.Sprintf("attempts_sent<%v@mean", *seeds.Mean): codeGate,
		fmt.Sprintf("attempts_sent==%v @first", *seeds.Values[0]): codePassed, fmt.Sprintf("attempts_sent!=%v@first", *seeds.Values[0]): codeGate,
		"outcome_418==0": codePassed, "outcome_200==30 @mean": codePassed, "gave_up_max_retries>0 @1%": codeGate, "lost==0": codePassed,
	} {
		got := do(t.Context(), nil, virtual("--repeat", "20", "--json", "-", "--gate", gate)...)
		r := readResult(t, got)
		if got.code != code || len(r.Gates) != 1 || r.Gates[0].OK != (code == codePassed) {
			t.Errorf("%s: code %d, %+v; want %d", gate, got.code, r.Gates, code)
		}
	}
	for _, over := range []string{"", "@worst", "@mean", "@first", "@95%", "@1%"} {
		for gate, code := range map[string]int{"success_share==1" + over: codePassed, "attempts_sent<30" + over: codeGate, "verdict!=CONVOY": codeGate} {
			if got := do(t.Context(), nil, virtual("--gate", gate)...); got.code != code {
				t.Errorf("%s of one seed: code %d, want %d", gate, got.code, code)
			}
		}
	}
}

func readResult(t *testing.T, got call) *record.Result {
	t.Helper()
	r, err := report.ReadJSON(strings.NewReader(got.out))
	if err != nil {
		t.Fatalf("code %d, %v: %s", got.code, err, got.err)
	}
	return r
}

// A saved result can be judged again, also one of an older version, one that was cut and one of a log.
func TestReportJudgesAgain(t *testing.T) {
	dir := t.TempDir()
	saved, old, cut, log, invalid := filepath.Join(dir, "r.json"), filepath.Join(dir, "old.json"), filepath.Join(dir, "cut.json"), filepath.Join(dir, "r.hlog"), filepath.Join(dir, "invalid.json")
	if got := do(t.Context(), nil, virtual("--strategy", "none,full", "--repeat", "5", "--json", saved, "--hlog", log, "--gate", "full:attempts_sent<1")...); got.code != codeGate {
		t.Fatalf("code %d: %s", got.code, got.err)
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, from, to string) {
		changed := strings.ReplaceAll(string(text), from, to)
		if changed == string(text) {
			t.Fatalf("the result holds no %s", from)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(old, `"values"`, `"values_of_old"`)
	write(cut, `"asked": 5`, `"asked": 9`)
	write(invalid, `"valid": true`, `"valid": false`)
	for _, tt := range []struct {
		name, file string
		gates      []string
		code       int
		want       []string // in stdout or stderr
	}{
		{"nothing asked", saved, nil, codePassed, []string{"FAILED full:attempts_sent<1"}},
		{"passed", saved, []string{"full:completion<30s", "amplification<50"}, codePassed, []string{"3 of 3 hold", "completion is at worst"}},
		{"failed", saved, []string{"amplification<1.1", "full:completion<30s"}, codeGate, []string{"2 of 3 do not hold", "FAILED none: amplification<1.1 (seed 11: amplification is"}},
		{"by the mean", saved, []string{"amplification<50 @mean"}, codePassed, []string{"on average of 5 seeds"}},
		{"unknown", saved, []string{"x<1", "ful:waves<1"}, codeUsage, []string{`--gate: "x<1": unknown metric`, "which runs none, full"}},
		{"a file of old", old, []string{"full:amplification<50"}, codeGate, []string{"no data: the result does not hold this figure of every seed", "@first is judged"}},
		{"the first of a file of old", old, []string{"full:amplification<50 @first"}, codePassed, []string{"seed 11, the first: amplification is"}},
		{"not every seed ran", cut, []string{"full:amplification<50"}, codeGate, []string{"5 of 9 seeds ran, which is no pass"}},
		{"a log", log, []string{"full:arrivals<1000", "waves<1000"}, codeInvalid, []string{"3 of 3 hold", "arrivals is"}},
		{"what failed in a log", log, []string{"full:arrivals<1", "full:peak_arrivals>=1"}, codeGate, []string{"1 of 2 does not hold", "arrivals is", "want < 1"}},
		{"what a log does not hold", log, []string{"full:amplification<1000"}, codeGate, []string{"no data: a log of arrivals does not hold it"}},
		{"invalid", invalid, []string{"full:amplification<50"}, codeInvalid, []string{"INVALID", "ok full:amplification<50"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"report", tt.file}
			for _, g := range tt.gates {
				args = append(args, "--gate", g)
			}
			got := do(t.Context(), nil, args...)
			all := strings.Join(strings.Fields(strings.ReplaceAll(got.out, "\u00a0", " ")), " ") + got.err
			if got.code != tt.code {
				t.Errorf("code %d, want %d; %s", got.code, tt.code, got.err)
			}
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("it does not say %q: %.900s", want, all)
				}
			}
		})
	}
	// What is judged stands in every file.
	again := filepath.Join(dir, "again.json")
	got := do(t.Context(), nil, "report", saved, "--gate", "full:waves<0.5", "--json", again, "--junit", "-")
	if got.code != codeGate || !strings.Contains(got.out, "full:waves&lt;0.5") || strings.Contains(got.out, "attempts_sent&lt;1") {
		t.Errorf("code %d, %.600s", got.code, got.out)
	}
	b, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if r := readResult(t, call{out: string(b)}); len(r.Gates) != 1 || r.Gates[0].Gate != "full:waves<0.5" || r.Gates[0].OK {
		t.Errorf("gates %+v", r.Gates)
	}
}

// The exit code is 0 only where every gate is ok and the run valid, 3 only where a gate is not ok, and 4 only where gates were asked of
// a run that is invalid; a signal comes before them all.
func TestExitCodeAgreesWithTheGates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record.Result{Valid: rapid.Bool().Draw(t, "valid"), Interrupted: rapid.Bool().Draw(t, "interrupted")}
		for _, ok := range rapid.SliceOfN(rapid.Bool(), 0, 4).Draw(t, "ok") {
			r.Gates = append(r.Gates, record.Gate{OK: ok})
		}
		all := !slices.ContainsFunc(r.Gates, func(g record.Gate) bool { return !g.OK })
		want := codePassed
		switch {
		case r.Interrupted:
			want = codeFailed
		case len(r.Gates) > 0 && !r.Valid:
			want = codeInvalid
		case !all:
			want = codeGate
		}
		if got := codeOf("", outcomeOf(context.Background(), &r), &strings.Builder{}); got != want {
			t.Fatalf("%+v: code %d, want %d", r, got, want)
		}
		if r.Interrupted {
			return
		}
		if got := codeOf("", outcomeOfGates(&r), &strings.Builder{}); got != want {
			t.Fatalf("%+v, saved: code %d, want %d", r, got, want)
		}
	})
}
