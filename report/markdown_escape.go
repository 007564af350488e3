package report

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"stormtest/load/record"
)

// unmarked takes the marks of colour out of a text, and shortened bounds it.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, s)
}

// shortened cuts a text after so many characters.
func shortened(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

// Lengths of what stands in one part. A character takes up to 14 bytes (see apart), and each part has markdownPart.
const (
	sentenceMost = 400
	chainMost    = 1200 // where the attempts at the last of ten services came from
	gateMost     = 200
	nameMost     = 100
)

// runName is a run's strategy, not yet escaped.
func runName(run *record.Run) string { return clip(cmp.Or(clean(run.Strategy), "unnamed"), 40) }

func escapedName(run *record.Run) string { return escaped(runName(run)) }

func escapedAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = escaped(shortened(s, sentenceMost))
	}
	return out
}

// entity writes an ASCII character so that Markdown reads it as text and never as markup.
func entity(r rune) string { return fmt.Sprintf("&#%d;", r) }

// apart puts a character into an element of its own. GitHub looks for mentions, references, addresses, emoji
// and formulas in each text of the page that Markdown has become, which an entity or a backslash does not keep it from.
func apart(r rune) string { return "<span>" + string(r) + "</span>" }

// hexWord is what may be the name of a commit.
var hexWord = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)

// blockStart is what makes a list, a heading or a rule of a text that begins with it.
var blockStart = regexp.MustCompile(`^([-+]|[0-9]{1,9}[.)])( |$)|^(-{2,}|=+) *$`)

// escaped writes a clean text, in one line, as Markdown that shows it as it is, in running text and in a
// table.
func escaped(s string) string {
	var b strings.Builder
	rest := s
	if blockStart.MatchString(s) {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		b.WriteString(s[:digits] + `\` + s[digits:digits+1])
		rest = s[digits+1:]
	}
	from := 0
	for _, at := range hexWord.FindAllStringIndex(rest, -1) {
		word := rest[at[0]:at[1]]
		if strings.Trim(word, "0123456789") == "" {
			continue // a number
		}
		escapeInto(&b, rest[from:at[0]])
		b.WriteString("`" + word + "`")
		from = at[1]
	}
	escapeInto(&b, rest[from:])
	return b.String()
}

// escapeInto writes a part of a text.
func escapeInto(b *strings.Builder, s string) {
	for i, r := range s {
		before, after := s[:i], s[i+1:]
		switch r {
		case '*', '_', '[', ']', '~':
			b.WriteString(`\` + string(r))
		case '<', '>', '&', '|', '\\', '`':
			b.WriteString(entity(r))
		case '@', '#', '$':
			b.WriteString(apart(r))
		case ':':
			if after != "" && after[0] != ' ' {
				b.WriteString(apart(r))
				continue
			}
			b.WriteRune(r)
		case '.', '-':
			if r == '.' && hasSuffixFold(before, "www") || r == '-' && hasSuffixFold(before, "gh") {
				b.WriteString(apart(r))
				continue
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// code shows a clean text in the type of code, in running text and in a table. Nothing in code is looked at for
// mentions and their like.
func code(s string) string {
	if s == "" {
		return none
	}
	if !strings.ContainsAny(s, "`|\\") {
		return "`" + s + "`"
	}
	return codeHTML(s)
}

// codeHTML is code also where Markdown is not read, as in the summary of a fold.
func codeHTML(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && r != ' ' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteString(entity(r))
			continue
		}
		b.WriteRune(r)
	}
	return "<code>" + b.String() + "</code>"
}

// fenced is a block of code with a line feed at its end. Its fence is longer than any in the text.
func fenced(language, text string) string {
	fence, longest, run := "```", 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest >= len(fence) {
		fence = strings.Repeat("`", longest+1)
	}
	return fence + language + "\n" + text + "\n" + fence + "\n"
}

// printableJSON spells in JSON's own way the characters of its strings that do not print.
func printableJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
