package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report/check"
)

var update = flag.Bool("update", false, "write the golden files anew")

// startedAt is the only part of a result in virtual time that two runs do not have in common.
var startedAt = regexp.MustCompile(`"started_at": *"[^"]*"`)

// undated is a JSON document without its date, one line a value.
func undated(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", " "); err != nil {
		t.Fatal(err)
	}
	return startedAt.ReplaceAllString(b.String(), `"started_at": "DATE"`) + "\n"
}

// The JSON of a small storm in virtual time, to the byte.
//
// Five clients that do not draw: with one served in a wave, at 0, 0.1, 0.3, 0.7 and 1.5 s, they send
// 5+4+3+2+1 = 15 attempts and are done at 1.51 s, 10 ms being what one takes; beside them two seeds that draw, for the rest of the
// format.
func TestSimGolden(t *testing.T) {
	got := do(t.Context(), nil, "sim", "--strategy", "none,full", "--clients", "5", "--capacity", "100/s", "--duration", "2s", "--seed", "7", "--repeat", "2",
		"--gate", "none:attempts_sent==15", "--gate", "none:completion==1.51s", "--json", "-")
	if got.code != codePassed || got.err != "" {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	text, path := undated(t, got.out), filepath.Join("testdata", "sim.golden.json")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d is %s\nwant %s", i+1, a[i], append(b, "the end")[min(i, len(b))])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%d lines, want %d", len(a), len(b))
	}
}

