package validate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// textWidth is how wide the report is at most.
const textWidth = 80

// Text writes the report: every check by its group and subject, what failed once more at the end, and one
// line that sums it up. It is ASCII and at most 80 columns wide.
func (r Result) Text(w io.Writer, took time.Duration) error {
	var b strings.Builder
	groups := map[string]Group{RealGroup: {Name: RealGroup, Summary: realSummary, Source: sourceVirtual}}
	for _, g := range Groups() {
		groups[g.Name] = g
	}
	group, subject := "", ""
	for _, c := range r.Checks {
		if c.Group != group {
			group, subject = c.Group, ""
			wrapped(&b, "", group+": "+groups[group].Summary)
			wrapped(&b, "", "expected numbers from: "+groups[group].Source)
			fmt.Fprintln(&b, heading())
		}
		about, figure, ok := strings.Cut(c.Name, ": ")
		if !ok {
			about, figure = "", c.Name
		}
		if about != subject {
			subject = about
			if about != "" {
				if c.Source != groups[group].Source {
					about += " (" + c.Source + ")"
				}
				wrapped(&b, "  ", about)
			}
			wrapped(&b, noteIndent, c.About)
		}
		fmt.Fprintln(&b, c.row(figure))
		wrapped(&b, noteIndent, c.Note)
	}
	if r.Failed > 0 {
		fmt.Fprint(&b, "\nFailed:\n")
		for _, c := range r.Checks {
			if c.failed() {
				wrapped(&b, "  ", c.sentence())
				wrapped(&b, noteIndent, c.Note)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary(took))
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "µ", "u"))
	return err
}

// summary is the last line.
func (r Result) summary(took time.Duration) string {
	text := fmt.Sprintf("%d checks passed, %d failed", r.Passed, r.Failed)
	if r.NotJudged > 0 {
		text += fmt.Sprintf(", %d not judged as this machine was the bottleneck,", r.NotJudged)
	}
	text += fmt.Sprintf(" in %.0f s", took.Seconds())
	if r.Interrupted {
		text += fmt.Sprintf(", interrupted:\n%d of %d parts (a strategy of a group each) were not run", r.PartsNotRun, r.Parts)
	}
	return text
}

func heading() string {
	return fmt.Sprintf("%-36s%11s%20s%12s", "", "expected", "range", "got")
}

// row is one line of the table.
func (c Check) row(figure string) string {
	mark := "ok  "
	switch {
	case c.NotJudged:
		mark = "-   "
	case !c.OK:
		mark = "FAIL"
	}
	if c.Unit != "" {
		figure += ", " + c.Unit
	}
	return fmt.Sprintf("    %s %-27s%11s%20s%12s", mark, figure, c.number(c.Expected), c.reach(), c.got())
}

// reach is what passes, with as many digits as tell its ends apart.
func (c Check) reach() string {
	if c.Low == c.High {
		return "exactly"
	}
	low, high := number(c.Low), number(c.High)
	for decimals := 1; low == high && decimals <= 6; decimals++ {
		low, high = strconv.FormatFloat(c.Low, 'f', decimals, 64), strconv.FormatFloat(c.High, 'f', decimals, 64)
	}
	if low == high { // apart by the rounding of a sum alone
		return "exactly"
	}
	return low + ".." + high
}

func (c Check) got() string {
	if c.Got == nil {
		return "nothing"
	}
	return c.number(*c.Got)
}

// number writes a value of c; where only one passes, with all its digits.
func (c Check) number(x float64) string {
	if c.Low == c.High {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return number(x)
}

// sentence says how a check failed.
func (c Check) sentence() string {
	unit := ""
	if c.Unit != "" {
		unit = " " + c.Unit
	}
	return fmt.Sprintf("%s: %s = %s%s, want %s (%s), from: %s",
		c.Group, c.Name, c.got(), unit, c.number(c.Expected), c.reach(), c.Source)
}

// number writes x with four digits or more, never with an exponent, and in at most eight characters below a
// million.
func number(x float64) string {
	decimals := 4
	switch size := math.Abs(x); {
	case size >= 100_000:
		decimals = 0
	case size >= 100:
		decimals = 1
	case size >= 10:
		decimals = 2
	case size >= 1:
		decimals = 3
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// noteIndent puts a note below the name of its row.
const noteIndent = "         "

// wrapped writes a text in lines that begin with indent; from the second on three columns further right, unless
// it is a note.
func wrapped(b *strings.Builder, indent, text string) {
	line, more := "", indent
	if indent != noteIndent {
		more += "   "
	}
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > textWidth {
			fmt.Fprintln(b, indent+line)
			line, indent = "", more
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		fmt.Fprintln(b, indent+line)
	}
}
