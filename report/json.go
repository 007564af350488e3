package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"stormtest/load/record"
)

// readBytesMax bounds a result file: about a million buckets.
const readBytesMax = 256 << 20

// JSON writes the whole result as one JSON document (schema stormtest.result/v1) and a line feed.
//
// It is indented for people, except that every bucket, every window of synchrony, every list of numbers and whatever else
// fits stand on one line: a run of 30 s is under 100 kB. A figure that is NaN or infinite is written as null, and a list or
// table that is nil as an empty one. Of a run made from a log, what the log does not tell is null
// too. The result itself is not changed. An error says that the
// plan is no JSON or the start no date; nothing is written then.
func JSON(w io.Writer, r *record.Result) error {
	tidied := tidy(reflect.ValueOf(*r))
	compact, err := json.Marshal(withNulls(tidied.Interface().(record.Result)))
	if err != nil {
		return fmt.Errorf("report: encode result: %w", err)
	}
	var out bytes.Buffer
	layJSON(&out, compact, 0, false)
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// tidy copies v with nil for every pointer to NaN or infinity, and with empty maps and slices for
// nil ones. A float64 that is not behind a pointer and not finite is left for Marshal to refuse: it
// has no form without a value.
func tidy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Float64 && !isFinite(v.Elem().Float()) {
			return reflect.Zero(v.Type())
		}
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			dup := reflect.New(v.Type().Elem())
			dup.Elem().Set(tidy(v.Elem()))
			return dup
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return v
		}
		dup := reflect.New(v.Type()).Elem()
		dup.Set(v)
		for i := range v.NumField() {
			if dup.Field(i).CanSet() {
				dup.Field(i).Set(tidy(v.Field(i)))
			}
		}
		return dup
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return v
		}
		dup := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			dup.Index(i).Set(tidy(v.Index(i)))
		}
		return dup
	case reflect.Map:
		dup := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, key := range v.MapKeys() {
			dup.SetMapIndex(key, tidy(v.MapIndex(key)))
		}
		return dup
	}
	return v
}

func isFinite(v float64) bool { return finite(&v) }

// inlineBytes is the longest object or list that is written on one line, those apart that always are.
const inlineBytes = 100

// inlineElements are the lists of which each element stands on one line.
var inlineElements = []string{`"buckets"`, `"synchrony"`}

// isNumbers says whether compact is a list that holds nothing but numbers and null.
func isNumbers(compact []byte) bool {
	return compact[0] == '[' && !bytes.ContainsAny(compact[1:], `[{"`)
}

// layJSON indents compact, which is valid JSON. inline keeps the elements of a list on one line each.
func layJSON(out *bytes.Buffer, compact []byte, depth int, inline bool) {
	if len(compact) <= inlineBytes || compact[0] != '{' && compact[0] != '[' || isNumbers(compact) {
		out.Write(compact)
		return
	}
	indent := func(depth int) {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	out.WriteByte(compact[0])
	for i, element := range elements(compact) {
		if i > 0 {
			out.WriteByte(',')
		}
		indent(depth + 1)
		key, value := cutKey(element, compact[0] == '{')
		if key != nil {
			out.Write(key)
			out.WriteString(": ")
		}
		if inline {
			out.Write(value)
			continue
		}
		layJSON(out, value, depth+1, slices.Contains(inlineElements, string(key)))
	}
	indent(depth)
	out.WriteByte(compact[len(compact)-1])
}

// elements splits the inside of a compact object or list at its own commas.
func elements(compact []byte) [][]byte {
	var list [][]byte
	inside := compact[1 : len(compact)-1]
	depth, start, inString := 0, 0, false
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			list = append(list, inside[start:i])
			start = i + 1
		}
	}
	return append(list, inside[start:])
}

// cutKey splits `"key":value`.
func cutKey(element []byte, isObject bool) (key, value []byte) {
	if !isObject {
		return nil, element
	}
	for i := 1; i < len(element); i++ {
		switch element[i] {
		case '\\':
			i++
		case '"':
			return element[:i+1], element[i+2:]
		}
	}
	panic("report: BUG: object without a key")
}

// ReadJSON reads what JSON wrote: exactly one document whose schema is stormtest.result/v1.
//
// Fields that it does not know are ignored: the schema may gain fields, and a reader of today reads
// the files of tomorrow, and those of yesterday, which lack some. Everything else is strict. A file of another schema, one that is
// cut off, one that goes on after the document, one over 256 MiB, one that lists more of something than a
// report can show, one with a negative length, and one whose histograms and series contradict themselves
// ([record.Run.CheckDetail]) are errors that say so.
func ReadJSON(in io.Reader) (*record.Result, error) {
	data, err := readBytes(in)
	if err != nil {
		return nil, err
	}
	return readJSON(data)
}

func readJSON(data []byte) (*record.Result, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("report: read result: the file is empty")
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := decodeOne(data, &head); err != nil {
		return nil, fmt.Errorf("report: read result: %w", err)
	}
	if head.Schema == nil || *head.Schema != record.Schema {
		return nil, schemaFault(head.Schema)
	}
	var r record.Result
	if err := decodeOne(data, &r); err != nil {
		return nil, fmt.Errorf("report: read result: %w", err)
	}
	if err := checkSizes(&r); err != nil {
		return nil, fmt.Errorf("report: read result: %w", err)
	}
	for i := range r.Runs {
		if err := checkInner(&r.Runs[i], fmt.Sprintf("runs[%d]", i)); err != nil {
			return nil, fmt.Errorf("report: read result: %w", err)
		}
	}
	return &r, nil
}

func schemaFault(schema *string) error {
	if schema == nil {
		return fmt.Errorf("report: read result: it has no schema, want %q: this is not a stormtest result", record.Schema)
	}
	return fmt.Errorf("report: read result: schema = %q, want %q", clean(*schema), record.Schema)
}

// decodeOne decodes data as one document and says where in which way it is none.
func decodeOne(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		return fmt.Errorf("the file is cut off after %d bytes", len(data))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineAt(data, syntax.Offset), err)
	case errors.As(err, &typed) && typed.Field == "":
		return fmt.Errorf("the document is a JSON %s: this is not a stormtest result", typed.Value)
	case errors.As(err, &typed):
		return fmt.Errorf("line %d: %s holds a %s, want %s", lineAt(data, typed.Offset), clean(typed.Field), clean(typed.Value), typed.Type)
	}
	return err
}

// lineAt is the number of the line, from 1, in which the byte stands.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}
