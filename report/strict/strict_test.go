package strict_test

import (
	"strings"
	"testing"

	"stormtest/report/strict"
)

const page = `<!doctype html><html lang="en"><head><title>T</title></head><body>`

// TestReadersAreStrict: each fault that a writer could make is seen, and what is sound is read.
func TestReadersAreStrict(t *testing.T) {
	for _, tt := range []struct{ name, flag, document, fault string }{
		{"plain", "", "all is well\n", ""},
		{"escape", "", "\x1b[2J", `the text holds "\x1b[2J"`},
		{"direction", "", "a\u202eb", `the text holds "a\u202eb"`},
		{"broken text", "", "\xff", "not UTF-8"},
		{"object", "json", `{"a":[1,null,{"b":"NaN"}]}` + "\n", ""},
		{"no number", "json", `{"a":NaN}`, "invalid character 'N'"},
		{"twice", "json", `{"a":1,"a":2}`, `"a" stands twice`},
		{"two documents", "json", `{}{}`, "more than one document"},
		{"cut off", "json", `{"a":[`, "EOF"},
		{"rows", "csv", "a,b\n'=1+1,-1.5\n", ""},
		{"ragged", "csv", "a,b\n1\n", "wrong number of fields"},
		{"formula", "csv", "a\n=cmd|' /C calc'!A0\n", "is a formula"},
		{"minus", "csv", "a\n-1+1\n", "is a formula"},
		{"at", "csv", "a\n@SUM(1)\n", "is a formula"},
		{"page", "html", page + `<p id="a">x<br>&lt;b&gt;</p><script type="application/json">{"a":1}</script></body></html>`, ""},
		{"no end", "html", page + `<p>x</body></html>`, "</body> ends"},
		{"never ends", "html", page, "<body> does not end"},
		{"attribute that runs", "html", page + `<p onclick="x()">x</p></body></html>`, "<p> has onclick"},
		{"link that runs", "html", page + `<a href=" JavaScript:x()">x</a></body></html>`, "<a> runs"},
		{"id twice", "html", page + `<p id="a"></p><p id="a"></p></body></html>`, `the id "a" stands twice`},
		{"fetched", "html", page + `<img src="//service.invalid/x.png"></body></html>`, "something is fetched"},
		{"data", "html", page + `<script type="application/json">{"a":Infinity}</script></body></html>`, "invalid character 'I'"},
		{"picture", "svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><title>T</title><path d="M-1 0"/></svg>`, ""},
		{"no title", "svg", `<svg viewBox="0 0 1 1"></svg>`, "no <title>"},
		{"script", "svg", `<svg viewBox="0 0 1 1"><title>T</title><script>x()</script></svg>`, "<script>"},
		{"suites", "junit", `<?xml version="1.0"?><testsuites><testsuite name="a"/></testsuites>`, ""},
		{"two roots", "junit", `<a/><b/>`, "2 elements"},
		{"no character", "junit", "<a>\x01</a>", "illegal character"},
		{"attribute twice", "junit", `<a b="1" b="2"/>`, "<a> has b twice"},
		{"type of document", "junit", `<!DOCTYPE a><a/>`, "a directive"},
		{"table", "markdown", "| a | b |\n|---|---|\n| `x` | 1 |\n", ""},
		{"open element", "markdown", "a <b>c\n", "</p> ends"},
		{"series", "prom", "# HELP a Help.\n# TYPE a gauge\na{b=\"c\\nd\"} 1\na{b=\"e\"} NaN\n", ""},
		{"no value", "prom", "a{b=\"c\"}\n", "expected float"},
		{"open label", "prom", "a{b=\"c\nd\"} 1\n", "label value"},
		{"series twice", "prom", "a{b=\"c\"} 1\na{b=\"c\"} 2\n", "stands twice"},
		{"ended", "openmetrics", "# TYPE a gauge\na 1\n# EOF\n", ""},
		{"not ended", "openmetrics", "a 1\n", "# EOF"},
		{"ended twice", "openmetrics", "a 1\n# EOF\n# EOF\n", "one # EOF"},
		{"no family", "prom", "a 1\n", "a in the family"},
		{"family in two parts", "prom", "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\na{c=\"d\"} 1\n", "second TYPE"},
		{"counter of another name", "prom", "# TYPE a counter\na 1\n", "the counter a"},
		{"counter that fell", "prom", "# TYPE a_total counter\na_total -2\n", "a_total is -2"},
		{"counter's family in OpenMetrics", "openmetrics", "# TYPE a_total counter\na_total 1\n# EOF\n", "the counter a_total"},
		{"unit", "openmetrics", "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\na_seconds 1\n# EOF\n", ""},
		{"unit of another name", "openmetrics", "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n", "the unit"},
		{"falling counts", "prom", "# TYPE a histogram\na_bucket{le=\"1\"} 3\na_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 2\n", "holds 3 up to 1"},
		{"count of another histogram", "prom", "# TYPE a histogram\na_bucket{le=\"1\"} 3\na_bucket{le=\"+Inf\"} 3\na_sum 1\na_count 4\n", "a_count is 4"},
		{"no last bucket", "prom", "# TYPE a histogram\na_bucket{le=\"1\"} 3\na_sum 1\na_count 3\n", "a_count is 3"},
		{"no picture", "png", "PNG", "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := strict.Read(tt.flag, []byte(tt.document))
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("Read(%q, %q): %v, want %q", tt.flag, tt.document, err, tt.fault)
			}
		})
	}
}

// TestContent: what people read is told from what programs read, and from what holds both.
func TestContent(t *testing.T) {
	for _, tt := range []struct{ name, flag, document, text, data, structure string }{
		{"page", "html", page + `<p title="NaN" id="a">x &amp; <b>y</b></p><script>NaN</script></body></html>`, "TNaN\nx & y", "",
			"b, body, head, html lang, p title id, script, title"},
		{"inside", "html", page + `<script type="application/json">{"a":-1}</script></body></html>`, "T", `{"a":-1}`, "body, head, html lang, script type, title"},
		{"suite", "junit", `<a name="n" at="1">x</a>`, "n\nx", "1", "a name at"},
		{"metrics", "prom", "# HELP a Help.\n# TYPE a histogram\na_bucket{b=\"c\",le=\"1\"} 2\na_bucket{b=\"c\",le=\"+Inf\"} 3\na_sum{b=\"c\"} 4.5\na_count{b=\"c\"} 3\n", "Help.\nc", "0 0 0 4.5 0", "a b"},
		{"markdown", "markdown", "*x* <i>y</i> \\<b>", "x y <b>", "", "em, i, p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := strict.Read(tt.flag, []byte(tt.document))
			if err != nil {
				t.Fatal(err)
			}
			text, data, structure := strings.TrimSpace(c.Text), strings.TrimSpace(c.Data), strings.Join(c.Structure, ", ")
			if text != tt.text || data != tt.data || structure != tt.structure {
				t.Errorf("got %q, %q, %q", text, data, structure)
			}
		})
	}
}

// TestNoNumber: the words of figures that are none are found wherever they stand, and no other word.
func TestNoNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"p99 NaN": true, "x: +Inf": true, "infinity": true, `{"a":-1}`: true, "a,-1,b": true, "-1": true, "undefined": true,
		"information": false, "infra": false, "-1.5": false, "p-1": false, "1..-10": false, "10-1": false, "nan0": false,
	} {
		if got := (strict.Content{Data: text}).NoNumber(); (got != "") != want {
			t.Errorf("NoNumber of %q is %q", text, got)
		}
	}
}
