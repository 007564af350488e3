package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"stormtest/load/record"
)

// markdownMost is the most bytes that Markdown writes: a comment on GitHub holds 65,536 characters, a step
// summary 1 MiB. markdownPart bounds one part of it, so that no part takes the room of another.
const (
	markdownMost = 60_000
	markdownPart = 8_000
)

// Markdown writes the report in GitHub Flavored Markdown, for the summary of a step or a comment: first what
// makes the figures worthless, then verdicts, gates (failed ones first), the strategies side by side and their
// arrivals over time; folded, the chart and figures of each strategy as on a terminal, and the plan.
//
// It writes at most 60 kB whatever the result holds, and says what it left out. Every string of the result is
// shown as it is: nothing in it makes markup, links, mentions or references.
func Markdown(w io.Writer, r *record.Result) error {
	plan := readPlan(r)
	head := markdownHead(r, plan)
	tail := markdownTail(r)
	body := markdownRuns(r, plan, markdownMost-len(head)-len(tail))
	_, err := io.WriteString(w, head+body+tail)
	return err
}

// markdownHead is all that is not folded but the way to repeat the run.
func markdownHead(r *record.Result, plan planFields) string {
	var b strings.Builder
	b.WriteString("## " + escaped("stormtest: "+plan.titled(markdownTitle(r, plan))) + "\n\n")
	for _, t := range troubles(r, plan) {
		b.WriteString("> **" + t.word + "** " + escaped(shortened(t.text, sentenceMost)) + "\n")
		if t.why != nil {
			b.WriteString(">\n" + bounded("> * ", "reason", escapedAll(t.why)))
		}
		b.WriteString("\n")
	}
	for _, f := range headFacts(r, plan) {
		b.WriteString("**" + f.head + ":** " + escaped(shortened(f.text, sentenceMost)) + "\n\n")
	}
	if c := choose(r); c.head != "" && len(r.Runs) > 0 {
		b.WriteString(strings.TrimSpace("**"+escaped(c.head)+"** "+escaped(shortened(c.why, 2*sentenceMost))) + "\n\n")
	}
	b.WriteString(markdownVerdicts(r, plan))
	b.WriteString(markdownGates(r))
	b.WriteString(markdownSheets(r))
	b.WriteString(markdownTables(r, plan))
	b.WriteString(markdownArrivals(r, plan))
	return b.String()
}

// markdownTitle is the outcome in one line.
func markdownTitle(r *record.Result, plan planFields) string {
	var parts []string
	for _, t := range troubles(r, plan) {
		parts = append(parts, t.word)
	}
	if len(r.Gates) > 0 {
		s := gatesSummary(r)
		holds, _, _ := strings.Cut(s.text, ";")
		parts = append(parts, "gates "+s.word+": "+holds)
	}
	return strings.Join(append(parts, markdownVerdictWords(r)), "; ")
}

