package browsertest_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/browsertest"
	"stormtest/report/hostile"
)

// simulated is the result of a scenario in virtual time.
func simulated(t *testing.T, scenario string) *record.Result {
	t.Helper()
	p, err := plan.Decode("scenario", []byte(scenario+"\nseed: 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := load.Simulate(t.Context(), p, load.Env{Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// storm is the storm of the pages: four strategies with an outage, three seeds, and gates of which one fails.
func storm(t *testing.T) *record.Result {
	t.Helper()
	r := simulated(t, "strategy: all\nclients: 1000\nduration: 10s\nbase: 50ms\noutage: [2s..3s=hang]\ntimeout: 800ms\nqueue: 20\nrepeat: 3")
	value := 3.0
	r.Gates = []record.Gate{{Gate: "waves<4", Value: &value, OK: true, Reason: "waves is 3"}, {Gate: "p99<1ms", Reason: "no data"}}
	return r
}

// copied is a result of its own, as a file has it.
func copied(t *testing.T, r *record.Result) *record.Result {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	dup, err := report.ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return dup
}

// pageOf writes the page of a result.
func pageOf(t *testing.T, r *record.Result) string {
	t.Helper()
	f, ok := report.Lookup("html")
	if !ok {
		t.Fatal("there is no page")
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return write(t, b.Bytes())
}

// shared is the result that most tests look at, and its page.
var shared struct {
	once   sync.Once
	result *record.Result
	page   []byte
}

// theStorm returns the result that most tests look at, and a file with its page.
func theStorm(t *testing.T) (*record.Result, string) {
	t.Helper()
	browser(t) // before any work is done for nothing
	shared.once.Do(func() {
		shared.result = storm(t)
		shared.page, _ = os.ReadFile(pageOf(t, shared.result))
	})
	if shared.page == nil {
		t.Fatal("the page of the storm was not written")
	}
	return shared.result, write(t, shared.page)
}

// library is what the tests do in a page.
const library = `
window.test = {
	frame: () => new Promise(done => requestAnimationFrame(() => done())),
	figures: () => [...document.querySelectorAll("figure[data-chart]")].filter(f => !f.hidden),
	plot: id => document.querySelector('figure[data-chart="' + id + '"] [data-role=plot]'),
	readout: id => document.querySelector('figure[data-chart="' + id + '"] [data-role=readout]'),
	data: () => JSON.parse(document.getElementById("data").textContent),

	// Brings every picture into view, as a reader does who goes through the page, until it is drawn or says why not.
	async draw() {
		for (const f of test.figures()) {
			const done = () => f.querySelector("[data-role=empty], [data-role=plot][data-drawn=true]");
			for (let i = 0; i < 100 && !done(); i++) { f.scrollIntoView({block: "center"}); await test.frame(); }
			if (!done()) return "the picture " + f.dataset.chart + " is never drawn";
		}
		scrollTo(0, 0);
		await test.frame();
		return "";
	},

	// The pixels of a picture: a copy, because the page's own is not made to be read.
	pixels(id) {
		const canvas = test.plot(id).querySelector("canvas");
		const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
		copy.drawImage(canvas, 0, 0);
		return copy.getImageData(0, 0, canvas.width, canvas.height);
	},
	// A number that two pictures of the same share, and hardly any two others.
	mark(id) {
		const {data} = test.pixels(id);
		let sum = 0;
		for (let i = 0; i < data.length; i++) sum = (sum * 31 + data[i]) | 0;
		return sum;
	},
	// How many pixels there are of a colour, or near it; and in which row most of them stand.
	count(id, colour) {
		const probe = new OffscreenCanvas(1, 1).getContext("2d");
		probe.fillStyle = colour;
		probe.fillRect(0, 0, 1, 1);
		const [r, g, b] = probe.getImageData(0, 0, 1, 1).data, {data, width} = test.pixels(id), rows = {};
		let n = 0;
		for (let i = 0; i < data.length; i += 4) {
			if (data[i + 3] < 100 || Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) > 40) continue;
			n++;
			const row = Math.floor(i / 4 / width);
			rows[row] = (rows[row] || 0) + 1;
		}
		const row = Object.keys(rows).sort((a, b) => rows[b] - rows[a])[0];
		return {n, row: Number(row ?? -1)};
	},
	ink(id) {
		const {data} = test.pixels(id), colours = new Set();
		let n = 0;
		for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) { n++; colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); }
		return {n, colours: colours.size};
	},
};
true`

// look opens a page with the tests' own functions in it, all its pictures drawn.
func look(t *testing.T, file string, v browsertest.View) *browsertest.Tab {
	t.Helper()
	tab := open(t, file, v)
	eval[bool](t, tab, library)
	draw(t, tab)
	return tab
}

// draw has every picture drawn.
func draw(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	if fault := eval[string](t, tab, `test.draw()`); fault != "" {
		t.Fatal(fault)
	}
}

// pictures returns the names of the pictures that are drawn, and those of the ones that say why they are not.
func pictures(t *testing.T, tab *browsertest.Tab) (drawn, empty []string) {
	t.Helper()
	for _, id := range eval[[]string](t, tab, `test.figures().map(f => f.dataset.chart)`) {
		if eval[bool](t, tab, fmt.Sprintf(`test.plot(%q)?.dataset.drawn === "true"`, id)) {
			drawn = append(drawn, id)
		} else {
			empty = append(empty, id)
		}
	}
	return drawn, empty
}

// A series is a row of a picture as the page holds it.
type series struct {
	Name string `json:"name"`
	Role string `json:"role"`
	Run  int    `json:"run"`
	// Width is how wide each value is, in ns where the picture is over time; 0 for those that have none.
	Width float64    `json:"width"`
	Y     []*float64 `json:"y"`
}

// TestThePage looks at one page as its readers do, in light and in dark. What a part of the test changed it changes back.
func TestThePage(t *testing.T) {
	r, file := theStorm(t)
	tab := look(t, file, browsertest.View{})
	for _, scheme := range []struct {
		name  string
		view  browsertest.View
		parts []part
	}{
		{"light", browsertest.View{}, []part{
			{"keyboard", everythingIsReachedByKeyboard}, {"draws", draws}, {"figures", figuresEqualTheJSON}, {"verdict", theVerdictComesFirst}, {"sums", picturesAddUp}, {"axes", theSameAxes},
			{"switches", switches}, {"strategies", strategiesCanBeHidden}, {"cursor", theCursorIsLinked}, {"zoom", zoom}, {"tables", aTableStandsBehindEveryPicture},
			{"axe", axeFindsNothing},
		}},
		{"dark", browsertest.View{Dark: true}, []part{{"draws", draws}, {"contrast", everythingIsLegible}}},
		{"used", browsertest.View{}, []part{{"sideways", noScrollingSideways}}}, // the last, as every switch stands otherwise after it
	} {
		t.Run(scheme.name, func(t *testing.T) {
			if err := tab.Look(scheme.view); err != nil {
				t.Fatal(err)
			}
			draw(t, tab)
			for _, p := range scheme.parts {
				t.Run(p.name, func(t *testing.T) { p.test(t, tab, r) })
			}
		})
	}
}

// A part is a test of an open page.
type part struct {
	name string
	test func(t *testing.T, tab *browsertest.Tab, r *record.Result)
}

// draws: with the network off every picture is drawn that has something to show: there is ink of many colours, and of the colour of
// every row that holds anything. The others say why they are empty.
func draws(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	drawn, empty := pictures(t, tab)
	want := []string{"goodput", "convoy-index", "sync-index", "latency", "operation-latency"}
	var wasted int64
	for i := range r.Runs {
		want = append(want, fmt.Sprintf("arrivals-%d", i))
		if len(r.Runs[i].Detail.Draws) > 0 {
			want = append(want, fmt.Sprintf("delays-%d", i))
		}
		for _, b := range r.Runs[i].Buckets {
			wasted += b.Wasted
		}
	}
	if wasted > 0 {
		want = append(want, "wasted")
	}
	slices.Sort(want)
	if slices.Sort(drawn); !slices.Equal(drawn, want) {
		t.Errorf("drawn are %v, want %v", drawn, want)
	}
	saysWhy(t, tab, empty)
	for _, id := range drawn {
		ink := eval[struct{ N, Colours int }](t, tab, fmt.Sprintf(`test.ink(%q)`, id))
		if ink.N < 2000 || ink.Colours < 10 {
			t.Errorf("%s has %d pixels of %d colours", id, ink.N, ink.Colours)
		}
		rowsAreDrawn(t, tab, id)
	}
}

// saysWhy: an empty picture says why it is.
func saysWhy(t *testing.T, tab *browsertest.Tab, empty []string) {
	t.Helper()
	for _, id := range empty {
		words := eval[string](t, tab, fmt.Sprintf(`document.querySelector('figure[data-chart="%s"] [data-role=empty]').textContent`, id))
		if len(strings.Fields(words)) < 3 {
			t.Errorf("%s is empty, and says %q", id, words)
		}
	}
}

// rowsAreDrawn: each row of a picture that holds anything has its colour in it. Rows of runs may lie under another.
func rowsAreDrawn(t *testing.T, tab *browsertest.Tab, id string) {
	t.Helper()
	list := eval[[]series](t, tab, fmt.Sprintf(`(() => { const c = test.data().charts[%q]; return (c.views[""] || Object.values(c.views)[0]).series })()`, id))
	for _, s := range list {
		if s.Role == "run" || !slices.ContainsFunc(s.Y, func(y *float64) bool { return y != nil && *y > 0 }) {
			continue
		}
		if n := eval[int](t, tab, fmt.Sprintf(`test.count(%q, getComputedStyle(document.documentElement).getPropertyValue("--%s")).n`, id, s.Role)); n < 3 {
			t.Errorf("%s: of %q nothing is drawn", id, s.Name)
		}
	}
}

// edges are pages of next to nothing.
func edges(t *testing.T) map[string]*record.Result {
	one := simulated(t, "clients: 1\nduration: 1s")
	nobody := copied(t, one)
	run := &nobody.Runs[0]
	run.Buckets, run.Detail, run.Operations, run.Attempts = nil, nil, record.Operations{}, record.Attempts{}
	run.Latency, run.OperationLatency, run.Delay, run.AttemptAtSuccess = record.Distribution{}, record.Distribution{}, record.Distribution{}, record.Distribution{}
	run.Convoy, run.Books, run.Amplification, run.Completion = record.Convoy{Verdict: record.VerdictClear, Insufficient: true}, record.Books{Balanced: true}, nil, nil
	without := simulated(t, "clients: 50\nduration: 5s")
	without.Runs[0].Detail, without.Runs[0].CapacityPerSecond = nil, nil
	nothing := copied(t, one)
	nothing.Runs, nothing.Interrupted = nil, true
	return map[string]*record.Result{"one arrival": one, "no arrivals": nobody, "no detail and no capacity": without, "no runs": nothing}
}

// TestPagesOfNextToNothing: what has no picture says why in words, and every page is sound.
func TestPagesOfNextToNothing(t *testing.T) {
	browser(t)
	list := edges(t)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		t.Run(name, func(t *testing.T) {
			tab := look(t, pageOf(t, list[name]), browsertest.View{Width: 768})
			_, empty := pictures(t, tab)
			saysWhy(t, tab, empty)
			if len(list[name].Runs) == 0 {
				for _, fault := range axe(t, tab) {
					t.Error(fault)
				}
			}
			noSideways(t, tab, 768)
		})
	}
}

// TestHostileTextsDoNothing: whatever stands in a result is shown as it is, and nothing of it runs, is fetched or becomes an
// element, whatever is done on the page.
func TestHostileTextsDoNothing(t *testing.T) {
	r, _ := theStorm(t)
	dup := copied(t, r)
	var all []string
	for _, name := range []string{"markup", "attribute", "comment", "link", "backslash", "prototype"} {
		all = append(all, hostile.Texts()[name])
	}
	if err := hostile.Plant(dup, strings.Join(all, " ")); err != nil {
		t.Fatal(err)
	}
	for i := range dup.Runs { // one of the texts alone, as the name of a run may be cut
		dup.Runs[i].Strategy = all[i%len(all)]
	}
	tab := look(t, pageOf(t, dup), browsertest.View{Width: 390, Height: 800})
	useEverything(t, tab)
	nothingRan(t, tab)
	shown := eval[string](t, tab, `document.body.textContent.replace(/\s+/g, " ")`)
	for _, text := range all {
		if !strings.Contains(shown, strings.Join(strings.Fields(text), " ")) {
			t.Errorf("%q is not shown as it is", text)
		}
	}
	noSideways(t, tab, 390)
}

// nothingRan: no text was taken for a script, and none became an element that a page of ours has not.
func nothingRan(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	if eval[bool](t, tab, `"pwned" in window`) {
		t.Error("a text ran")
	}
	const strange = "img, iframe, object, embed, form, link[rel=stylesheet], [onerror], [onmouseover], [onfocus], [autofocus], a[href]:not([href^='#'])"
	if n := eval[int](t, tab, `document.querySelectorAll("`+strange+`").length`); n > 0 {
		t.Errorf("the texts made %d elements", n)
	}
}

// useEverything opens what is closed, presses every switch and moves the cursor, as far as a page has them.
func useEverything(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	eval[bool](t, tab, `(async () => {
		for (const d of document.querySelectorAll("details")) d.open = true;
		for (const i of document.querySelectorAll("input")) { i.click(); await test.frame(); }
		for (const i of document.querySelectorAll("input[type=checkbox]")) if (!i.checked) i.click();
		for (const p of document.querySelectorAll("[data-role=plot]")) {
			p.focus();
			for (const key of ["ArrowRight", "End", "Home", "Escape", "ArrowRight"]) p.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
		}
		await test.frame();
		return true;
	})()`)
	draw(t, tab)
}

// noSideways: nobody has to scroll sideways, but in a table of its own.
func noSideways(t *testing.T, tab *browsertest.Tab, width int) {
	t.Helper()
	if got := eval[int](t, tab, `document.documentElement.scrollWidth`); got > width {
		culprit := eval[string](t, tab, `(() => {
			const far = e => e.getBoundingClientRect().right > innerWidth + 1 && !e.parentElement.closest(".scroll, pre");
			const e = [...document.querySelectorAll("body *")].filter(far).pop();
			return e ? e.outerHTML.slice(0, 200) : "";
		})()`)
		t.Errorf("at %d the page is %d wide: %s", width, got, culprit)
	}
}

// noScrollingSideways at any of three widths, with everything open and pressed.
func noScrollingSideways(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	useEverything(t, tab)
	for _, width := range []int64{768, 390, 1280} {
		if err := tab.Look(browsertest.View{Width: width}); err != nil {
			t.Fatal(err)
		}
		// Pictures are drawn anew a moment after the window has become narrower.
		if wide := eval[string](t, tab, `(async () => {
			const wide = () => test.figures().find(f => { const p = f.querySelector("[data-role=plot]"), c = p?.querySelector("canvas"); return c && c.getBoundingClientRect().width > p.clientWidth + 1; });
			for (let i = 0; i < 200 && wide(); i++) await test.frame();
			return wide()?.dataset.chart ?? "";
		})()`); wide != "" {
			t.Errorf("at %d the picture %s is wider than its place", width, wide)
		}
		noSideways(t, tab, int(width))
	}
}

// axeFindsNothing serious or critical, with one of each kind of what can be opened open.
func axeFindsNothing(t *testing.T, tab *browsertest.Tab, _ *record.Result) { axeFinds(t, tab) }

// everythingIsLegible in the colours that the page has now.
func everythingIsLegible(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	axeFinds(t, tab, ofColours)
}

func axeFinds(t *testing.T, tab *browsertest.Tab, rules ...string) {
	t.Helper()
	eval[bool](t, tab, `(async () => {
		for (const d of document.querySelectorAll("details")) d.open = false;
		for (const kind of ["#plan details", "#runs details", "figure[data-chart=latency] details"]) document.querySelector(kind).open = true;
		await test.frame();
		await test.frame();
		return true;
	})()`)
	for _, fault := range axe(t, tab, rules...) {
		t.Error(fault)
	}
	eval[bool](t, tab, `document.querySelectorAll("details").forEach(d => { d.open = false }), true`)
}

// TestThePolicyOfThePage: nothing runs in it but its own scripts, and nothing goes out, even if a text were ever written into it raw.
func TestThePolicyOfThePage(t *testing.T) {
	_, file := theStorm(t)
	tab := openAnyway(t, file, browsertest.View{})
	policy := eval[string](t, tab, `document.querySelector("meta[http-equiv='Content-Security-Policy']").content`)
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-eval") || strings.Contains(strings.Split(policy, "style-src")[0], "unsafe-inline") {
		t.Errorf("the policy is %q", policy)
	}
	eval[bool](t, tab, `(async () => {
		const put = (name, set) => { const e = document.createElement(name); set(e); document.body.append(e); };
		put("script", e => { e.textContent = "window.pwned = 1"; });
		put("script", e => { e.src = "https://service.invalid/x.js"; });
		put("img", e => { e.src = "https://service.invalid/x.png"; });
		put("div", e => { e.innerHTML = '<b onclick="window.pwned = 1">x</b>'; e.firstChild.click(); });
		await fetch("https://service.invalid/").catch(() => 0);
		return true;
	})()`)
	settle(t, tab)
	if eval[bool](t, tab, `"pwned" in window`) {
		t.Error("what was written into the page ran")
	}
	faults := strings.Join(tab.Faults(), "\n")
	if n := strings.Count(faults, "Content Security Policy"); n < 4 || strings.Contains(faults, "net::") {
		t.Errorf("the policy stopped %d of 5: %s", n, faults)
	}
}

// TestWithoutScripts: who runs none still reads every figure, and why there are no pictures.
func TestWithoutScripts(t *testing.T) {
	r, file := theStorm(t)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A browser in which scripts are off shows what stands in <noscript>, which one in which they are on does not make elements of.
	i, j := bytes.Index(page, []byte("<noscript>")), bytes.Index(page, []byte("</noscript>"))
	if i < 0 || j < i || len(bytes.Fields(page[i:j])) < 8 {
		t.Error("nothing is said to those who run no scripts")
	}
	for i := range r.Runs {
		if name := fmt.Sprintf(`data-figure="%s.attempts_sent"`, r.Runs[i].Strategy); !bytes.Contains(page, []byte(name)) {
			t.Errorf("the page itself does not hold %s", name)
		}
	}
}
