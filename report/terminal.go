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
	writeTroubles(p, r, plan)
	writeHead(p, r, plan)
	writeVerdicts(p, r, plan)
	writeGates(p, r, plan)
	if len(r.Runs) > 1 {
		writeComparison(p, r, plan)
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

// writeTroubles says what makes the figures say something else than they seem to.
func writeTroubles(p *page, r *record.Result, plan planFields) {
	if fromLog(r) {
		writeLogTroubles(p, r, plan)
		return
	}
	if !r.Valid {
		what := "The generator was the bottleneck: these figures say what this machine could do, not what the clients would do to the target."
		if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }) {
			what = "What arrived is not what the clients did, because this machine had a part in it."
		}
		p.para(styled(markRed, "INVALID"), factIndent, what)
		for _, reason := range r.InvalidReasons {
			p.para("", factIndent, "* "+clean(reason))
		}
		p.blank()
	}
	if r.Interrupted {
		p.para(styled(markYellow, "INTERRUPTED"), factIndent, "A signal ended the run early: what was still waiting counts as unfinished"+notBegun(r, plan)+".")
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

// gatesCut says that gates were held against a run that had not come to its end. Where several seeds were to run it
// is the first that counts.
func gatesCut(r *record.Result, plan planFields) bool {
	whole := func(run record.Run) bool { return run.Repeats != nil && run.Repeats.Count > 0 }
	return r.Interrupted && (notBegun(r, plan) != "" || !slices.ContainsFunc(r.Runs, whole) ||
		slices.ContainsFunc(r.Runs, func(run record.Run) bool { return !whole(run) }))
}

// writeGates lists every gate with what it found.
func writeGates(p *page, r *record.Result, plan planFields) {
	if len(r.Gates) == 0 {
		return
	}
	passed := 0
	for _, g := range r.Gates {
		if g.OK {
			passed++
		}
	}
	head, mark := "passed", markGreen
	if passed < len(r.Gates) {
		head, mark = "FAILED", markRed
	}
	first := ""
	if seedsOf(r) != nil {
		first = ", on the first seed alone"
	}
	if gatesCut(r, plan) {
		head, mark = "CUT SHORT", markYellow
		first += "; they were held against what there was when the run was cut, which is no pass"
	}
	p.para("Gates", factIndent, styled(mark, head)+": "+count(int64(passed))+" of "+count(int64(len(r.Gates)))+" hold"+first)
	for _, g := range r.Gates {
		word := styled(markGreen, "ok")
		if !g.OK {
			word = styled(markRed, "FAILED")
		}
		p.para("  "+word, factIndent, clean(g.Gate)+string(nbsp)+" ("+clean(g.Reason)+")")
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
