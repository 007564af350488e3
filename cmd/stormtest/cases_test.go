package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/report/strict"
)

// Public faults of other tools that must not happen here, over the whole program. Each test
// says which case it is.

// programVariable makes the test binary the program itself.
const programVariable = "RUN_AS_STORMTEST"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		_ = os.Unsetenv(programVariable)
		main()
	}
	os.Exit(m.Run())
}

// program is a process of the program, to be started.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	return cmd
}

// payload is what a histogram log holds in base64, in which any word may come up.
var payload = regexp.MustCompile(`HIST\S+`)

// readStrictly reads each file with the strict reader of its format, and finds what no file may hold: the words of
// figures that are none, and the -1 that stands for one.
func readStrictly(t *testing.T, files map[string]string) {
	t.Helper()
	for flag, text := range files {
		format, is := flag, map[string]string{traceFlag: "csv", hlogFlag: ""}
		if f, ok := is[flag]; ok {
			format = f
		}
		c, err := strict.Read(format, []byte(payload.ReplaceAllString(text, "")))
		if err != nil {
			t.Errorf("%s: %v", flag, err)
		}
		if bad := c.NoNumber(); bad != "" {
			t.Errorf("%s holds %q", flag, bad)
		}
	}
}

// An everything is what one run wrote: each file by the format's flag, the terminal's report by none, and what JSON says.
type everything struct {
	files  map[string]string
	out    string
	result map[string]any
}

// writeEverything runs the program with a file of every format.
func writeEverything(ctx context.Context, t *testing.T, wantCode int, args ...string) everything {
	t.Helper()
	dir := t.TempDir()
	flags := []string{traceFlag, hlogFlag}
	for _, f := range fileFormats() {
		flags = append(flags, f.Flag)
	}
	for _, f := range flags {
		args = append(args, "--"+f, filepath.Join(dir, f))
	}
	got := do(ctx, nil, append(args, "--quiet")...)
	if got.code != wantCode {
		t.Fatalf("code %d, want %d; stderr %s", got.code, wantCode, got.err)
	}
	e := everything{files: map[string]string{"": got.out}, out: got.out}
	for _, f := range flags {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		e.files[f] = string(text)
	}
	readStrictly(t, e.files)
	if err := json.Unmarshal([]byte(e.files["json"]), &e.result); err != nil {
		t.Fatal(err)
	}
	return e
}

// at returns what the first run's JSON holds under a path of names, nil for null. A name that
// is missing ends the test.
func (e everything) at(t *testing.T, path string) any {
	t.Helper()
	value := e.result["runs"].([]any)[0]
	for name := range strings.SplitSeq(path, ".") {
		m, _ := value.(map[string]any)
		next, ok := m[name]
		if !ok {
			t.Fatalf("the JSON has no %s", path)
		}
		value = next
	}
	return value
}

