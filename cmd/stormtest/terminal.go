package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"stormtest/report"
)

// widthDefault is for what is no terminal, or one that does not say how wide it is.
const widthDefault = 80

// terminalOptions says how to draw on standard output.
func terminalOptions(w world, ascii bool) report.Options {
	o := report.Options{Width: widthDefault, ASCII: ascii || value(w.env, "TERM") == "dumb"}
	columns, isTerminal := terminalWidth(w.out)
	if !isTerminal {
		return o
	}
	if columns > 0 {
		o.Width = columns
	}
	o.ASCII = o.ASCII || !unicodeLocale(w.env)
	o.Color = value(w.env, "NO_COLOR") == "" && value(w.env, "TERM") != "dumb"
	return o
}

// terminalWidth returns the columns of a terminal (0 where it does not know), or false for
// anything else.
func terminalWidth(w io.Writer) (columns int, isTerminal bool) {
	columns, _, isTerminal = terminalSize(w)
	return columns, isTerminal
}

// terminalSize is terminalWidth with the rows beside it.
func terminalSize(w io.Writer) (columns, rows int, isTerminal bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0, true
	}
	return columns, rows, true
}

// unicodeLocale reports whether the locale's characters are Unicode. Where nothing is set,
// they are taken to be.
func unicodeLocale(env []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(value(env, name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// value returns the last value of a name in the environment, empty where there is none.
func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if n, v, _ := strings.Cut(env[i], "="); n == name {
			return v
		}
	}
	return ""
}
