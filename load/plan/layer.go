package plan

import (
	"slices"
	"strconv"
	"strings"
)

// layerShape is the form of a layer.
const layerShape = "NAME;KEY=VALUE;..."

const (
	// layersMost bounds the services of a chain behind the first.
	layersMost = 9
	// layerNameMost bounds the letters of a name, which stands in gates and in tables.
	layerNameMost = 30
	// layerSeparator stands between a layer's name and what it sets.
	layerSeparator = ";"
)

// FrontName is what the first service of a chain is called, the one that the clients call: it is the target.
const FrontName = "target"

// layers is the list of the services behind the target.
//
// It is a type of its own and no listOf: what a layer sets is read by the fields of the table, in which this stands.
type layers struct{}

func (layers) read(p *Plan, name string, texts []string) []*FieldError {
	if len(texts) == 1 && texts[0] == listNone {
		texts = nil
	}
	if len(texts) > listMost {
		return []*FieldError{{Field: name, Got: strconv.Itoa(len(texts)) + " of them", Want: "at most " + strconv.Itoa(layersMost)}}
	}
	var faults []*FieldError
	list := make([]Layer, 0, len(texts))
	for i, text := range texts {
		l, want := parseLayer(text)
		if want != "" {
			faults = append(faults, &FieldError{Field: name, Got: text, Want: want, element: i})
			continue
		}
		list = append(list, l)
	}
	if len(faults) > 0 {
		return faults
	}
	p.Layers = nil
	if len(list) > 0 {
		p.Layers = list
	}
	return nil
}

func (layers) write(p *Plan) []string {
	var texts []string
	for _, l := range p.Layers {
		texts = append(texts, formatLayer(l))
	}
	return texts
}

func (layers) form() string { return layerShape }

// parseLayer reads a layer. Its texts are in the form in which the fields write them.
func parseLayer(text string) (l Layer, want string) {
	if !isLongLine(text) {
		return Layer{}, layerShape + ", such as 'db;capacity=500/s;queue=100'"
	}
	parts := strings.Split(text, layerSeparator)
	l.Name = strings.TrimSpace(parts[0])
	if want := layerNameWant(l.Name); want != "" {
		return Layer{}, layerShape + ", with NAME as " + want
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if l.Texts, want = l.with(strings.TrimSpace(key), strings.TrimSpace(value)); want != "" {
			return Layer{}, want
		}
	}
	return l, ""
}

// layerNameWant says what a name should be; nothing where it is one.
func layerNameWant(name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyz" // as in the names that gates begin with
	const signs = letters + "0123456789-"
	switch {
	case name == listNone:
		return "another one than " + listNone + ", which is no layer"
	case name == FrontName:
		return "another one than " + FrontName + ", which is the first service"
	case name == "" || len(name) > layerNameMost || strings.IndexByte(letters, name[0]) < 0 || strings.Trim(name, signs) != "":
		return "a small letter, and up to " + strconv.Itoa(layerNameMost-1) + " small letters, digits and dashes behind it, such as db"
	}
	return ""
}

// with returns the layer's texts with one more, which names a field and its value.
func (l Layer) with(key, value string) (texts []string, want string) {
	f, want := layerField(key)
	if want != "" {
		return nil, "in layer " + l.Name + " " + want
	}
	if !f.Repeatable() && slices.ContainsFunc(l.Texts, func(text string) bool { return strings.HasPrefix(text, key+"=") }) {
		return nil, "in layer " + l.Name + " each field once, not " + key + " twice"
	}
	scratch := Default()
	if faults := f.set(&scratch, []string{value}); faults != nil {
		return nil, "in layer " + l.Name + " " + key + " as " + faults[0].Want
	}
	back := f.Get(&scratch)
	if f.Name == "model" && scratch.Model != ModelSlots && scratch.Model != ModelTokenBucket {
		return nil, "in layer " + l.Name + " " + key + " as " + oneOf([]string{ModelSlots, ModelTokenBucket})
	}
	if f.Name == "strategy" && len(scratch.Strategies) != 1 {
		return nil, "in layer " + l.Name + " " + key + " as one strategy: a service follows one"
	}
	if len(back) == 0 {
		back = []string{listNone}
	}
	texts = slices.Clone(l.Texts)
	for _, text := range back {
		texts = append(texts, key+"="+text)
	}
	return texts, ""
}

// formatLayer writes a layer as parseLayer reads it.
func formatLayer(l Layer) string {
	return strings.Join(append([]string{l.Name}, l.Texts...), layerSeparator)
}

// layerFleet are the fields of the fleet that say how a service spaces its retries.
var layerFleet = []string{"strategy", "base", "cap", "multiplier", "first-exponent", "cap-mode", "cap-jitter", "noise", "spread", "floor"}

// ofLayer reports whether a layer has a value of its own of the field: all of the policy and of the target, and how
// retries are spaced.
func (f Field) ofLayer() bool {
	switch f.Group {
	case Policy:
		return true
	case Target:
		return f.Name != "layer"
	}
	return slices.Contains(layerFleet, f.Name)
}

// LayerFields returns the rows of what a layer can set.
func LayerFields() []Field {
	return slices.DeleteFunc(Fields(), func(f Field) bool { return !f.ofLayer() })
}

// layerField returns the field of a name that a layer can set, or what is wanted in place of the name.
func layerField(name string) (f Field, want string) {
	if f, ok := FieldNamed(name); ok && f.ofLayer() {
		return f, ""
	}
	var names []string
	for _, f := range LayerFields() {
		names = append(names, f.Name)
	}
	if _, ok := FieldNamed(name); ok {
		return Field{}, "fields of the policy and of the target: " + name + " is of the whole plan"
	}
	return Field{}, didYouMean("KEY=VALUE, with the name of a field as KEY, not "+quote(name), name, names)
}

// layersOfEnv puts together the layers that an environment variable holds, which it separates as they separate what
// they set: what has no = is the name of the next one.
func layersOfEnv(pieces []string) []string {
	var texts []string
	for _, piece := range pieces {
		if strings.Contains(piece, "=") && len(texts) > 0 {
			texts[len(texts)-1] += layerSeparator + piece
		} else {
			texts = append(texts, piece)
		}
	}
	return texts
}
