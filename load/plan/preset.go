package plan

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"stormtest/load/backoff"
)

// A Preset is the retry policy of a client as it is shipped. All of it is data, in presets.yaml.
type Preset struct {
	Name    string `yaml:"name" json:"name"`
	Group   string `yaml:"group" json:"group"`     // cloud, rpc, library or infrastructure
	Source  string `yaml:"source" json:"source"`   // whose code or documentation
	Version string `yaml:"version" json:"version"` // that it was read in
	Summary string `yaml:"summary" json:"summary"`
	// Hazards say what is known to go wrong with it; none is known where there are none.
	Hazards []string `yaml:"hazards" json:"hazards"`
	// Notes say what the shipped thing does that a plan cannot say, and how it was read.
	Notes []string `yaml:"notes" json:"notes"`
	// Fields are what it sets of a plan: the text of each, by the field's name.
	Fields map[string]string `yaml:"fields" json:"fields"`

	// What the source says of it, by which its fields are tested.

	Attempts int           `yaml:"attempts" json:"-"` // of one operation at most; 0: there is no limit
	Budget   string        `yaml:"budget" json:"-"`   // "" is none
	Delays   []presetDelay `yaml:"delays" json:"-"`   // before the first, second, ... retry
}

// A presetDelay is what a delay is drawn from: texts of durations.
type presetDelay struct {
	Least string `yaml:"least"`
	Most  string `yaml:"most"`
	Mean  string `yaml:"mean"`
}

//go:embed presets.yaml
var presetsFile []byte

// loadPresets reads the file when somebody asks for the first time.
var loadPresets = sync.OnceValue(func() []Preset {
	var list []Preset
	if err := yaml.UnmarshalWithOptions(presetsFile, &list, yaml.Strict()); err != nil {
		panic("plan: BUG: presets.yaml: " + err.Error())
	}
	return list
})

// Presets returns every preset, in the order of the help. Read only.
func Presets() []Preset { return loadPresets() }

// PresetNamed returns the preset of a name.
func PresetNamed(name string) (Preset, bool) {
	for _, s := range loadPresets() {
		if s.Name == name {
			return s, true
		}
	}
	return Preset{}, false
}

// Sets reports whether the preset sets the field.
func (s Preset) Sets(field string) bool { _, ok := s.Fields[field]; return ok }

// Apply returns p with the preset's policy in the place of p's own.
func (s Preset) Apply(p Plan) Plan {
	p.Presets = nil
	for _, f := range table { // in its order, though none depends on another
		if text, ok := s.Fields[f.Name]; ok {
			if err := f.Set(&p, text); err != nil {
				panic("plan: BUG: preset " + s.Name + ": " + err.Error())
			}
		}
	}
	return p
}

// Plan returns the default plan with the preset's policy.
func (s Preset) Plan() Plan { return s.Apply(Default()) }

// YAML returns the preset as a scenario file of what it sets, with what is known of it in comments.
func (s Preset) YAML() []byte {
	p := s.Plan()
	var b strings.Builder
	line := func(text string) { b.Write(comment(text)) }
	line("The policy of preset " + s.Name + ": " + s.Summary + ".")
	line("Source: " + s.Source + "; " + s.Version + ".")
	line("Delays before the retries: " + s.FirstDelays() + "; attempts: " + s.AttemptsMost() + ".")
	for _, h := range s.Hazards {
		line("Hazard: " + h + ".")
	}
	for _, n := range s.Notes {
		line("Note: " + n)
	}
	line("What is not here is the plan's: 'stormtest --file' this, with flags for fleet and target.")
	b.WriteByte('\n')
	for _, f := range table {
		if s.Sets(f.Name) {
			b.Write(f.yaml(&p))
		}
	}
	return []byte(b.String())
}

// FirstDelays says from what the first delays are drawn, in words such as "0s..50ms, 0s..100ms, 0s..200ms".
func (s Preset) FirstDelays() string {
	const most = 3
	p := s.Plan()
	count := most
	if p.MaxRetries != Unlimited {
		count = min(count, p.MaxRetries)
	}
	if count == 0 {
		return "none"
	}
	strategy := p.Backoff(p.Strategies[0])
	var words []string
	for k := range count {
		words = append(words, delayWords(strategy.Range(backoff.Attempt{Retry: k})))
	}
	if len(slices.Compact(slices.Clone(words))) == 1 && count > 1 {
		return words[0] + " each"
	}
	text := strings.Join(words, ", ")
	if p.MaxRetries == Unlimited || p.MaxRetries > most {
		text += ", ..."
	}
	return text
}

// delayWords writes a range of delays, to a microsecond or a thousandth.
func delayWords(lo, hi time.Duration) string {
	short := func(d time.Duration) string {
		unit := time.Microsecond
		for d >= 10_000*unit {
			unit *= 10
		}
		return formatDuration(d.Round(unit))
	}
	if from, to := short(lo), short(hi+1); lo != hi { // hi itself is drawn, its end is what people write
		return from + ".." + to
	}
	return short(lo)
}

// AttemptsMost says how many attempts an operation makes at most, in words.
func (s Preset) AttemptsMost() string {
	p := s.Plan()
	var words []string
	switch {
	case !s.Sets("max-retries"):
		words = append(words, "as the plan says")
	case p.MaxRetries != Unlimited:
		words = append(words, strconv.Itoa(p.MaxRetries+1))
	}
	if s.Sets("max-elapsed") && p.MaxElapsed > 0 {
		words = append(words, "within "+formatDuration(p.MaxElapsed))
	}
	if s.Sets("budget") && p.Budget.Kind != 0 {
		words = append(words, "under budget "+p.Budget.Kind.String())
	}
	if words == nil {
		return "unlimited"
	}
	return strings.Join(words, ", ")
}

// presetNames returns the names of all presets, in the order of the help.
func presetNames() []string {
	var names []string
	for _, s := range loadPresets() {
		names = append(names, s.Name)
	}
	return names
}