// Two processes of one seed write the same but for the date; another seed does not.
func TestSimIsRepeatable(t *testing.T) {
	one := func(seed string) string {
		out, err := program(t, "sim", "--strategy", "full,decorrelated", "--clients", "200", "--latency", "5ms~1ms", "--seed", seed, "--json", "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		return undated(t, string(out))
	}
	first, second := one("3"), one("3")
	if first != second {
		t.Error("two runs of one seed differ")
	}
	if strings.ReplaceAll(one("4"), `"seed": 4`, `"seed": 3`) == first {
		t.Error("another seed gives the same result")
	}
}

// What only real time has is refused by its name and with the reason, wherever it was written, and no
// file is touched.
func TestSimRefusesWhatLeavesTheProcess(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "r.json"), filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("url: http://127.0.0.1:1/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"url": "http://127.0.0.1:1/", "unix-socket": "/run/s", "allow-host": "example.com", "header": "A: b", "body": "{}", "body-file": file,
		"http": "2", "keepalive": "false", "cacert": file, "cert": file, "key": file, "insecure": "true", "probe": "on",
	}
	tests := map[string][]string{"url by argument": {"http://127.0.0.1:1/"}, "url by file": {"--file", file}, "url by environment": nil}
	for _, f := range plan.Fields() {
		if f.Group != plan.Elsewhere {
			continue
		}
		value, ok := values[f.Name]
		if !ok {
			t.Fatalf("no value known for --%s", f.Name)
		}
		tests[f.Name] = []string{"--" + f.Name + "=" + value}
		if f.Name != "url" {
			tests[f.Name] = append(tests[f.Name], "http://127.0.0.1:1/") // what most go with
		}
		if f.Name == "key" {
			tests[f.Name] = append(tests[f.Name], "--cert", file)
		}
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			var env []string
			if args == nil {
				env = []string{"STORMTEST_URL=http://127.0.0.1:1/"}
			}
			got := do(t.Context(), env, append([]string{"sim", "--seed", "1", "--json", path}, args...)...)
			field, _, _ := strings.Cut(name, " ")
			if got.code != codeUsage || got.out != "" || !strings.Contains(strings.ToLower(got.err), field) || !strings.Contains(got.err, "no request leaves this process") {
				t.Errorf("code %d, stdout %q, stderr %q; want 2, nothing, and --%s with the reason", got.code, got.out, got.err, field)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
				t.Errorf("the file holds %q, %v; want what it held", b, err)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for args, want := range map[string]string{"plam": `"plam"`, "--bogus": "--bogus", "--strategy immediate": "for ever", "--latency x": "--latency", "--gate p99<1": "unit"} {
		got := do(t.Context(), nil, append([]string{"sim"}, strings.Fields(args)...)...)
		if got.code != codeUsage || got.out != "" || !strings.Contains(got.err, want) || !strings.Contains(got.err, "Run 'stormtest ") {
			t.Errorf("%s: code %d, stderr %q; want 2 and %q", args, got.code, got.err, want)
		}
	}
}

// D-19 in virtual time: gates decide, and no run is invalid.
func TestSimGatesDecideTheExitCode(t *testing.T) {
	tests := []struct {
		flags, gates string
		code         int
	}{
		{"", "success_share==1 amplification<9", codePassed},
		{"", "success_share==1 amplification<1", codeGate},
		{"--queue 200", "success_share==1 delay_p99<1h", codeGate}, // there were no delays: no data is a failure
		{"", "start_spread<=0s lateness_max<=0s", codePassed},
		{"--latency 300ms~100ms", "start_spread>100ms success_share==1", codePassed}, // which in real time would be the machine's fault
	}
	for _, tt := range tests {
		args := append([]string{"sim", "--clients", "200", "--seed", "1", "--json", "-"}, strings.Fields(tt.flags)...)
		for g := range strings.FieldsSeq(tt.gates) {
			args = append(args, "--gate", g)
		}
		got := do(t.Context(), nil, args...)
		var r record.Result
		if err := json.Unmarshal([]byte(got.out), &r); err != nil {
			t.Fatal(err)
		}
		if got.code != tt.code || !r.Valid || check.Passed(r.Gates) != (tt.code == codePassed) || len(r.Gates) != len(strings.Fields(tt.gates)) {
			t.Errorf("%s %s: code %d, valid %v, gates %+v; want %d", tt.flags, tt.gates, got.code, r.Valid, r.Gates, tt.code)
		}
	}
}

// Every output of the main job is written, and the saved result renders as the run did.
func TestSimWritesEveryOutput(t *testing.T) {
	e := writeEverything(t.Context(), t, codePassed, "sim", "--strategy", "all", "--clients", "100", "--capacity", "100/s", "--seed", "7", "--repeat", "3")
	if !strings.Contains(e.out, "all 100 operations done") || strings.Contains(e.out, "INVALID") {
		t.Errorf("the terminal report:\n%s", e.out)
	}
	sameAgain(t, e)
	if n := e.at(t, "repeats.count"); n != 3.0 {
		t.Errorf("repeats.count = %v, want 3", n)
	}
	if spread := e.at(t, "generator.start_spread_ns"); spread != 0.0 {
		t.Errorf("start spread = %v, want 0", spread)
	}
}

// A fleet past what real time takes runs.
func TestSimTakesLargeFleets(t *testing.T) {
	got := do(t.Context(), nil, "sim", "--clients", "1000001", "--max-retries", "0", "--duration", "1s", "--seed", "1", "--quiet")
	if got.code != codePassed || !strings.Contains(got.out, "1,000,001") {
		t.Errorf("code %d, stderr %q\n%s", got.code, got.err, got.out)
	}
}

// An interruptedBy cancels as a signal does, when a text has been written so many times.
type interruptedBy struct {
	bytes.Buffer
	text   string
	count  int
	signal syscall.Signal
	cancel context.CancelCauseFunc
}

func (w *interruptedBy) Write(b []byte) (int, error) {
	if w.count -= strings.Count(string(b), w.text); w.count <= 0 {
		w.cancel(signalError{w.signal})
	}
	return w.Buffer.Write(b)
}

// A signal ends the run, and everything that was measured is written.
func TestSimInterrupted(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		ctx, cancel := context.WithCancelCause(t.Context())
		out := interruptedBy{text: "Tag=", count: 50, signal: signal, cancel: cancel}
		path := filepath.Join(t.TempDir(), "r.json")
		var errs bytes.Buffer
		got := run(ctx, []string{"sim", "--strategy", "none,full", "--clients", "20000", "--capacity", "0", "--duration", "24h", "--max-elapsed", "24h", "--bucket", "1s",
			"--seed", "1", "--quiet", "--hlog", "-", "--json", path, "--gate", "attempts_sent<1"}, world{out: &out, err: &errs})
		cancel(nil)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r record.Result
		if err := json.Unmarshal(text, &r); err != nil || got != code || errs.Len() > 0 {
			t.Fatalf("code %d, stderr %q, %v; want %d", got, errs.String(), err, code)
		}
		if !r.Interrupted || len(r.Runs) != 1 || r.Runs[0].Duration >= 24*time.Hour || !r.Runs[0].Books.Balanced || r.Runs[0].Operations.Unfinished != 20000 || len(r.Gates) != 2 || r.Gates[0].OK || r.Gates[1].OK || r.Gates[1].Reason != "no data: strategy full did not run" {
			t.Errorf("interrupted %v, %d runs, gates %+v", r.Interrupted, len(r.Runs), r.Gates)
		}
	}
}

// told is what a progress has written so far, for any goroutine.
type told struct {
	mu   sync.Mutex
	text []byte
}

func (w *told) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	return len(b), nil
}

