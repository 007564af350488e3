package plan

import (
	"slices"
	"strings"
)

// presetNone is a run of strategies.
const presetNone = "none"

// presets is the comma list of policies as they are shipped.
type presets struct{}

func (presets) read(p *Plan, text string) string {
	if text == presetNone {
		p.Presets = nil
		return ""
	}
	known := presetNames()
	var names []string
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case slices.Contains(names, name):
			return "each preset once, not " + name + " twice"
		case !slices.Contains(known, name):
			return didYouMean("a comma list of presets, which 'stormtest presets' lists, or none", name, append(known, presetNone))
		}
		names = append(names, name)
	}
	p.Presets = names
	return ""
}

func (presets) write(p *Plan) string {
	if len(p.Presets) == 0 {
		return presetNone
	}
	return strings.Join(p.Presets, ",")
}

func (presets) word() string      { return "NAME,..." }
func (presets) choices() []string { return nil }

// UnknownPreset says what is wrong with the name of a preset that there is none of.
func UnknownPreset(name string) string {
	return quote(name) + ": want " + didYouMean("a preset, which 'stormtest presets' lists", name, presetNames())
}

// policies returns the plan's presets, also of a mixed fleet.
func (p *Plan) policies() []Preset {
	names := slices.Clone(p.Presets)
	for _, part := range p.Mix {
		if !slices.Contains(strategyNames(), part.Name) {
			names = append(names, part.Name)
		}
	}
	var list []Preset
	for _, name := range names {
		if s, ok := PresetNamed(name); ok {
			list = append(list, s)
		}
	}
	return list
}

// presetFaults returns the faults of a plan with presets: fields that a preset sets, and that are given beside it, and what
// of the plan does not go with a preset's own.
func (p *Plan) presetFaults(bad map[string]bool) []*FieldError {
	var faults []*FieldError
	if bad["preset"] || bad["fleet"] {
		return nil
	}
	policies, given := p.policies(), map[string]bool{}
	for _, f := range table {
		if bad[f.Name] {
			continue
		}
		for _, s := range policies {
			if s.Sets(f.Name) && !f.atDefault(p) {
				given[f.Name] = true
				faults = append(faults, &FieldError{Field: f.Name, Got: strings.Join(f.texts(p), "; "),
					Want: "nothing beside preset " + s.Name + ", which sets it; 'stormtest presets " + s.Name + "' prints it as a scenario file to change"})
				break
			}
		}
	}
	for _, s := range policies {
		part := s.Apply(*p)
		part.Mix = nil
		for _, r := range rules {
			sets := slices.ContainsFunc(r.fields, s.Sets)
			if !sets || slices.ContainsFunc(r.fields, func(name string) bool { return bad[name] || given[name] }) {
				continue
			}
			if fault := part.against(r); fault != nil {
				fault.Want += " (with preset " + s.Name + ")"
				faults = append(faults, fault)
			}
		}
	}
	return faults
}
