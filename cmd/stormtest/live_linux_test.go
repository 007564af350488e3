package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// A screen is what a pseudo-terminal shows of a program.
type screen struct {
	t       *testing.T
	control *os.File
	cmd     *exec.Cmd
	raw     bytes.Buffer
	shown   *vt.Emulator
	out     bytes.Buffer // stdout, where that is no terminal
}

// onScreen starts the program with stderr on a terminal of its own, which is the one that its Ctrl-C comes from.
// Where both is set stdout is there too.
func onScreen(t *testing.T, columns, rows uint16, both bool, args ...string) *screen {
	t.Helper()
	control, terminal := openTerminal(t, columns)
	s := &screen{t: t, control: control, cmd: program(t, args...), shown: vt.NewEmulator(int(columns), int(rows))}
	t.Cleanup(func() { _ = s.shown.Close() })
	s.resize(columns, rows)
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=", "COLORTERM=", "TMUX=", "TERM_PROGRAM=")
	s.cmd.Stdin, s.cmd.Stderr = terminal, terminal
	if s.cmd.Stdout = &s.out; both {
		s.cmd.Stdout = terminal
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	t.Cleanup(func() { _ = terminal.Close() })
	return s
}

// start starts the program, once its environment is as it should be.
func (s *screen) start() {
	s.t.Helper()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Stdin.(*os.File).Close() // so that the end of the program is the end of what can be read
}

func (s *screen) resize(columns, rows uint16) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.control.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		s.t.Fatal(err)
	}
	s.shown.Resize(int(columns), int(rows))
}

