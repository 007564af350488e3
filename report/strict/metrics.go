package strict

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// readMetrics reads Prometheus' text format: no series stands twice. The text is the helps and the values of labels, the
// data the values of series, and the structure their names with those of their labels.
func readMetrics(document []byte) (Content, error) {
	c, err := parseMetrics(document)
	if err == nil {
		err = checkExposition(document, false)
	}
	return c, err
}

// parseMetrics reads with Prometheus' own parser.
func parseMetrics(document []byte) (Content, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(document))
	if err != nil {
		return Content{}, err
	}
	var text, data strings.Builder
	set, series := map[string]bool{}, map[string]bool{}
	for name, family := range families {
		fmt.Fprintln(&text, family.GetHelp())
		for _, m := range family.GetMetric() {
			element, labels := name, ""
			for _, pair := range m.GetLabel() {
				element += " " + pair.GetName()
				labels += fmt.Sprintf(" %s=%q", pair.GetName(), pair.GetValue())
				fmt.Fprintln(&text, pair.GetValue())
			}
			if series[name+labels] {
				return Content{}, fmt.Errorf("%s stands twice with%s", name, labels)
			}
			set[element], series[name+labels] = true, true
			fmt.Fprintln(&data, m.GetGauge().GetValue(), m.GetCounter().GetValue(), m.GetUntyped().GetValue(), m.GetHistogram().GetSampleSum(), m.GetSummary().GetSampleSum())
			for _, q := range m.GetSummary().GetQuantile() {
				fmt.Fprintln(&data, q.GetValue())
			}
		}
	}
	return Content{Text: text.String(), Data: data.String(), Structure: sorted(set)}, nil
}

// readOpenMetrics reads OpenMetrics, whose content is told as far as it is Prometheus' text format.
func readOpenMetrics(document []byte) (Content, error) {
	body, ended := strings.CutSuffix(string(document), "# EOF\n")
	if !ended || strings.Contains("\n"+body, "\n# EOF") {
		return Content{}, errors.New("it does not end in one # EOF")
	}
	var lines strings.Builder
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) == "" {
			return Content{}, errors.New("an empty line")
		}
		if !strings.HasPrefix(line, "# UNIT ") {
			lines.WriteString(line)
		}
	}
	c, err := parseMetrics([]byte(lines.String()))
	if err == nil {
		err = checkExposition(document, true)
	}
	return c, err
}