// D-17: whatever a run measured, or did not, every file is written and reads back, and a figure
// without a value is null, empty or a dash.
func TestFilesOfNextToNothing(t *testing.T) {
	figures := []string{
		"convoy.convoy_index", "convoy.retry_synchronisation_index", "convoy.dispersion", "convoy.periodicity", "convoy.half_life_waves",
		"delay_ns.p99", "delay_ns.mean", "delay_shares.at_cap",
	}
	unanswered := append([]string{"latency_ns.p50", "latency_ns.p99", "latency_ns.mean", "latency_ns.max", "operation_latency_ns.p50",
		"attempt_at_success.p50", "completion_ns"}, figures...)
	tests := []struct {
		name  string
		code  int
		args  []string
		until time.Duration
		null  []string
		want  map[string]float64
	}{
		{"(a) nobody answers", 0, []string{"--clients", "5", "--max-retries", "0", "--outage", "0s..30s=refuse"}, 0, unanswered,
			map[string]float64{"attempts.sent": 5, "operations.started": 5, "operations.succeeded": 0, "amplification": 1}},
		{"(a) a closed port", 0, []string{"--clients", "5", "--max-retries", "0", "http://127.0.0.1:1/"}, 0,
			append([]string{"capacity_per_second", "convoy.peak_over_capacity", "convoy.waves"}, unanswered...),
			map[string]float64{"attempts.sent": 5, "attempts.by_outcome.refused": 5, "operations.started": 5, "operations.succeeded": 0}},
		{"(b) one operation", 0, []string{"--clients", "1", "--operations", "1", "--max-retries", "0"}, 0, figures,
			map[string]float64{"attempts.sent": 1, "operations.succeeded": 1, "latency_ns.count": 1}},
		{"(c) a signal before the first answer", 130, []string{"--clients", "5", "--outage", "0s..30s=hang"}, time.Second, unanswered,
			map[string]float64{"operations.succeeded": 0, "latency_ns.count": 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tt.until > 0 {
				defer time.AfterFunc(tt.until, func() { cancel(signalError{syscall.SIGINT}) }).Stop()
			}
			e := writeEverything(ctx, t, tt.code, append(tt.args, "--seed", "1")...)
			for _, path := range tt.null {
				if v := e.at(t, path); v != nil {
					t.Errorf("%s = %v, want null", path, v)
				}
			}
			for path, want := range tt.want {
				if v := e.at(t, path); v != want {
					t.Errorf("%s = %v, want %v", path, v, want)
				}
			}
			if !regexp.MustCompile(`Convoy index +–`).MatchString(e.out) {
				t.Errorf("the terminal report has no dash for the convoy index:\n%s", e.out)
			}
			if !strings.Contains(e.files["html"], `data-figure="full.convoy_index" data-value="">–<`) {
				t.Error("the page has no dash for the convoy index")
			}
			if metric := "\nconvoy_index{"; strings.Contains(e.files["prom"], metric) {
				t.Error("the metrics have a convoy index")
			}
			for line := range strings.Lines(e.files["csv"]) {
				if strings.HasPrefix(line, "full,") && !strings.HasSuffix(strings.TrimSpace(line), ",") {
					t.Errorf("CSV has an index of too few retries: %s", line)
				}
			}
		})
	}
}

// D-17 (c): where the signal came before the run itself began, the files say that nothing ran.
func TestFilesOfNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGINT})
	e := writeEverything(ctx, t, 130, small()...)
	if runs := e.result["runs"].([]any); len(runs) != 0 || e.result["interrupted"] != true {
		t.Errorf("runs = %v, interrupted = %v; want none, true", runs, e.result["interrupted"])
	}
}

// sameAgain renders the saved result in every format, and each is what the run wrote.
func sameAgain(t *testing.T, e everything) {
	t.Helper()
	dir := t.TempDir()
	saved := filepath.Join(dir, "saved")
	if err := os.WriteFile(saved, []byte(e.files["json"]), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"report", saved}
	for _, f := range fileFormats() {
		args = append(args, "--"+f.Flag, filepath.Join(dir, f.Flag))
	}
	got := do(t.Context(), nil, args...)
	if got.code != codePassed || got.out != e.out {
		t.Errorf("the saved result renders otherwise: code %d, stderr %s\n%s", got.code, got.err, got.out)
	}
	for _, f := range fileFormats() {
		if text, err := os.ReadFile(filepath.Join(dir, f.Flag)); err != nil || string(text) != e.files[f.Flag] {
			t.Errorf("--%s of the saved result is not what the run wrote; %v", f.Flag, err)
		}
	}
}

