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

// Tip writes what a search for a tipping point found: both sides of it with their share of seeds and what the rule of
// thumb says of them, all values that were tried, and runs in real time where some were made.
//
// Lines are as wide as those of Terminal, and a table that does not fit becomes lists. The error is the
// writer's.
func Tip(w io.Writer, t *record.Tip, o Options) error {
	p := newPage(w, o)
	writeTip(p, t)
	writeTipSides(p, t)
	p.para("Judged", factIndent, "a seed has recovered when goodput is back at 90"+string(nbsp)+"% of what it was for "+strconv.Itoa(record.RecoverySeconds)+string(nbsp)+"s, within "+
		span(record.RecoveryWatchDefault)+" after the outage or three times what it takes without retries; at a value, when more than half of the seeds have")
	p.para("Searched", factIndent, plural(int64(len(t.Points)), "value")+" with "+plural(t.Seeds, "seed")+" from "+plainUint(t.Seed)+" on, "+plural(t.Runs, "run")+" in virtual time")
	for _, note := range t.Notes {
		p.para("Note", factIndent, clean(note))
	}
	for i := range t.RealTime {
		writeTipConfirmed(p, &t.RealTime[i])
	}
	if len(t.Points) > 0 {
		p.heading("Values")
		writeTipPoints(p, t)
	}
	return p.flush()
}

