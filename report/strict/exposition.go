package strict

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An exposition is a document of metrics that is being read.
type exposition struct {
	open     bool // OpenMetrics
	families map[string]bool
	series   map[string]bool
	family   family
}

// A family is the one whose samples are read.
type family struct {
	name, kind string
	group      string // the labels of the histogram or summary that is read
	le         float64
	below      float64 // the last bucket's count
	samples    int
}

// checkExposition reads Prometheus' text format, or OpenMetrics, and beyond its grammar asks for what promtool and
// OpenMetrics do: a family stands once, with its type before its samples; no series twice; counts are cumulative.
func checkExposition(document []byte, open bool) error {
	text := string(document)
	switch {
	case !utf8.Valid(document):
		return errors.New("not UTF-8")
	case !open && text == "":
		return nil
	case !strings.HasSuffix(text, "\n"):
		return errors.New("the last line does not end")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if open {
		if lines[len(lines)-1] != "# EOF" {
			return errors.New("no # EOF at the end")
		}
		lines = lines[:len(lines)-1]
	}
	e := exposition{open: open, families: map[string]bool{}, series: map[string]bool{}}
	for i, line := range lines {
		if err := e.line(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return e.end()
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelPair  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"`)
	unescape   = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")
)

func (e *exposition) line(line string) error {
	rest, comment := strings.CutPrefix(line, "# ")
	if !comment {
		return e.sample(line)
	}
	word, rest, _ := strings.Cut(rest, " ")
	name, text, _ := strings.Cut(rest, " ")
	if !metricName.MatchString(name) {
		return fmt.Errorf("%q is no name", name)
	}
	switch word {
	case "HELP":
		return e.begin(name)
	case "TYPE":
		if name != e.family.name || e.family.kind != "" {
			if err := e.begin(name); err != nil {
				return err
			}
		}
		if !slices.Contains([]string{"gauge", "counter", "histogram", "summary"}, text) {
			return fmt.Errorf("%q is no type", text)
		}
		if text == "counter" && e.open == strings.HasSuffix(name, "_total") {
			return fmt.Errorf("the counter %s", name)
		}
		e.family.kind = text
	case "UNIT":
		if !e.open || name != e.family.name || e.family.samples > 0 || !strings.HasSuffix(name, "_"+text) {
			return fmt.Errorf("the unit %q of %s", text, name)
		}
	default:
		return fmt.Errorf("%q is no word after #", word)
	}
	return nil
}

// begin ends a family and begins the next.
func (e *exposition) begin(name string) error {
	if err := e.end(); err != nil {
		return err
	}
	if e.families[name] {
		return fmt.Errorf("the family %s stands twice", name)
	}
	e.families[name] = true
	e.family = family{name: name}
	return nil
}

// end checks that the family is whole.
func (e *exposition) end() error {
	f := &e.family
	switch {
	case f.name == "":
		return nil
	case f.kind == "":
		return fmt.Errorf("%s has no type", f.name)
	case f.samples == 0:
		return fmt.Errorf("%s has no sample", f.name)
	}
	return nil
}

func (e *exposition) sample(line string) error {
	at := strings.IndexAny(line, "{ ")
	if at < 0 {
		return fmt.Errorf("%q is no sample", line)
	}
	name, rest := line[:at], line[at:]
	labels, rest, err := labelsOf(rest)
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(strings.TrimPrefix(rest, " "), 64)
	if err != nil || !strings.HasPrefix(rest, " ") {
		return fmt.Errorf("%q is no value of %s", rest, name)
	}
	e.family.samples++
	if key := fmt.Sprintf("%s%q", name, labels); e.series[key] {
		return fmt.Errorf("%s stands twice", key)
	} else {
		e.series[key] = true
	}
	return e.fits(name, labels, value)
}

// labelsOf reads {a="b",c="d"}, which may be missing.
func labelsOf(text string) (labels [][2]string, rest string, err error) {
	rest, there := strings.CutPrefix(text, "{")
	for there {
		m := labelPair.FindStringSubmatch(rest)
		if m == nil {
			return nil, "", fmt.Errorf("%q are no labels", rest)
		}
		if slices.ContainsFunc(labels, func(l [2]string) bool { return l[0] == m[1] }) {
			return nil, "", fmt.Errorf("the label %s twice", m[1])
		}
		labels = append(labels, [2]string{m[1], unescape.Replace(m[2])})
		rest = rest[len(m[0]):]
		if end, ended := strings.CutPrefix(rest, "}"); ended {
			return labels, end, nil
		}
		if rest, there = strings.CutPrefix(rest, ","); !there {
			return nil, "", fmt.Errorf("%q are no labels", rest)
		}
	}
	return labels, rest, nil
}

// fits checks a sample against its family.
func (e *exposition) fits(name string, labels [][2]string, value float64) error {
	f := &e.family
	switch suffix, ours := strings.CutPrefix(name, f.name); {
	case !ours || f.name == "":
		return fmt.Errorf("%s in the family %q", name, f.name)
	case f.kind == "gauge" && suffix == "":
		return nil
	case f.kind == "counter" && suffix == map[bool]string{true: "_total"}[e.open]:
		if value < 0 {
			return fmt.Errorf("%s is %v", name, value)
		}
		return nil
	case f.kind == "histogram" && suffix == "_bucket":
		return e.bucket(labels, value)
	case f.kind == "histogram" && suffix == "_count":
		if value != f.below || !math.IsInf(f.le, 1) {
			return fmt.Errorf("%s is %v, and the last bucket up to %v holds %v", name, value, f.le, f.below)
		}
		f.group = ""
		return nil
	case f.kind == "summary" && suffix == "" && labels[len(labels)-1][0] == "quantile",
		f.kind != "gauge" && f.kind != "counter" && suffix == "_sum",
		f.kind == "summary" && suffix == "_count" && value >= 0:
		return nil
	}
	return fmt.Errorf("%s in the %s %s", name, f.kind, f.name)
}

// bucket checks one bucket of a histogram.
func (e *exposition) bucket(labels [][2]string, count float64) error {
	f, last := &e.family, len(labels)-1
	if labels[last][0] != "le" {
		return fmt.Errorf("a bucket of %s without a bound", f.name)
	}
	le, err := strconv.ParseFloat(labels[last][1], 64)
	if err != nil || math.IsNaN(le) {
		return fmt.Errorf("%q is no bound", labels[last][1])
	}
	if group := fmt.Sprintf("%q", labels[:last]); group != f.group {
		f.group, f.le, f.below = group, math.Inf(-1), 0
	}
	if le <= f.le || count < f.below {
		return fmt.Errorf("%s holds %v up to %v, and %v up to %v", f.name, f.below, f.le, count, le)
	}
	f.le, f.below = le, count
	return nil
}
