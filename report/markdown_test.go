package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"stormtest/load/record"
	"stormtest/report"
)

func markdown(t testing.TB, r *record.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Markdown(&b, r); err != nil {
		t.Fatalf("Markdown: %v", err)
	}
	return b.String()
}

// asGitHub renders as GitHub does, which lets through the HTML that we write.
var asGitHub = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))

// A shown is what a reader sees of a document.
type shown struct {
	text  []string // each text outside of code, in order
	code  []string // each text in code
	folds []string // the summary of each fold
	names map[string]int
}

// see renders Markdown and reads the HTML strictly: every tag is closed, and nothing is markup but what is asked.
func see(t testing.TB, source string) shown {
	t.Helper()
	var page bytes.Buffer
	if err := asGitHub.Convert([]byte(source), &page); err != nil {
		t.Fatal(err)
	}
	s := shown{names: map[string]int{}}
	in, inCode := xml.NewDecoder(strings.NewReader("<page>"+page.String()+"</page>")), 0
	inSummary := false
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page.String())
		}
		switch token := token.(type) {
		case xml.StartElement:
			s.names[token.Name.Local]++
			if token.Name.Local == "code" {
				inCode++
			}
			if token.Name.Local == "summary" {
				s.folds = append(s.folds, "")
				inSummary = true
			}
			if token.Name.Local == "li" || token.Name.Local == "td" || token.Name.Local == "p" {
				s.text = append(s.text, " ")
			}
		case xml.EndElement:
			if token.Name.Local == "code" {
				inCode--
			}
			inSummary = inSummary && token.Name.Local != "summary"
		case xml.CharData:
			if inSummary {
				s.folds[len(s.folds)-1] += string(token)
			}
			if inCode > 0 {
				s.code = append(s.code, string(token))
				continue
			}
			s.text = append(s.text, string(token))
		}
	}
}

// known are the elements that a report is made of.
var known = []string{
	"page", "h2", "h3", "p", "ul", "li", "strong", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "details", "summary", "span",
}

// linked is what GitHub makes a link, an image or a formula of, in a text that is in no code.
var linked = regexp.MustCompile(`(?i)(^|[^\w\x60])@[a-z\d]|#\d|\bgh-\d|\bhttps?://|\bwww\.\w|[\w.+-]@[\w-]+\.|:[a-z0-9_+-]+:|\$[^$]+\$|\b[0-9a-f]*[a-f][0-9a-f]*\b`)

// commit is what may name one.
var commit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// checkShown says what of a document is markup and should not be.
func checkShown(t testing.TB, s shown) {
	t.Helper()
	for name := range s.names {
		if !slices.Contains(known, name) {
			t.Errorf("there is an element %s", name)
		}
	}
	for _, text := range s.text {
		for _, found := range linked.FindAllString(text, -1) {
			if regexp.MustCompile(`^[0-9a-fA-F]+$`).MatchString(found) && !commit.MatchString(found) {
				continue
			}
			t.Errorf("%q makes a link of %q", text, found)
		}
	}
}

func TestMarkdownGoldens(t *testing.T) {
	all := results()
	for _, name := range []string{"four", "invalid", "interrupted", "nothing", "empty", "hostile", "log", "seeds", "url", "open", "whole", "fleet", "chain"} {
		golden(t, name+"-markdown", []byte(markdown(t, all[name])))
	}
}

// TestMarkdownIsSmallAndPlain: whatever the result, the document fits a comment, is one that renders, has no element
// but ours and no link.
func TestMarkdownIsSmallAndPlain(t *testing.T) {
	all := results()
	all["22 strategies"], all["too much of all"] = manyStrategies(), tooMuch()
	for name, r := range all {
		text := markdown(t, r)
		if len(text) > 60_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		checkShown(t, see(t, text))
		if at := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) && r != '\u00a0' }); at >= 0 {
			t.Errorf("%s: %q does not print", name, text[at:min(len(text), at+8)])
		}
	}
}

// manyStrategies is a result of 22.
func manyStrategies() *record.Result {
	var runs, four []record.Run
	for _, name := range []string{"none", "equal", "full", "decorrelated"} {
		four = append(four, guideStorm(name))
	}
	for i := range 22 {
		run := four[i%4]
		run.Strategy = fmt.Sprintf("%s-%d", run.Strategy, i)
		runs = append(runs, run)
	}
	return resultOf(guidePlan, runs...)
}

