package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"stormtest/load/plan"
)

// source puts one text of a field into one source and names what messages call it.
type source struct {
	name  string
	input func(f plan.Field, text string) plan.Input
	label func(f plan.Field) string
}

var sources = []source{
	{
		name: "flag",
		input: func(f plan.Field, text string) plan.Input {
			return plan.Input{Flags: []plan.Setting{{Name: f.Name, Text: text}}}
		},
		label: func(f plan.Field) string { return "--" + f.Name },
	},
	{
		name:  "environment",
		input: func(f plan.Field, text string) plan.Input { return plan.Input{Env: []string{f.Env() + "=" + text}} },
		label: func(f plan.Field) string { return f.Env() },
	},
	{
		name: "YAML",
		input: func(f plan.Field, text string) plan.Input {
			return plan.Input{FileName: "storm.yaml", File: []byte("# one\n\n" + f.Name + ": " + quoted(text) + "\n")}
		},
		label: func(f plan.Field) string { return "storm.yaml:3: " + f.Name },
	},
	{
		name: "JSON",
		input: func(f plan.Field, text string) plan.Input {
			return plan.Input{FileName: "storm.json", File: []byte("{\n\t" + quoted(f.Name) + ": " + quoted(text) + "\n}\n")}
		},
		label: func(f plan.Field) string { return "storm.json:2: " + f.Name },
	},
}

// quoted is text as JSON, which is YAML as well.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// skipped reports the texts that a source cannot carry as they are: JSON has no invalid
// UTF-8, and the environment splits lists and trims their elements.
func (s source) skips(f plan.Field, text string) bool {
	if strings.Contains(text, "\xff") {
		return s.name == "YAML" || s.name == "JSON"
	}
	return s.name == "environment" && f.Repeatable() && (strings.Contains(text, ";") || strings.TrimSpace(text) != text)
}

// TestSourcesAgree checks that one text gives one value, and one error, in every source.
func TestSourcesAgree(t *testing.T) {
	for _, c := range fieldCases {
		f := field(t, c.name)
		texts := c.refused()
		for _, good := range c.good {
			texts = append(texts, good[0])
		}
		for _, text := range texts {
			want := plan.Default()
			wantErr := f.Set(&want, text)
			for _, s := range sources {
				if s.skips(f, text) {
					continue
				}
				got, gotSources, err := plan.Resolve(s.input(f, text))
				if wantErr != nil {
					message := s.label(f) + strings.TrimPrefix(wantErr.Error(), f.Name)
					if err == nil || err.Error() != message {
						t.Errorf("%s %s %q: error %v\nwant %s", c.name, s.name, text, err, message)
					}
					continue
				}
				if err != nil && want.Validate() == nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s %q: %+v, %v, want %+v", c.name, s.name, text, got, err, want)
				}
				if gotSources[f.Name] != s.label(f) || len(gotSources) != 1 {
					t.Errorf("%s %s %q: sources %v, want only %s", c.name, s.name, text, gotSources, s.label(f))
				}
			}
		}
	}
}

func TestPrecedence(t *testing.T) {
	file := []byte("clients: 1\nqueue: 1\nworkers: 1\noutage: [1s..2s, 3s..4s]\ngate: a < 1\n")
	env := []string{"STORMTEST_CLIENTS=2", "STORMTEST_QUEUE=2", "STORMTEST_OUTAGE=5s..6s; 7s..8s=hang", "HOME=/", "STORMTEST_JSON=-"}
	flags := []plan.Setting{{"clients", "4"}, {"gate", "b < 2"}, {"clients", "3"}, {"gate", "c < 3"}}
	p, from, err := plan.Resolve(plan.Input{Flags: flags, Env: env, EnvOthers: []string{"STORMTEST_JSON"}, FileName: "s.yaml", File: file})
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Sources{
		"clients": "--clients", "queue": "STORMTEST_QUEUE", "workers": "s.yaml:3: workers",
		"outage": "STORMTEST_OUTAGE", "gate": "--gate",
	}
	if !maps.Equal(from, want) {
		t.Errorf("sources = %v\nwant      %v", from, want)
	}
	got := fmt.Sprint(p.Clients, p.Queue, p.Workers, p.Burst, p.Outages, p.Gates)
	if want := "3 2 1 1 [5s..6s=status 7s..8s=hang] [b < 2 c < 3]"; got != want {
		t.Errorf("plan = %s, want %s", got, want)
	}
}

// TestNoneEmptiesLists checks that each source can take back the list of a lower one.
func TestNoneEmptiesLists(t *testing.T) {
	file := []byte("outage: [1s..2s]\ngate: [a < 1]\n")
	p, _, err := plan.Resolve(plan.Input{
		Flags: []plan.Setting{{"gate", "none"}}, Env: []string{"STORMTEST_OUTAGE=none"}, FileName: "s.yaml", File: file,
	})
	if err != nil || p.Gates != nil || p.Outages != nil {
		t.Errorf("Resolve = %v %v, %v, want empty lists", p.Outages, p.Gates, err)
	}
}

