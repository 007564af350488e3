package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stormtest/load/record"
)

// tipPlan is a service at a tenth of the reference's size, which three attempts keep down from a third of its load on.
const tipPlan = "clients: 200\nrate: 60/s\ncapacity: 100/s\nqueue: 1000\ntimeout: 1s\nmax-retries: 2\nmax-elapsed: unlimited\noutage: 10s..12s=capacity:0%\nseed: 1\n"

func tipFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte(tipPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTip(t *testing.T) {
	file := tipFile(t)
	got := do(t.Context(), nil, "tip", file, "--vary", "rate", "--from", "60/s", "--to", "20/s", "--precision", "10/s", "--repeat", "2", "--quiet")
	if got.code != codePassed || got.err != "" {
		t.Fatalf("code %d, stderr %q, stdout\n%s", got.code, got.err, got.out)
	}
	for _, want := range []string{"TIPS", "rate between 30/s, where the service recovers, and 40/s", "Load x worst", "2 seeds from 1 on"} {
		if !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("stdout lacks %q:\n%s", want, got.out)
		}
	}
	got = do(t.Context(), nil, "tip", "--file", file, "--vary", "rate", "--from", "10/s", "--to", "20/s", "--precision", "10/s", "--repeat", "1", "--json", "-", "--quiet")
	var found record.Tip
	if err := json.Unmarshal([]byte(got.out), &found); err != nil || got.code != codeGate || found.Outcome != record.TipRecovers || found.Schema != record.TipSchema {
		t.Errorf("--json -: code %d, %v, stderr %q, %+v", got.code, err, got.err, found)
	}
}

// A rate that is varied need not be named as well, whatever goes with a rate alone; one that is named counts.
func TestTipVariesRateOfNone(t *testing.T) {
	plan := []string{"tip", "--vary", "rate", "--from", "10/s", "--to", "20/s", "--arrivals", "poisson", "--clients", "200", "--capacity", "100/s",
		"--queue", "1000", "--timeout", "1s", "--max-retries", "2", "--outage", "10s..12s=capacity:0%", "--precision", "10/s", "--repeat", "1", "--quiet"}
	if got := do(t.Context(), nil, plan...); got.code != codeGate || got.err != "" || !strings.Contains(got.out, "RECOVERS") {
		t.Errorf("code %d, stderr %q, stdout\n%s", got.code, got.err, got.out)
	}
	if got := do(t.Context(), nil, append(plan, "--rate", "off")...); got.code != codeUsage || !strings.Contains(got.err, "want a rate") {
		t.Errorf("--rate off: code %d, stderr %q", got.code, got.err)
	}
	if got := do(t.Context(), nil, append(plan, "--from", "0")...); got.code != codeUsage || strings.Contains(got.err, "or off") {
		t.Errorf("--from 0: code %d, stderr %q", got.code, got.err)
	}
}

// A signal ends the search with what is known, and the runs in real time with it.
func TestTipOnSignal(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGINT})
	got := do(ctx, nil, "tip", tipFile(t), "--vary", "rate", "--from", "20/s", "--to", "60/s", "--quiet", "--confirm")
	if got.code != codeOfSignal(syscall.SIGINT) || !strings.Contains(got.out, "NOT KNOWN") || got.err != "" {
		t.Errorf("code %d, stderr %q, stdout\n%s", got.code, got.err, got.out)
	}
}

func TestTipCode(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name    string
		outcome string
		agrees  []*bool
		want    int
	}{
		{"a tip", record.TipFound, nil, codePassed},
		{"none", record.TipRecovers, nil, codeGate},
		{"both sides agree", record.TipFound, []*bool{&yes, &yes}, codePassed},
		{"one does not", record.TipFound, []*bool{nil, &no}, codeGate},
		{"one cannot tell", record.TipFound, []*bool{&yes, nil}, codeInvalid},
		{"no tip, and one cannot tell", record.TipRecovers, []*bool{nil}, codeGate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := record.Tip{Outcome: tt.outcome}
			for _, agrees := range tt.agrees {
				found.RealTime = append(found.RealTime, record.TipConfirmed{Agrees: agrees})
			}
			if got := tipCode(&found); got != tt.want {
				t.Errorf("tipCode = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTipRefuses(t *testing.T) {
	file := tipFile(t)
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"nothing", nil, []string{"--vary", "outage, rate, capacity, clients, budget"}},
		{"something else", []string{"--vary", "speed"}, []string{`"speed"`, "want one of"}},
		{"no ends", []string{"--vary", "rate"}, []string{"--from", "--to", "a rate"}},
		{"no unit", []string{"--vary", "rate", "--from", "10", "--to", "20/s"}, []string{`--from: "10"`, "10/s"}},
		{"no stretch", []string{"--vary", "rate", "--from", "10/s", "--to", "10/s"}, []string{"--to", "another value"}},
		{"a precision as wide", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--precision", "11/s"}, []string{"--precision"}},
		{"a budget without one", []string{"--vary", "budget", "--from", "10%", "--to", "20%"}, []string{"--budget", "finagle"}},
		{"a size for a ratio", []string{"--vary", "budget", "--from", "10", "--to", "20", "--budget", "finagle"}, []string{"--from", "finagle's ratio", "10%"}},
		{"a closed loop", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--rate", "off"}, []string{"--rate", "no tipping point"}},
		{"no outage", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--outage", "none"}, []string{"an outage, or a surge"}},
		{"no healthy phase", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--outage", "0s..5s"}, []string{"--outage", "healthy phase"}},
		{"two policies", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--strategy", "full,none"}, []string{"--strategy", "one policy"}},
		{"a URL", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--url", "http://127.0.0.1/"}, []string{"--url", "virtual time"}},
		{"two files", []string{"b.yaml", "--vary", "rate"}, []string{"one scenario file"}},
		{"a file that cannot be", []string{"--vary", "rate", "--from", "10/s", "--to", "20/s", "--json", t.TempDir()}, []string{"--json", "directory"}},
	} {
		t.Run(tt.name, func(t *testing.T) { refuses(t, append([]string{"tip", file}, tt.args...), tt.want) })
	}
}
