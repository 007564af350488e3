package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// Probe writes a healthy baseline alone, with its steps.
//
// Lines are as wide as those of Terminal, but for the table, which has a width of its own and is left out
// where it does not fit. The error is the writer's.
func Probe(w io.Writer, probe *record.Probe, o Options) error {
	p := newPage(w, o)
	writeBaseline(p, probe)
	rows := [][]string{{"", "connections", "sent/s", "answered/s", "good/s", "p50", "p99"}}
	for _, s := range probe.Steps {
		rows = append(rows, []string{
			clean(s.Mode), strconv.Itoa(s.Concurrency), number(s.Offered), number(s.Answered), number(s.Good), lengthOr(s.P50), lengthOr(s.P99),
		})
	}
	if len(rows) > 1 && tableCells(rows) <= p.width {
		p.blank()
		for _, line := range layTable(rows, spread(tableWidths(rows), tableCells(rows), min(p.width, proseMost))) {
			p.line(line)
		}
		p.blank()
		p.para("", 0, "closed: each connection sends as soon as it is answered. paced: evenly, at a rate. hold: beyond the limit, of which the later half counts. p50 and p99 are of good answers, statuses 200 to 399.")
	}
	return p.flush()
}

// ProbeJSON writes a healthy baseline as one JSON document and a line feed, in the form that it has in a
// result. The error is the writer's.
func ProbeJSON(w io.Writer, probe *record.Probe) error {
	compact, err := json.Marshal(tidy(reflect.ValueOf(*probe)).Interface())
	if err != nil {
		return fmt.Errorf("report: encode probe: %w", err)
	}
	var out bytes.Buffer
	layJSON(&out, compact, 0, false)
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// writeProbe shows the baseline that was taken before the storm, where there is one.
func writeProbe(p *page, r *record.Result) {
	if r.Probe == nil {
		return
	}
	p.heading("Before the storm")
	writeBaseline(p, r.Probe)
}

func writeBaseline(p *page, probe *record.Probe) {
	p.fact("Capacity", capacityFound(probe))
	d := &probe.Latency
	p.fact("Healthy", "latency p50 "+lengthOr(d.P50)+", p90 "+lengthOr(d.P90)+", p99 "+lengthOr(d.P99)+
		", min "+lengthOr(d.Min)+", max "+lengthOr(d.Max)+" over "+plural(d.Count, "answer")+" below the limit")
	p.fact("Probe", plural(probe.Requests, "request")+" on "+plural(probe.Connections, "connection")+" in "+length(float64(probe.Duration)))
	p.fact("Answers", cmp.Or(strings.Join(append(named(probe.ByStatus), named(probe.Errors)...), ", "), none))
}

// probeLimits says in words what ended a probe.
var probeLimits = map[record.ProbeLimit]string{
	record.ProbePlateau:     "more connections got no more answers",
	record.ProbeRejections:  "the target rejects what is beyond",
	record.ProbeConcurrency: "answers still grew with the most connections that may be opened",
	record.ProbeRequests:    "the requests of the probe were used up",
	record.ProbeTime:        "the time of the probe was up",
	record.ProbeMachine:     "this machine had no processor time left, so that the limit may be its own",
	record.ProbeFailing:     "no answer was good",
	record.ProbeInterrupted: "a signal ended the probe early",
}

func capacityFound(probe *record.Probe) string {
	why := cmp.Or(probeLimits[probe.Limit], clean(string(probe.Limit)))
	if finite(probe.CapacityPerSecond) {
		return number(probe.CapacityPerSecond) + " good answers a second; " + why
	}
	text := styled(markYellow, "not found")
	if best := probe.Best(); finite(best) {
		text += ", at least about " + number(best) + " good answers a second"
	}
	return text + "; " + why
}