// D-18 (a): however many clients a closed port refuses, in every file that is one failure with its count, and none has
// the port that a client came from.
func TestFilesOfAClosedPort(t *testing.T) {
	e := writeEverything(t.Context(), t, codePassed,
		"--clients", "300", "--strategy", "none", "--duration", "400ms", "--seed", "1", "http://127.0.0.1:1/")
	outcomes := e.at(t, "attempts.by_outcome").(map[string]any)
	if n, _ := outcomes["refused"].(float64); len(outcomes) != 1 || n < 600 {
		t.Errorf("outcomes = %v, want refused alone, 600 times or more", outcomes)
	}
	for flag, text := range e.files {
		if port := regexp.MustCompile(`127\.0\.0\.1:\d{4,}`).FindString(text); port != "" {
			t.Errorf("--%s names %s", flag, port)
		}
	}
}

// D-19: no data is a failure, all gates are judged, and the exit code says what they say.
func TestGatesOnNothingFail(t *testing.T) {
	nobody := []string{"--clients", "5", "--max-retries", "0", "--outage", "0s..30s=refuse", "--bucket", "5s"}
	const noAnswer, noRetries = "no data: no attempt was answered", "no data: too few retries in the window"
	tests := []struct {
		name  string
		args  []string
		gates []string
		want  []string // reasons; empty is a gate that held
		code  int
	}{
		{"nobody answers", nobody, []string{"success_rate>=0.9", "p99<1s", "sync_index<0.5"},
			[]string{"success_share is 0, want >= 0.9", noAnswer, noRetries}, codeGate},
		{"a closed port", []string{"--clients", "5", "--max-retries", "0", "--bucket", "5s", "http://127.0.0.1:1/"},
			[]string{"success_rate>=0.9", "p99<1s", "sync_index<0.5"},
			[]string{"success_share is 0, want >= 0.9", noAnswer, noRetries}, codeGate},
		{"and no bound saves it", nobody, []string{"p99<24h", "p99>0s", "p99!=1s", "sync_index<=1", "attempts_sent==5"},
			[]string{noAnswer, noAnswer, noAnswer, noRetries, ""}, codeGate},
		{"a healthy target", small("--bucket", "5s"), []string{"success_rate>=0.9"}, []string{""}, codePassed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append(tt.args, "--seed", "1", "--quiet", "--json", "-")
			for _, g := range tt.gates {
				args = append(args, "--gate", g)
			}
			got := do(t.Context(), nil, args...)
			var r record.Result
			if err := json.Unmarshal([]byte(got.out), &r); err != nil || len(r.Gates) != len(tt.gates) {
				t.Fatalf("%d gates, want %d; %v", len(r.Gates), len(tt.gates), err)
			}
			failed := false
			for i, g := range r.Gates {
				failed = failed || !g.OK
				if g.OK != (tt.want[i] == "") || !g.OK && g.Reason != tt.want[i] {
					t.Errorf("gate %s: ok %v, %q; want %q", tt.gates[i], g.OK, g.Reason, tt.want[i])
				}
			}
			if got.code != tt.code || failed != (got.code == codeGate) {
				t.Errorf("code %d, a gate failed %v; want %d", got.code, failed, tt.code)
			}
		})
	}
}

// D-19: a gate that cannot be judged is the user's to mend, before anything is sent.
func TestGatesThatCannotBeJudged(t *testing.T) {
	for _, gate := range []string{"no_such_metric<1", "p99<1", "success_rate>=90%", "p99=<1s", "p99<", "<1s", "p99<NaN", "success_rate>=Inf"} {
		got := do(t.Context(), nil, small("--gate", "waves<3", "--gate", gate)...)
		if got.code != codeUsage || got.out != "" || !strings.Contains(got.err, strconv.Quote(gate)) {
			t.Errorf("--gate %s: code %d, stdout %q, stderr %q; want 2 and the gate's name", gate, got.code, got.out, got.err)
		}
	}
}

