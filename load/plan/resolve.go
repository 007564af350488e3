package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EnvPrefix begins the name of every environment variable of ours.
const EnvPrefix = "STORMTEST_"

// envSeparator stands between the elements of a repeatable field in the environment:
// STORMTEST_OUTAGE='2s..4s; 10s..12s=hang'. Neither an outage nor a gate holds one; of a layer see
// layersOfEnv.
const envSeparator = ";"

// A Setting is one flag with its value.
type Setting struct{ Name, Text string }

// Input is everything that says what a plan is. The zero Input gives the default plan.
type Input struct {
	// Flags are the flags that were given, in their order. Of a scalar field the last one
	// counts, as it does for every command; a repeatable field takes them all.
	Flags []Setting
	// Env is the environment, "NAME=value" each, as os.Environ returns it. Names that do
	// not begin with EnvPrefix are passed over.
	Env []string
	// EnvOthers are names with EnvPrefix that are not fields of a plan, for the flags
	// about output. Any other unknown name is a fault: a typo must not be silent.
	EnvOthers []string
	// File is a scenario file, and FileName what messages call it. No file where FileName
	// is empty.
	FileName string
	File     []byte
	// Engine is what the plan is for. In virtual time what belongs to a target elsewhere is refused for that
	// reason, and not for want of the URL that would be refused next.
	Engine Engine
}

// Sources tells where the value of a field came from: "--clients", "STORMTEST_CLIENTS" or
// "storm.yaml:3: clients". Fields at their default are absent.
type Sources map[string]string

// Resolve returns the plan of in. A flag counts before an environment variable, that
// before the file, that before the default; a repeatable field takes its list from one of
// them as a whole, and the word none empties it.
//
// The error joins every fault of every source, overruled ones included, and then those of
// fields that do not go together; each says where its value stood. The plan is usable
// only without an error. Any input is safe; a file may have 32 KiB.
func Resolve(in Input) (Plan, Sources, error) {
	r := resolver{plan: Default(), sources: Sources{}, bad: map[string]bool{}}
	if in.FileName != "" {
		for _, g := range decode(in.FileName, in.File) {
			r.set(g)
		}
	}
	r.environment(in.Env, in.EnvOthers)
	r.flags(in.Flags)
	for _, f := range r.plan.conflicts(r.bad) {
		if field, _ := FieldNamed(f.Field); in.Engine == Virtual && field.Group == Elsewhere {
			f.Want = field.elsewhereWant()
		}
		if f.Source = r.sources[f.Field]; f.Source == "" {
			f.Source = f.Field + " (default)"
		}
		r.faults = append(r.faults, f)
	}
	return r.plan, r.sources, errors.Join(r.faults...)
}

// Decode returns the plan of a scenario file alone, YAML or JSON. name is what messages
// call it.
func Decode(name string, file []byte) (Plan, error) {
	p, _, err := Resolve(Input{FileName: name, File: file})
	return p, err
}

// given is what one source says of one field, or a fault in its place.
type given struct {
	field  Field
	texts  []string
	source string
	places []string // source of each text, where they differ
	fault  error    // then field may be zero, and texts do not count
}

type resolver struct {
	plan    Plan
	sources Sources
	bad     map[string]bool // fields with a fault in any source
	faults  []error
}

func (r *resolver) set(g given) {
	if g.fault != nil {
		r.bad[g.field.Name] = true
		r.faults = append(r.faults, g.fault)
		return
	}
	r.sources[g.field.Name] = g.source
	for _, f := range g.field.set(&r.plan, g.texts) {
		f.Source = g.source
		if f.element < len(g.places) {
			f.Source = g.places[f.element]
		}
		r.bad[g.field.Name] = true
		r.faults = append(r.faults, f)
	}
}

func (r *resolver) environment(env, others []string) {
	for _, pair := range slices.Sorted(slices.Values(env)) {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(others, name) {
			continue
		}
		f, ok := fieldOfEnv(name)
		if !ok {
			r.faults = append(r.faults, unknownEnv(name, others))
			continue
		}
		texts := []string{text}
		if f.Repeatable() {
			texts = strings.Split(text, envSeparator)
			for i := range texts {
				texts[i] = strings.TrimSpace(texts[i])
			}
			if f.Name == "layer" {
				texts = layersOfEnv(texts)
			}
		}
		r.set(given{field: f, texts: texts, source: name})
	}
}

// fieldOfEnv returns the field of an environment variable.
func fieldOfEnv(name string) (Field, bool) {
	for _, f := range table {
		if f.Env() == name {
			return f, true
		}
	}
	return Field{}, false
}

// unknownEnv is the fault of a variable with our prefix that is nobody's.
func unknownEnv(name string, others []string) error {
	var known []string // without the prefix, which would make all names alike
	for _, f := range table {
		known = append(known, strings.TrimPrefix(f.Env(), EnvPrefix))
	}
	for _, other := range others {
		known = append(known, strings.TrimPrefix(other, EnvPrefix))
	}
	message := cut(name) + ": no such environment variable"
	if best := nearest(strings.TrimPrefix(name, EnvPrefix), known); best != "" {
		message += "; did you mean " + EnvPrefix + best + "?"
	}
	return errors.New(message)
}

func (r *resolver) flags(flags []Setting) {
	lists := map[string][]string{} // of the repeatable fields
	for _, s := range flags {
		f, ok := FieldNamed(s.Name)
		switch {
		case !ok:
			r.faults = append(r.faults, fmt.Errorf("--%s: no such flag", cut(s.Name)))
		case f.Repeatable():
			lists[s.Name] = append(lists[s.Name], s.Text)
		default:
			r.set(given{field: f, texts: []string{s.Text}, source: "--" + s.Name})
		}
	}
	for _, f := range table {
		if texts := lists[f.Name]; texts != nil {
			r.set(given{field: f, texts: texts, source: "--" + f.Name})
		}
	}
}
