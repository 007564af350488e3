package report

import (
	"cmp"
	"slices"
	"strings"

	"stormtest/load/record"
)

// A sheet is a small table of one run that every report for people shows in its own form: the phases, the parts of a
// mixed fleet, the services of a chain.
type sheet struct {
	role    string // of the table in a page
	caption string
	head    []string
	rows    [][]string
	feet    []string // sentences that belong to it
}

// sheets are those of a run.
func sheets(run *record.Run) []sheet {
	var list []sheet
	for _, s := range []sheet{phasesSheet(run), partsSheet(run), layersSheet(run)} {
		if len(s.rows) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// writeSheets writes the sheets of a run, each under its caption: as a table or, where the page is too narrow for it, row
// by row.
func writeSheets(p *page, run *record.Run) {
	for _, s := range sheets(run) {
		p.blank()
		p.line(styled(markBold, s.caption))
		rows := [][]string{s.head}
		for _, row := range s.rows {
			texts := make([]string, len(row))
			for i, cell := range row {
				texts[i] = clip(cell, sheetCellMost)
			}
			rows = append(rows, texts)
		}
		if tableCells(rows) <= p.width {
			for _, line := range layTable(rows, spread(tableWidths(rows), tableCells(rows), min(p.width, proseMost))) {
				p.line(line)
			}
		} else {
			for _, row := range rows[1:] {
				var parts []string
				for i, text := range row[1:] {
					gap := string(nbsp)
					if strings.ContainsFunc(text, isMark) {
						gap = " " // a colour that begins a line must not take a blank with it
					}
					parts = append(parts, s.head[i+1]+gap+text)
				}
				p.para(row[0]+":", 2, strings.Join(parts, ", "))
			}
		}
		for _, foot := range s.feet {
			p.para("", 0, foot)
		}
	}
}

// sheetCellMost bounds the names of a sheet on a terminal.
const sheetCellMost = 18

// htmlSheet makes a table of a sheet.
func htmlSheet(s *sheet) *htmlTable {
	table := &htmlTable{Role: s.role, Caption: s.caption, Head: textRow(s.head...)}
	for _, row := range s.rows {
		table.Rows = append(table.Rows, htmlRow{Cells: textRow(row...)})
	}
	for _, foot := range s.feet {
		table.Foot = append(table.Foot, htmlText(foot))
	}
	return table
}

// sheetsSection shows the sheets of all runs.
func sheetsSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "parts"}
	var titles []string
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.FromLog != nil {
			continue
		}
		list := sheets(run)
		if len(list) > 0 && len(r.Runs) > 1 {
			s.Blocks = append(s.Blocks, htmlBlock{Heading: runName(run)})
		}
		for k := range list {
			if title := sheetTitles[list[k].role]; !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
			s.Blocks = append(s.Blocks, htmlBlock{Table: htmlSheet(&list[k])})
		}
	}
	s.Title = upperFirst(strings.Join(titles, " and "))
	if len(titles) > 2 {
		s.Title = "Phases, parts and services"
	}
	s.Short = s.Title
	return s
}

// sheetTitles say what the tables of a role are of.
var sheetTitles = map[string]string{"phases": "phases", "parts": "parts", "layers": "services"}

