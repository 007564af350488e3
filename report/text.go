package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stormtest/report/literal"
)

// Marks inside a line that take no cell. They are private-use characters, which clean removes from
// every string of a result, so that only this package can place them.
const (
	markPlain  = '\uE000' // ends a colour
	markBold   = '\uE001'
	markRed    = '\uE002'
	markGreen  = '\uE003'
	markYellow = '\uE004'
	markBlue   = '\uE005'
	markFaint  = '\uE006'
	marksEnd   = '\uE007' // exclusive
)

// nbsp joins a number with its unit; the page writes it as a blank.
const nbsp = '\u00a0'

// sgr is the escape sequence of each mark, in their order.
var sgr = [marksEnd - markPlain]string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[2m"}

func isMark(r rune) bool { return r >= markPlain && r < marksEnd }

// styled puts s between a mark and its end.
func styled(mark rune, s string) string { return string(mark) + s + string(markPlain) }

// clean makes a string of a result safe to show; private-use characters, the marks above, are spelled out.
func clean(s string) string { return literal.Text(s) }

// asciiText spells what this package and the engines write in Unicode.
var asciiText = strings.NewReplacer("–", "-", "—", "-", "−", "-", "─", "-", "━", "=", "×", "x", "µ", "u", "μ", "u", "·", "*",
	"≤", "<=", "≥", ">=", "…", "...", "‘", "'", "’", "'", "“", `"`, "”", `"`, "→", "->", "█", "#", "▒", "o")

// toASCII leaves 0x20..0x7e, the marks and nbsp; a character that has no spelling becomes "?".
func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r <= '~' || isMark(r) || r == nbsp {
			return r
		}
		return '?'
	}, asciiText.Replace(s))
}

// wideRanges holds the characters that terminals draw in two cells, rounded up to whole blocks:
// a line may come out shorter than counted, never longer.
var wideRanges = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x11ff, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23f3, 1}, {0x25fd, 0x25fe, 1}, {0x2600, 0x27bf, 1},
		{0x2b00, 0x2bff, 1}, {0x2e80, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7ff, 1}, {0xf900, 0xfaff, 1}, {0xfe10, 0xfe6f, 1}, {0xff00, 0xffef, 1},
	},
	R32: []unicode.Range32{{0x16fe0, 0x18dff, 1}, {0x1aff0, 0x1b2ff, 1}, {0x1d300, 0x1d37f, 1}, {0x1f000, 0x1faff, 1}, {0x20000, 0x3ffff, 1}},
}

// cellsOf is how many cells a terminal gives to r. Combining marks are counted as one: terminals
// differ, and a line must not become longer than counted.
func cellsOf(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case isMark(r):
		return 0
	case unicode.Is(wideRanges, r):
		return 2
	}
	return 1
}

// cells is the width of s on a terminal.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

// padRight fills s with blanks up to width cells; padLeft puts them before it.
func padRight(s string, width int) string { return s + strings.Repeat(" ", max(0, width-cells(s))) }
func padLeft(s string, width int) string  { return strings.Repeat(" ", max(0, width-cells(s))) + s }

// clip cuts s to width cells and marks the cut.
func clip(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	head, _ := cutCells(s, width-1)
	return head + "~"
}

// cutCells splits s after at most width cells.
func cutCells(s string, width int) (head, tail string) {
	n := 0
	for i, r := range s {
		if n += cellsOf(r); n > width {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// wrap breaks text at blanks into lines of at most width cells, and a word that is longer
// wherever it must. A character that is wider than a line becomes "?".
func wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	line, used := "", 0
	flush := func() {
		if line != "" {
			lines = append(lines, line)
		}
		line, used = "", 0
	}
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, string(nbsp), string(joiner))) {
		n := cells(word)
		if used > 0 && used+1+n > width {
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for n > width {
			head, tail := cutCells(word, width)
			if head == "" {
				_, size := utf8.DecodeRuneInString(word)
				head, tail = "?", word[size:]
			}
			lines = append(lines, head)
			word, n = tail, cells(tail)
		}
		line, used = line+word, used+n
	}
	flush()
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], string(joiner), " ")
	}
	return lines
}

// joiner stands for nbsp while wrap looks for blanks, for which nbsp would pass.
const joiner = '\uE007'
