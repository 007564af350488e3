// Package hostile makes results whose texts some reader of a report would obey. It is for tests: whatever stands
// in a result, a report shows it and does nothing with it.
package hostile

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"stormtest/load/record"
)

// Texts are what markup, spreadsheets, terminals and parsers obey, by a name. Each holds a word that begins with
// "hostile" and goes on in capitals, which no other text and no report holds.
//
// What runs sets window.pwned.
func Texts() map[string]string {
	return map[string]string{
		"markup":     `</script></title></style></textarea><script>window.pwned=1</script><img src=x onerror="window.pwned=1">hostileMARKUP`,
		"attribute":  `" onmouseover="window.pwned=1" x='" ' onfocus='window.pwned=1' autofocus='hostileATTRIBUTE`,
		"comment":    `<!-- --> ]]> <![CDATA[ <?php ?> &amp; &lt;b&gt; hostileCOMMENT`,
		"markdown":   "x | y \\| `z` ``` ~~~ **b** _i_ ~~s~~ [l](javascript:window.pwned=1) ![i](x.png) <b>hostileMARKDOWN</b>",
		"block":      "# hostileBLOCK\n\n- a\n\n> b\n\n    c\n\n---\n| d |\n|---|\n",
		"link":       `https://service.invalid/hostileLINK www.service.invalid someone@service.invalid javascript:window.pwned=1`,
		"formula":    `=cmd|' /C calc'!A0 hostileFORMULA`,
		"plus":       `+hostilePLUS`,
		"minus":      `-1+1 hostileMINUS`,
		"at":         `@SUM(1)hostileAT`,
		"tab":        "\t=1+1 hostileTAB",
		"controls":   "\x1b[2J\x1b]0;owned\a\r\n\x00\x9b31m\x7f hostileCONTROLS",
		"broken":     "\xff\xfe\xc3 hostileBROKEN",
		"direction":  "\u202egnp.exe\u2066\u2028\u2029\u200b\ufeff hostileDIRECTION",
		"backslash":  `\ \\ \" \u003c \n $x ${y} {{z}} %s %[1]d hostileBACKSLASH`,
		"label":      "a\nb\"c\\d{e=\"f\"} # EOF\nhostileLABEL",
		"surrogates": "\U0010ffff\U000e0001 hostileSURROGATES",
		"prototype":  "__proto__ constructor hostilePROTOTYPE",
	}
}

// decisive are the fields that hold one of a few words, on which it depends what a report shows.
var decisive = []string{"Engine", "ArrivalsMeasuredAt", "Verdict", "Schema"}

// Plant puts the text in every place of r that holds one, but for the few words that decide what a report is made of,
// and adds what may be missing: reasons, gates, notes, names of outcomes. r is changed all through: it must be a copy
// of its own, such as one that was read.
func Plant(r *record.Result, text string) error {
	r.InvalidReasons, r.Valid, r.Addresses = []string{""}, false, []string{""}
	value := 1.5
	r.Gates = []record.Gate{{Value: &value, OK: true}, {}}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Notes, run.Books.Faults, run.Convoy.Flags = []string{""}, []string{""}, append(run.Convoy.Flags, "")
		for _, table := range []*map[string]int64{&run.Attempts.ByOutcome, &run.Operations.GaveUp, &run.Books.Lost} {
			if *table == nil {
				*table = map[string]int64{}
			}
			(*table)[text] = 3
		}
	}
	plant(reflect.ValueOf(r).Elem(), "", text)
	var fields map[string]any
	if err := json.Unmarshal(r.Plan, &fields); err != nil || fields == nil {
		fields = map[string]any{}
	}
	for key := range fields {
		fields[key] = text
	}
	fields[text], fields["label"] = text, text
	plan, err := json.Marshal(fields)
	r.Plan = plan
	return err
}

func plant(v reflect.Value, field, text string) {
	switch v.Kind() {
	case reflect.String:
		if !slices.Contains(decisive, field) {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			plant(v.Elem(), field, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				plant(v.Field(i), v.Type().Field(i).Name, text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type() != reflect.TypeFor[json.RawMessage]() {
				plant(v.Index(i), field, text)
			}
		}
	case reflect.Map:
		if v.Len() > 0 && v.Type().Key().Kind() == reflect.String {
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), v.MapIndex(v.MapKeys()[0]))
		}
	}
}

// Mark returns the word of a text that nothing else holds.
func Mark(text string) string {
	const prefix = "hostile"
	for i := 0; i+len(prefix) < len(text); i++ {
		if text[i:i+len(prefix)] != prefix {
			continue
		}
		end := i + len(prefix)
		for end < len(text) && text[end] >= 'A' && text[end] <= 'Z' {
			end++
		}
		return text[i:end]
	}
	return ""
}
