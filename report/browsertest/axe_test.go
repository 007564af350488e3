package browsertest_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormtest/report/browsertest"
)

// axeScript is axe-core 4.14.1, Mozilla Public License 2.0, unchanged; its licences lie beside it. The tests
// alone use it: no page and no program holds it.
//
//go:embed testdata/axe.min.js
var axeScript string

// ofColours is the rule that goes by the colour scheme. What another scheme shows has only to be looked at by this one.
const ofColours = "color-contrast"

// A violation is what axe found wrong, and where.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// axe returns what is serious or critical in a page for those who read it by keyboard or by ear, or who see
// little, one line a fault. It is empty where nothing is.
//
// Where rules are named only these are looked at.
func axe(t *testing.T, tab *browsertest.Tab, rules ...string) []string {
	t.Helper()
	only := ""
	if rules != nil {
		only = fmt.Sprintf(`, runOnly: {type: "rule", values: ["%s"]}`, strings.Join(rules, `", "`))
	}
	if !eval[bool](t, tab, `typeof axe === "object"`) {
		eval[bool](t, tab, axeScript+"\n;typeof axe === 'object'")
	}
	found := eval[[]violation](t, tab, `axe.run(document, {resultTypes: ["violations"], elementRef: false`+only+`})
		.then(r => r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? ""))})))`)
	var list []string
	for _, v := range found {
		if slices.Contains([]string{"serious", "critical"}, v.Impact) {
			list = append(list, fmt.Sprintf("%s (%s): %s: %d: %s", v.ID, v.Impact, v.Help, len(v.Nodes), strings.Join(v.Nodes[:min(5, len(v.Nodes))], "; ")))
		}
	}
	return list
}
