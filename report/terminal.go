package report

import (
	"io"
	"slices"
	"strings"

	"stormtest/load/record"
)

// factIndent is where the text of a fact begins, after its head.
const factIndent = 14

// Terminal writes the report for people: first what makes the figures worthless, then a verdict for
// each strategy, the gates, the strategies side by side, and for each its chart, figures and books.
//
// No line is longer than the width in display cells. Every string of the result is made safe to
// show, so that a hostile file cannot steer the terminal. A figure without a value is "–", in ASCII
// "-". The error is the writer's.
func Terminal(w io.Writer, r *record.Result, o Options) error {
	p := newPage(w, o)
	plan := readPlan(r)
	if label := plan.label(); label != "" {
		p.para(styled(markBold, "Label"), factIndent, label)
		p.blank()
	}
	writeTroubles(p, r, plan)
	writeHead(p, r, plan)
	writeAnswer(p, r)
	writeVerdicts(p, r, plan)
	writeGates(p, r)
	if len(r.Runs) > 1 {
		writeSideBySide(p, r, plan)
	} else {
		writeRepeats(p, r)
	}
	writeProbe(p, r)
	for i := range r.Runs {
		writeRun(p, &r.Runs[i], plan)
	}
	writeOrigin(p, r, plan)
	return p.flush()
}

// A trouble is what makes the figures say something else than they seem to: a word for it, what it means, and in a
// list why.
type trouble struct {
	mark       rune
	word, text string
	why        []string
}

// troubles lists them in the order in which a report says them, before anything else. All is clean.
func troubles(r *record.Result, plan planFields) []trouble {
	if fromLog(r) {
		return logTroubles(r, plan)
	}
	var list []trouble
	if !r.Valid {
		what := "The generator was the bottleneck: these figures say what this machine could do, not what the clients would do to the target."
		if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }) {
			what = "What arrived is not what the clients did, because this machine had a part in it."
		}
		t := trouble{mark: markRed, word: "INVALID", text: what}
		for _, reason := range r.InvalidReasons {
			t.why = append(t.why, clean(reason))
		}
		list = append(list, t)
	}
	if r.Interrupted {
		list = append(list, trouble{mark: markYellow, word: "INTERRUPTED", text: "A signal ended the run early: what was still waiting counts as unfinished" + notBegun(r, plan) + "."})
	}
	return list
}

// writeTroubles says what makes the figures say something else than they seem to.
func writeTroubles(p *page, r *record.Result, plan planFields) {
	for _, t := range troubles(r, plan) {
		p.para(styled(t.mark, t.word), factIndent, t.text)
		for _, reason := range t.why {
			p.para("", factIndent, "* "+reason)
		}
		p.blank()
	}
}

// writeAnswer says which strategy did best, or why none is chosen.
func writeAnswer(p *page, r *record.Result) {
	if c := choose(r); c.head != "" && len(r.Runs) > 0 {
		p.para(styled(markBold, "Answer"), factIndent, strings.TrimSpace(styled(markBold, c.head)+" "+c.why))
		p.blank()
	}
}

// notBegun names the strategies of the plan that did not run; empty where there are none.
func notBegun(r *record.Result, plan planFields) string {
	var missing []string
	for name := range strings.SplitSeq(strings.ReplaceAll(plan.text("strategy"), " ", ""), ",") {
		ran := slices.ContainsFunc(r.Runs, func(run record.Run) bool { return clean(run.Strategy) == name })
		if !ran && name != "" && name != "all" {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return ""
	}
	return ", and what had not begun is missing: " + strings.Join(missing, ", ")
}

// gatesCut says that no run came to its end. Where some did each gate's own reason tells which of them it is of.
func gatesCut(r *record.Result) bool {
	return r.Interrupted && !slices.ContainsFunc(r.Runs, func(run record.Run) bool {
		return run.Whole || run.Repeats != nil && run.Repeats.Count > 0
	})
}

// A gateSummary is what the gates came to: a word in its colour, and a sentence.
type gateSummary struct {
	mark       rune
	word, text string
	failed     int
}

// gatesSummary says what the gates of r came to; there is one at least.
func gatesSummary(r *record.Result) gateSummary {
	s := gateSummary{mark: markGreen, word: "passed"}
	for _, g := range r.Gates {
		if !g.OK {
			s.failed++
		}
	}
	if s.failed > 0 {
		s.word, s.mark = gateFailed, markRed
	}
	s.text = count(int64(len(r.Gates))) + " of " + count(int64(len(r.Gates))) + " hold"
	if s.failed > 0 {
		s.text = count(int64(s.failed)) + " of " + count(int64(len(r.Gates))) + " " + map[bool]string{true: "does", false: "do"}[s.failed == 1] + " not hold"
	}
	if gatesCut(r) {
		s.word, s.mark = "CUT SHORT", markYellow
		s.text += "; they were held against what there was when the run was cut, which is no pass"
	}
	return s
}

// The words of a gate, alike in every report.
const (
	gateOK     = "ok"
	gateFailed = "FAILED"
)

// gateWord is one of them.
func gateWord(g record.Gate) string {
	if g.OK {
		return gateOK
	}
	return gateFailed
}

// writeGates lists every gate with what it found, those that failed first.
func writeGates(p *page, r *record.Result) {
	if len(r.Gates) == 0 {
		return
	}
	s := gatesSummary(r)
	p.para("Gates", factIndent, styled(s.mark, s.word)+": "+s.text)
	for _, i := range failedFirst(r.Gates) {
		g := r.Gates[i]
		mark := markGreen
		if !g.OK {
			mark = markRed
		}
		p.para("  "+styled(mark, gateWord(g)), factIndent, clean(g.Gate)+string(nbsp)+" ("+clean(g.Reason)+")")
	}
	p.blank()
}

// writeOrigin says where the figures come from and how to get them again.
func writeOrigin(p *page, r *record.Result, plan planFields) {
	p.heading("This run")
	if model := targetModel(r, plan); model != "" && len(r.Runs) < 2 {
		p.para("Target", factIndent, model)
	}
	version := clean(r.Tool.Version)
	if version == "" {
		version = "of unknown version"
	}
	p.para("Made by", factIndent, "stormtest "+version)
	if !r.StartedAt.IsZero() {
		p.para("Started", factIndent, r.StartedAt.UTC().Format("2006-01-02 15:04:05")+" UTC")
	}
	if hash := clean(r.PlanHash); hash != "" {
		p.para("Plan", factIndent, hash)
	}
	if r.Merged > 0 {
		p.para("Merged", factIndent, "from "+plural(r.Merged, "result")+" of this plan")
	}
	command := ""
	if len(r.Runs) > 0 && virtual(&r.Runs[0]) {
		command = "stormtest sim: "
	}
	p.para("Repeat it", factIndent, command+"the same plan with "+repeatFlags(r))
}

// heading writes the title of a section after an empty line.
func (p *page) heading(title string) {
	p.blank()
	title = p.spell(title)
	if p.ascii || p.narrow() {
		p.line(styled(markBold, "== "+clip(title, p.width-6)+" =="))
		p.blank()
		return
	}
	rule := strings.Repeat("─", max(0, min(p.width, proseMost)-cells(title)-4))
	p.line(styled(markBold, "── "+title) + " " + rule)
	p.blank()
}
