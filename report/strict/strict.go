// Package strict reads what a format of package report wrote, as strictly as the format's grammar allows,
// and tells what a reader of it is shown. It is for tests of the formats alone: the program does not use it.
package strict

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Content is what a document holds.
type Content struct {
	// Text is all that a person reads in it, in its order, without the format's own marks: the cells of a CSV, the text
	// between the tags of a page. A document that is a picture has none.
	Text string
	// Data is what programs read in it beside the text, such as the JSON inside a page or the values of attributes.
	Data string
	// Structure is what elements the document is made of, each with the names of its attributes, sorted and each once:
	// what a text must not change. It is empty for a format without markup.
	Structure []string
}

// readers holds a reader for each format, by its flag; the terminal's report has none.
var readers = map[string]func([]byte) (Content, error){
	"":            terminal,
	"json":        readJSON,
	"csv":         readCSV,
	"html":        readHTML,
	"svg":         readSVG,
	"png":         readPNG,
	"markdown":    readMarkdown,
	"junit":       readXML,
	"prom":        readMetrics,
	"openmetrics": readOpenMetrics,
}

// Knows reports whether there is a reader for the format of the flag.
func Knows(flag string) bool { return readers[flag] != nil }

// Read reads a document of the format of the flag. An error says where the document breaks its grammar, or what
// it holds that no report may hold.
func Read(flag string, document []byte) (Content, error) {
	read := readers[flag]
	if read == nil {
		return Content{}, fmt.Errorf("strict: no reader for --%s", flag)
	}
	c, err := read(document)
	if err == nil {
		err = plainText(c.Text)
	}
	if err != nil {
		return c, fmt.Errorf("strict: --%s: %w", flag, err)
	}
	return c, nil
}

// An absence is how a figure that is none may stand in a document.
type absence struct {
	parts []string // of which one is in every match: a quick look before the slow one
	match *regexp.Regexp
}

// words are the figures that are none; the other two the number that stands for one. In what people read a comma
// may stand before three digits more.
var (
	words = absence{
		[]string{"NaN", "nan", "NAN", "Inf", "inf", "INF", "undefined"},
		regexp.MustCompile(`\b(NaN|nan|NAN|[Ii]nf|INF|[Ii]nfinity|INFINITY|undefined)\b`),
	}
	minusOne    = absence{[]string{"-1"}, regexp.MustCompile(`(^|[\s,:=(\[])-1($|[\s)\]}]|,($|\D))`)}
	minusOneRaw = absence{[]string{"-1"}, regexp.MustCompile(`(^|[\s,:=(\[])-1($|[\s,)\]}])`)}
)

// in returns where text has such a figure; empty where nowhere.
func (a absence) in(text string) string {
	if !slices.ContainsFunc(a.parts, func(part string) bool { return strings.Contains(text, part) }) {
		return ""
	}
	at := a.match.FindStringIndex(text)
	if at == nil {
		return ""
	}
	return text[max(0, at[0]-40):min(len(text), at[1]+40)]
}

// NoNumber returns where the content has the word of a figure that is none, or -1 for one; empty where nowhere.
func (c Content) NoNumber() string {
	return cmp.Or(c.NoWord(), minusOne.in(c.Text), minusOneRaw.in(c.Data))
}

// NoWord is NoNumber for documents in which a figure may well be -1, such as those of differences.
func (c Content) NoWord() string { return cmp.Or(words.in(c.Text), words.in(c.Data)) }

// plainText: what people read is UTF-8 without control characters, and nothing turns its direction.
func plainText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("the text is not UTF-8")
	}
	at := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\u00ad' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
	})
	if at >= 0 {
		return fmt.Errorf("the text holds %+q", text[max(0, at-20):min(len(text), at+20)])
	}
	return nil
}

// terminal is text as it is.
func terminal(document []byte) (Content, error) { return Content{Text: string(document)}, nil }

// sorted is a set of elements as Content has it.
func sorted(set map[string]bool) []string {
	var list []string
	for element := range set {
		list = append(list, element)
	}
	slices.Sort(list)
	return list
}
