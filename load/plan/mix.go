package plan

import (
	"math"
	"slices"
	"strings"
)

// mixNone is a fleet of one policy.
const mixNone = "none"

// mixMost bounds the policies of one fleet.
const mixMost = 10

// mixForm is the form of a mixed fleet.
const mixForm = "NAME=SHARE,..."

// mix is the comma list of the policies of a mixed fleet, each with its share of the clients.
type mix struct{}

func (mix) read(p *Plan, text string) string {
	if text == mixNone {
		p.Mix = nil
		return ""
	}
	var parts []MixPart
	var sum float64
	for _, part := range strings.Split(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found {
			return mixForm + ", such as full=70%,none=30%"
		}
		if want := policyNamed(name); want != "" {
			return want
		}
		share, want := parseShare(value)
		if want != "" {
			return name + "'s share as " + want
		}
		if share <= 0 || share > 1 {
			return name + "'s share as more than 0%, at most 100%"
		}
		for _, other := range parts {
			if other.Name == name {
				return "each policy once, not " + name + " twice"
			}
		}
		sum += share
		parts = append(parts, MixPart{Name: name, Share: share})
	}
	const rounding = 1e-9
	switch {
	case len(parts) > mixMost:
		return "at most 10 policies"
	case math.Abs(sum-1) > rounding:
		return "shares that add up to 100%, not " + formatShare(sum)
	}
	p.Mix = parts
	return ""
}

func (mix) write(p *Plan) string {
	if len(p.Mix) == 0 {
		return mixNone
	}
	var texts []string
	for _, part := range p.Mix {
		texts = append(texts, part.Name+"="+formatShare(part.Share))
	}
	return strings.Join(texts, ",")
}

func (mix) word() string      { return mixForm }
func (mix) choices() []string { return nil }

// policyNamed says what is wanted where no strategy and no preset has the name.
func policyNamed(name string) string {
	known := append(strategyNames(), presetNames()...)
	if slices.Contains(known, name) {
		return ""
	}
	return didYouMean("a strategy, which 'stormtest strategies' lists, or a preset, which 'stormtest presets' lists", name, known)
}

// without is the name of the first part of the plan's mixed fleet that has no client; empty where all have some.
func (p *Plan) without() string {
	v := p.mixed()
	for i, n := range v.Counts(p.Clients) {
		if n == 0 {
			return v.Parts[i].Name
		}
	}
	return ""
}
