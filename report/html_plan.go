package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"stormtest/load/record"
)

// planSection shows the plan as the result holds it, and how to run it again.
func planSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "plan", Title: "The plan", Short: "Plan"}
	origin := htmlFacts(func(p *page) { writeOrigin(p, r, plan) })
	s.Blocks = append(s.Blocks, htmlBlock{Facts: slices.DeleteFunc(origin, func(f htmlFact) bool { return f.Head == "Repeat it" })})
	if model := targetModel(r, plan); model != "" {
		s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText("Target: " + model + ".")})
	}
	s.Blocks = append(s.Blocks, planCommand(r)...)
	fields := planRows(r.Plan)
	if len(fields) == 0 {
		s.Blocks = append(s.Blocks, htmlBlock{Words: "The result holds no plan."})
		return s
	}
	table := &htmlTable{Role: "plan", Caption: "Every field of the plan, by the name of its flag", Head: textRow("field", "value")}
	table.Head[1].Class = "text"
	for _, f := range fields {
		table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{{Text: htmlText(f[0])}, {Text: htmlText(f[1]), Class: "long"}}})
	}
	s.Blocks = append(s.Blocks, htmlBlock{Fold: &htmlFold{Title: "Every field of the plan", Screen: true, Blocks: []htmlBlock{{Table: table}}}})
	return s
}

// planCommand is how to have the same run again, with the file that takes.
func planCommand(r *record.Result) []htmlBlock {
	file := indentedPlan(r)
	if file == "" || len(r.Runs) == 0 || fromLog(r) {
		return nil
	}
	return []htmlBlock{
		{Words: "To repeat it, save the plan below as plan.json, and:"}, {Code: repeatCommand(r)},
		{Fold: &htmlFold{Title: "The plan as a file", Blocks: []htmlBlock{{Code: file}}}},
	}
}

// planRowsMost bounds the fields that are shown.
const planRowsMost = 500

// planRows lists the fields of a plan in its own order; groups of fields as if they were not grouped.
func planRows(raw json.RawMessage) [][2]string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	var rows [][2]string
	for decoder.More() && len(rows) < planRowsMost {
		key, err := decoder.Token()
		name, isText := key.(string)
		var value json.RawMessage
		if err != nil || !isText || decoder.Decode(&value) != nil {
			return rows
		}
		if bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
			rows = append(rows, planRows(value)...)
			continue
		}
		one, _ := json.Marshal(map[string]json.RawMessage{name: value})
		text := readPlan(&record.Result{Plan: one}).text(name)
		if strings.TrimSpace(text) == "" {
			text = none
		}
		rows = append(rows, [2]string{clean(name), text})
	}
	return rows
}