// markdownVerdictWords names the verdict of each strategy, or counts verdicts where there are many.
func markdownVerdictWords(r *record.Result) string {
	const named = 4
	var parts []string
	counts := map[string]int64{}
	lost := int64(0)
	for i := range r.Runs {
		run := &r.Runs[i]
		parts = append(parts, clip(clean(run.Strategy), strategyCells)+" "+titleWord(run))
		if counts[commonWord(run)]++; notRecovered.most(run) {
			lost++
		}
	}
	if len(r.Runs) > named {
		parts = nil
		for _, v := range append(slices.Clone(verdicts), none) {
			if n := counts[string(v)]; n > 0 {
				parts = append(parts, count(n)+" "+string(v))
			}
		}
		if lost > 0 {
			parts = append(parts, count(lost)+" NOT RECOVERED")
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing ran")
}

// commonWord is the verdict of the run, or of most of its seeds.
func commonWord(run *record.Run) string {
	if idle(run) || !severalSeeds(run) {
		return unmarked(verdictWord(run))
	}
	return string(commonVerdict(run))
}

// titleWord is that with how many of the seeds have it, and whether the target recovered.
func titleWord(run *record.Run) string {
	word := commonWord(run)
	if severalSeeds(run) && !idle(run) {
		word += verdictFault(commonVerdict(run)).seeds(run)
	}
	switch {
	case metastable.most(run):
		word += " " + metastable.name + metastable.seeds(run)
	case notRecovered.most(run):
		word += " NOT RECOVERED" + notRecovered.seeds(run)
	}
	return word
}

// markdownVerdicts is one sentence for each strategy.
func markdownVerdicts(r *record.Result, plan planFields) string {
	if len(r.Runs) == 0 {
		return "No strategy ran, so there is nothing to report.\n\n"
	}
	var rows []string
	for i := range r.Runs {
		run := &r.Runs[i]
		rows = append(rows, "**"+escapedName(run)+"** "+escaped(unmarked(verdictWord(run)))+": "+escaped(markdownSentence(run, plan)))
	}
	return bounded("* ", "strategy", rows) + "\n"
}

// markdownSentence is the verdict's sentence, which is cut no earlier than behind where a chain's attempts came from.
func markdownSentence(run *record.Run, plan planFields) string {
	text, most := verdictSentence(run, plan), sentenceMost
	if chain := layersSentence(run); chain != "" {
		before, _, _ := strings.Cut(text, upperFirst(chain))
		most = min(chainMost, max(most, len([]rune(before))+len([]rune(chain))+1)) // and the full stop
	}
	return shortened(text, most)
}

// markdownGates is a table of all gates, the failed ones first.
func markdownGates(r *record.Result) string {
	if len(r.Gates) == 0 {
		return ""
	}
	var rows []string
	for _, i := range failedFirst(r.Gates) {
		g := r.Gates[i]
		word := gateWord(g)
		if !g.OK {
			word = "**" + word + "**"
		}
		rows = append(rows, word+" | "+code(shortened(clean(g.Gate), gateMost))+" | "+escaped(shortened(clean(g.Reason), sentenceMost))+" |")
	}
	s := gatesSummary(r)
	return "### Gates " + s.word + ": " + escaped(s.text) + "\n\n| | gate | found |\n|---|---|---|\n" + bounded("| ", "gate", rows) + "\n"
}

// markdownTables is the strategies side by side by the figures of their first seeds, and by those of all seeds
// where there are several.
func markdownTables(r *record.Result, plan planFields) string {
	if len(r.Runs) == 0 {
		return ""
	}
	heads, columns := []string{"strategy"}, make([][]string, 0, len(criteria)+1)
	if seedsEnded(r) > 0 {
		for _, f := range repeatedFigures {
			heads, columns = append(heads, f.long), append(columns, f.marked(r))
		}
	} else {
		for _, c := range criteriaOf(r) {
			heads, columns = append(heads, c.long), append(columns, c.marked(r))
		}
	}
	ranked := false
	var rows []string
	for i := range r.Runs {
		run := &r.Runs[i]
		row := escapedName(run)
		for _, column := range columns {
			text := escaped(strings.TrimSuffix(unmarked(strings.TrimSuffix(column[i], styled(markGreen, bestMark))), string(nbsp)))
			if hasMark(column[i]) && len(r.Runs) > 1 {
				text, ranked = "**"+text+"**", true
			}
			row += " | " + text
		}
		rows = append(rows, row+" | "+escaped(shortened(strings.TrimSpace(unmarked(verdictWord(run))+" "+flagList(run)), nameMost))+" |")
	}
	b := "### Figures\n\n| " + strings.Join(heads, " | ") + " | verdict |\n|---|" + strings.Repeat("--:|", len(columns)) + "---|\n" + bounded("| ", "strategy", rows) + "\n"
	if seedsEnded(r) > 0 {
		b += "Mean [5-95 %]: the mean, and the 5th and 95th percentile of the seeds; verdicts are of the first.\n\n"
	}
	model := targetModel(r, plan)
	if ranked {
		b += "Bold in the table is the " + bestLegend + ".\n"
	}
	if choose(r).best != nil {
		b += escaped(choiceRule+" "+choiceDoubt(r)) + "\n"
	}
	if model != "" {
		b += "Target: " + escaped(shortened(model, sentenceMost)) + ".\n"
	}
	return strings.TrimSuffix(b, "\n") + "\n\n"
}

// markdownRuns folds what a terminal shows of each strategy, as many as there is room for.
func markdownRuns(r *record.Result, plan planFields, room int) string {
	const columns = 90 // more make a box that scrolls
	var b strings.Builder
	fold := func(title string, write func(*page)) bool {
		var text bytes.Buffer
		p := newPage(&text, Options{Width: columns})
		write(p)
		_ = p.flush() // into memory
		part := "<details><summary>" + title + "</summary>\n\n" + fenced("text", strings.Trim(text.String(), "\n")) + "\n</details>\n\n"
		if b.Len()+len(part)+200 > room { // the sentence below needs its room, too
			return false
		}
		b.WriteString(part)
		return true
	}
	if r.Probe != nil {
		fold("Before the storm", func(p *page) { writeBaseline(p, r.Probe) })
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if !fold(codeHTML(runName(run))+": arrivals and figures", func(p *page) { writeRun(p, run, plan) }) {
			fmt.Fprintf(&b, "Arrivals and figures of %s are left out here, as this is to stay under %s bytes; the terminal, HTML and JSON reports have them.\n\n",
				plural(int64(len(r.Runs)-i), "strategy"), count(markdownMost))
			break
		}
	}
	return b.String()
}

// markdownTail is the plan, and how to run it again.
func markdownTail(r *record.Result) string {
	var b strings.Builder
	plan := indentedPlan(r)
	if plan != "" {
		b.WriteString("<details><summary>Plan</summary>\n\n" + fenced("json", plan) + "\n</details>\n\n")
	}
	b.WriteString("To repeat it")
	if plan != "" {
		b.WriteString(", save the plan above as `plan.json`")
	}
	b.WriteString(":\n\n" + fenced("sh", repeatCommand(r)) + "\n")
	b.WriteString("Made by stormtest " + escaped(shortened(cmp.Or(clean(r.Tool.Version), "of unknown version"), nameMost)))
	if hash := clean(r.PlanHash); hash != "" {
		b.WriteString(", plan " + code(shortened(hash, nameMost)))
	}
	if !r.StartedAt.IsZero() {
		b.WriteString(", started " + code(r.StartedAt.UTC().Format("2006-01-02 15:04:05")+" UTC"))
	}
	return b.String() + ".\n"
}

// indentedPlan is the plan as a scenario file in JSON, in ASCII where a character does not print; empty where there is
// none or it is too long for this place.
func indentedPlan(r *record.Result) string {
	if readPlan(r) == nil {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, r.Plan, "", "  ") != nil {
		return ""
	}
	text := printableJSON(b.String())
	if len(text) > markdownPart {
		return ""
	}
	return text
}

// repeatCommand runs the same plan again, from a file named plan.json.
func repeatCommand(r *record.Result) string {
	command := "stormtest "
	for i := range r.Runs {
		switch {
		case virtual(&r.Runs[i]):
			command = "stormtest sim "
		case r.Runs[i].Outside != nil:
			command = "stormtest serve "
		}
	}
	return command + "--file plan.json " + strings.ReplaceAll(repeatFlags(r), string(nbsp), " ")
}

// bounded is a list of rows, each after its prefix, of which those that do not fit a part's room are counted.
func bounded(prefix, noun string, rows []string) string {
	var b strings.Builder
	for i, row := range rows {
		if b.Len()+len(prefix)+len(row)+100 > markdownPart {
			rest := "and " + plural(int64(len(rows)-i), noun) + " more, for which there is no room here"
			if strings.HasSuffix(row, "|") {
				rest = "… | " + rest + " |"
			}
			b.WriteString(prefix + rest + "\n")
			break
		}
		b.WriteString(prefix + row + "\n")
	}
	return b.String()
}
