package plan

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// layerNameKey is the key of a layer's name where the layer is a mapping.
const layerNameKey = "name"

// decodeLayers reads the value of the field layer, which stands at place: texts, or mappings of the name and of what
// the layer sets, each of which it hands on as the text that says the same. A fault inside a mapping has its own line.
func decodeLayers(name, place string, f Field, node ast.Node) []given {
	nodes := []ast.Node{node}
	if sequence, ok := node.(*ast.SequenceNode); ok {
		nodes = sequence.Values
	}
	g := given{field: f, source: place}
	var faults []given
	for _, n := range nodes {
		text, ok := scalarText(n)
		if pairs := pairsOf(n); pairs != nil {
			d := layerDecoder{file: name, field: f}
			text, ok = d.layer(n, pairs), true
			faults = append(faults, d.faults...)
		}
		if !ok {
			fault := fmt.Errorf("%s: want a list of layers, each a mapping or a text, not %s", place, kind(n))
			return []given{{field: f, fault: fault}}
		}
		g.texts = append(g.texts, text)
		g.places = append(g.places, fmt.Sprintf("%s:%d: %s", name, line(n), f.Name))
	}
	if len(faults) > 0 {
		return faults
	}
	return []given{g}
}

// pairsOf returns the lines of a mapping, nil of another node.
func pairsOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// A layerDecoder reads one mapping.
type layerDecoder struct {
	file   string
	field  Field
	faults []given
}

// fault adds one that stands in a line.
func (d *layerDecoder) fault(n ast.Node, key, message string) {
	err := fmt.Errorf("%s:%d: layer: %s: %s", d.file, line(n), cut(key), message)
	d.faults = append(d.faults, given{field: d.field, fault: err})
}

// layer returns the text of a layer.
func (d *layerDecoder) layer(n ast.Node, pairs []*ast.MappingValueNode) string {
	var l Layer
	seen := map[string]int{} // line of a key
	for _, pair := range pairs {
		key := keyText(pair.Key)
		switch earlier, again := seen[key]; {
		case again:
			d.fault(pair.Key, key, fmt.Sprintf("given twice, first in line %d", earlier))
			continue
		case key == layerNameKey:
			text, ok := scalarText(pair.Value)
			if want := layerNameWant(text); !ok || want != "" {
				d.fault(pair.Key, key, quote(text)+": want "+want)
			}
			l.Name = text
		default:
			d.setting(&l, key, pair)
		}
		seen[key] = line(pair.Key)
	}
	if _, named := seen[layerNameKey]; !named {
		d.fault(n, layerNameKey, "want one: the layer has no name")
	}
	return formatLayer(l)
}

// setting reads one field of a layer: a value, or a list of them.
func (d *layerDecoder) setting(l *Layer, key string, pair *ast.MappingValueNode) {
	if _, want := layerField(key); want != "" {
		message := "no such field of a layer"
		if _, known := FieldNamed(key); known {
			message = "is of the whole plan: a layer has fields of the policy and of the target"
		}
		d.fault(pair.Key, key, didYouMean(message, key, layerFieldNames()))
		return
	}
	f, _ := FieldNamed(key)
	nodes := []ast.Node{pair.Value}
	if sequence, ok := pair.Value.(*ast.SequenceNode); ok && f.Repeatable() {
		nodes = sequence.Values
	}
	for _, n := range nodes {
		text, ok := scalarText(n)
		if !ok || strings.Contains(text, layerSeparator) {
			d.fault(n, key, "want one value, not "+kind(n))
			return
		}
		texts, want := Layer{Name: l.Name}.with(key, text)
		if want != "" {
			_, want, _ = strings.Cut(want, " "+key+" as ")
			d.fault(n, key, quote(text)+": want "+want)
			return
		}
		l.Texts = append(l.Texts, texts...)
	}
}

// layerFieldNames returns the names of what a layer can set.
func layerFieldNames() []string {
	var names []string
	for _, f := range LayerFields() {
		names = append(names, f.Name)
	}
	return append(names, layerNameKey)
}
