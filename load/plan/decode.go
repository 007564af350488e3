package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	fileMost  = 32 << 10 // bytes; the parser takes time in the square of odd inputs, here about 1 s
	depthMost = 4        // of brackets; a scenario needs two
)

// decode reads a scenario file: one mapping of field names to single values or, for
// repeatable fields, to lists. Every value is handed on as the text it was written with,
// so that Field.Set judges it. It never panics.
func decode(name string, file []byte) []given {
	body, err := parseYAML(name, file)
	if err != nil {
		return []given{{fault: err}}
	}
	if body == nil {
		return nil
	}
	mapping, ok := body.(*ast.MappingNode)
	if !ok {
		return []given{{fault: fmt.Errorf("%s:%d: want lines of field: value, not %s", name, line(body), kind(body))}}
	}
	var all []given
	first := map[string]int{} // line of a key
	for _, pair := range mapping.Values {
		key := keyText(pair.Key)
		place := fmt.Sprintf("%s:%d: %s", name, line(pair.Key), cut(key))
		f, known := FieldNamed(key)
		earlier, again := first[key]
		switch {
		case again:
			all = append(all, given{field: f, fault: fmt.Errorf("%s: given twice, first in line %d", place, earlier)})
			continue
		case !known:
			all = append(all, given{fault: errors.New(didYouMean(place+": no such field", key, fieldNames()))})
		case f.Name == "layer":
			all = append(all, decodeLayers(name, place, f, pair.Value)...)
		default:
			all = append(all, decodeValue(name, place, f, pair.Value))
		}
		first[key] = line(pair.Key)
	}
	return all
}

// decodeValue reads the value of one field, which stands at place.
func decodeValue(name, place string, f Field, node ast.Node) given {
	g := given{field: f, source: place}
	nodes := []ast.Node{node}
	if sequence, ok := node.(*ast.SequenceNode); ok && f.Repeatable() {
		nodes = sequence.Values
	}
	for _, n := range nodes {
		text, ok := scalarText(n)
		if !ok {
			want := "one value"
			if f.Repeatable() {
				want = "a list of values"
			}
			g.fault = fmt.Errorf("%s: want %s, not %s", place, want, kind(n))
			return g
		}
		g.texts = append(g.texts, text)
		if len(nodes) > 1 {
			g.places = append(g.places, fmt.Sprintf("%s:%d: %s", name, line(n), f.Name))
		}
	}
	return g
}

// parseYAML returns the body of the only document, nil when it is empty. The parser is
// not ours: what it cannot bear (deep nesting takes it seconds) is kept from it, and a
// panic in it is an error here.
func parseYAML(name string, file []byte) (body ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			body, err = nil, fmt.Errorf("%s: not readable as YAML", name)
		}
	}()
	if len(file) > fileMost {
		return nil, fmt.Errorf("%s: has %d bytes, want at most %d", name, len(file), fileMost)
	}
	file = bytes.TrimPrefix(file, []byte("\ufeff")) // byte order mark
	tokens := lexer.Tokenize(string(file))
	if err := checkDepth(name, tokens); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(name, err)
	}
	for _, document := range parsed.Docs {
		if _, directive := document.Body.(*ast.DirectiveNode); document.Body == nil || directive {
			continue
		}
		if body != nil {
			return nil, fmt.Errorf("%s:%d: a second document, want one", name, line(document.Body))
		}
		body = document.Body
	}
	return body, nil
}

// checkDepth refuses nesting that no scenario needs.
func checkDepth(name string, tokens token.Tokens) error {
	depth, entries := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			entries++
		default:
			entries = 0
		}
		if depth > depthMost || entries > depthMost {
			return fmt.Errorf("%s:%d: nested too deep, want lines of field: value", name, t.Position.Line)
		}
	}
	return nil
}

// syntaxError says the parser's error in our form, on one line.
func syntaxError(name string, err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil {
		return fmt.Errorf("%s:%d: %s", name, syntax.Token.Position.Line, syntax.Message)
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s: %s", name, message)
}

// scalarText returns the text of a single value: what stood in the quotes, or the number
// or word as it was written, before YAML made a value of it.
func scalarText(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// keyText returns the name that a key stands for.
func keyText(key ast.MapKeyNode) string {
	if text, ok := scalarText(key); ok {
		return text
	}
	return key.String()
}

// line returns the line of a node, counted from 1; 0 when it has none.
func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// kind names a node in words.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing (leave the line out for the default)"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias"
	case *ast.TagNode:
		return "a tag"
	}
	return "a single value"
}

// fieldNames returns the names of all fields.
func fieldNames() []string {
	names := make([]string, len(table))
	for i, f := range table {
		names[i] = f.Name
	}
	return names
}
