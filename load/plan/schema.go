package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// schemaDraft is the version of JSON Schema that editors know best.
const schemaDraft = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of a scenario file, made from the table of the fields, for editors: names, units,
// bounds and words. Which fields go together it does not say, and a number in quotes, which [Decode] takes, it refuses.
func Schema() []byte {
	properties := schema{}
	for _, f := range table {
		properties = append(properties, member{f.Name, f.schema()})
	}
	text, err := json.Marshal(schema{
		{"$schema", schemaDraft},
		{"title", "A stormtest scenario"},
		{"description", "Every field is a flag of stormtest, too; a line left out means the default. 'stormtest plan --schema' prints this schema."},
		{"type", "object"},
		{"additionalProperties", false},
		{"properties", properties},
	})
	if err != nil {
		panic("plan: BUG: the schema has no JSON: " + err.Error())
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		panic("plan: BUG: the schema is no JSON: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// A schema is a JSON object that keeps its order.
type schema []member

type member struct {
	name  string
	value any
}

// MarshalJSON returns the object.
func (s schema) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonText(m.name))
		b.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Patterns of values with a unit, without their ends.
const (
	decimalPattern  = `([0-9]+(\.[0-9]+)?|\.[0-9]+)`
	durationPattern = `(` + decimalPattern + `(ns|us|µs|μs|ms|s|m|h))+`
	ratePattern     = decimalPattern + `/(ms|s|m|h)`
	sharePattern    = decimalPattern + `%`
)

// schema returns the field's part of [Schema].
func (f Field) schema() schema {
	head := schema{{"description", f.Usage + " (" + f.Type() + ", default " + cmp.Or(f.Default(), "empty") + ")."}}
	if f.list != nil {
		return append(head, listSchema(f.list)...)
	}
	return append(head, scalarSchema(f.value)...)
}

// A described value says itself what its part of the schema is.
type described interface{ schema() schema }

// listSchema is of a repeatable field: one element, many, or the word for none.
func listSchema(l list) schema {
	element := schema{{"type", "string"}}
	if d, ok := l.(described); ok {
		element = d.schema()
	} else if pattern := listPatterns[l.form()]; pattern != "" {
		element = append(element, member{"pattern", pattern})
	}
	return anyOf(schema{{"type", "array"}, {"items", element}, {"maxItems", listMost}}, words(listNone), element)
}

// listPatterns are of the elements of lists, by their form.
var listPatterns = map[string]string{
	outageShape:       exactly(durationPattern + `\.\.` + durationPattern + `(=[a-z]+(:[0-9.]+%?)?)?`),
	surgeShape:        exactly(durationPattern + `\.\.` + durationPattern + `=x` + decimalPattern),
	"METRIC OP VALUE": `[^<>=!](<=|>=|==|!=|<|>)[^<>=!]`,
	"'NAME: VALUE'":   `^[^:]+:`,
}

// schema is of one layer: a text, or a mapping of its name and of fields as they stand in the plan.
func (layers) schema() schema {
	properties := schema{{layerNameKey, append(schema{{"description", "Name of the service, such as db."}}, patterned(layerNamePattern)...)}}
	for _, f := range LayerFields() {
		properties = append(properties, member{f.Name, schema{{"$ref", "#/properties/" + f.Name}}})
	}
	mapping := schema{{"type", "object"}, {"required", []string{layerNameKey}}, {"additionalProperties", false}, {"properties", properties}}
	text := schema{{"type", "string"}, {"pattern", exactly(layerNamePattern + `(;\s*[a-z-]+=[^;]+)*`)}}
	return anyOf(mapping, text)
}

// layerNamePattern is of the name of a layer.
const layerNamePattern = `[a-zA-Z][a-zA-Z0-9-]*`

// scalarSchema is of a field with one value.
func scalarSchema(v scalar) schema {
	switch v := v.(type) {
	case described:
		return v.schema()
	case count[int]:
		return wholeSchema(int64(v.lo), int64(v.hi), v.special)
	case count[int64]:
		return wholeSchema(v.lo, v.hi, v.special)
	case number:
		return schema{{"type", "number"}, {"minimum", v.lo}, {"maximum", v.hi}}
	case flag:
		return schema{{"type", "boolean"}}
	case duration:
		var specials []string
		for _, s := range v.specials {
			specials = append(specials, s.word)
		}
		return anyOf(words(specials...), patterned(durationPattern))
	case sentHint:
		return anyOf(words(listNone, "auto"), patterned(`(`+hintReset+`)?`+durationPattern))
	case rate:
		if v.zero != "0" {
			return anyOf(words(v.zero), patterned(ratePattern))
		}
		return anyOf(patterned(ratePattern), zeroSchema)
	case share:
		if v.zero {
			return anyOf(patterned(sharePattern), zeroSchema)
		}
		return patterned(sharePattern)
	case law:
		return patterned(durationPattern + `(~` + durationPattern + `)?`)
	case seed:
		return anyOf(words(seedRandom), schema{{"type", "integer"}, {"minimum", 0}, {"maximum", uint64(math.MaxUint64)}}, patterned(`0x[0-9a-fA-F]{1,16}|[0-9]+`))
	case strategies:
		// One name, for editors to complete; or several.
		return anyOf(words(v.choices()...), patterned(listPattern(v.choices())))
	case presets:
		return anyOf(words(presetNone), words(presetNames()...), patterned(listPattern(presetNames())))
	case mix:
		return anyOf(words(mixNone), patterned(`\s*`+sharedPattern+`(,\s*`+sharedPattern+`)*`))
	case retryBudget:
		return patterned(keyedPattern(budgetNames()))
	case circuitBreaker:
		return patterned(keyedPattern(breakerNames()))
	case hedge:
		return anyOf(words(hedgeOff), patterned(durationPattern+`(,[1-`+strconv.Itoa(hedgesMost)+`])?`))
	case method:
		return patterned(`[A-Z][A-Z0-9_-]*`)
	case text, word, label, retryOn: // which may look like a number
		return schema{{"type", []string{"string", "number", "boolean"}}}
	}
	if choices := v.choices(); choices != nil && strings.Join(choices, "|") == v.word() {
		return words(choices...)
	} else if choices != nil && v.word() == "list" {
		return anyOf(words(choices...), patterned(listPattern(choices)))
	}
	return schema{{"type", "string"}}
}

// sharedPattern is of a name and its share.
const sharedPattern = `[a-z0-9-]+=` + sharePattern

// keyedPattern is of one of a few names, with numbers behind it.
func keyedPattern(names []string) string {
	const pair = `[a-z-]+=[^,=]+`
	return `(` + strings.Join(names, "|") + `)(:` + pair + `(,` + pair + `)*)?`
}

// wholeSchema is of a whole number, or a word.
func wholeSchema(lo, hi int64, special string) schema {
	whole := schema{{"type", "integer"}, {"minimum", lo}, {"maximum", hi}}
	if special == "" {
		return whole
	}
	return anyOf(whole, words(special))
}

// listPattern is of a comma list of words.
func listPattern(choices []string) string {
	one := `\s*(` + strings.Join(choices, "|") + `)\s*`
	return one + `(,` + one + `)*`
}

func exactly(pattern string) string { return "^(" + pattern + ")$" }

func patterned(pattern string) schema {
	return schema{{"type", "string"}, {"pattern", exactly(pattern)}}
}

// words is one of a few words, nothing without any. One that YAML reads as a number counts as that, too.
func words(list ...string) schema {
	if len(list) == 0 {
		return nil
	}
	var all []any
	for _, word := range list {
		all = append(all, word)
		if isDecimal(word) {
			all = append(all, json.Number(word))
		}
	}
	return schema{{"enum", all}}
}

// anyOf is one of the schemas that are not empty.
func anyOf(list ...schema) schema {
	list = slices.DeleteFunc(list, func(s schema) bool { return len(s) == 0 })
	if len(list) == 1 {
		return list[0]
	}
	return schema{{"anyOf", list}}
}

// zeroSchema is nothing of something, which needs no unit.
var zeroSchema = schema{{"enum", []any{0, "0"}}}
