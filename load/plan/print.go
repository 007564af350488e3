package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// YAML returns p as a scenario file with every field, grouped and commented. [Decode]
// reads it back as the same plan where p has no faults.
func (p Plan) YAML() []byte {
	var b bytes.Buffer
	b.WriteString("# A stormtest scenario. Every field has its value here; a line left out means the default.\n")
	var group Group
	for _, f := range table {
		if f.Group != group {
			group = f.Group
			b.WriteString("\n### " + group.Title() + "\n")
		}
		b.WriteByte('\n')
		writeComment(&b, f.Usage+" ("+f.Type()+", default "+cmp.Or(f.Default(), "empty")+").")
		f.writeYAML(&b, &p)
	}
	return b.Bytes()
}

// Brief returns p as a scenario file of the fields that are not at their default, without a comment:
// what a person would have written.
func (p Plan) Brief() []byte {
	var b bytes.Buffer
	for _, f := range table {
		if !f.atDefault(&p) {
			f.writeYAML(&b, &p)
		}
	}
	if b.Len() == 0 {
		return []byte("{}\n")
	}
	return b.Bytes()
}

// yaml returns the field's value in p as lines of a scenario file.
func (f Field) yaml(p *Plan) []byte {
	var b bytes.Buffer
	f.writeYAML(&b, p)
	return b.Bytes()
}

// comment returns text as comment lines.
func comment(text string) []byte {
	var b bytes.Buffer
	writeComment(&b, text)
	return b.Bytes()
}

// writeYAML writes the field's value in p.
func (f Field) writeYAML(b *bytes.Buffer, p *Plan) {
	texts := f.Get(p)
	switch {
	case !f.Repeatable():
		b.WriteString(f.Name + ": " + yamlText(texts[0]) + "\n")
	case len(texts) == 0:
		b.WriteString(f.Name + ": []\n")
	default:
		b.WriteString(f.Name + ":\n")
		for _, text := range texts {
			b.WriteString("  - " + yamlText(text) + "\n")
		}
	}
}

// writeComment writes text as comment lines.
func writeComment(b *bytes.Buffer, text string) {
	const width = 96
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
			b.WriteString("#")
			column = 1
		case column+1+len(word) > width:
			b.WriteString("\n#")
			column = 1
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	b.WriteByte('\n')
}

// yamlText writes text as a YAML scalar: bare where nothing in it could mean something
// to a parser, else quoted as JSON, which is YAML as well.
func yamlText(text string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,/%=:+-"
	letterFirst := text != "" && strings.IndexByte(safe[:26+26+10], text[0]) >= 0
	if letterFirst && strings.Trim(text, safe) == "" && !strings.HasSuffix(text, ":") && !strings.EqualFold(text, "null") {
		return text
	}
	return string(jsonText(text))
}

// jsonText quotes text as JSON without escaping <, > and &, which gates are made of.
func jsonText(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic("plan: BUG: a string has no JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// MarshalJSON returns p as one object with the fields of the table in its order: counts
// and numbers as numbers, bools as bools, lists as arrays, everything else as the text
// with its unit. It is a scenario file too.
func (p Plan) MarshalJSON() ([]byte, error) { return p.object(func(Field) bool { return false }), nil }

// Hash returns the SHA-256 of the redacted plan's JSON without the seed, in hex: equal for plans
// that ask the same of different draws, or with other secrets or another label. A field that came later than the first
// saved results is left out at its default, so that those are still matched.
// Safe for concurrent use, as all methods on Plan.
func (p Plan) Hash() string {
	redacted := p.Redacted()
	sum := sha256.Sum256(redacted.object(func(f Field) bool {
		return f.Name == "seed" || f.Name == "label" || f.later && f.atDefault(&redacted)
	}))
	return hex.EncodeToString(sum[:])
}

// object returns the JSON of p without the fields to leave out.
func (p Plan) object(leaveOut func(Field) bool) []byte {
	var b bytes.Buffer
	separator := byte('{')
	for _, f := range table {
		if leaveOut(f) {
			continue
		}
		b.WriteByte(separator)
		separator = ','
		b.Write(jsonText(f.Name))
		b.WriteByte(':')
		b.Write(f.json(&p))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// json returns the JSON of the field's value in p.
func (f Field) json(p *Plan) []byte {
	texts := f.Get(p)
	if f.Repeatable() {
		quoted := make([][]byte, len(texts))
		for i, text := range texts {
			quoted[i] = jsonText(text)
		}
		return append(append([]byte{'['}, bytes.Join(quoted, []byte{','})...), ']')
	}
	text := texts[0]
	switch f.value.(type) {
	case count[int], count[int64], number, flag:
		if json.Valid([]byte(text)) { // not a word such as unlimited
			return []byte(text)
		}
	}
	return jsonText(text)
}