// tooMuch has of every list more than fits, of texts that escaping makes long.
func tooMuch() *record.Result {
	worst := strings.Repeat("@", 1000)
	var runs []record.Run
	for range 300 {
		run := oneArrival().Runs[0]
		run.Strategy, run.Notes, run.Convoy.Flags = worst, []string{worst, worst}, []string{worst, worst, worst}
		runs = append(runs, run)
	}
	plan, _ := json.Marshal(map[string]any{"clients": worst, "latency": worst, "loss": worst, "capacity": worst, "strategy": slices.Repeat([]string{worst}, 50), "body": worst})
	r := resultOf(string(plan), runs...)
	r.Valid, r.Interrupted, r.PlanHash, r.Tool.Version = false, true, worst, worst
	for range 500 {
		r.InvalidReasons = append(r.InvalidReasons, worst)
		r.Gates = append(r.Gates, record.Gate{Gate: strings.Repeat("`|", 500), Reason: worst})
	}
	return r
}

// hostileTexts would each be something else than text.
var hostileTexts = []string{
	"a|b||c", "`code` ``x`` ```", "**bold** __bold__ *it* _it_ ~~gone~~", "[text](https://x.y) ![i](j) [ref]: z [^1] [x]", "<script>alert(1)</script>", "<!-- <b>&amp;&#64;",
	"@everyone and @org/team", "see #1, org/repo#2, GH-3, gh-4", "http://a.b/c https://d.e ftp://f.g www.h.i me@example.org", "x\ny\r\nz", "# head", "> quote", "- item", "+ item", "1. one", "12) two",
	"---", "===", "- - -", "=", "1.", "-", "    code", `back\slash \| \* \`, "$x$ and $$y$$", ":tada: and a:b:c", "0123456789abcdef0123456789abcdef01234567", "deadbeef", "12345678 and deadbeef", "&lt; &copy; &#35;",
	"</details></td></table>", "~~~", "```", "\u202egnp.exe", "=cmd|' /C calc'!A0", "{{ x }} ${{ github.token }}", "|", `\|`, "`", "``", "a`|b", "| a | b |", "日本語 – é", "!", "*", "_", "a_b_c", "snake_case_name",
}

// clean is how a report writes a text: what does not print is spelled out.
func cleaned(s string) string {
	s = strings.ReplaceAll(s, "\u202e", `\u202e`)
	return strings.Join(strings.Fields(s), " ")
}

// TestMarkdownShowsTextsAsTheyAre: in a list, a table, a quotation, code and a folded block.
func TestMarkdownShowsTextsAsTheyAre(t *testing.T) {
	for _, text := range hostileTexts {
		t.Run(text, func(t *testing.T) { checkLiteral(t, text) })
	}
}

func checkLiteral(t *testing.T, text string) {
	t.Helper()
	run := oneArrival().Runs[0]
	run.Strategy, run.Convoy.Flags, run.Notes = text, []string{text}, []string{text}
	r := resultOf(`{"clients":2000,"capacity":"1000/s"}`, run)
	r.Valid, r.InvalidReasons = false, []string{text}
	r.Gates = []record.Gate{{Gate: text, Reason: text}}
	source := markdown(t, r)
	s := see(t, source)
	checkShown(t, s)
	want := cleaned(text)
	inCode := slices.ContainsFunc(s.code, func(code string) bool { return strings.Contains(strings.Join(strings.Fields(code), " "), want) })
	all := strings.Join(strings.Fields(strings.Join(append(slices.Clone(s.text), s.code...), " ")), " ")
	if len([]rune(text)) <= 40 && len([]rune(want)) <= 40 && strings.Join(strings.Fields(s.folds[0]), " ") != want+": arrivals and figures" {
		t.Errorf("%q folds as %q", text, s.folds[0])
	}
	if !inCode || !strings.Contains(strings.ReplaceAll(all, " ", ""), strings.ReplaceAll(want, " ", "")) {
		t.Errorf("%q is not shown as %q:\n%.2000s", text, want, source)
	}
	if s.names["table"] != 2 || s.names["tr"] != 4 || s.names["td"] != 3+9 || s.names["blockquote"] != 1 || s.names["ul"] != 2 || s.names["details"] != 2 || s.names["h3"] != 3 || s.names["pre"] != 4 {
		t.Errorf("%q breaks the document: %v\n%.3000s", text, s.names, source)
	}
}

