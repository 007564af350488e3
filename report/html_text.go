package report

import (
	"strings"
)

// An htmlText is text with the marks of the terminal report, which become elements.
type htmlText string

// An htmlSpan is a part of a text in one style.
type htmlSpan struct{ Class, Text string }

// markClasses are the classes of the marks, in their order; the first ends a style.
var markClasses = [marksEnd - markPlain]string{"", "b", "bad", "good", "warn", "note", "faint"}

// richText splits a text at its marks.
func richText(text htmlText) []htmlSpan {
	var list []htmlSpan
	class := ""
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			list = append(list, htmlSpan{class, b.String()})
			b.Reset()
		}
	}
	for _, r := range string(text) {
		if isMark(r) {
			flush()
			class = markClasses[r-markPlain]
			continue
		}
		b.WriteRune(r)
	}
	flush()
	return list
}

// plainText is a text without its marks.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, text)
}

// bullet begins a saying that goes on with the one before it.
const bullet = "* "

// htmlFacts makes facts of what is written in the terminal report: a saying without a head that begins with a
// bullet is a point of the fact before it.
func htmlFacts(write func(*page)) []htmlFact {
	var list []htmlFact
	for _, s := range said(write) {
		point, isPoint := strings.CutPrefix(s.text, bullet)
		if isPoint && s.head == "" && len(list) > 0 {
			last := &list[len(list)-1]
			last.Points = append(last.Points, htmlText(point))
			continue
		}
		list = append(list, htmlFact{Head: htmlText(s.head), Text: htmlText(s.text)})
	}
	return list
}
