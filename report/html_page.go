package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// The page's own style and scripts, and the chart library with its licence. Scripts run in the order of pageScripts.
//
//go:embed html/page.html html/page.css html/format.js html/plot.js html/page.js html/uPlot.iife.min.js html/uPlot.min.css html/uPlot.LICENSE
var htmlAssets embed.FS

var (
	pageStyles  = []string{"html/uPlot.min.css", "html/page.css"}
	pageScripts = []string{"html/uPlot.iife.min.js", "html/format.js", "html/plot.js", "html/page.js"}
)

// An htmlPage is one page that needs nothing but itself: no network, no second file.
//
// Its texts may hold the marks of the terminal report and are escaped for HTML; what comes from a result has
// to be clean before. Figures and texts stand in the page itself; only pictures, and the tables behind
// them, are drawn by a script, from the charts.
type htmlPage struct {
	Title    string        // of the window, and the heading
	Alarm    *htmlAlarm    // above all else; nil for none
	Lead     []htmlText    // lines under the heading
	Summary  []htmlSection // above the toolbar
	Toolbar  *htmlToolbar  // nil for none; it stays in view while what is below it is read
	Sections []htmlSection
}

// An htmlAlarm is right under the title what nobody must overlook: gates that failed. It leads to their section.
type htmlAlarm struct {
	Head   string
	Points []htmlText
}

// An htmlSection has its own heading and an entry in the table of contents.
type htmlSection struct {
	ID, Title string
	Short     string // in the table of contents; empty for the title
	Blocks    []htmlBlock
}

// An htmlBlock is one thing in a section: exactly one field is set.
type htmlBlock struct {
	Heading  string // of what follows in the section
	Answer   *htmlAnswer
	Small    htmlText // small print
	Words    htmlText
	Hint     htmlText // how to use what is on a screen
	Alert    *htmlAlert
	List     []htmlText
	Facts    []htmlFact
	Table    *htmlTable
	Figures  *htmlFigures
	Verdicts []htmlVerdict
	Fold     *htmlFold
	Switch   *htmlSwitch
	Code     string
}

// An htmlAnswer is what the page comes to, with its reason and in small print its rule.
type htmlAnswer struct{ Head, Text, Small htmlText }

// An htmlAlert is a box that nobody overlooks.
type htmlAlert struct {
	Class  string // "bad" or "warn"
	Head   htmlText
	Text   htmlText
	Points []htmlText
	Role   string // in data-role
}

// An htmlFact is a figure or several with their name.
type htmlFact struct {
	Head   htmlText
	Text   htmlText
	Points []htmlText
}

// An htmlVerdict is one strategy's verdict.
type htmlVerdict struct {
	Run      int
	Strategy string
	Word     htmlText
	Class    string // bad, warn, good or unknown
	Chosen   bool   // it did best
	Sentence htmlText
}

// An htmlFold is what is closed until it is asked for; on paper it is open, or not there.
type htmlFold struct {
	Title  string
	Open   bool
	Screen bool // it is not printed
	Blocks []htmlBlock
}

// An htmlToolbar holds the strategies with their colours, and the switches for all charts.
type htmlToolbar struct {
	Legend   string // what Runs are: "Strategies"
	Runs     []htmlRun
	Switches []*htmlSwitch
}

// An htmlRun is one of the things that are compared: a strategy, or a result.
type htmlRun struct {
	Index int
	Name  string
}

// Colour is the number of the run's colour, which repeats, and Dash that of its dash: no two of 64 runs have both.
func (r htmlRun) Colour() int { return r.Index % htmlColours }

// Dash is told with Colour.
func (r htmlRun) Dash() int { return (r.Index + r.Index/htmlColours) % htmlColours }

// htmlColours is how many runs have a look of their own.
const htmlColours = 8

// An htmlSwitch chooses the view of all charts that follow it.
type htmlSwitch struct {
	Name   string // the charts' Switch
	Legend string
	Views  []htmlView
}

// An htmlView is one position of a switch. The first is on at the beginning.
type htmlView struct{ Key, Label string }

// htmlFigures are charts beside or under each other.
type htmlFigures struct {
	Class  string     // "wide": under each other over the whole width; "pair": two in a row where there is room
	Legend *htmlChart // the chart whose legend is that of all; nil where each has its own
	Marks  []htmlMark // what else is drawn in them
	Charts []*htmlChart
}

// An htmlMark is an entry of a legend: Style is strip, bracket, shade or line, Role its colour.
type htmlMark struct{ Role, Style, Name string }

// writeHTML writes a page. Its error is the writer's, or says that a figure in a chart is no number.
func writeHTML(w io.Writer, p *htmlPage) error {
	view := struct {
		*htmlPage
		Policy  template.HTMLAttr
		Licence template.HTML
		Styles  []template.CSS
		Scripts []template.JS
		Data    template.JS
	}{htmlPage: p, Licence: template.HTML("<!-- uPlot, embedded below:\n" + asset("html/uPlot.LICENSE") + "\n-->")} //nolint:gosec // a file of ours
	for _, name := range pageStyles {
		view.Styles = append(view.Styles, template.CSS(asset(name))) //nolint:gosec // a file of ours
	}
	for _, name := range pageScripts {
		view.Scripts = append(view.Scripts, template.JS(asset(name))) //nolint:gosec // a file of ours
	}
	view.Policy = template.HTMLAttr(`content="` + contentPolicy() + `"`) //nolint:gosec // hashes
	data, err := json.Marshal(map[string]any{"charts": p.charts(), "colours": htmlColours})
	if err != nil {
		return fmt.Errorf("report: encode the charts: %w", err)
	}
	view.Data = template.JS(data) //nolint:gosec // Marshal writes <, >, & and the line separators as \u escapes
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, view); err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// pageTemplate is html/page.html, which takes longer to read than to fill. Safe for concurrent use.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{"rich": richText}).ParseFS(htmlAssets, "html/page.html"))
})

// asset is the text of an embedded file; every name is a constant of this package.
func asset(name string) string {
	b, err := htmlAssets.ReadFile(name)
	if err != nil {
		panic("report: BUG: " + err.Error())
	}
	return string(b)
}

// contentPolicy forbids the page everything but its own scripts and styles, which it names by their hashes.
func contentPolicy() string {
	hashes := func(names []string) string {
		var b strings.Builder
		for _, name := range names {
			sum := sha256.Sum256([]byte(asset(name)))
			b.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
		}
		return b.String()
	}
	return "default-src 'none'; script-src" + hashes(pageScripts) + "; style-src" + hashes(pageStyles) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// charts returns every chart of the page by its ID.
func (p *htmlPage) charts() map[string]*htmlChart {
	all := map[string]*htmlChart{}
	var walk func([]htmlBlock)
	walk = func(blocks []htmlBlock) {
		for _, b := range blocks {
			if b.Figures != nil {
				for _, c := range b.Figures.Charts {
					if c.Empty == "" {
						all[c.ID] = c
					}
				}
			}
			if b.Fold != nil {
				walk(b.Fold.Blocks)
			}
		}
	}
	for _, s := range append(append([]htmlSection{}, p.Summary...), p.Sections...) {
		walk(s.Blocks)
	}
	return all
}
