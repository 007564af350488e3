package plan

import (
	"slices"
	"strconv"
)

// A Variant is what the fleet follows in one of a plan's runs: one policy, or several side by side.
type Variant struct {
	// Name is of the run in results, gates and reports: of a strategy or a preset, or the text of a mixture.
	Name string
	// Parts are one, or those of a mixed fleet.
	Parts []Part
	mixed bool
}

// A Part is the clients of a fleet that follow one policy.
type Part struct {
	Name  string
	Share float64 // of the clients, in (0, 1]; those of a variant add up to 1
	// Plan is the whole plan with the part's policy in it, and one strategy. Read only.
	Plan *Plan
	// Preset says that Name is a preset's, and not a strategy's: there is a polly of both.
	Preset bool
}

// Variants returns what each of the plan's runs is of, in order: its mixed fleet, or else its presets, or where it has none
// its strategies. The plan must be valid.
func (p *Plan) Variants() []Variant {
	if len(p.Mix) > 0 {
		return []Variant{p.mixed()}
	}
	if len(p.Presets) > 0 {
		return p.variants(p.Presets, true)
	}
	return p.variants(p.Strategies, false)
}

// Mixed reports whether the fleet has parts of which each has figures of its own.
func (v Variant) Mixed() bool { return v.mixed }

// mixed is the plan's mixed fleet.
func (p *Plan) mixed() Variant {
	v := Variant{Name: mix{}.write(p), mixed: true}
	for _, part := range p.Mix {
		own := p.part(part.Name, !slices.Contains(strategyNames(), part.Name))
		own.Share = part.Share
		v.Parts = append(v.Parts, own)
	}
	return v
}

// variants are fleets of one policy each.
func (p *Plan) variants(names []string, preset bool) []Variant {
	list := make([]Variant, len(names))
	for i, name := range names {
		list[i] = Variant{Name: name, Parts: []Part{p.part(name, preset)}}
	}
	return list
}

// part is a whole fleet that follows a preset, or else a strategy.
func (p *Plan) part(name string, preset bool) Part {
	with := p.withStrategy
	if preset {
		with = p.withPreset
	}
	return Part{Name: name, Share: 1, Plan: with(name), Preset: preset}
}

// withStrategy returns the whole plan with one strategy.
func (p *Plan) withStrategy(name string) *Plan {
	part := *p
	part.Presets, part.Mix, part.Strategies = nil, nil, []string{name}
	return &part
}

// withPreset returns the whole plan with the policy of a preset.
func (p *Plan) withPreset(name string) *Plan {
	s, ok := PresetNamed(name)
	if !ok {
		panic("plan: BUG: preset " + strconv.Quote(name) + " is not in presets.yaml")
	}
	part := s.Apply(*p)
	part.Mix = nil
	return &part
}

// VariantNamed returns the one of a name; false where the plan has none.
func (p *Plan) VariantNamed(name string) (Variant, bool) {
	for _, v := range p.Variants() {
		if v.Name == name {
			return v, true
		}
	}
	return Variant{}, false
}

// GateNames are the names that a gate may begin with: those of the runs, or of a mixed fleet of its parts, and of the
// layers. The plan must be valid.
func (p *Plan) GateNames() []string {
	var names []string
	for _, v := range p.Variants() {
		for _, part := range v.Parts {
			names = append(names, part.Name)
		}
	}
	for _, l := range p.Layers {
		names = append(names, l.Name)
	}
	return names
}

// RunNames are the names of the plan's runs, in order. The plan must be valid.
func (p *Plan) RunNames() []string {
	var names []string
	for _, v := range p.Variants() {
		names = append(names, v.Name)
	}
	return names
}
