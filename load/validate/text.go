package validate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// textWidth is how wide the report is at most, but for what the reference writes longer.
const textWidth = 80

// Text writes the report: every check by its group and subject, what failed once more at the end, and one
// line that sums it up. It is ASCII and at most 80 columns wide.
func (r Result) Text(w io.Writer, took time.Duration) error {
	var b strings.Builder
	summaries := map[string]string{RealGroup: realSummary}
	for _, g := range Groups() {
		summaries[g.Name] = g.Summary
	}
	group, subject := "", ""
	for _, c := range r.Checks {
		if c.Group != group {
			group, subject = c.Group, ""
			fmt.Fprintf(&b, "%s: %s\n%s\n", group, summaries[group], heading())
		}
		about, figure, ok := strings.Cut(c.Name, ": ")
		if !ok {
			about, figure = "", c.Name
		}
		if about != subject {
			subject = about
			if about != "" {
				fmt.Fprintf(&b, "  %s (%s)\n", about, c.Source)
			}
		}
		fmt.Fprintln(&b, c.row(figure))
		wrapped(&b, c.Note)
	}
	if r.Failed > 0 {
		fmt.Fprint(&b, "\nFailed:\n")
		for _, c := range r.Checks {
			if !c.OK {
				fmt.Fprintln(&b, c.sentence())
				wrapped(&b, c.Note)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary(took))
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "µ", "u"))
	return err
}

// summary is the last line.
func (r Result) summary(took time.Duration) string {
	if r.Interrupted {
		return "interrupted: nothing was checked"
	}
	return fmt.Sprintf("%d checks passed, %d failed in %.0f s", r.Passed, r.Failed, took.Seconds())
}

func heading() string {
	return fmt.Sprintf("%-36s%11s%20s%12s", "", "expected", "range", "got")
}

// row is one line of the table.
func (c Check) row(figure string) string {
	mark := "ok  "
	if !c.OK {
		mark = "FAIL"
	}
	if c.Unit != "" {
		figure += ", " + c.Unit
	}
	return fmt.Sprintf("    %s %-27s%11s%20s%12s", mark, figure, c.number(c.Expected), c.reach(), c.got())
}

// reach is what passes.
func (c Check) reach() string {
	if c.Low == c.High {
		return "exactly"
	}
	return number(c.Low) + ".." + number(c.High)
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
	return fmt.Sprintf("  %s: %s = %s%s, want %s (%s), reference %s",
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

// wrapped writes a note below its row.
func wrapped(b *strings.Builder, note string) {
	const indent = "         "
	line := ""
	for _, word := range strings.Fields(note) {
		if line != "" && len(indent)+len(line)+1+len(word) > textWidth {
			fmt.Fprintln(b, indent+line)
			line = ""
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