// FuzzMarkdown: no text gets out of its place.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len([]rune(text)) > 100 || strings.TrimSpace(text) == "" || strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) >= 0 {
			return // what does not print is another test's
		}
		checkLiteral(t, text)
	})
}

// TestMarkdownSaysTheWorstFirst: what makes figures worthless and what gates came to is in the first line.
func TestMarkdownSaysTheWorstFirst(t *testing.T) {
	all := results()
	for name, want := range map[string]string{
		"invalid":     "## stormtest: INVALID; gates FAILED: 2 of 3 do not hold; full ",
		"interrupted": "## stormtest: INTERRUPTED; full ",
		"log":         "## stormtest: RECOVERED; ",
		"nothing":     "## stormtest: nothing ran\n",
		"seeds":       "## stormtest: gates passed: 1 of 1 hold; none CONVOY",
		"four":        "## stormtest: none CONVOY, equal ",
	} {
		if text := markdown(t, all[name]); !strings.HasPrefix(text, want) {
			t.Errorf("%s begins with %q, want %q", name, text[:min(len(text), len(want)+20)], want)
		}
	}
	text := markdown(t, all["invalid"])
	if failed, ok := strings.Index(text, "| **FAILED**"), strings.Index(text, "| ok |"); failed < 0 || ok < failed {
		t.Error("a gate that holds stands before one that failed")
	}
	if !strings.HasPrefix(markdown(t, manyStrategies()), "## stormtest: 6 CONVOY, ") {
		t.Error("22 strategies are not counted by verdict")
	}
}

// TestMarkdownStripKeepsThePeak: two hours of 72,000 buckets are 60 characters, and the one peak is among them.
func TestMarkdownStripKeepsThePeak(t *testing.T) {
	text := markdown(t, results()["long"])
	if want := "full     │" + strings.Repeat("▁", 30) + "▄" + strings.Repeat("▁", 29) + "│ up to 350 at 1h0m0.1s\n"; !strings.Contains(text, want) {
		t.Errorf("there is no %q in\n%.2500s", want, text)
	}
}

// TestMarkdownPage writes the rendered pages for a look at them, where a folder is named.
func TestMarkdownPage(t *testing.T) {
	dir := os.Getenv("MARKDOWN_PAGES")
	if dir == "" {
		t.Skip("MARKDOWN_PAGES names no folder")
	}
	for name, r := range results() {
		var page bytes.Buffer
		if err := asGitHub.Convert([]byte(markdown(t, r)), &page); err != nil {
			t.Fatal(err)
		}
		head := `<!doctype html><meta charset="utf-8"><style>body{font:14px sans-serif;max-width:900px;margin:20px}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:4px 8px}pre{background:#f6f8fa;padding:12px;font:12px monospace}blockquote{border-left:4px solid #ccc;padding-left:12px}</style>`
		if err := os.WriteFile(dir+"/"+name+".html", []byte(head+page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMarkdownOfClientsThatAreNotOurs: what they alone know has no figure, not 0.
func TestMarkdownOfClientsThatAreNotOurs(t *testing.T) {
	run := guideStorm("full")
	run.Strategy, run.Operations, run.Attempts, run.Amplification, run.Completion = "outside", record.Operations{}, record.Attempts{}, nil, nil
	run.Outside = &record.Outside{Answers: map[string]int64{"200": 2000}}
	if text, want := markdown(t, resultOf(guidePlan, run)), "\n| outside | – | – | – | – | 45.5x | 0.02 | 1 | OVERLOAD |\n"; !strings.Contains(text, want) {
		t.Errorf("there is no %q in\n%.1500s", want, text)
	}
	if text := markdown(t, resultOf(guidePlan, run)); !strings.Contains(text, "\nstormtest serve --file plan.json --seed 42\n") {
		t.Error("it is not repeated by serving again")
	}
}
