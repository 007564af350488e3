package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// ComparisonMarkdown writes a comparison in GitHub Flavored Markdown, for a pull request or the summary of a step: first what
// makes figures worthless, then what was asked differently, what each strategy comes to, the gates (failed ones first) and
// the main figures; folded, the arrivals over each other and every figure.
//
// Size and strings are treated as by [Markdown].
func ComparisonMarkdown(w io.Writer, c *compare.Comparison) error {
	head := comparedMarkdownHead(c)
	tail := comparedMarkdownTail(c)
	_, err := io.WriteString(w, head+comparedMarkdownFolds(c, markdownMost-len(head)-len(tail))+tail)
	return err
}

func comparedMarkdownHead(c *compare.Comparison) string {
	var b strings.Builder
	b.WriteString("## " + escaped("stormtest compare: "+shortened(comparedTitle(c), nameMost)) + "\n\n")
	var invalid []string
	for _, t := range comparedTroubles(c) {
		text := t.text
		if t.why != nil {
			text += " " + strings.Join(t.why, "; ")
		}
		invalid = append(invalid, "**"+t.word+"** "+escaped(shortened(text, 2*sentenceMost)))
	}
	if invalid != nil {
		b.WriteString(bounded("> * ", "result", invalid) + "\n")
	}
	var rows, sides []string
	sides = append(sides, "base | "+escaped(shortened(sideText(&c.Base, insideOne(c)), sentenceMost))+" |")
	for i := range c.Others {
		o := &c.Others[i]
		sides = append(sides, "new | "+escaped(shortened(sideText(&o.Side, insideOne(c)), sentenceMost))+" |")
		for k := range o.Pairs {
			pair := comparedPairOf(&o.Pairs[k])
			rows = append(rows, "**"+escaped(shortened(comparedName(c, i, &pair), nameMost))+"** "+pair.word()+": "+escaped(shortened(unmarked(strings.Join(pair.sentences(), " ")), 2*sentenceMost)))
		}
	}
	b.WriteString(comparedMarkdownChanges(c))
	b.WriteString("### What differs\n\n" + bounded("* ", "strategy", rows) + "\n")
	b.WriteString("| | |\n|---|---|\n" + bounded("| ", "result", sides) + "\n")
	b.WriteString(markdownGates(&record.Result{Gates: c.Gates, Valid: true}))
	b.WriteString(comparedMarkdownFigures(c))
	return b.String()
}

// comparedTitle is the outcome in one line.
func comparedTitle(c *compare.Comparison) string {
	var parts []string
	for _, t := range comparedTroubles(c) {
		parts = append(parts, t.word)
	}
	if len(c.Gates) > 0 {
		s := gatesSummary(&record.Result{Gates: c.Gates, Valid: true})
		parts = append(parts, "gates "+s.word+": "+s.text)
	}
	const named = 4
	var words []string
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			words = append(words, clip(pair.title, 30)+" "+pair.word())
		}
	}
	if n := len(words) - named; n > 0 {
		words = append(words[:named], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(append(parts, strings.Join(words, ", ")), "; ")
}

// comparedName names a pair, and its result where there are several.
func comparedName(c *compare.Comparison, i int, pair *comparedPair) string {
	if len(c.Others) > 1 && !insideOne(c) {
		return clean(c.Others[i].Name) + ": " + pair.title
	}
	return pair.title
}

// comparedMarkdownChanges is what was asked differently.
func comparedMarkdownChanges(c *compare.Comparison) string {
	var rows []string
	for i := range c.Others {
		o := &c.Others[i]
		prefix := ""
		if len(c.Others) > 1 {
			prefix = escaped(shortened(clean(o.Name), nameMost)) + ": "
		}
		for _, text := range changeTexts(&c.Base, o) {
			rows = append(rows, prefix+escaped(shortened(text, sentenceMost)))
		}
		for _, note := range o.Notes {
			rows = append(rows, prefix+escaped(shortened(clean(note), sentenceMost)))
		}
		if text := unmatchedText(o); text != "" {
			rows = append(rows, prefix+"not compared: "+escaped(shortened(text, sentenceMost)))
		}
	}
	if rows == nil {
		return ""
	}
	return "### What changed\n\n" + bounded("* ", "change", rows) + "\n"
}

// comparedMarkdownFigures is a table of the main figures of every pair.
func comparedMarkdownFigures(c *compare.Comparison) string {
	var rows []string
	var moved []string
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			if text := movedText(&pair); text != "" && !slices.Contains(moved, text) {
				moved = append(moved, text)
			}
			for _, f := range pair.main {
				known := escaped(f.known)
				if f.more() {
					known = "**" + known + "**"
				}
				rows = append(rows, strings.Join([]string{escaped(shortened(comparedName(c, i, &pair), nameMost)), escaped(f.label), escaped(f.base), escaped(f.other), escaped(f.difference), known}, " | ")+" |")
			}
		}
	}
	if rows == nil {
		return ""
	}
	foot := ""
	if moved != nil {
		foot = escaped(strings.Join(moved, "; or ")) + ".\n\n"
	}
	return "### Figures\n\n| strategy | figure | base | new | difference | beyond noise? |\n|---|---|--:|--:|--:|---|\n" + bounded("| ", "figure", rows) + "\n" + foot
}

// comparedMarkdownFolds folds what a terminal shows with --all, as much as there is room for.
func comparedMarkdownFolds(c *compare.Comparison, room int) string {
	const columns = 90 // more make a box that scrolls
	var b strings.Builder
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			var text bytes.Buffer
			p := newPage(&text, Options{Width: columns})
			drawOverlay(p, &pair, outagesOfTwo(&c.Base, &c.Others[i].Side, pair.Service))
			p.blank()
			writeFigures(p, &pair, true)
			_ = p.flush() // into memory
			name := shortened(comparedName(c, i, &pair), nameMost)
			part := "<details><summary>" + codeHTML(name) + ": arrivals over each other, and every figure</summary>\n\n" + fenced("text", strings.Trim(text.String(), "\n")) + "\n</details>\n\n"
			if b.Len()+len(part)+200 > room { // the sentence needs its room, too
				return b.String() + "Arrivals and figures of more strategies are left out here, as this is to stay under " + count(markdownMost) + " bytes; the terminal, HTML and JSON reports have them.\n\n"
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

func comparedMarkdownTail(c *compare.Comparison) string {
	text := ""
	if method := methodText(c); method != "" {
		text = upperFirst(escaped(method)) + "\n\n"
	}
	return text + "Compared by stormtest " + escaped(shortened(clean(c.Tool.Version), nameMost)) + ".\n"
}