// markdownSheets are the sheets of all runs as tables.
func markdownSheets(r *record.Result) string {
	var b strings.Builder
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.FromLog != nil {
			continue
		}
		for _, s := range sheets(run) {
			title := s.caption
			if len(r.Runs) > 1 {
				title = shortened(runName(run), nameMost) + ": " + strings.ToLower(s.caption[:1]) + s.caption[1:]
			}
			var rows []string
			for _, row := range s.rows {
				var texts []string
				for _, cell := range row {
					texts = append(texts, escaped(shortened(unmarked(cell), nameMost)))
				}
				rows = append(rows, strings.Join(texts, " | ")+" |")
			}
			part := "### " + escaped(title) + "\n\n| " + strings.Join(s.head, " | ") + " |\n|---|" + strings.Repeat("--:|", len(s.head)-1) + "\n" + bounded("| ", "row", rows) + "\n"
			for _, foot := range s.feet {
				part += escaped(shortened(unmarked(foot), chainMost)) + "\n\n"
			}
			if b.Len()+len(part) > 2*markdownPart {
				return b.String() + "More tables of phases, parts and services are in the other reports.\n\n"
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// phasesSheet has a row for each stretch of the run.
func phasesSheet(run *record.Run) sheet {
	s := sheet{role: "phases", caption: "Phases, by the buckets that begin in them",
		head: []string{"phase", "from", "to", "goodput", "arrivals", "amplif.", "rejected", "wasted"}}
	for i := range run.Phases {
		f := &run.Phases[i]
		name := cmp.Or(clean(f.Name), "unnamed")
		rejected := shareOf(f.Rejected, f.Arrivals)
		wasted := f.WastedShare
		if run.ArrivalsMeasuredAt == "client" {
			wasted = nil // only the target knows
		}
		goodput := none
		if finite(f.GoodputPerSecond) {
			goodput = number(f.GoodputPerSecond) + "/s"
		}
		s.rows = append(s.rows, []string{
			name, moment(f.From), span(f.To), goodput, count(f.Arrivals), number(f.Amplification), percent(rejected), percent(wasted),
		})
	}
	if len(run.Layers) > 0 && len(s.rows) > 0 {
		s.feet = append(s.feet, "Rejected here counts also what failed behind the "+firstService+".")
	}
	return s
}

// shareOf is part of all, nil of nothing.
func shareOf(part, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	v := float64(part) / float64(all)
	return &v
}

// partsSheet has a row for the whole of a mixed fleet, and one for each part of it.
func partsSheet(run *record.Run) sheet {
	s := sheet{role: "parts", caption: "The fleet and its parts",
		head: []string{"clients that follow", "share", "clients", "attempts", "amplif.", "done", "convoy", "verdict"}}
	row := func(name string, share float64, clients int64, part *record.Run) []string {
		done := shareOf(part.Operations.Succeeded, part.Operations.Started)
		return []string{
			name, percent(&share), count(clients), count(part.Attempts.Sent), number(part.Amplification), percent(done),
			index(part.Convoy.ConvoyIndex), strings.TrimSpace(verdictWord(part) + " " + flagList(part)),
		}
	}
	var parts [][]string
	var clients int64
	for i := range run.Parts {
		part := &run.Parts[i]
		if part.Run == nil {
			continue
		}
		clients += part.Clients
		parts = append(parts, row(cmp.Or(clean(part.Name), "unnamed"), part.Share, part.Clients, part.Run))
	}
	if len(parts) == 0 {
		return s
	}
	s.rows = append([][]string{row("all together", 1, clients, run)}, parts...)
	if text := partsSentence(run); text != "" {
		s.feet = append(s.feet, upperFirst(text)+".")
	}
	s.feet = append(s.feet, "Capacity and queue are shared: a part's attempts over capacity are held against the whole target.")
	return s
}

// partsSentence says in words which parts of a mixed fleet came back together, where its whole may hide it; empty where
// there are none, or nobody knows.
func partsSentence(run *record.Run) string {
	var together, partly []string
	apart, unknown := 0, 0
	for i := range run.Parts {
		part := &run.Parts[i]
		if part.Run == nil {
			continue
		}
		index := part.Run.Convoy.ConvoyIndex
		switch name := partWords(part); {
		case !finite(index):
			unknown++
		case *index >= record.ThresholdConvoy:
			together = append(together, name)
		case *index >= record.ThresholdPartial:
			partly = append(partly, name)
		default:
			apart++
		}
	}
	some := strings.Join(partly, " and ")
	switch {
	case len(together) > 0 && len(partly)+apart+unknown == 0:
		return "every part of the fleet came back together: " + strings.Join(together, ", ")
	case len(together) > 0:
		text := "it is the part that follows " + strings.Join(together, " and ") + " that came back together"
		if some != "" {
			text += "; partly so did " + some
		}
		return text
	case some != "":
		return "of its parts " + some + " came back partly together"
	case unknown > 0 || apart == 0:
		return ""
	}
	return "no part of the fleet came back together"
}

// partWords names a part with what the sentence rests on.
func partWords(part *record.Part) string {
	name := clip(cmp.Or(clean(part.Name), "unnamed"), labelMost)
	return "“" + name + "” (" + percent(&part.Share) + " of the clients, convoy index " + index(part.Run.Convoy.ConvoyIndex) + ")"
}

// layersSheet has a row for the first service of a chain and for each behind it.
func layersSheet(run *record.Run) sheet {
	s := sheet{role: "layers", caption: "The chain, service by service",
		head: []string{"service", "calls", "attempts", "amplif.", "end to end", "served", "rejected", "failed", "done"}}
	if !slices.ContainsFunc(run.Layers, func(l record.Layer) bool { return l.Run != nil }) {
		return s
	}
	row := func(name string, layer, behind *record.Run, end *float64) []string {
		served, rejected := servedRejected(layer)
		failed := none
		if behind != nil {
			n := min(failedBehind(behind), rejected)
			rejected, failed = rejected-n, count(n)
		}
		return []string{
			name, count(layer.Operations.Started), count(layer.Attempts.Sent), number(layer.Amplification), number(end),
			count(served), count(rejected), failed, percent(shareOf(layer.Operations.Succeeded, layer.Operations.Started)),
		}
	}
	next := func(i int) *record.Run {
		if i < len(run.Layers) {
			return run.Layers[i].Run
		}
		return nil
	}
	s.rows = append(s.rows, row(firstService, run, next(0), run.Amplification))
	for i := range run.Layers {
		if l := &run.Layers[i]; l.Run != nil {
			s.rows = append(s.rows, row(layerName(l), l.Run, next(i+1), l.EndToEnd))
		}
	}
	s.feet = append(s.feet, "Calls are what the one before a service wanted of it: of the target, the clients' operations.",
		"Rejected is what a service refused itself; failed, what it had done its own work for, and the call to the next service failed.")
	if text := layersSentence(run); text != "" {
		s.feet = append(s.feet, upperFirst(text)+".")
	}
	return s
}

// callerGone is why a service's call ended that was given up with the request it was made for.
const callerGone = "caller_gone"

// servedRejected are counts over the whole run.
func servedRejected(run *record.Run) (served, rejected int64) {
	for i := range run.Buckets {
		served += run.Buckets[i].Served
		rejected += run.Buckets[i].Rejected
	}
	return served, rejected
}

// failedBehind is how many attempts a service could not serve, as the call that it made for each to the next one, of
// which run is, was given up. They are among its Rejected. Where the caller had gone there was nobody to refuse.
func failedBehind(run *record.Run) int64 {
	var n int64
	for reason, count := range run.Operations.GaveUp {
		if reason != callerGone {
			n += count
		}
	}
	return n
}

// firstService is the name of the service that the clients call.
const firstService = "target"

func layerName(l *record.Layer) string { return cmp.Or(clean(l.Name), "unnamed") }

// layersSentence says where the attempts at the last service of a chain came from: how many each caller made of one
// call. Where not every attempt came to call the next service, the share that did is the rest of the product.
func layersSentence(run *record.Run) string {
	if len(run.Layers) == 0 {
		return ""
	}
	last := &run.Layers[len(run.Layers)-1]
	if last.Run == nil || !finite(last.EndToEnd) || !finite(run.Amplification) {
		return ""
	}
	factors := []string{significantCount(*run.Amplification) + " by the clients"}
	var lost []string
	sent, caller := run.Attempts.Sent, "the "+firstService
	for i := range run.Layers {
		l := &run.Layers[i]
		if l.Run == nil || !finite(l.Run.Amplification) || sent <= 0 {
			return ""
		}
		if passed := float64(l.Run.Operations.Started) / float64(sent); passed < 0.995 || passed > 1.005 {
			lost = append(lost, percent(&passed)+" at "+caller)
		}
		factors = append(factors, significantCount(*l.Run.Amplification)+" by "+caller)
		sent, caller = l.Run.Attempts.Sent, clip(layerName(l), labelMost)
	}
	attempts := " attempts at "
	if significantCount(*last.EndToEnd) == "1" {
		attempts = " attempt at "
	}
	text := significantCount(*last.EndToEnd) + attempts + clip(layerName(last), labelMost) + " for each operation: " + strings.Join(factors, " × ")
	if len(lost) > 0 {
		text += "; of the attempts only " + strings.Join(lost, " and ") + " came to call the next service"
	}
	return text
}