// TestEveryFaultAtOnce gives faults in each source, overruled ones among them, and wants
// all of them in one error and no follow-up fault of a field that is bad already.
func TestEveryFaultAtOnce(t *testing.T) {
	file := []byte("clients: 0\nbase: 10\ncap: 1s\nclinets: 5\nmax_retries: 5\noutage:\n  - 1s..2s\n  - 2s\nramp: 40s\n")
	env := []string{"STORMTEST_MAX_RETRYS=3", "STORMTEST_BASE=30s", "STORMTEST_XYZZY=1", "STORMTEST_OUTAGE=40s..50s;", "STORMTEST_clients=1"}
	flags := []plan.Setting{{"clients", "5"}, {"max-retries", "-1"}, {"outage", "40s..50s"}, {"arrivals", "poisson"}, {"nonsense", "1"}}
	_, _, err := plan.Resolve(plan.Input{Flags: flags, Env: env, FileName: "storm.yaml", File: file})
	want := []string{
		`storm.yaml:1: clients: "0": want 1..10000000`,
		`storm.yaml:2: base: "10": want a duration with a unit, such as 10s or 10ms`,
		`storm.yaml:4: clinets: no such field; did you mean clients?`,
		`storm.yaml:5: max_retries: no such field; did you mean max-retries?`,
		`storm.yaml:8: outage: "2s": want FROM..TO[=MODE]: no ".." between two times, want FROM..TO[=MODE], MODE one of status, hang, reset, refuse, slow:N, capacity:P%, errors:P%`,
		`STORMTEST_MAX_RETRYS: no such environment variable; did you mean STORMTEST_MAX_RETRIES?`,
		`STORMTEST_OUTAGE: "": want FROM..TO[=MODE]: no ".." between two times, want FROM..TO[=MODE], MODE one of status, hang, reset, refuse, slow:N, capacity:P%, errors:P%`,
		`STORMTEST_XYZZY: no such environment variable`,
		`STORMTEST_clients: no such environment variable; did you mean STORMTEST_CLIENTS?`,
		`--max-retries: "-1": want 0..1000000 or unlimited`,
		`--nonsense: no such flag`,
		`storm.yaml:9: ramp: "40s": want less than duration, which is 30s`,
		`--arrivals: "poisson": want a rate with it: without one every client starts at t0`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("Resolve's error:\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

// TestSceptic tries what a first-time user gets wrong, flag by flag.
func TestSceptic(t *testing.T) {
	tests := []struct {
		name  string
		flags []plan.Setting
		want  string // error; empty for none
	}{
		{"seeds that go round", []plan.Setting{{"seed", "18446744073709551614"}, {"repeat", "3"}}, `--repeat: "3": want at most 2 with seed 18446744073709551614: there are no seeds above 18446744073709551615`},
		{"a spread of nothing", []plan.Setting{{"latency", "10ms~"}}, `--latency: "10ms~": want a duration such as 10ms, or mean and deviation such as 10ms~2ms`},
		{"a share as a number", []plan.Setting{{"loss", "0.005"}}, `--loss: "0.005": want a share in percent, such as 0.5%`},
		{"no retries by a negative number", []plan.Setting{{"max-retries", "-1"}}, `--max-retries: "-1": want 0..1000000 or unlimited`},
		{"no unit", []plan.Setting{{"base", "10"}}, `--base: "10": want a duration with a unit, such as 10s or 10ms`},
		{"two points", []plan.Setting{{"base", "1.2.3"}}, `--base: "1.2.3": want a duration such as 1.5s or 100ms`},
		{"cap below base", []plan.Setting{{"cap", "1s"}, {"base", "2s"}}, `--cap: "1s": want at least base, which is 2s`},
		{"base above the default cap", []plan.Setting{{"base", "30s"}}, `cap (default): "20s": want at least base, which is 30s`},
		{"a dead target", []plan.Setting{{"capacity", "0"}}, ""},
		{"no clients", []plan.Setting{{"clients", "0"}}, `--clients: "0": want 1..10000000`},
		{"no limit in time", []plan.Setting{{"max-elapsed", "0"}}, `--max-elapsed: "0": want 1ns..24h or unlimited`},
		{"a share as a number", []plan.Setting{{"spread", "0.2"}}, `--spread: "0.2": want a share in percent, such as 20%`},
		{"no share", []plan.Setting{{"spread", "0"}}, `--spread: "0": want more than 0%, at most 100%`},
		{"a share above one", []plan.Setting{{"spread", "20"}}, `--spread: "20": want a share in percent, such as 20%`},
		{"a capacity without a unit", []plan.Setting{{"capacity", "10000"}}, `--capacity: "10000": want a rate with a unit, such as 10000/s, or 0`},
		{"an early retry hint in fractions", []plan.Setting{{"send-retry-after", "1.5s"}}, `--send-retry-after: "1.5s": want a multiple of 1s, or none or auto, or reset:DURATION`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := plan.Resolve(plan.Input{Flags: test.flags})
			if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
				t.Errorf("error = %s\nwant    %s", got, test.want)
			}
		})
	}
}

func TestEmptyInput(t *testing.T) {
	for _, in := range []plan.Input{{}, {FileName: "empty.yaml"}, {Env: []string{"PATH=/bin", "STORMTEST=1", "=", ""}}} {
		p, from, err := plan.Resolve(in)
		if err != nil || len(from) != 0 || !reflect.DeepEqual(p, plan.Default()) {
			t.Errorf("Resolve(%+v) = %+v, %v, %v, want the default plan", in, p, from, err)
		}
	}
}

// TestZeroShareNeedsNoUnit: where a share may be 0, 0 is one.
func TestZeroShareNeedsNoUnit(t *testing.T) {
	for _, text := range []string{"0", "0.0", "0%"} {
		p, _, err := plan.Resolve(plan.Input{Flags: []plan.Setting{{Name: "loss", Text: text}}})
		if err != nil || p.LossShare != 0 {
			t.Errorf("loss %s: %v, %v", text, p.LossShare, err)
		}
	}
}