func (w *told) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// In virtual time nothing is told before half a second has passed; then on a terminal a bar, elsewhere a
// line in five seconds.
func TestSimProgress(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var text told
			p := &progress{w: &text, terminal: terminal, columns: 80, quit: make(chan struct{})}
			every := lineEvery
			if terminal {
				every = redrawEvery
			}
			p.wg.Go(func() { p.tell(every) })
			p.stage(load.Stage{Count: 1, Seeds: 1, Start: time.Now(), Duration: time.Minute, Operations: 50, Simulated: func() load.Simulated { return load.Simulated{Runs: 1, Share: 0.25} }})
			time.Sleep(simulatedQuiet - time.Millisecond)
			if text.String() != "" {
				t.Errorf("terminal %v: told within %v: %q", terminal, simulatedQuiet, text.String())
			}
			time.Sleep(5*time.Second + time.Millisecond)
			p.stop()
			if lines, bars := strings.Count(text.String(), "\n"), strings.Count(text.String(), "\r"); terminal && (lines != 0 || bars != 22) || !terminal && (lines != 1 || bars != 0) {
				t.Errorf("terminal %v: %d lines and %d redraws in 5.5 s: %q", terminal, lines, bars, text.String())
			}
		})
	}
	var quick bytes.Buffer // a run that is over before leaves nothing to wipe
	p := &progress{w: &quick, terminal: true, columns: 80, quit: make(chan struct{})}
	p.wg.Go(func() { p.tell(time.Hour) })
	if p.stop(); quick.Len() > 0 {
		t.Errorf("a run that told nothing left %q", quick.String())
	}
}

func TestSimProgressText(t *testing.T) {
	s := load.Stage{Count: 4, Seeds: 200, Duration: 30 * time.Second, Operations: 2000}
	now := load.Simulated{Runs: 800, Done: 68, Share: 0.25, Strategy: "decorrelated", Seed: 17, Now: 4200 * time.Millisecond, Totals: record.Totals{Succeeded: 1234, Arrivals: 56789}}
	for columns := range 200 {
		if line := barSimulated(s, now, 5*time.Second, columns); len(line) > max(0, columns-1) {
			t.Errorf("at %d columns the bar has %d: %q", columns, len(line), line)
		}
	}
	one, none := s, load.Simulated{Runs: 1}
	one.Count, one.Seeds = 1, 1
	alone := now
	alone.Runs, alone.Done = 1, 0
	for _, tt := range []struct{ name, got, want string }{
		{"bar", barSimulated(s, now, 5*time.Second, 150), "virtual time  25% [#######.......................] 15 s left, 68 of 800 runs over, decorrelated, seed 18 of 200, at 4.2s"},
		{"bar of one run", barSimulated(one, alone, 5*time.Second, 150), "virtual time  25% [#######.......................] 15 s left, decorrelated at 4.2s, 1234 of 2000 done, 56789 attempts"},
		{"bar where there is little room", barSimulated(s, now, 5*time.Second, 40), "virtual time  25% [##.......] 15 s left"},
		{"no bar where there is less", barSimulated(s, now, 5*time.Second, 32), "virtual time  25% 15 s left"},
		{"bar before anything", barSimulated(one, none, time.Second, 60), "virtual time   0% [..............................]"},
		{"line", sentenceSimulated(s, now, 5*time.Second), "virtual time: 25 % done, 15 s left; 68 of 800 runs over; decorrelated, seed 18 of 200, at 4.2s of at most 30s"},
		{"line of one run", sentenceSimulated(one, alone, 5*time.Second), "virtual time: 25 % done, 15 s left; decorrelated at 4.2s of at most 30s, 1234 of 2000 operations succeeded, 56789 attempts arrived"},
		{"line before anything", sentenceSimulated(one, none, time.Second), "virtual time: 0 % done"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %q, want %q", tt.name, tt.got, tt.want)
		}
	}
	real := load.Stage{Count: 4, Seed: 1, Seeds: 3, Strategy: "full", Duration: 30 * time.Second, Operations: 2000, Totals: func() record.Totals { return record.Totals{} }}
	if got := sentence(real, 15*time.Second); !strings.HasPrefix(got, "full (1 of 4), seed 2 of 3: 15 s") {
		t.Errorf("sentence = %q", got)
	}
	if got := bar(real, 15*time.Second, 80); !strings.HasPrefix(got, "full 2/3  50% [") {
		t.Errorf("bar = %q", got)
	}
}

