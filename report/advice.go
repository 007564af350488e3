package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// Advice writes what a search for a policy found: whether the wishes can be kept, the policies worth a look
// with their figures, the rule of thumb, and runs in real time where some were made.
//
// Lines are as wide as those of Terminal, and a table that does not fit becomes lists. The error is the
// writer's.
func Advice(w io.Writer, a *record.Advice, o Options) error {
	p := newPage(w, o)
	writeFound(p, a)
	if len(a.Best) > 0 || a.Current != nil {
		p.heading("Policies")
		writePolicies(p, a)
	}
	writeSizing(p, &a.Sizing)
	for i := range a.Confirmed {
		writeConfirmed(p, &a.Confirmed[i])
	}
	return p.flush()
}

// AdviceJSON writes the advice as one JSON document and a line feed. The error is the writer's.
func AdviceJSON(w io.Writer, a *record.Advice) error {
	compact, err := json.Marshal(tidy(reflect.ValueOf(*a)).Interface())
	if err != nil {
		return fmt.Errorf("report: encode advice: %w", err)
	}
	var out bytes.Buffer
	layJSON(&out, compact, 0, false)
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// writeFound says whether the wishes can be kept, and if not what is in the way.
func writeFound(p *page, a *record.Advice) {
	var wishes []string
	for _, w := range a.Wishes {
		wishes = append(wishes, wishText(w))
	}
	asked := strings.Join(wishes, ", ")
	if a.Met {
		best := &a.Best[0]
		p.para(styled(markGreen, "FOUND"), factIndent, policyText(best)+" keeps "+asked+" in "+count(best.Kept)+" of "+plural(best.Seeds, "seed")+" by which no other policy was tried.")
	} else {
		p.para(styled(markRed, "NOT FOUND"), factIndent, "No policy that was tried keeps "+asked+". No scenario is given.")
		p.blank()
	}
	for i, text := range a.Obstacles {
		head := ""
		if i == 0 {
			head = "In the way"
		}
		p.para(head, factIndent, "* "+clean(text))
	}
	situation := &record.Result{Plan: a.Situation}
	plan := readPlan(situation)
	if sent := plan.text("send-retry-after"); a.Met && a.Best[0].SendRetryAfter != 0 && (sent == "" || sent == "none") {
		p.para("Needs", factIndent, "the target has to send that Retry-After; without one nothing that was tried keeps them.")
	}
	if model := targetModel(situation, plan); model != "" {
		p.para("Target", factIndent, "the figures and their order hold for this target model: "+model)
	}
	p.para("Searched", factIndent, plural(a.Policies, "policy")+" in "+plural(a.Runs, "run")+" of virtual time, search seed "+plainUint(a.Seed))
}

// wishText says a wish in words.
func wishText(w record.Wish) string {
	switch w.Name {
	case record.WishCompletion:
		return "all done within" + string(nbsp) + length(w.Limit)
	case record.WishSuccess:
		return percent(&w.Limit) + " of the operations done"
	case record.WishPeak:
		return "retries of at most " + times(&w.Limit) + " capacity"
	}
	return clean(w.Name)
}

// policyText names a policy with its numbers.
func policyText(a *record.Advised) string {
	text := clean(a.Strategy) + ", base" + string(nbsp) + moment(a.Base) + ", cap" + string(nbsp) + moment(a.Cap)
	if a.SendRetryAfter != 0 {
		text += ", Retry-After" + string(nbsp) + hintText(a)
	}
	return text
}

// hintText says what the target sends and what the client adds.
func hintText(a *record.Advised) string {
	switch {
	case a.SendRetryAfter == 0:
		return none
	case a.RetryAfterJitter < 0 && a.SendRetryAfter < 0:
		return "auto + draw"
	case a.RetryAfterJitter < 0:
		return moment(a.SendRetryAfter) + " + draw"
	case a.SendRetryAfter < 0:
		return "auto + " + moment(a.RetryAfterJitter)
	}
	return moment(a.SendRetryAfter) + " + " + moment(a.RetryAfterJitter)
}

// writePolicies writes the policies as rows of a table, or as lists where that does not fit.
func writePolicies(p *page, a *record.Advice) {
	rows := [][]string{{"", "strategy", "base", "cap", "Retry-After", "done p95", "peak", "attempts", "kept"}}
	add := func(mark string, x *record.Advised) {
		rows = append(rows, []string{
			mark, clean(x.Strategy), moment(x.Base), moment(x.Cap), hintText(x), lengthOfSpread(&x.Completion), times(x.Peak.P95),
			number(x.Attempts.Mean), count(x.Kept) + "/" + count(x.Seeds),
		})
	}
	for i := range a.Best {
		add(strconv.Itoa(i+1), &a.Best[i])
	}
	if a.Current != nil {
		add("yours", a.Current)
	}
	if cells := tableCells(rows); cells <= p.width {
		for _, line := range layTable(rows, spread(tableWidths(rows), cells, min(p.width, proseMost))) {
			p.line(line)
		}
	} else {
		for _, row := range rows[1:] {
			p.line(row[0] + " " + row[1])
			for i := 2; i < len(row); i++ {
				p.fact("  "+rows[0][i], row[i])
			}
		}
	}
	p.blank()
	p.para("", 0, "Retry-After: what the target would have to send, and the jitter that clients add; done p95: when all operations have succeeded, in 95"+string(nbsp)+"% of the seeds; peak: the fullest bucket of retries over capacity, in as many (the first attempts, "+
		"which no policy spreads, are not in it); attempts: per client, mean; kept: seeds that kept every wish (of a FOUND policy 1 the seeds of its proof, of the others those that picked them). Below mean"+string(nbsp)+"[5-95"+string(nbsp)+
		"%] of the seeds; convoy index: of the retries after the outage; in n: so many seeds had a value.")
	p.blank()
	writeSpreads(p, a)
}

// lengthOfSpread is the 95th percentile of a length of time.
func lengthOfSpread(s *record.Spread) string {
	if !finite(s.P95) {
		return none
	}
	return length(*s.P95)
}

// adviceFigures are the rows of the table of all seeds.
var adviceFigures = []struct {
	label string
	of    func(*record.Advised) *record.Spread
	write func(*record.Spread) string
}{
	{"all done after", func(a *record.Advised) *record.Spread { return &a.Completion }, spreadOfLength},
	{"peak / capacity", func(a *record.Advised) *record.Spread { return &a.Peak }, spreadIn(timesDigits, "x")},
	{"attempts", func(a *record.Advised) *record.Spread { return &a.Attempts }, spreadIn(significant, "")},
	{"convoy index", func(a *record.Advised) *record.Spread { return &a.ConvoyIndex }, spreadIn(indexDigits, "")},
	{"operations done", func(a *record.Advised) *record.Spread { return &a.SuccessShare }, spreadIn(percentDigits, string(nbsp)+"%")},
}

// writeSpreads writes the figures of every policy over its seeds.
func writeSpreads(p *page, a *record.Advice) {
	labels := []string{""}
	for _, f := range adviceFigures {
		labels = append(labels, f.label)
	}
	var columns [][]string
	add := func(head string, x *record.Advised) {
		column := []string{head}
		for _, f := range adviceFigures {
			s := f.of(x)
			text := none
			if finite(s.Mean) && finite(s.P5) && finite(s.P95) {
				text = f.write(s)
				if s.Count != x.Seeds {
					text += inSeeds + count(s.Count)
				}
			}
			column = append(column, text)
		}
		columns = append(columns, column)
	}
	for i := range a.Best {
		add(strconv.Itoa(i+1)+" "+clean(a.Best[i].Strategy), &a.Best[i])
	}
	if a.Current != nil {
		add("yours", a.Current)
	}
	writeColumns(p, labels, columns)
}

// writeSizing says the rule of thumb with the user's numbers.
func writeSizing(p *page, z *record.Sizing) {
	p.heading("Sizing")
	at := z.CapacityPerSecond
	p.fact("N/C", count(z.Clients)+" clients at "+number(&at)+"/s take "+span(z.Drain))
	if z.Earliest != nil {
		p.fact("Earliest", "the target can have served them all after "+span(*z.Earliest)+", whatever their policy")
	} else {
		p.fact("Earliest", "the target never serves them all within a day")
	}
	rule := "a first ceiling of N/C or more spreads the first retries within capacity; a shorter base costs log2(N/(C b)) waves above it"
	if z.FirstCeiling != nil && z.Waves != nil {
		rule += "; policy 1 has a first ceiling of " + moment(*z.FirstCeiling) + ", so " + plural(*z.Waves, "wave")
	}
	p.fact("Rule", rule)
}

// writeConfirmed puts a run in real time beside what was predicted of it.
func writeConfirmed(p *page, c *record.Confirmed) {
	title := "Confirmed in real time: 1"
	if c.Current {
		title = "Confirmed in real time: yours"
	}
	p.heading(title)
	if !c.Valid {
		p.para(styled(markRed, "INVALID"), factIndent, "The generator did not keep up, so that these figures are this machine's.")
		for _, reason := range c.Reasons {
			p.para("", factIndent, "* "+clean(reason))
		}
	}
	if c.Cut {
		p.para(styled(markYellow, "CUT"), factIndent, "The run was ended before all operations were over, as it would have taken too long.")
	}
	m, q := &c.Measured, &c.Predicted
	rows := [][]string{{"", "predicted", "measured"}}
	for i, v := range []*float64{m.Completion, m.Peak, m.Attempts, m.ConvoyIndex, m.SuccessShare} {
		f := adviceFigures[i]
		predicted, measured := none, none
		if s := f.of(q); finite(s.Mean) && finite(s.P5) && finite(s.P95) {
			predicted = f.write(s)
		}
		if finite(v) {
			one := record.Spread{Mean: v, P5: v, P95: v}
			measured = f.write(&one)
			if head, rest, found := strings.Cut(measured, string(nbsp)+"["); found { // the range of one value
				_, unit, _ := strings.Cut(rest, "]")
				measured = head + unit
			}
		}
		rows = append(rows, []string{f.label, predicted, measured})
	}
	columns := transpose(rows)
	writeColumns(p, columns[0], columns[1:])
}