// until reads what the program writes until the screen matches, or to its end, and says which.
func (s *screen) until(match string) bool {
	s.t.Helper()
	pattern := regexp.MustCompile(match)
	chunk := make([]byte, 4096)
	for {
		n, err := s.control.Read(chunk)
		s.raw.Write(chunk[:n])
		_, _ = s.shown.Write(chunk[:n])
		if match != "" && pattern.MatchString(s.text()) {
			return true
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) { // the other side is closed
			return false
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// text is the screen without the blanks at the ends of its lines.
func (s *screen) text() string {
	var lines []string
	for line := range strings.SplitSeq(s.shown.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// end reads to the end of the program and returns its exit code.
func (s *screen) end() int {
	s.t.Helper()
	s.until("")
	err := s.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return 0
}

// asks is what a terminal answers to, or remembers. Its answers nobody would read, and what it remembers nobody would
// put right where the program is killed.
var asks = regexp.MustCompile(`\x1b\[(\?(1049|2004|1000|1002|1003|1004|1006|2026|2027|47|1047)[hl]|[>?=]?[0-9;]*[cnuq]|\?[0-9]+\$p|>[0-9;]*m|[0-9;]*r)|\x1b\]|\x1bP`)

// checkPlain: nothing was asked of the terminal, and its cursor is to be seen. The shape of the cursor may change.
func (s *screen) checkPlain() {
	s.t.Helper()
	for _, found := range asks.FindAllString(s.raw.String(), -1) {
		if !regexp.MustCompile(`^\x1b\[[0-9] ?q$`).MatchString(found) {
			s.t.Errorf("the terminal is asked for %q", found)
		}
	}
	if s.shown.CursorHidden() {
		s.t.Error("the cursor is hidden")
	}
}

// storming is a storm that is over after a while.
func storming(more ...string) []string {
	return append([]string{"--clients", "200", "--capacity", "100/s", "--duration", "1200ms", "--outage", "0s..300ms", "--seed", "1"}, more...)
}

// On a terminal the arrivals are drawn while the storm runs, at every size, and are gone at its end: what comes
// after stands in their place.
func TestTheLiveView(t *testing.T) {
	colours := regexp.MustCompile(`\x1b\[3[1-6]m|\x1b\[2m`)
	for _, tt := range []struct {
		name          string
		columns, rows uint16
		env           string
		args          []string
		want          string // on the screen at some time
		colour        bool
	}{
		{"80 columns", 80, 24, "", nil, `(?s)^full, 2 of 2 strategies +\d\.\d s of 1\.2 s, \d\.\d s left\narrived \d.* capacity ──.*outage +━+\n.*█ retries, ▒ first`, true},
		{"200 columns, no colour", 200, 50, "NO_COLOR=1", nil, `(?sm)\Afull, 2 of 2 .*▒.*─ capacity 10\.0$`, false},
		{"50 columns, ASCII", 50, 12, "", []string{"--ascii"}, `(?s)^full, 2 of 2 .*o.*-- capacity --.*outage +=+`, true},
		{"another locale", 80, 24, "LANG=C", nil, `(?s)^full, 2 of 2 .*o.*-- capacity --`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := onScreen(t, tt.columns, tt.rows, false, storming(append(tt.args, "--strategy", "none,full", "--json", "-")...)...)
			s.cmd.Env = append(s.cmd.Env, tt.env)
			s.start()
			if !s.until(tt.want) {
				t.Errorf("the screen never was %s; at last\n%s\n%.3000q", tt.want, s.text(), s.raw.String())
			}
			if code := s.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if text := s.text(); text != "" || s.shown.CursorPosition().X != 0 || s.shown.CursorPosition().Y != 0 {
				t.Errorf("it leaves, with the cursor at %v:\n%s", s.shown.CursorPosition(), text)
			}
			s.checkPlain()
			if coloured := colours.MatchString(s.raw.String()); coloured != tt.colour {
				t.Errorf("colour is %t", coloured)
			}
			if !strings.HasPrefix(s.out.String(), "{") {
				t.Errorf("stdout is %.100q", s.out.String())
			}
		})
	}
}

// The report stands where the picture stood, under what was there before.
func TestTheReportTakesThePlaceOfTheView(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 100, 120, true, storming()...)
	s.start()
	if !s.until(`^full +\d\.\d s of`) {
		t.Errorf("there was no picture:\n%s", s.text())
	}
	s.end()
	if !regexp.MustCompile(`^(full|INVALID) +\S`).MatchString(s.text()) || !strings.Contains(s.text(), "Repeat it") || strings.Contains(s.text(), " s left") {
		t.Errorf("the report does not begin where the picture did:\n%s", s.text())
	}
}

// Ctrl-C ends the run as ever: the terminal makes the signal of it, as its modes are untouched. What is typed does
// no harm, and what a terminal that became too small shows is one line.
func TestTheLiveViewLeavesTheTerminalAlone(t *testing.T) {
	t.Run("Ctrl-C", func(t *testing.T) {
		t.Parallel()
		s := onScreen(t, 80, 24, false, "--clients", "200", "--capacity", "100/s", "--duration", "60s", "--seed", "1", "--json", "-")
		s.start()
		if !s.until(`(?s)^full .* s left\narrived .*capacity`) {
			t.Fatalf("there was no picture:\n%s", s.text())
		}
		if _, err := s.control.WriteString("abc"); err != nil {
			t.Fatal(err)
		}
		s.resize(30, 24)
		if !s.until(`(?m)^full +\d+% \[#*\.+\]`) {
			t.Errorf("a terminal that became small has no bar:\n%s", s.text())
		}
		s.resize(80, 24)
		if !s.until(`(?m)^full  .* s left$`) {
			t.Errorf("a terminal that became large again has no picture:\n%s", s.text())
		}
		if _, err := s.control.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		if code := s.end(); code != 130 || !strings.Contains(s.out.String(), `"interrupted": true`) {
			t.Errorf("exit code %d, stdout %.100q", code, s.out.String())
		}
		if text := s.text(); strings.Contains(text, "left") || strings.Contains(text, "│") {
			t.Errorf("it leaves:\n%s", text)
		}
		s.checkPlain()
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		s := onScreen(t, 80, 24, false, "--clients", "50", "--capacity", "100/s", "--duration", "60s", "--seed", "1")
		s.start()
		if !s.until(`(?s)^full .* s left\narrived .*capacity`) {
			t.Fatalf("there was no picture:\n%s", s.text())
		}
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if code := s.end(); code != 128+9 {
			t.Errorf("exit code %d", code)
		}
		s.checkPlain()
		if y := s.shown.CursorPosition().Y; y != strings.Count(s.text(), "\n")+1 {
			t.Errorf("the cursor is in line %d of\n%s", y, s.text())
		}
	})
}

// How progress is told can be chosen, and a terminal that can do less shows less.
func TestHowProgressIsTold(t *testing.T) {
	const view, line = `arrived \d`, `full  ?[ 0-9]{3}% `
	for _, tt := range []struct {
		name string
		env  string
		args []string
		want string // in what is written; empty is nothing at all
		not  string
	}{
		{"auto", "", nil, view, line},
		{"by the environment", "STORMTEST_PROGRESS=bar", nil, line, view},
		{"a flag before it", "STORMTEST_PROGRESS=none", []string{"--progress", "live"}, view, line},
		{"bar", "", []string{"--progress=bar"}, line, view},
		{"lines", "", []string{"--progress=lines"}, "", ""},
		{"none", "", []string{"--progress=none"}, "", ""},
		{"quiet", "", []string{"--progress=live", "--quiet"}, "", ""},
		{"a dumb terminal", "TERM=dumb", []string{"--progress=live"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := onScreen(t, 80, 24, false, storming(tt.args...)...)
			s.cmd.Env = append(s.cmd.Env, tt.env)
			s.start()
			if code := s.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			switch raw := s.raw.String(); {
			case tt.want == "" && raw != "":
				t.Errorf("%.300q is written", raw)
			case tt.want != "" && (!regexp.MustCompile(tt.want).MatchString(raw) || regexp.MustCompile(tt.not).MatchString(raw)):
				t.Errorf("%.600q has no %s, or %s", raw, tt.want, tt.not)
			}
		})
	}
	if got := do(t.Context(), nil, small("--progress", "loud")...); got.code != codeUsage || !strings.Contains(got.err, `--progress: "loud": want one of auto, live, bar, lines, none`) {
		t.Errorf("code %d: %s", got.code, got.err)
	}
}

// A trace on the terminal and a picture there would be a mess: progress is lines then.
func TestNoViewBesideAStream(t *testing.T) {
	t.Parallel()
	s := onScreen(t, 80, 24, true, storming("--trace", "-")...)
	s.start()
	s.end()
	if raw := s.raw.String(); strings.Contains(raw, "\x1b") || !strings.Contains(raw, "200") {
		t.Errorf("%.300q", raw)
	}
}
