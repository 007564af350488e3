package plan

import (
	"slices"
	"strings"
)

// strategies is the comma list of strategy names, or a list with the word all in it.
type strategies struct{}

const strategyAll = "all"

// allStrategies is what the word all stands for: the four of the published guides.
var allStrategies = []string{"none", "equal", "full", "decorrelated"}

func (strategies) read(p *Plan, text string) string {
	var names []string
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == strategyAll:
			names = append(names, allStrategies...)
		case slices.Contains(strategyNames(), name):
			names = append(names, name)
		default:
			known := append(strategyNames(), strategyAll)
			return didYouMean("a comma list of "+oneOf(known), name, known)
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return "each strategy once, not " + name + " twice"
		}
	}
	p.Strategies = names
	return ""
}

func (strategies) write(p *Plan) string { return strings.Join(p.Strategies, ",") }
func (strategies) word() string         { return "list" }
func (strategies) choices() []string    { return append(strategyNames(), strategyAll) }
