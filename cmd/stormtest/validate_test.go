package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormtest/load/validate"
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
	for _, args := range [][]string{{"--only", "nonsense"}, {"--only", ""}, {"--only", "guide,,convoy"}, {"--only="}, {"--json", "no/such/folder"}, {"--seed", "-1"}, {"--real", "--full"}, {"--real", "--only", "index"}, {"more"}} {
		if c := do(t.Context(), nil, append([]string{"validate"}, args...)...); c.code != codeUsage || c.out != "" {
			t.Errorf("%v: exit code %d, stderr %q, want 2", args, c.code, c.err)
		}
	}
}

// Ctrl-C ends a validation as it ends a run: every report is written, and the exit code is the signal's.
func TestValidateInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.json")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGINT})
	c := do(ctx, nil, "validate", "--only", "published", "--json", file, "--quiet")
	b, err := os.ReadFile(file)
	var v validation
	if err != nil || json.Unmarshal(b, &v) != nil || v.Parts.NotRun == 0 || v.Parts.NotRun != v.Parts.Count {
		t.Errorf("--json wrote %s, error %v", b, err)
	}
	if c.code != 130 || !strings.Contains(c.out, "interrupted:") || c.err != "" {
		t.Errorf("exit code %d, stderr %q, stdout %s", c.code, c.err, c.out)
	}
}

// Progress drops what does not fit, never a part of it, and a log gets a sentence.
func TestValidateProgressText(t *testing.T) {
	p := validate.Progress{DoneShare: 0.25}
	for columns, want := range map[int]string{
		80: "validate  25% [#######.......................] about 12 s left",
		40: "validate  25% [#......] about 12 s left",
		32: "validate  25% about 12 s left",
		20: "validate  25%",
	} {
		if got := countLine(p, 4*time.Second, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	if got, want := countSentence(p, 4*time.Second), "validate: 25 % done, about 12 s left"; got != want {
		t.Errorf("for a log: %q, want %q", got, want)
	}
}

// A check that failed in a run that counts is told before a machine that was the bottleneck of another.
func TestValidateVerdicts(t *testing.T) {
	for _, test := range []struct {
		result validate.Result
		want   int
	}{
		{validate.Result{Passed: 1}, codePassed},
		{validate.Result{Passed: 1, Failed: 1}, codeGate},
		{validate.Result{Passed: 1, NotJudged: 5}, codeInvalid},
		{validate.Result{Failed: 1, NotJudged: 5}, codeGate},
		{validate.Result{Failed: 1, Interrupted: true}, codeFailed},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := codeOf("stormtest validate", verdictOf(ctx, test.result), io.Discard); got != test.want {
			t.Errorf("%+v: exit code %d, want %d", test.result, got, test.want)
		}
	}
}

// The help's own text fits a terminal.
func TestValidateHelpFits(t *testing.T) {
	for line := range strings.Lines(validateLong()) {
		if len(line) > 81 {
			t.Errorf("line of %d: %q", len(line)-1, line)
		}
	}
}
