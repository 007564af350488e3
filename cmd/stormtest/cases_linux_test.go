package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns a pseudo-terminal of the given width: its controlling side, and the one
// that a program writes to.
func openTerminal(t *testing.T, columns uint16) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return control, terminal
}

// D-20: on a terminal of 20 columns no line is longer, be it of the report or of the progress
// bar; one of 0 columns is taken for one of 80.
func TestNarrowTerminals(t *testing.T) {
	codes := regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	for columns, width := range map[uint16]int{20: 20, 0: 80} {
		t.Run(strconv.Itoa(int(columns)), func(t *testing.T) {
			control, terminal := openTerminal(t, columns)
			cmd := program(t, "--clients", "20", "--duration", "700ms", "--capacity", "0", "--seed", "1")
			cmd.Env = append(cmd.Env, "TERM=xterm", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = terminal.Close()
			var text bytes.Buffer
			if _, err := io.Copy(&text, control); err != nil && !errors.Is(err, syscall.EIO) { // the other side is closed
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v:\n%s", err, text.String())
			}
			if !strings.Contains(text.String(), "\r\x1b[K") || strings.Contains(text.String(), "goroutine") {
				t.Errorf("no progress bar, or a stack trace: %q", text.String())
			}
			longest := 0
			for _, line := range strings.FieldsFunc(codes.ReplaceAllString(text.String(), ""), func(r rune) bool { return r == '\r' || r == '\n' }) {
				longest = max(longest, len([]rune(line)))
				if len([]rune(line)) > width {
					t.Errorf("a line of %d: %q", len([]rune(line)), line)
				}
			}
			if longest < width/2 {
				t.Errorf("the longest line has %d: nothing was drawn", longest)
			}
		})
	}
}
