package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
)

// These tests call the whole program. Those that send anything do so over loopback, with a
// plan that is over within some milliseconds.

// A call is what one command left behind.
type call struct {
	code     int
	out, err string
}

// do runs the program with an environment of its own.
func do(ctx context.Context, env []string, args ...string) call {
	var out, errs bytes.Buffer
	code := run(ctx, args, world{in: strings.NewReader(""), out: &out, err: &errs, env: env})
	return call{code, out.String(), errs.String()}
}

// small is a storm of ten clients that a large target serves at once.
func small(more ...string) []string {
	return append([]string{"--clients", "10", "--capacity", "1000000/s", "--workers", "20", "--duration", "5s", "--seed", "7", "--quiet"}, more...)
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("clients: 10\nclinets: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		env  []string
		want []string // in stderr
	}{
		{name: "retries", args: []string{"--max-retries", "-1"}, want: []string{`--max-retries: "-1"`, "0..1000000 or unlimited"}},
		{name: "unit", args: []string{"--base", "10"}, want: []string{`--base: "10"`, "unit"}},
		{name: "cap under base", args: []string{"--cap", "1s", "--base", "2s"}, want: []string{"--cap", "2s"}},
		{name: "no clients", args: []string{"--clients", "0"}, want: []string{`--clients: "0"`, "1..10000000"}},
		{name: "several at once", args: []string{"--clients", "0", "--base", "10"}, want: []string{"--clients", "--base"}},
		{name: "gate", args: []string{"--gate", "nonsense"}, want: []string{"--gate", "nonsense"}},
		{name: "gate without a unit", args: []string{"--gate", "latency_p99<1"}, want: []string{"--gate", "latency_p99<1", "unit"}},
		{name: "gate for another strategy", args: []string{"--gate", "none:amplification<1"}, want: []string{"--gate", "none"}},
		{name: "flag", args: []string{"--bogus"}, want: []string{"--bogus"}},
		{name: "argument", args: []string{"plam"}, want: []string{`"plam"`, "plan"}},
		{name: "a public host", args: []string{"http://storm.example/"}, want: []string{"storm.example", "take a service down", "--allow-host storm.example"}},
		{name: "a public address", args: []string{"http://[2001:db8::1]/"}, want: []string{"2001:db8::1", "--allow-host"}},
		{name: "an address without a scheme", args: []string{"localhost:8080"}, want: []string{"http://localhost:8080"}},
		{name: "two URLs", args: []string{"http://127.0.0.1/", "http://127.0.0.1/"}, want: []string{"one URL"}},
		{name: "no body file", args: []string{"--body-file", filepath.Join(dir, "none"), "http://127.0.0.1/"}, want: []string{"--body-file", "no such file"}},
		{name: "a body without a URL", args: []string{"--body", "x"}, want: []string{"--body", "URL"}},
		{name: "no certificates", args: []string{"--cacert", bad, "https://127.0.0.1/"}, want: []string{"cacert", "PEM"}},
		{name: "TLS for plain HTTP", args: []string{"--insecure", "http://127.0.0.1/"}, want: []string{"insecure", "https://"}},
		{name: "a network", args: []string{"--latency", "10ms~2ms"}, env: []string{"STORMTEST_LOSS=5%"}, want: []string{`--latency: "10ms~2ms"`, `STORMTEST_LOSS: "5%"`, "stormtest sim"}},
		{name: "a model of virtual time", args: []string{"--model", "occ"}, want: []string{`--model: "occ"`, "stormtest sim"}},
		{name: "a fleet of virtual time", args: []string{"--clients", "1000001"}, want: []string{`--clients: "1000001"`, "1..1000000", "stormtest sim"}},
		{name: "a plan that no engine runs", args: []string{"plan", "--latency", "1ms", "http://127.0.0.1/"}, want: []string{"no engine", "--latency", "--url"}},
		{name: "unwritable file", args: []string{"--json", filepath.Join(dir, "no", "r.json")}, want: []string{"--json", "no such file"}},
		{name: "a folder as file", args: []string{"--csv", dir}, want: []string{"--csv", "directory"}},
		{name: "two on stdout", args: []string{"--json", "-", "--csv", "-"}, want: []string{"--json took stdout"}},
		{name: "two in one file", args: []string{"--json", filepath.Join(dir, "x"), "--csv", filepath.Join(dir, "x")}, want: []string{"--json writes there"}},
		{name: "trace and report in one file", args: []string{"--json", filepath.Join(dir, "x"), "--trace", dir + "/./x"}, want: []string{"--json writes there"}},
		{name: "log and trace in one file", args: []string{"--hlog", filepath.Join(dir, "x"), "--trace", filepath.Join(dir, "x")}, want: []string{"--hlog writes there"}},
		{name: "log and trace on stdout", args: []string{"--hlog", "-", "--trace", "-"}, want: []string{"--hlog took stdout"}},
		{name: "no scenario", args: []string{"--file", filepath.Join(dir, "none.yaml")}, want: []string{"--file", "no such file"}},
		{name: "scenario with a typo", args: []string{"--file", bad}, want: []string{"bad.yaml:2", "clinets", "clients"}},
		{name: "environment", env: []string{"STORMTEST_CLIENTS=none"}, want: []string{"STORMTEST_CLIENTS"}},
		{name: "environment with a typo", env: []string{"STORMTEST_CLINETS=5"}, want: []string{"STORMTEST_CLINETS"}},
		{name: "environment of an output", env: []string{"STORMTEST_ASCII=perhaps"}, want: []string{"STORMTEST_ASCII"}},
		{name: "report without a file", args: []string{"report"}, want: []string{"one result file"}},
		{name: "report of nothing", args: []string{"report", "-"}, want: []string{"stormtest: -"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t.Context(), tt.env, tt.args...)
			if got.code != codeUsage || got.out != "" {
				t.Errorf("code %d, stdout %q; want 2 and nothing", got.code, got.out)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("stderr = %q, want it to contain %q", got.err, want)
				}
			}
			if strings.Contains(got.err, "goroutine ") || strings.Contains(got.err, "panic") {
				t.Errorf("a stack trace: %s", got.err)
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "*tmp*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAFleetTooLargeSaysWhatFits(t *testing.T) {
	got := do(t.Context(), nil, "--clients", "1000000", "--quiet")
	if got.code != codeFailed || !strings.Contains(got.err, "clients fit") {
		t.Errorf("code %d, stderr %q; want 1 and the number that fits", got.code, got.err)
	}
}

func TestStormWritesEveryOutput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	got := do(t.Context(), nil, small("--json", at("r.json"), "--csv", at("r.csv"), "--trace", at("t.csv"))...)
	if got.code != codePassed || got.err != "" {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	if !strings.Contains(got.out, "all 10 operations done") {
		t.Errorf("the terminal report lacks the verdict:\n%s", got.out)
	}
	f, err := os.Open(at("r.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	result, err := report.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if result.Seed != 7 || len(result.Runs) != 1 || result.Runs[0].Operations.Succeeded != 10 || !result.Runs[0].Books.Balanced {
		t.Errorf("result = %+v", result)
	}
	for name, lines := range map[string]int{"r.csv": 2, "t.csv": 11} {
		b, err := os.ReadFile(at(name))
		if n := strings.Count(string(b), "\n"); err != nil || n < lines {
			t.Errorf("%s has %d lines, %v; want %d at least", name, n, err, lines)
		}
	}
	// The saved result renders as the run did, and its plan is a scenario file.
	again := do(t.Context(), nil, "report", at("r.json"))
	if again.code != codePassed || again.out != got.out {
		t.Errorf("report of the saved result differs:\n%s\nfrom\n%s", again.out, got.out)
	}
	if err := os.WriteFile(at("plan.json"), result.Plan, 0o600); err != nil {
		t.Fatal(err)
	}
	printed := do(t.Context(), nil, "plan", "--file", at("plan.json"))
	if printed.code != codePassed || !strings.Contains(printed.out, "clients: 10") {
		t.Errorf("plan of the result: code %d\n%s%s", printed.code, printed.out, printed.err)
	}
	left, _ := filepath.Glob(at(".*.tmp"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAnOutputOnStdoutIsAlone(t *testing.T) {
	got := do(t.Context(), nil, small("--json", "-")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(got.out), &v); err != nil || got.code != codePassed {
		t.Errorf("code %d, stdout is not one JSON document: %v", got.code, err)
	}
	got = do(t.Context(), nil, small("--trace", "-")...)
	if !strings.HasPrefix(got.out, "strategy,client,") || strings.Count(got.out, "\n") != 11 {
		t.Errorf("stdout is not the trace alone:\n%s", got.out)
	}
}

// A log of a run renders without the result, also where it is cut.
func TestReportOfALog(t *testing.T) {
	dir := t.TempDir()
	path, cut := filepath.Join(dir, "r.log"), filepath.Join(dir, "cut")
	if got := do(t.Context(), []string{"STORMTEST_HLOG=" + path}, small()...); got.code != codePassed {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, text[:bytes.Index(text, []byte("\nTag="))+40], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "10 arrivals in", cut: "came after that, of 5s planned, is lost"} {
		got := do(t.Context(), nil, "report", name)
		if got.code != codePassed || !strings.HasPrefix(got.out, "RECOVERED") || !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("code %d, stderr %q, want %q in\n%s", got.code, got.err, want, got.out)
		}
	}
	got := do(t.Context(), nil, small("--hlog", "-")...)
	if !strings.HasPrefix(got.out, "#[Histogram log") || !strings.HasSuffix(got.out, "#[stormtest done {}]\n") {
		t.Errorf("stdout is not the log alone:\n%s", got.out)
	}
}

// What a file held before stays until the new report is whole.
func TestAFailedRunKeepsTheOldReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := do(t.Context(), nil, "--clients", "1000000", "--json", path); got.code != codeFailed {
		t.Errorf("code %d, want 1", got.code)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the file holds %q, %v; want what it held", b, err)
	}
}

func TestGatesDecideTheExitCode(t *testing.T) {
	tests := []struct {
		gates []string
		code  int
	}{
		{[]string{"success_share>=0.9", "attempts_sent==10"}, codePassed},
		{[]string{"success_share>=0.9", "attempts_sent>10"}, codeGate},
		{[]string{"delay_p99<1s"}, codeGate}, // there were no delays: no data is a failure
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.gates, " "), func(t *testing.T) {
			args := small("--json", "-", "--bucket", "5s") // so wide that no busy machine is the bottleneck
			for _, g := range tt.gates {
				args = append(args, "--gate", g)
			}
			got := do(t.Context(), nil, args...)
			if got.code != tt.code {
				t.Errorf("code %d, want %d; stderr %s", got.code, tt.code, got.err)
			}
			var r record.Result
			if err := json.Unmarshal([]byte(got.out), &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Gates) != len(tt.gates) || check.Passed(r.Gates) != (tt.code == codePassed) {
				t.Errorf("gates = %+v, and code %d", r.Gates, got.code)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	gate := func(ok bool) []record.Gate { return []record.Gate{{Gate: "g", OK: ok}} }
	stopped := func(s syscall.Signal) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(signalError{s})
		return ctx
	}
	tests := []struct {
		name   string
		ctx    context.Context
		result record.Result
		want   int
	}{
		{"passed", context.Background(), record.Result{Valid: true}, 0},
		{"invalid, nobody asked", context.Background(), record.Result{}, 0},
		{"gates passed", context.Background(), record.Result{Valid: true, Gates: gate(true)}, 0},
		{"a gate failed", context.Background(), record.Result{Valid: true, Gates: gate(false)}, 3},
		{"invalid with gates", context.Background(), record.Result{Gates: gate(true)}, 4},
		{"invalid with a failed gate", context.Background(), record.Result{Gates: gate(false)}, 4},
		{"SIGINT", stopped(syscall.SIGINT), record.Result{Valid: true, Interrupted: true, Gates: gate(false)}, 130},
		{"SIGTERM", stopped(syscall.SIGTERM), record.Result{Valid: true, Interrupted: true}, 143},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := codeOf("stormtest", outcomeOf(tt.ctx, &tt.result), io.Discard); got != tt.want {
				t.Errorf("code %d, want %d", got, tt.want)
			}
		})
	}
}

// D-03: two processes started in the same second draw different seeds, and JSON keeps them.
func TestSeedsFromTheSystem(t *testing.T) {
	seen := map[uint64]bool{}
	for range 1000 {
		s := newSeed()
		if !s.Set || uint64(float64(s.Value)) != s.Value {
			t.Fatalf("seed %+v does not survive as a JSON number", s)
		}
		seen[s.Value] = true
	}
	if len(seen) != 1000 { // two alike of 2^53: 6e-11
		t.Errorf("%d different seeds of 1000", len(seen))
	}
}

// An interrupted run writes everything.
func TestInterruptedStormStillReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	time.AfterFunc(300*time.Millisecond, func() { cancel(signalError{syscall.SIGINT}) })
	got := do(ctx, nil, "--clients", "20", "--capacity", "0", "--seed", "1", "--quiet", "--json", path)
	if got.code != 130 || !strings.Contains(got.out, "INTERRUPTED") {
		t.Errorf("code %d, stdout:\n%s", got.code, got.out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.ReadJSON(bytes.NewReader(b))
	if err != nil || !r.Interrupted || len(r.Runs) != 1 || !r.Runs[0].Books.Balanced {
		t.Fatalf("result = %+v, %v; want an interrupted run, balanced", r, err)
	}
	// On a machine that is slow to begin, the interrupt comes before the first operations do.
	if o := r.Runs[0].Operations; o.Unfinished != o.Started || o.Started != 20 && r.Runs[0].Duration > 100*time.Millisecond {
		t.Errorf("operations %+v in %v, want 20, all unfinished", o, r.Runs[0].Duration)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

// D-20: see also cases_test.go, where the program is a process of its own.
func TestAClosedPipeEndsQuietly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	var errs bytes.Buffer
	code := run(t.Context(), small("--json", path), world{out: brokenPipe{}, err: &errs})
	if code != codeFailed || errs.Len() > 0 {
		t.Errorf("code %d, stderr %q; want 1 and silence", code, errs.String())
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file was lost with the pipe: %v", err)
	}
}

// What failed beside a gate, or beside a closed pipe, is told.
func TestNoErrorIsSwallowed(t *testing.T) {
	var errs bytes.Buffer
	lost := errors.New("the disk is full")
	if code := codeOf("stormtest", errors.Join(lost, outcomeError{codeGate}), &errs); code != codeGate || !strings.Contains(errs.String(), "disk is full") {
		t.Errorf("code %d, stderr %q", code, errs.String())
	}
	errs.Reset()
	if code := codeOf("stormtest", errors.Join(errors.Join(lost, syscall.EPIPE), nil), &errs); code != codeFailed || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("code %d, stderr %q", code, errs.String())
	}
}

func TestUsageAndFailureDiffer(t *testing.T) {
	for err, want := range map[error]int{
		usage("x"):                      codeUsage,
		errors.New("x"):                 codeFailed,
		outcomeError{codeGate}:          codeGate,
		errors.Join(nil, load.ErrLimit): codeFailed,
	} {
		if got := codeOf("stormtest", err, io.Discard); got != want {
			t.Errorf("code of %v = %d, want %d", err, got, want)
		}
	}
}

// Every flag of a plan is in the help, in a shell's completion, and reaches the plan.
func TestEveryFlagActs(t *testing.T) {
	help, all := do(t.Context(), nil, "--help"), do(t.Context(), nil, "plan", "--help")
	if help.code != codePassed || all.code != codePassed {
		t.Fatalf("help: code %d and %d", help.code, all.code)
	}
	other := map[string]string{ // a value that is not the default, where the type does not give one
		"count": "1", "duration": "1s", "rate": "7/s", "share": "3%", "number": "3", "seed": "5", "method": "POST",
		"URL": "http://[::1]:8080/", "PATH": "a file", "NAME": "example.com", "'NAME: VALUE'": "A: b", "TEXT": "{}", "MEAN[~SD]": "10ms~2ms", "NAME[:KEY=VALUE,...]": "finagle:min=3/s",
	}
	special := map[string]string{
		"strategy": "none", "preset": "polly", "cap": "30s", "outage": "1s..2s=hang", "surge": "1s..2s=x3", "fleet": "full=70%,none=30%", "gate": "amplification<9", "retry-on": "503", "status": "429",
		"repeat": "3", "arrivals": "poisson", "retry-after-jitter": "3s", "timeout": "2s", "workers": "2", "queue": "3", "burst": "2", "floor": "1s", "contention": "0.1", "coherency": "0.01",
		"breaker": "rate:share=30%,window=50", "hedge": "2s,1", "layer": "db;queue=3",
	}
	for _, f := range plan.Fields() {
		t.Run(f.Name, func(t *testing.T) {
			if got := strings.Contains(help.out, "--"+f.Name+" ") || strings.Contains(help.out, "--"+f.Name+"\n"); got != f.Group.Has(plan.Real) {
				t.Errorf("--%s in the help of the main job: %v, want %v", f.Name, got, !got)
			}
			if !strings.Contains(all.out, "--"+f.Name) {
				t.Errorf("--%s is not in the help of plan", f.Name)
			}
			text, ok := special[f.Name]
			if !ok {
				text, ok = other[f.Type()]
			}
			for _, word := range f.Choices() {
				if !ok && word != f.Default() {
					text, ok = word, true
				}
			}
			if !ok {
				t.Fatalf("no other value known for a %s", f.Type())
			}
			args := []string{"plan", "--" + f.Name + "=" + text}
			switch {
			case f.Name == "arrivals" || f.Name == "surge":
				args = append(args, "--rate=5/s")
			case f.Name == "discipline" || f.Name == "expired": // of a queue
				args = append(args, "--queue=5", "--propagate-deadline")
			case f.Name == "contention" || f.Name == "coherency":
				args = append(args, "--workers=5")
			case f.Name == "cert":
				args = append(args, "--key=k.pem", "http://127.0.0.1")
			case f.Name == "key":
				args = append(args, "--cert=c.pem", "http://127.0.0.1")
			case f.Group == plan.Elsewhere && f.Name != "url":
				args = append(args, "http://127.0.0.1")
			}
			flag := do(t.Context(), nil, args...)
			env := do(t.Context(), []string{f.Env() + "=" + text}, append(args[:1:1], args[2:]...)...)
			if flag.code != codePassed || env.code != codePassed {
				t.Fatalf("code %d and %d: %s%s", flag.code, env.code, flag.err, env.err)
			}
			base := do(t.Context(), nil, append(args[:1:1], args[2:]...)...)
			if flag.out == base.out || flag.out != env.out {
				t.Errorf("--%s=%s does not act, or not as %s does", f.Name, text, f.Env())
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte("clients: 3\nbase: 3ms\ncap: 3s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := do(t.Context(), []string{"STORMTEST_CLIENTS=2", "STORMTEST_BASE=2ms"}, "plan", "--file", file, "--clients", "1")
	for _, want := range []string{"clients: 1\n", "base: 2ms\n", "cap: 3s\n", "multiplier: 2\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("plan lacks %q:\n%s%s", want, got.out, got.err)
		}
	}
}

func TestVersionHelpAndCompletion(t *testing.T) {
	if got := do(t.Context(), nil, "--version"); got.code != 0 || got.out != "stormtest "+version+"\n" {
		t.Errorf("version: %+v", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := do(t.Context(), nil, "completion", shell); got.code != 0 || len(got.out) < 1000 {
			t.Errorf("completion %s: code %d, %d bytes", shell, got.code, len(got.out))
		}
	}
	if got := do(t.Context(), nil, "__complete", "--strategy", ""); !strings.Contains(got.out, "decorrelated") {
		t.Errorf("completion of --strategy: %q", got.out)
	}
	if got := do(t.Context(), nil, "strategies"); got.code != 0 || !strings.Contains(got.out, "decorrelated") {
		t.Errorf("strategies: %+v", got)
	}
	for _, args := range [][]string{{"--help"}, {"help"}, {"plan", "--help"}, {"report", "--help"}, {"strategies", "--help"}} {
		got := do(t.Context(), nil, args...)
		if got.code != 0 || got.err != "" {
			t.Errorf("%v: code %d, stderr %q", args, got.code, got.err)
		}
		for line := range strings.Lines(got.out) {
			if len([]rune(line)) > helpWidth+1 {
				t.Errorf("%v: a line of %d characters: %s", args, len(line), line)
			}
		}
	}
}

func TestTerminalOptions(t *testing.T) {
	tests := []struct {
		name  string
		env   []string
		flag  bool
		ascii bool
	}{
		{"nothing known", nil, false, false},
		{"--ascii", nil, true, true},
		{"a dumb terminal", []string{"TERM=dumb"}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := terminalOptions(world{out: io.Discard, env: tt.env}, tt.flag)
			if o.ASCII != tt.ascii || o.Color || o.Width != widthDefault {
				t.Errorf("options = %+v", o)
			}
		})
	}
	for env, want := range map[string]bool{"": true, "LANG=C": false, "LANG=de_DE.UTF-8": true, "LC_ALL=POSIX": false, "LC_CTYPE=en_US.utf8": true} {
		if got := unicodeLocale([]string{env}); got != want {
			t.Errorf("Unicode with %q = %v, want %v", env, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	s := load.Stage{
		Index: 1, Count: 4, Strategy: "decorrelated", Duration: 30 * time.Second, Operations: 2000,
		Totals: func() record.Totals { return record.Totals{Succeeded: 1234, Arrivals: 56789} },
	}
	for columns := range 200 {
		line := bar(s, 15*time.Second, columns)
		if len(line) > max(0, columns-1) {
			t.Errorf("at %d columns the bar has %d: %q", columns, len(line), line)
		}
	}
	if got, want := bar(s, 15*time.Second, 100), "decorrelated  50% [###############...............] 15 s left, 1234 of 2000 done, 56789 attempts"; got != want {
		t.Errorf("bar = %q, want %q", got, want)
	}
	if got, want := sentence(s, 15*time.Second), "decorrelated (2 of 4): 15 s of at most 30 s, 1234 of 2000 operations succeeded, 56789 attempts arrived"; got != want {
		t.Errorf("sentence = %q, want %q", got, want)
	}
}

// The first signal cancels with itself as the cause; the second exits at once.
func TestSignals(t *testing.T) {
	exited := make(chan int, 1)
	ctx := onSignal(func(code int) { exited <- code })
	send := func(s syscall.Signal) {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGINT)
	<-ctx.Done()
	var cause signalError
	if !errors.As(context.Cause(ctx), &cause) || cause.signal != syscall.SIGINT {
		t.Errorf("cause = %v, want SIGINT", context.Cause(ctx))
	}
	send(syscall.SIGTERM)
	if code := <-exited; code != 143 {
		t.Errorf("the second signal exits with %d, want 143", code)
	}
}

// A step's summary on GitHub is added to, by a run as by the report of a saved one; a file of that flag elsewhere is
// replaced as every report is.
func TestTheSummaryOfAStepIsAddedTo(t *testing.T) {
	dir := t.TempDir()
	summary, elsewhere, saved := filepath.Join(dir, "summary"), filepath.Join(dir, "elsewhere.md"), filepath.Join(dir, "r.json")
	for _, path := range []string{summary, elsewhere} {
		if err := os.WriteFile(path, []byte("# Before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"GITHUB_STEP_SUMMARY=" + summary}
	for _, args := range [][]string{
		small("--markdown", summary, "--json", saved), {"report", saved, "--markdown", summary}, {"report", saved, "--markdown", elsewhere},
	} {
		if got := do(t.Context(), env, args...); got.code != codePassed {
			t.Fatalf("%v: code %d: %s", args, got.code, got.err)
		}
	}
	const title = "## stormtest: "
	for path, want := range map[string]int{summary: 2, elsewhere: 1} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if n := strings.Count(text, title); n != want || strings.HasPrefix(text, "# Before\n\n"+title) != (want == 2) || strings.Contains(text, "# Before") != (want == 2) {
			t.Errorf("%s has %d reports, want %d: %.200q", path, n, want, text)
		}
	}
	if got := do(t.Context(), []string{"GITHUB_STEP_SUMMARY=" + dir}, small("--markdown", dir)...); got.code != codeUsage {
		t.Errorf("a folder as a summary: code %d, %s", got.code, got.err)
	}
}

// A gate that fails is named alike, with its reason, on the terminal and in every file that has gates; so is one
// without data.
func TestAFailedGateIsNamedAlike(t *testing.T) {
	dir := t.TempDir()
	path := func(kind string) string { return filepath.Join(dir, "r."+kind) }
	got := do(t.Context(), nil, "sim", "--clients", "20", "--capacity", "1000000/s", "--workers", "20", "--seed", "1", "--quiet", "--gate", "amplification<0.5",
		"--gate", "convoy_index<1", "--gate", "success_share>0", "--json", path("json"), "--junit", path("xml"), "--markdown", path("md"), "--html", path("html"))
	if got.code != codeGate {
		t.Fatalf("code %d, want 3: %s", got.code, got.err)
	}
	f, err := os.Open(path("json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	result, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Gates) != 3 || result.Gates[0].OK || result.Gates[1].OK || !result.Gates[2].OK {
		t.Fatalf("gates %+v", result.Gates)
	}
	unescape := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#60;", "<", "&#62;", ">", `\_`, "_", "\u00a0", " ")
	for name, kind := range map[string]string{"terminal": "", "JUnit": "xml", "Markdown": "md", "HTML": "html"} {
		text := got.out
		if kind != "" {
			b, err := os.ReadFile(path(kind))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		text = strings.Join(strings.Fields(unescape.Replace(text)), " ")
		for _, g := range result.Gates[:2] {
			if !strings.Contains(text, g.Gate) || !strings.Contains(text, g.Reason) {
				t.Errorf("%s does not name %s (%s)", name, g.Gate, g.Reason)
			}
		}
	}
}
