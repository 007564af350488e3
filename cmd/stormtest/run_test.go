package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormtest/load/plan"
	"stormtest/report"
)

const runScenario = "clients: 10\ncapacity: 1000000/s\nworkers: 20\nduration: 5s\nseed: 7\n"

// A scenario that is named as an argument is the one of --file: the same plan, flags before it, in both times.
func TestRunIsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte(runScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		given []string
		env   []string
		like  []string
	}{
		{"real", []string{"run", file}, nil, []string{"--file", file}},
		{"flags before it", []string{"run", "--clients", "5", file, "--seed", "8"}, nil, []string{"--file", file, "--clients", "5", "--seed", "8"}},
		{"virtual", []string{"run", file, "--virtual", "--latency", "1ms"}, nil, []string{"sim", "--file", file, "--latency", "1ms"}},
		{"not the environment's file", []string{"run", file}, []string{"STORMTEST_FILE=none.yaml"}, []string{"--file", file}},
		{"the environment's fields", []string{"run", file}, []string{"STORMTEST_CLIENTS=4"}, []string{"--file", file, "--clients", "4"}},
		{"named twice", []string{"run", file, "--file", file}, nil, []string{"--file", file}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hash := func(env, args []string) string {
				got := do(t.Context(), env, append(args, "--quiet", "--json", "-")...)
				r, err := report.ReadJSON(strings.NewReader(got.out))
				if got.code != codePassed || err != nil {
					t.Fatalf("%q: code %d, %v, stderr %q", args, got.code, err, got.err)
				}
				return r.PlanHash + r.Runs[0].Engine
			}
			if got, want := hash(tt.env, tt.given), hash(nil, tt.like); got != want {
				t.Errorf("%q ran %s; %q ran %s", tt.given, got, tt.like, want)
			}
		})
	}
}

func TestRunReadsStdin(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"run", "-", "--virtual", "--quiet"}, world{in: strings.NewReader(runScenario), out: &out, err: &errs})
	if code != codePassed || !strings.Contains(out.String(), "all 10 operations done") {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, errs.String(), out.String())
	}
}

// What is wrong with a file is refused with its line, its field and what was meant, before anything is sent.
func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(text string) string {
		file := filepath.Join(dir, "bad.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	type refused struct {
		name string
		args []string
		want []string
	}
	for _, tt := range []refused{
		{"nothing", nil, []string{"want a scenario file"}},
		{"no such file", []string{filepath.Join(dir, "none.yaml")}, []string{"none.yaml", "no such file"}},
		{"a folder", []string{dir}, []string{"directory"}},
		{"two files", []string{"a.yaml", "b.yaml"}, []string{"b.yaml", "one scenario file"}},
		{"two files by the flag", []string{"a.yaml", "--file", "b.yaml"}, []string{"b.yaml", "one scenario file"}},
		{"a URL alone", []string{"http://127.0.0.1/"}, []string{"scenario file first"}},
		{"no name", []string{""}, []string{"name of a file"}},
		{"metrics in virtual time", []string{at(runScenario), "--virtual", "--listen-metrics", "0"}, []string{"--virtual", "--prom"}},
		{"a URL in virtual time", []string{at(runScenario), "http://127.0.0.1/", "--virtual"}, []string{"virtual time"}},
	} {
		t.Run(tt.name, func(t *testing.T) { refuses(t, append([]string{"run"}, tt.args...), tt.want) })
	}
	for _, virtual := range []string{"--virtual=false", "--virtual"} {
		for _, f := range plan.Fields() {
			name := f.Name[:len(f.Name)-1] + "_x"
			t.Run(f.Name+virtual, func(t *testing.T) {
				refuses(t, []string{"run", virtual, at("duration: 5s\n" + name + ": 1\n")}, []string{"bad.yaml:2: " + name + ": no such field"})
				refuses(t, []string{"run", virtual, at("duration: 5s\n\n" + f.Name + ": {a: 1}\n")}, []string{"bad.yaml:3: " + f.Name})
			})
		}
		for _, c := range [][]string{
			{"outage: [1s..2s, 3s..2s]", "bad.yaml:2: outage", "3s..2s"},
			{"outage:\n  - 1s..2s\n  - 3s..4s=hangg", "bad.yaml:4: outage", "hang"},
			{"surge: [1s..2s=3]", "bad.yaml:2: surge", "xFACTOR"},
			{"fleet: full=70%,non=30%", "bad.yaml:2: fleet", "did you mean none?"},
			{"budget: finagel", "bad.yaml:2: budget", "did you mean finagle?"},
			{"budget: finagle:ration=20%", "bad.yaml:2: budget", "did you mean ratio?"},
			{"hedge: 2s,9", "bad.yaml:2: hedge", "1..4"},
			{"strategy: ful", "bad.yaml:2: strategy", "did you mean full?"},
			{"capacity: 10", "bad.yaml:2: capacity", "10/s"},
			{"gate: amplificaton < 3", "bad.yaml:2: gate", "did you mean amplification?"},
			{"layer: [1db]", "bad.yaml:2: layer", "NAME"},
			{"layer:\n  - name: db\n    qeue: 1", "bad.yaml:4: layer: qeue", "did you mean queue?"},
			{"layer:\n  - name: db\n    clients: 1", "bad.yaml:4: layer: clients", "whole plan"},
			{"layer:\n  - name: db\n    queue: 1\n  - name: c\n    timeout: 5", "bad.yaml:6: layer: timeout", "5s"},
			{"discipline: lfo", "bad.yaml:2: discipline", "did you mean lifo?"},
			{"clinets: 5", "bad.yaml:2: clinets", "did you mean clients?"},
		} {
			t.Run(c[0]+virtual, func(t *testing.T) { refuses(t, []string{"run", virtual, at("duration: 5s\n" + c[0] + "\n")}, c[1:]) })
		}
	}
}

// refuses holds that a command ends with code 2, with nothing on stdout and these words on stderr.
func refuses(t *testing.T, args, want []string) {
	t.Helper()
	got := do(t.Context(), nil, args...)
	if got.code != codeUsage || got.out != "" {
		t.Errorf("%q: code %d, stdout %q; want 2 and nothing", args, got.code, got.out)
	}
	for _, word := range want {
		if !strings.Contains(got.err, word) {
			t.Errorf("%q: stderr = %q, want it to contain %q", args, got.err, word)
		}
	}
}

// A scenario that is given where a command is wanted is told apart from an address.
func TestAScenarioWithoutRun(t *testing.T) {
	refuses(t, []string{"examples/storm.yaml"}, []string{"did you mean 'stormtest run examples/storm.yaml'?"})
}

// The schema of scenario files is on stdout, alone.
func TestPlanPrintsTheSchema(t *testing.T) {
	if got := do(t.Context(), nil, "plan", "--schema"); got.code != codePassed || got.out != string(plan.Schema()) || got.err != "" {
		t.Errorf("code %d, stderr %q, %d bytes", got.code, got.err, len(got.out))
	}
}
