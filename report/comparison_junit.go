package report

import (
	"io"
	"strconv"
	"strings"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// ComparisonJUnit writes the gates of a comparison as [JUnit] does those of a result: a first test case for the results,
// which is an error where one of them is invalid and gates were asked for, and one for each gate.
func ComparisonJUnit(w io.Writer, c *compare.Comparison) error {
	sides := []string{"Base: " + sideText(&c.Base, insideOne(c))}
	for i := range c.Others {
		sides = append(sides, "New: "+sideText(&c.Others[i].Side, insideOne(c)))
	}
	suite := junitSuite{Name: "stormtest compare", Package: "stormtest", Hostname: "localhost", Time: "0.000", Out: junitText{strings.ReplaceAll(strings.Join(sides, "\n"), string(nbsp), " ") + "\n" + comparedInText(c)}}
	if !c.Base.StartedAt.IsZero() {
		suite.Timestamp = c.Base.StartedAt.UTC().Format("2006-01-02T15:04:05")
	}
	suite.Properties = []junitProperty{{"version", clean(c.Tool.Version)}, {"false_positive_share", strconv.FormatFloat(c.FalsePositiveShare, 'g', -1, 64)}}
	suite.Cases = append([]junitCase{comparedResultsCase(c)}, comparedGateCases(c, sides)...)
	return writeJUnit(w, suite)
}

// comparedResultsCase is the case of the results themselves.
func comparedResultsCase(c *compare.Comparison) junitCase {
	out := junitCase{Class: "stormtest.compare", Name: "the results are valid", Time: "0.000"}
	if c.Valid() {
		return out
	}
	reason := &junitReason{Message: "INVALID", Type: "run", Text: troublesText(comparedTroubles(c))}
	if len(c.Gates) > 0 {
		out.Error = reason
	} else {
		reason.Type, out.Skipped = "", reason
	}
	return out
}

// troublesText writes troubles as lines.
func troublesText(list []trouble) string {
	var lines []string
	for _, t := range list {
		lines = append(lines, t.word+": "+t.text)
		for _, why := range t.why {
			lines = append(lines, "* "+why)
		}
	}
	return strings.Join(lines, "\n")
}

func comparedGateCases(c *compare.Comparison, sides []string) []junitCase {
	var cases []junitCase
	seen := map[string]int{}
	for _, g := range c.Gates {
		one := junitCase{Class: "stormtest.compare", Name: junitName(g.Gate), Time: "0.000"}
		if seen[one.Name]++; seen[one.Name] > 1 {
			one.Name += " (" + strconv.Itoa(seen[one.Name]) + ")"
		}
		reason := clean(g.Reason)
		switch {
		case !g.OK:
			lines := append([]string{"Gate " + gateFailed + ": " + clean(g.Gate), "Found: " + reason, "Difference: " + exactNumber(g.Value)}, sides...)
			one.Failure = &junitReason{Message: reason, Type: "gate", Text: strings.Join(lines, "\n")}
		case !c.Valid():
			one.Skipped = &junitReason{Message: "INVALID: a gate on the figures of such a run says nothing (" + reason + ")"}
		}
		cases = append(cases, one)
	}
	return cases
}

// comparedInText is what everything comes to, a line for each pair.
func comparedInText(c *compare.Comparison) string {
	var lines []string
	if len(c.Gates) > 0 {
		s := gatesSummary(&record.Result{Gates: c.Gates, Valid: true})
		lines = append(lines, "Gates "+s.word+": "+s.text)
	}
	for i := range c.Others {
		o := &c.Others[i]
		for _, text := range changeTexts(&c.Base, o) {
			lines = append(lines, clean(o.Name)+": changed: "+text)
		}
		for k := range o.Pairs {
			pair := comparedPairOf(&o.Pairs[k])
			lines = append(lines, clean(o.Name)+": "+pair.title+" "+pair.word()+": "+unmarked(strings.Join(pair.sentences(), " ")))
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), string(nbsp), " ")
}
