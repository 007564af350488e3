package check

import "strings"

// examples are gates that make sense, where the unit's does not.
var examples = map[string]string{
	"success_share":               ">=0.99",
	"operations_started":          "==2000",
	"operations_succeeded":        "==2000",
	"operations_gave_up":          "==0",
	"operations_unfinished":       "==0",
	"operations_unstarted":        "==0",
	"completion":                  "<30s",
	"duration":                    ">=30s",
	"attempts_sent":               "<10000",
	"attempts_first":              "==2000",
	"arrivals":                    "<10000",
	"served":                      ">=2000",
	"goodput":                     ">=400/s",
	"peak_over_capacity":          "<10",
	"window_peak_over_capacity":   "<=1",
	"waves":                       "<5",
	"convoy_index":                "<0.1",
	"post_outage_convoy_index":    "<0.1",
	"retry_synchronisation_index": "<0.5",
	"window_arrivals":             ">=100",
	"dispersion":                  "<10",
	"periodicity":                 "<0.3",
	"goodput_ratio":               ">=0.9",
	"recovered_after":             "<10s",
	"verdict":                     "!=CONVOY",
	"latency_count":               ">=1000",
	"budget_balance_lowest":       ">=0",
}

// Example returns a gate on the metric.
func Example(m Metric) string {
	if text, ok := examples[m.Name]; ok {
		return m.Name + text
	}
	switch m.Unit {
	case Share:
		return m.Name + "<=0.05"
	case Duration:
		return m.Name + "<1s"
	case Rate:
		return m.Name + ">=400/s"
	case Word:
		return m.Name + "==" + m.Words[len(m.Words)-1]
	case Ratio:
		return m.Name + "<3"
	}
	return m.Name + "<100"
}

// unitForms say how a value of each unit is written.
var unitForms = map[Unit]string{
	Count:    "a plain number, 0 or more",
	Ratio:    "a plain number",
	Share:    "a plain number in 0..1, as in 0.99",
	Duration: "a number with a unit, as in 250ms or 1m30s",
	Rate:     "a number with a unit, as in 400/s or 60/m",
}

// Form says how a value of the metric is written in a gate.
func Form(m Metric) string {
	if m.Unit == Word {
		return "one of " + strings.Join(m.Words, " ") + ", with == or != alone"
	}
	return unitForms[m.Unit]
}
