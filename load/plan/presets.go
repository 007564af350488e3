package plan

import "strings"

// presetNone is a run of strategies.
const presetNone = "none"

// presets is the comma list of policies as they are shipped.
type presets struct{}

func (presets) read(p *Plan, text string) string {
	if text != presetNone {
		return "none"
	}
	p.Presets = nil
	return ""
}

func (presets) write(p *Plan) string {
	if len(p.Presets) == 0 {
		return presetNone
	}
	return strings.Join(p.Presets, ",")
}

func (presets) word() string      { return "list" }
func (presets) choices() []string { return nil }
