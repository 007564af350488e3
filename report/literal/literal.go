// Package literal makes strings of a result safe to show. A result may have been written by anybody, so what it
// holds is shown as it is and never obeyed.
package literal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RunesMax bounds a text taken from a result.
const RunesMax = 600

// Text makes a string of a result safe to show: line breaks and every other blank become one
// blank, all that does not print (control and format characters, ESC, private use, broken
// UTF-8) is spelled out as \x1b or \u202e, and what goes past RunesMax characters is cut off. What it
// returns is valid UTF-8.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	runes := 0
	for i, r := range s {
		if runes++; runes > RunesMax {
			b.WriteString("...")
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return strings.TrimSpace(b.String())
}

// isPlain reports whether Text has nothing to do.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= RunesMax && strings.TrimSpace(s) == s
}