// The help has every flag of the main job but those of a target elsewhere and of metrics under way, and the network's beside them.
func TestSimHelpAndCompletion(t *testing.T) {
	help := do(t.Context(), nil, "sim", "--help")
	if help.code != codePassed || help.err != "" || !strings.Contains(help.out, "Examples:") {
		t.Fatalf("code %d, stderr %q", help.code, help.err)
	}
	main := newRoot(world{})
	sim, _, err := main.Find([]string{"sim"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(flagNames(main), "latency", "loss") {
		f, known := plan.FieldNamed(name)
		want := !known && name != metricsFlag || known && f.Group.Has(plan.Virtual)
		if got := regexp.MustCompile(`--` + name + `\b`).MatchString(help.out); got != want && name != "version" {
			t.Errorf("--%s in the help: %v, want %v", name, got, want)
		}
		if sim.Flags().Lookup(name) == nil && name != "version" {
			t.Errorf("no flag --%s", name)
		}
	}
	if root := do(t.Context(), nil, "--help"); !strings.Contains(root.out, "  sim ") {
		t.Error("the help of stormtest does not list sim")
	}
	if got := do(t.Context(), nil, "__complete", "sim", "--model", ""); !strings.Contains(got.out, "occ") {
		t.Errorf("completion of --model: %q", got.out)
	}
}

// The examples of the help run.
func TestSimExamplesRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "storm.yaml"), []byte("clients: 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	main := newRoot(world{})
	sim, _, err := main.Find([]string{"sim"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(sim.Example) {
		args := strings.Fields(strings.ReplaceAll(line, "'", ""))[1:]
		for i, flag := range args { // smaller, as a test is
			if most := map[string]string{"--clients": "200", "--repeat": "3"}[flag]; most != "" {
				args[i+1] = most
			}
		}
		if got := do(t.Context(), nil, args...); got.code != codePassed {
			t.Errorf("%s: code %d, stderr %q", strings.TrimSpace(line), got.code, got.err)
		}
	}
}

// TestSimIsToldApart: its help has the exit codes and says what has no effect, a target elsewhere is refused for the reason
// that there is none, and real time does not offer the models that it refuses.
func TestSimIsToldApart(t *testing.T) {
	help := strings.Join(strings.Fields(do(t.Context(), nil, "sim", "--help").out), " ")
	for _, part := range []string{"Exit codes:", "no effect in virtual time", "A gate must hold in every one of them", "slots|token-bucket|reject-if-busy|occ"} {
		if !strings.Contains(help, part) {
			t.Errorf("the help of sim does not say %q", part)
		}
	}
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}} {
		help := do(t.Context(), nil, args...).out
		if !strings.Contains(help, "slots|token-bucket") || strings.Contains(help, "token-bucket|") {
			t.Errorf("%q offers a model of virtual time", args)
		}
	}
	if got := do(t.Context(), nil, "sim", "--http", "2"); got.code != codeUsage || !strings.Contains(got.err, "in virtual time: no request leaves this process") || strings.Contains(got.err, "URL") {
		t.Errorf("code %d, %q", got.code, got.err)
	}
	got := do(t.Context(), nil, "plan", "--latency", "1ms", "--loss", "1%", "--model", "occ")
	if n := strings.Count(got.err, "stormtest: note: for stormtest sim only: "); got.code != codePassed || n != 3 || strings.Count(got.err, "\n") != n {
		t.Errorf("code %d, %d notes of three fields: %q", got.code, n, got.err)
	}
}