// TipJSON writes the tip as one JSON document and a line feed. The error is the writer's.
func TipJSON(w io.Writer, t *record.Tip) error {
	compact, err := json.Marshal(tidy(reflect.ValueOf(*t)).Interface())
	if err != nil {
		return fmt.Errorf("report: encode tip: %w", err)
	}
	var out bytes.Buffer
	layJSON(&out, compact, 0, false)
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// writeTip says where the service tips, or that it does not.
func writeTip(p *page, t *record.Tip) {
	what, from, to := clean(t.Vary)+" ", clean(t.From), clean(t.To)
	switch t.Outcome {
	case record.TipFound:
		p.para(styled(markGreen, "TIPS"), factIndent, what+"between "+clean(t.Recovers.Value)+", where the service recovers, and "+clean(t.Stays.Value)+", where it does not. "+disagreement(t))
	case record.TipUnsteady:
		p.para(styled(markYellow, "UNSTEADY"), factIndent, what+"between "+clean(t.Recovers.Value)+", where the service recovers, and "+clean(t.Stays.Value)+", where it does not; but at both "+from+" and "+to+" it is the same. "+disagreement(t))
	case record.TipRecovers:
		p.para(styled(markGreen, "RECOVERS"), factIndent, what+from+" to "+to+": the service recovers at every value that was tried. There is no tipping point, or it lies outside.")
	case record.TipStays:
		p.para(styled(markRed, "STAYS DOWN"), factIndent, what+from+" to "+to+": the service recovers at no value that was tried. There is no tipping point, or it lies outside.")
	default:
		p.para(styled(markYellow, "NOT KNOWN"), factIndent, what+from+" to "+to+": the search was ended before it knew.")
	}
	if t.Interrupted {
		p.para(styled(markYellow, "CUT"), factIndent, "The search was ended before it was over: this is what was known by then, not as close as "+clean(t.Precision)+".")
	}
	if t.Returns {
		p.para(styled(markYellow, "NOT MONOTONE"), factIndent, "Beyond the tip the service changes sides again: see the values. This is the first tip from "+from+" on.")
	}
}

// disagreement says where seeds disagree.
func disagreement(t *record.Tip) string {
	switch one, other := t.Recovers, t.Stays; {
	case one.Recovered == one.Seeds && other.Recovered == 0:
		return "On either side all seeds agree."
	case t.All != nil && t.None != nil:
		return "Seeds disagree between " + clean(t.All.Value) + ", where all recover, and " + clean(t.None.Value) + ", the first where none does" + beyond(t) + "."
	case t.All != nil:
		return "Seeds disagree from " + clean(t.All.Value) + " on, where all recover; there is no value at which none does."
	case t.None != nil:
		return "Seeds disagree up to " + clean(t.None.Value) + ", where none recovers; there is no value at which all do."
	}
	return "Seeds disagree at every value."
}

// beyond says that the side on which the service stays down is not wholly lost.
func beyond(t *record.Tip) string {
	side := false // behind None, seen from the tip
	for i := range t.Points {
		at := i
		if !t.Points[0].Recovers() { // the service stays down at the low end
			at = len(t.Points) - 1 - i
		}
		if side && t.Points[at].Recovered > 0 {
			return "; beyond it some do again"
		}
		side = side || t.Points[at].Value == t.None.Value
	}
	return ""
}

// writeTipSides says of both sides what their seeds did, and why by the rule of thumb.
func writeTipSides(p *page, t *record.Tip) {
	if t.Recovers == nil || t.Stays == nil {
		return
	}
	p.para("Recovers", factIndent, "at "+clean(t.Recovers.Value)+": "+tipShare(t.Recovers)+tipAfter(t.Recovers))
	p.para("Stays down", factIndent, "at "+clean(t.Stays.Value)+": "+tipShare(t.Stays)+tipAfter(t.Stays)+", of "+span(t.Stays.Watched)+" that each was watched"+
		"; "+number(t.Stays.Amplification)+" attempts for each operation in the last minute")
	if a, b := t.Recovers, t.Stays; finite(a.LoadWorst) && finite(b.LoadWorst) {
		p.para("Load x worst", factIndent, number(a.LoadWorst)+" and "+number(b.LoadWorst)+": "+number(a.Load)+" and "+number(b.Load)+" of the capacity, times at most "+
			tipBoth(a.Worst, b.Worst)+" attempts for each operation. Above 1 the retries alone can keep the service down.")
	} else if finite(a.Load) && finite(b.Load) {
		p.para("Load", factIndent, number(a.Load)+" and "+number(b.Load)+" of the capacity; the policy has no fixed number of attempts for each operation")
	}
}

// tipBoth is two figures, or the one that both are.
func tipBoth(a, b *float64) string {
	if one, other := number(a), number(b); one != other {
		return one + " and " + other
	}
	return number(a)
}

// tipShare says how many seeds recover, and how well that is known.
func tipShare(x *record.TipPoint) string {
	return count(x.Recovered) + " of " + plural(x.Seeds, "seed") + " recover (" + tipInterval(x) + ")"
}

func tipInterval(x *record.TipPoint) string {
	return "95" + string(nbsp) + "%: " + percent(&x.ShareLow) + " to " + percent(&x.ShareHigh)
}

// tipAfter says when the seeds that recover do.
func tipAfter(x *record.TipPoint) string {
	switch {
	case x.After.Count == 0 || !finite(x.After.Mean):
		return ""
	case x.After.Count == 1 || finite(x.After.P5) && finite(x.After.P95) && *x.After.P5 == *x.After.P95:
		return ", " + length(*x.After.Mean) + " after the outage"
	}
	return ", " + spreadOfLength(&x.After) + " after the outage"
}

// writeTipPoints writes the values as rows of a table, or as lists where that does not fit.
func writeTipPoints(p *page, t *record.Tip) {
	rows := [][]string{{clean(t.Vary), "recover", "95" + string(nbsp) + "%", "after", "without retries", "load", "x worst", "attempts"}}
	for i := range t.Points {
		x := &t.Points[i]
		after, alone := none, "> "+span(x.AloneWatched)
		if finite(x.After.Mean) {
			after = length(*x.After.Mean)
		}
		if x.Alone != nil {
			alone = length(float64(*x.Alone))
		}
		rows = append(rows, []string{
			clean(x.Value), count(x.Recovered) + "/" + count(x.Seeds), percent(&x.ShareLow) + " to " + percent(&x.ShareHigh), after, alone,
			number(x.Load), number(x.LoadWorst), number(x.Amplification),
		})
	}
	if cells := tableCells(rows); cells <= p.width {
		for _, line := range layTable(rows, spread(tableWidths(rows), cells, min(p.width, proseMost))) {
			p.line(line)
		}
	} else {
		for _, row := range rows[1:] {
			p.line(row[0])
			for i := 1; i < len(row); i++ {
				p.fact("  "+rows[0][i], row[i])
			}
		}
	}
	p.blank()
	p.para("", 0, "recover: seeds that do; after: mean of when, since the outage; load: rate over capacity, of a chain over its smallest; x worst: load times the most attempts that the policy allows for each operation in the long run; attempts: for each operation, in the last minute.")
}

// writeTipConfirmed says what a run in real time did.
func writeTipConfirmed(p *page, c *record.TipConfirmed) {
	p.heading("In real time: " + clean(c.Value))
	said := map[bool]string{true: "recovers", false: "does not recover"}
	seen := "did not recover within " + span(c.Watched)
	if c.Recovered != nil {
		seen = "recovered " + length(float64(*c.Recovered)) + " after the outage"
	}
	text := "In virtual time it " + said[c.Predicted] + "; over real sockets, with seed " + plainUint(c.Seed) + ", it " + seen + "."
	switch {
	case c.Agrees == nil:
		p.para(styled(markYellow, "NOT TOLD"), factIndent, strings.TrimSuffix(text, ".")+", which does not count:")
	case *c.Agrees:
		p.para(styled(markGreen, "AGREES"), factIndent, text)
	default:
		p.para(styled(markRed, "DISAGREES"), factIndent, text)
	}
	for _, reason := range c.Reasons {
		p.para("", factIndent, "* "+clean(reason))
	}
}
