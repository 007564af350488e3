package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// What is found is a scenario that stormtest and stormtest sim run, and that says by its gates what it
// promised.
func TestAdvise(t *testing.T) {
	searches(t)
	dir := t.TempDir()
	file, saved := filepath.Join(dir, "storm.yaml"), filepath.Join(dir, "advice.json")
	c := do(t.Context(), nil, "advise", "--clients", "60", "--capacity", "60/s", "--completion", "10s", "--strategy", "none", "--seed", "1", "-o", file, "--json", saved, "--quiet")
	if c.code != codePassed || c.err != "" {
		t.Fatalf("code %d, stderr %q", c.code, c.err)
	}
	for _, want := range []string{"FOUND", "Policies", "yours", "Sizing", "60 clients at 60.0/s take 1 s", "clients: 60\n", "completion <= 10s @90%", "this scenario is in " + file} {
		if !strings.Contains(c.out, want) {
			t.Errorf("stdout lacks %q:\n%s", want, c.out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode("found", text)
	if err != nil || p.Clients != 60 || p.Outages[0].To != 2*time.Second || p.MaxElapsed != 0 || p.Seed.Set {
		t.Errorf("the scenario is %+v, %v", p, err)
	}
	var a record.Advice
	if b, err := os.ReadFile(saved); err != nil || json.Unmarshal(b, &a) != nil || !a.Met || a.Current == nil || a.Current.Strategy != "none" || a.Seed != 1 {
		t.Errorf("--json wrote %+v, %v", a, err)
	}
	if sim := do(t.Context(), nil, "sim", "--file", file, "--seed", "5", "--repeat", "5", "--quiet"); sim.code != codePassed {
		t.Errorf("stormtest sim of what was found: code %d, stderr %q\n%s", sim.code, sim.err, sim.out)
	}

	// A share of successes is a gate, too.
	if c := do(t.Context(), nil, "advise", "--clients", "60", "--capacity", "60/s", "--success", "99%", "--seed", "1", "-o", file, "--quiet"); c.code != codePassed {
		t.Fatalf("code %d, stderr %q", c.code, c.err)
	}
	if sim := do(t.Context(), nil, "sim", "--file", file, "--seed", "5", "--quiet"); sim.code != codePassed || !strings.Contains(sim.out, "success_share >= 0.99 @90%") {
		t.Errorf("stormtest sim of what was found: code %d, stderr %q\n%s", sim.code, sim.err, sim.out)
	}

	// The scenario alone on stdout is what the file holds.
	alone := do(t.Context(), nil, "advise", "--clients", "60", "--capacity", "60/s", "--completion", "10s", "--seed", "1", "-o", "-", "--quiet")
	if alone.code != codePassed || alone.out != string(text) {
		t.Errorf("code %d, stdout\n%s\nwant\n%s", alone.code, alone.out, text)
	}
}

// Where nothing keeps the wishes no file is written, and the exit code says so.
func TestAdviseFindsNothing(t *testing.T) {
	searches(t)
	file := filepath.Join(t.TempDir(), "storm.yaml")
	c := do(t.Context(), nil, "advise", "--clients", "60", "--capacity", "60/s", "--deadline", "1s", "--outage-length", "3s", "--seed", "1", "-o", file, "--quiet")
	if c.code != codeGate || c.err != "" {
		t.Errorf("code %d, stderr %q; want %d", c.code, c.err, codeGate)
	}
	for _, want := range []string{"NOT FOUND", "99 % of the operations done", "the deadline of 1 s is", "shorter than the outage, which is over after 3 s"} {
		if !strings.Contains(strings.Join(strings.Fields(c.out), " "), want) {
			t.Errorf("stdout lacks %q:\n%s", want, c.out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
	c = do(t.Context(), nil, "advise", "--clients", "60", "--capacity", "60/s", "--completion", "2s", "--seed", "1", "--json", "-", "--quiet")
	var a record.Advice
	if err := json.Unmarshal([]byte(c.out), &a); err != nil || c.code != codeGate || a.Met || len(a.Obstacles) == 0 {
		t.Errorf("--json -: code %d, %v, %+v", c.code, err, a)
	}
}

func TestAdviseRefuses(t *testing.T) {
	base := []string{"advise", "--clients", "60", "--capacity", "60/s"}
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want []string
	}{
		{"nothing wished", nil, nil, []string{"--completion", "--peak", "--success", "--deadline"}},
		{"a wish without a unit", []string{"--completion", "30"}, nil, []string{`--completion = "30"`, "30s"}},
		{"several faults", []string{"--peak", "-1", "--success", "0.9"}, nil, []string{"--peak", "--success", "share in percent"}},
		{"an outage twice", []string{"--completion", "30s", "--outage", "0s..1s", "--outage-length", "1s"}, nil, []string{"--outage-length", "--outage"}},
		{"a deadline twice", []string{"--completion", "30s", "--max-elapsed", "10s", "--deadline", "1s"}, nil, []string{"--deadline", "--max-elapsed"}},
		{"several strategies", []string{"--completion", "30s", "--strategy", "all"}, nil, []string{"--strategy", "want one"}},
		{"an open loop", []string{"--completion", "30s"}, []string{"STORMTEST_RATE=10/s"}, []string{"STORMTEST_RATE", "open loop"}},
		{"a flag of another command", []string{"--completion", "30s", "--latency", "1ms"}, nil, []string{"--latency"}},
		{"a target that serves nothing", []string{"--completion", "30s", "--capacity", "0"}, nil, []string{"--capacity", "no policy helps"}},
		{"a file that cannot be", []string{"--completion", "30s", "-o", t.TempDir()}, nil, []string{"--file-out", "directory"}},
		{"two on stdout", []string{"--completion", "30s", "-o", "-", "--json", "-"}, nil, []string{"took stdout"}},
		{"an outage that no real run sees the end of", []string{"--completion", "30s", "--outage-length", "2m", "--confirm"}, nil, []string{"--confirm", "2m0s"}},
		{"an argument", []string{"--completion", "30s", "http://127.0.0.1/"}, nil, []string{"flags only"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := do(t.Context(), tt.env, append(append([]string{}, base...), tt.args...)...)
			if c.code != codeUsage || c.out != "" {
				t.Errorf("code %d, stdout %q; want %d and nothing", c.code, c.out, codeUsage)
			}
			for _, want := range tt.want {
				if !strings.Contains(c.err, want) {
					t.Errorf("stderr = %q, want it to contain %q", c.err, want)
				}
			}
		})
	}
}

// The winner and the policy of today run for real, and stand beside what was predicted of them.
func TestAdviseConfirms(t *testing.T) {
	searches(t)
	c := do(t.Context(), nil, "advise", "--clients", "20", "--capacity", "100/s", "--outage-length", "200ms", "--completion", "2s", "--seed", "1",
		"--strategy", "full", "--max-retries", "3", "--base", "100ms", "--confirm", "--json", "-", "--quiet")
	var a record.Advice
	if err := json.Unmarshal([]byte(c.out), &a); err != nil {
		t.Fatalf("code %d, %v: %s", c.code, err, c.err)
	}
	if len(a.Confirmed) == 0 || !a.Confirmed[len(a.Confirmed)-1].Current {
		t.Fatalf("confirmed %+v, want the policy of today at the end", a.Confirmed)
	}
	for _, x := range a.Confirmed {
		if x.Measured.Attempts == nil || *x.Measured.Attempts < 1 || x.Predicted.Seeds == 0 || x.Cut {
			t.Errorf("confirmed %+v, want a run to its end beside its prediction", x)
		}
	}
}

func TestAdviseIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(signalError{syscall.SIGTERM}) })
	c := do(ctx, nil, "advise", "--clients", "5000", "--capacity", "500/s", "--completion", "30s", "--quiet")
	if c.code != codeOfSignal(syscall.SIGTERM) || c.out != "" {
		t.Errorf("code %d, stdout %q, stderr %q; want %d and no advice", c.code, c.out, c.err, codeOfSignal(syscall.SIGTERM))
	}
}

// The duration is chosen, so that nobody has to give one that goes with the ramp or the outages; nor is one
// that was given changed.
func TestAdviseChoosesTheDuration(t *testing.T) {
	searches(t)
	few := []string{"advise", "--clients", "20", "--capacity", "100/s", "--completion", "100s", "--seed", "1", "--quiet", "-o", "-"}
	for _, more := range [][]string{{"--ramp", "60s"}, {"--outage", "0s..1s", "--outage", "50s..51s"}} {
		c := do(t.Context(), nil, append(slices.Clone(few), more...)...)
		if c.code != codePassed {
			t.Errorf("%q: code %d, stderr %q", more, c.code, c.err)
		}
	}
	if c := do(t.Context(), nil, append(slices.Clone(few), "--ramp", "60s", "--duration", "30s")...); c.code != codeUsage || !strings.Contains(c.err, "--ramp") {
		t.Errorf("code %d, stderr %q; want a ramp that is longer than the given duration refused", c.code, c.err)
	}
}

// searches marks a test that searches for a policy, which takes the race detector a minute and shows it nothing that the
// tests of load/advise do not.
func searches(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("searches for a policy")
	}
}
