package report

import (
	"slices"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// verdictSection is the answer: what makes the figures worthless, which strategy did best, and every verdict.
func verdictSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "verdict", Title: "Verdict"}
	for _, fact := range htmlFacts(func(p *page) { writeTroubles(p, r, plan) }) {
		s.Blocks = append(s.Blocks, htmlBlock{Alert: troubleAlert(fact)})
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if b := &run.Books; run.FromLog == nil && (!b.Balanced || len(b.Faults) > 0) {
			a := &htmlAlert{Class: "bad", Role: "books", Head: "BOOKS DO NOT BALANCE", Text: htmlText("The counts of " + runName(run) + " contradict each other, so that some are wrong.")}
			for _, fault := range b.Faults {
				a.Points = append(a.Points, htmlText(clean(fault)))
			}
			s.Blocks = append(s.Blocks, htmlBlock{Alert: a})
		}
	}
	c := choose(r)
	if c.head != "" {
		answer := &htmlAnswer{Head: htmlText(c.head), Text: htmlText(c.why)}
		if len(c.best) > 0 {
			answer.Small = htmlText(strings.TrimSpace(choiceRule + " " + choiceDoubt(r)))
		}
		s.Blocks = append(s.Blocks, htmlBlock{Answer: answer})
	}
	var list []htmlVerdict
	chosen := chosenRuns(r)
	for i := range r.Runs {
		run := &r.Runs[i]
		list = append(list, htmlVerdict{
			Run: i, Strategy: runName(run), Word: htmlText(verdictWord(run)), Class: verdictClass(run), Sentence: htmlText(seedsFirst(verdictSentence(run, plan))), Chosen: slices.Contains(chosen, i),
		})
	}
	if list != nil {
		s.Blocks = append(s.Blocks, htmlBlock{Verdicts: list})
	}
	return s
}

// seedsFirst begins a sentence; one that begins with its seeds in brackets with these.
func seedsFirst(sentence string) string {
	if rest, found := strings.CutPrefix(sentence, "("); found {
		if seeds, what, found := strings.Cut(rest, ") "); found {
			return upperFirst(seeds) + ": " + what
		}
	}
	return upperFirst(sentence)
}

// chosenRuns are those that did best; nil where nothing tells them from the others.
func chosenRuns(r *record.Result) []int {
	if best := choose(r).best; len(best) < len(r.Runs) {
		return best
	}
	return nil
}

// troubleAlert makes a box of what the terminal report begins with.
func troubleAlert(fact htmlFact) *htmlAlert {
	a := &htmlAlert{Class: "warn", Head: fact.Head, Text: fact.Text, Points: fact.Points, Role: strings.ToLower(plainText(string(fact.Head)))}
	if strings.ContainsRune(string(fact.Head), markRed) {
		a.Class = "bad"
	}
	return a
}

// verdictClass is the look of a verdict, in the colours of the terminal.
func verdictClass(run *record.Run) string {
	mark, _ := verdictMark(run)
	switch mark {
	case markRed:
		return "bad"
	case markYellow:
		return "warn"
	case markGreen:
		return "good"
	}
	return "unknown"
}

// upperFirst begins a sentence.
func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// notesBlocks tells each note once, with the strategies that have it.
func notesBlocks(r *record.Result) []htmlBlock {
	var notes []string
	of := map[string][]string{}
	for i := range r.Runs {
		for _, note := range r.Runs[i].Notes {
			note = clean(note)
			if of[note] == nil {
				notes = append(notes, note)
			}
			if name := quoted(&r.Runs[i]); !slices.Contains(of[note], name) {
				of[note] = append(of[note], name)
			}
		}
	}
	if notes == nil {
		return nil
	}
	alert := &htmlAlert{Class: "note", Role: "notes", Head: "Notes"}
	for _, note := range notes {
		text := note
		if len(r.Runs) > 1 && len(of[note]) < len(r.Runs) {
			text = strings.Join(of[note], ", ") + ": " + note
		}
		alert.Points = append(alert.Points, htmlText(text))
	}
	return []htmlBlock{{Alert: alert}}
}

// gatesSection lists the gates, those that failed as loudly as the terminal does.
func gatesSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "gates", Title: "Gates"}
	facts := htmlFacts(func(p *page) { writeGates(p, r) })
	if len(facts) == 0 {
		return s
	}
	class := "good"
	switch head := string(facts[0].Text); {
	case strings.ContainsRune(head, markRed):
		class = "bad"
	case strings.ContainsRune(head, markYellow):
		class = "warn"
	}
	s.Blocks = append(s.Blocks, htmlBlock{Alert: &htmlAlert{Class: class, Role: "gates", Text: facts[0].Text}})
	table := &htmlTable{Role: "gates", Caption: "Every gate with what it found", Head: textRow("gate", "result", "what it found")}
	table.Head[1].Class, table.Head[2].Class = "text", "text"
	for _, i := range failedFirst(r.Gates) {
		g := &r.Gates[i]
		word, chip := htmlText(gateWord(*g)), "good"
		if !g.OK {
			chip = "bad"
		}
		table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{
			{Text: htmlText(clean(g.Gate))}, {Text: word, Chip: chip, Class: "text"},
			{Text: htmlText(clean(g.Reason)), Class: "long", Figure: "gate." + strconv.Itoa(i), Value: htmlValue(g.Value)},
		}})
	}
	s.Blocks = append(s.Blocks, htmlBlock{Table: table})
	return s
}

// failedFirst are the numbers of the gates, those that failed before the others.
func failedFirst(gates []record.Gate) []int {
	var failed, held []int
	for i := range gates {
		if gates[i].OK {
			held = append(held, i)
		} else {
			failed = append(failed, i)
		}
	}
	return append(failed, held...)
}

// alarmMost is how many of the gates that failed stand under the title; the others are in their table.
const alarmMost = 5

// gatesAlarm tells of gates that failed; nil where none did.
func gatesAlarm(gates []record.Gate) *htmlAlarm {
	var a htmlAlarm
	n := int64(0)
	for i := range gates {
		if gates[i].OK {
			continue
		}
		if n++; n <= alarmMost {
			a.Points = append(a.Points, htmlText(styled(markBold, clip(clean(gates[i].Gate), 120))+": "+clip(clean(gates[i].Reason), 200)))
		}
	}
	if n == 0 {
		return nil
	}
	a.Head = "Gates: " + count(n) + " of " + count(int64(len(gates))) + " " + gateFailed
	if n > alarmMost {
		a.Points = append(a.Points, htmlText("and "+count(n-alarmMost)+" more"))
	}
	return &a
}

// probeSection is the healthy baseline, where one was taken.
func probeSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "probe", Title: "Before the storm"}
	if r.Probe != nil {
		s.Blocks = append(s.Blocks, htmlBlock{Facts: htmlFacts(func(p *page) { writeBaseline(p, r.Probe) })})
	}
	return s
}
