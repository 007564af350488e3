package report

import (
	"bufio"
	"io"
	"strings"
)

// widthUnknown is the width of a page when the terminal's is not known.
const widthUnknown = 80

// proseMost bounds the lines of running text: longer ones are hard to read.
const proseMost = 110

// A page writes lines of at most width cells. Its methods return no error; flush does.
// Not safe for concurrent use.
type page struct {
	out   *bufio.Writer
	width int
	ascii bool
	color bool
	gap   bool // the last line was empty, or there is none yet
	// keep takes what para would write, with its marks; nil where lines are written. So other
	// formats say the same sentences as the terminal.
	keep func(head, text string)
}

// said returns what write says in paragraphs and facts, one after the other.
func said(write func(*page)) []saying {
	var list []saying
	write(&page{out: bufio.NewWriter(io.Discard), width: 1 << 20, keep: func(head, text string) {
		list = append(list, saying{strings.TrimSpace(head), text})
	}})
	return list
}

// A saying is one paragraph: a head, which may be empty, and its text, both with marks.
type saying struct{ head, text string }

func newPage(w io.Writer, o Options) *page {
	if o.Width <= 0 {
		o.Width = widthUnknown
	}
	return &page{out: bufio.NewWriter(w), width: o.Width, ascii: o.ASCII, color: o.Color, gap: true}
}

func (p *page) flush() error { return p.out.Flush() }

// blank writes an empty line, unless the last one was empty.
func (p *page) blank() {
	if !p.gap {
		p.emit("")
	}
}

// narrow says that tables and charts with labels do not fit.
func (p *page) narrow() bool { return p.width < 40 }

// line writes one line as it is, blanks included. One that does not fit is wrapped.
func (p *page) line(s string) {
	s = p.spell(s)
	if cells(s) <= p.width {
		p.emit(s)
		return
	}
	for _, part := range wrap(s, p.width) {
		p.emit(part)
	}
}

// para writes running text after a head, with the lines below indented to the text's left edge:
//
//	head  Text that goes on
//	      and on.
//
// indent is the cells of head and the gap. Where the text would get less than half of the page,
// the head stands on a line of its own.
func (p *page) para(head string, indent int, text string) {
	if p.keep != nil {
		p.keep(head, text)
		return
	}
	head, text = p.spell(head), p.spell(text)
	if indent*2 > p.width || cells(head) >= indent && head != "" {
		for _, part := range wrap(head, p.width) {
			p.emit(part)
		}
		head, indent = "", min(2, p.width/10)
	}
	for _, part := range wrap(text, min(p.width, proseMost)-indent) {
		p.emit(padRight(head, indent) + part)
		head = ""
	}
}

// spell brings s into the page's character set.
func (p *page) spell(s string) string {
	if p.ascii {
		return toASCII(s)
	}
	return s
}

// emit writes a line and resolves its marks. What does not fit is cut off.
func (p *page) emit(s string) {
	if cells(s) > p.width {
		s, _ = cutCells(s, p.width)
	}
	p.gap = s == ""
	open := false
	for _, r := range strings.TrimRight(s, " "+string(nbsp)) {
		switch {
		case r == nbsp:
			_ = p.out.WriteByte(' ') // a bufio.Writer keeps its error for Flush
		case !isMark(r):
			_, _ = p.out.WriteRune(r)
		case p.color:
			open = r != markPlain
			_, _ = p.out.WriteString(sgr[r-markPlain])
		}
	}
	if open {
		_, _ = p.out.WriteString(sgr[0])
	}
	_ = p.out.WriteByte('\n')
}