// D-05: the report states how many waits the server set, and how many retries came early.
// D-14: it has two latencies, each under its name.
func TestTheReportNamesWhatItMeans(t *testing.T) {
	got := do(t.Context(), nil, "--clients", "5", "--max-retries", "0", "--capacity", "0", "--send-retry-after", "1s", "--seed", "1", "--quiet")
	for _, want := range []string{`Retry-After +5 seen, 0 obeyed, 0 invalid; 0 early`, `(?m)^latency +[0-9]`, `(?m)^operation latency +–`} {
		if !regexp.MustCompile(want).MatchString(got.out) {
			t.Errorf("the report has no %s:\n%s", want, got.out)
		}
	}
}

// D-20: in a log, progress is a line in five seconds, without what a terminal alone understands.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		p := startProgress(world{err: &text, env: []string{"TERM=xterm"}}, manner{})
		p.stage(load.Stage{
			Count: 1, Strategy: "full", Start: time.Now(), Duration: 30 * time.Second, Operations: 50,
			Totals: func() record.Totals { return record.Totals{} },
		})
		time.Sleep(30*time.Second + time.Millisecond)
		p.stop()
		if n := strings.Count(text.String(), "\n"); n != 6 || strings.ContainsAny(text.String(), "\r\x1b") {
			t.Errorf("%d lines in 30 s, want 6 without control codes: %q", n, text.String())
		}
	})
}

// D-20: stdout is one JSON document and nothing else, and stderr holds no control codes,
// whatever the environment says and whether there is an stdin or not.
func TestStreamsStayApart(t *testing.T) {
	for _, env := range []string{"TERM=xterm", "TERM=dumb", "NO_COLOR=1", "TERM="} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stdin closed %v", env, closed), func(t *testing.T) {
				args := []string{"--clients", "20", "--duration", "300ms", "--capacity", "0", "--seed", "1", "--json", "-"}
				cmd := program(t, args...)
				if closed {
					cmd = exec.CommandContext(t.Context(), "sh", append([]string{"-c", `exec "$0" "$@" <&-`, os.Args[0]}, args...)...)
					cmd.Env = append(os.Environ(), programVariable+"=1")
				}
				cmd.Env = append(cmd.Env, env)
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v; stderr %s", err, errs.String())
				}
				d := json.NewDecoder(&out)
				var v any
				if err := d.Decode(&v); err != nil {
					t.Errorf("stdout: %v", err)
				}
				if _, err := d.Token(); !errors.Is(err, io.EOF) {
					t.Errorf("stdout holds more than one document: %v", err)
				}
				if strings.ContainsAny(errs.String(), "\r\x1b") || strings.Count(errs.String(), "\n") > 1 {
					t.Errorf("stderr = %q, want one line at most, without control codes", errs.String())
				}
			})
		}
	}
}

// D-20: where the reader of stdout has gone, the program ends with a code of its own and says
// nothing.
func TestAReaderThatHasGone(t *testing.T) {
	for _, args := range [][]string{
		{"--json", "-"}, {"--csv", "-"}, {"--trace", "-"}, {}, {"--trace", "-", "--duration", "1h"}, {"--hlog", "-", "--duration", "1h"}, {"--hlog", "-"},
		{"sim"}, {"sim", "--json", "-"}, {"sim", "--trace", "-"}, {"sim", "--hlog", "-"},
		{"sim", "--trace", "-", "--clients", "100000", "--duration", "24h", "--max-elapsed", "24h"}, {"sim", "--hlog", "-", "--clients", "100000", "--duration", "24h", "--max-elapsed", "24h"},
	} {
		small := []string{"--clients", "20", "--duration", "200ms", "--capacity", "0", "--seed", "1"}
		if len(args) > 0 && args[0] == "sim" {
			small, args = append([]string{"sim"}, small...), args[1:]
		}
		cmd := program(t, append(small, args...)...)
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = read.Close()
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = write, &errs
		err = cmd.Run()
		_ = write.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != codeFailed || errs.Len() > 0 {
			t.Errorf("%v: %v, stderr %q; want exit code 1 and silence", args, err, errs.String())
		}
	}
}
