package browsertest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stormtest/load/record"
	"stormtest/report/browsertest"
)

// press types keys into whatever has the focus, as a keyboard does.
func press(t *testing.T, tab *browsertest.Tab, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := tab.Do(chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, tab)
}

// mouse sends one event of the mouse at a place in the view.
func mouse(t *testing.T, tab *browsertest.Tab, kind input.DispatchMouseEventType, x, y float64) {
	t.Helper()
	options := []chromedp.MouseOption{}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		options = append(options, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1))
	}
	if err := tab.Do(chromedp.MouseEvent(kind, x, y, options...)); err != nil {
		t.Fatal(err)
	}
}

// click presses and releases the left button on the middle of an element.
func click(t *testing.T, tab *browsertest.Tab, selector string) {
	t.Helper()
	at := eval[[]float64](t, tab, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const b = e.getBoundingClientRect();
		return [b.left + b.width / 2, b.top + b.height / 2];
	})()`, selector))
	mouse(t, tab, input.DispatchMouseEventTypeMousePressed, at[0], at[1])
	mouse(t, tab, input.DispatchMouseEventTypeMouseReleased, at[0], at[1])
	settle(t, tab)
}

// marks are what the pictures of the arrivals look like.
func marks(t *testing.T, tab *browsertest.Tab) []int {
	t.Helper()
	draw(t, tab)
	return eval[[]int](t, tab, `test.figures().filter(f => f.dataset.chart.startsWith("arrivals-")).map(f => test.mark(f.dataset.chart))`)
}

// switches: how arrivals are stacked and how the axis is scaled changes what every picture of them shows, by keyboard and by mouse,
// and back again.
func switches(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	before := marks(t, tab)
	for _, name := range []string{"stack", "scale"} {
		eval[bool](t, tab, fmt.Sprintf(`document.querySelector("input[name=%s]:checked").focus({preventScroll: true}), true`, name))
		press(t, tab, kb.ArrowRight)
		if ring := eval[string](t, tab, `getComputedStyle(document.activeElement.nextElementSibling).outlineStyle`); ring == "none" {
			t.Errorf("%s: nothing shows that it has the focus", name)
		}
		byKey := marks(t, tab)
		for i := range before {
			if before[i] == byKey[i] {
				t.Errorf("%s: the picture of run %d is the same after the switch", name, i)
			}
		}
		press(t, tab, kb.ArrowLeft)
		if back := marks(t, tab); !slices.Equal(back, before) {
			t.Errorf("%s: switched back the pictures differ", name)
		}
		click(t, tab, fmt.Sprintf("label:has(input[name=%s]:not(:checked))", name))
		if byMouse := marks(t, tab); !slices.Equal(byMouse, byKey) {
			t.Errorf("%s: by mouse the pictures differ from those by keyboard", name)
		}
		click(t, tab, fmt.Sprintf("label:has(input[name=%s]:not(:checked))", name))
	}
}

// strategiesCanBeHidden: one that is not chosen has no picture, and others stay as they are.
func strategiesCanBeHidden(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	before := marks(t, tab)
	eval[bool](t, tab, `document.querySelector("[data-role=runs] input[value='1']").focus(), true`)
	press(t, tab, " ")
	if got, want := marks(t, tab), slices.Delete(slices.Clone(before), 1, 2); !slices.Equal(got, want) {
		t.Errorf("without the second strategy the pictures are %v, want %v of %v", got, want, before)
	}
	press(t, tab, " ")
	if got := marks(t, tab); !slices.Equal(got, before) {
		t.Error("with all of them again the pictures differ")
	}
	click(t, tab, "button[data-role=none]")
	if words := eval[string](t, tab, `[...document.querySelectorAll("#arrivals .empty")].filter(e => e.checkVisibility()).map(e => e.textContent).join()`); words != "No strategy is chosen." {
		t.Errorf("without any strategy the arrivals say %q", words)
	}
	click(t, tab, "button[data-role=all]")
	if got := marks(t, tab); !slices.Equal(got, before) {
		t.Error("with all of them at once the pictures differ")
	}
}

// zoom: pictures over time are looked at closer together, by keyboard and by dragging, and a button, a key and nothing else show the whole again.
func zoom(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	before := marks(t, tab)
	whole := func() bool {
		return !eval[bool](t, tab, `document.querySelector("button[data-role=whole]").checkVisibility()`)
	}
	if !whole() {
		t.Error("the button that ends a zoom is there without one")
	}
	closer := func(how string) {
		t.Helper()
		for i, mark := range marks(t, tab) {
			if mark == before[i] {
				t.Errorf("%s: the picture of run %d is not looked at closer", how, i)
			}
		}
		if whole() {
			t.Errorf("%s: no button ends the zoom", how)
		}
	}
	again := func(how string) {
		t.Helper()
		if got := marks(t, tab); !slices.Equal(got, before) || !whole() {
			t.Errorf("%s: the pictures are not as before", how)
		}
	}
	eval[bool](t, tab, `test.plot("arrivals-0").focus(), true`)
	press(t, tab, kb.Home, "+")
	closer("the key +")
	inSight := func(how string) {
		t.Helper()
		if !eval[bool](t, tab, `(() => { const l = test.plot("arrivals-0").querySelector(".cursor"), b = l.getBoundingClientRect(), o = l.parentElement.getBoundingClientRect(); return l.checkVisibility() && b.left >= o.left - 2 && b.left <= o.right + 2; })()`) {
			t.Errorf("%s: the cursor is out of sight", how)
		}
	}
	inSight("the key +")
	press(t, tab, kb.End)
	inSight("zoomed in, the key End")
	press(t, tab, "0", kb.Escape)
	again("the key 0")
	at := eval[[]float64](t, tab, `(() => {
		const p = test.plot("arrivals-1");
		p.scrollIntoView({block: "center"});
		const b = p.querySelector(".u-over").getBoundingClientRect();
		return [b.left, b.top + b.height / 2, b.width];
	})()`)
	mouse(t, tab, input.DispatchMouseEventTypeMousePressed, at[0]+at[2]*0.1, at[1])
	for _, share := range []float64{0.2, 0.3, 0.4} {
		if err := tab.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0]+at[2]*share, at[1], chromedp.ButtonType(input.MouseButtonLeft), pressed)); err != nil {
			t.Fatal(err)
		}
	}
	mouse(t, tab, input.DispatchMouseEventTypeMouseReleased, at[0]+at[2]*0.4, at[1])
	settle(t, tab)
	closer("dragging")
	click(t, tab, "button[data-role=whole]")
	mouse(t, tab, input.DispatchMouseEventTypeMouseMoved, 2, 2)
	eval[bool](t, tab, `document.activeElement.blur(), true`)
	settle(t, tab)
	again("the button")
}

// pressed says of a mouse that moves that its left button is down.
func pressed(p *input.DispatchMouseEventParams) { p.Buttons = 1 }

// A readout is what a picture says of the place of the cursor.
type readout struct {
	Chart, At, Text string
}

// readouts are those of the pictures over time.
func readouts(t *testing.T, tab *browsertest.Tab) []readout {
	t.Helper()
	return eval[[]readout](t, tab, `test.figures()
		.filter(f => f.querySelector("[data-role=plot][data-drawn=true]") && /^(arrivals-\d+|goodput|wasted|convoy-index|sync-index)$/.test(f.dataset.chart))
		.map(f => { const r = f.querySelector("[data-role=readout]"); return {chart: f.dataset.chart, at: r.dataset.at ?? "", text: r.textContent.replaceAll("\u00a0", " ").trim()}; })`)
}

// theCursorIsLinked: over any picture over time it moves in all of them, by mouse and by keyboard, and what each says of the
// place are the figures of the JSON.
func theCursorIsLinked(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	var last string
	for _, share := range []float64{0.02, 0.13, 0.4, 0.9} {
		at := eval[[]float64](t, tab, `(() => {
			const p = test.plot("arrivals-1");
			p.scrollIntoView({block: "center"});
			const b = p.querySelector(".u-over").getBoundingClientRect();
			return [b.left, b.top + b.height / 2, b.width];
		})()`)
		mouse(t, tab, input.DispatchMouseEventTypeMouseMoved, at[0]+at[2]*share, at[1])
		settle(t, tab)
		list := readouts(t, tab)
		if list[1].At == last {
			t.Errorf("the mouse at %v of the width does not move the cursor", share)
		}
		last = list[1].At
		linked(t, r, list)
	}
	mouse(t, tab, input.DispatchMouseEventTypeMouseMoved, 2, 2)
	eval[bool](t, tab, `test.plot("arrivals-0").focus(), true`)
	for _, keys := range [][]string{{kb.Home}, {kb.ArrowRight}, {kb.PageUp}, {kb.ArrowLeft}, {kb.End}} {
		press(t, tab, keys...)
		list := readouts(t, tab)
		if list[0].At == last {
			t.Errorf("a key does not move the cursor from %s", last)
		}
		last = list[0].At
		linked(t, r, list)
		if spoken := eval[string](t, tab, `test.plot("arrivals-0").getAttribute("aria-valuetext").replaceAll("\u00a0", " ")`); spoken != list[0].Text {
			t.Errorf("a screen reader hears %q, and the readout is %q", spoken, list[0].Text)
		}
	}
	press(t, tab, kb.Escape)
	for _, o := range readouts(t, tab) {
		if o.At != "" || o.Text != "" {
			t.Errorf("after Escape %s still says %q", o.Chart, o.Text)
		}
	}
}

// saidArrivals is what a readout says of arrivals.
var saidArrivals = regexp.MustCompile(`: ([\d,]+|no) arrivals?\b`)

// linked checks that all readouts are of one place, and that those of arrivals are the buckets there.
func linked(t *testing.T, r *record.Result, list []readout) {
	t.Helper()
	first, err := strconv.ParseFloat(list[0].At, 64)
	if err != nil {
		t.Fatalf("%s has no place: %q", list[0].Chart, list[0].Text)
	}
	for _, o := range list {
		at, err := strconv.ParseFloat(o.At, 64)
		if err != nil || o.Text == "" {
			t.Errorf("the cursor is not in %s", o.Chart)
			continue
		}
		if at > first+1e9 || at < first-1e9 { // a window of an index is a second wide
			t.Errorf("the cursor of %s is at %v, that of %s at %v", o.Chart, at, list[0].Chart, first)
		}
		run, ok := strings.CutPrefix(o.Chart, "arrivals-")
		if !ok {
			continue
		}
		i, _ := strconv.Atoi(run)
		buckets := r.Runs[i].Buckets
		bucket := int(time.Duration(at) / r.Runs[i].Bucket)
		if bucket >= len(buckets) {
			if !strings.HasSuffix(o.Text, ": over by then") {
				t.Errorf("%s says %q after the run's end", o.Chart, o.Text)
			}
			continue
		}
		said := saidArrivals.FindStringSubmatch(o.Text)
		if said == nil {
			t.Errorf("%s says nothing of arrivals: %q", o.Chart, o.Text)
			continue
		}
		if got, _ := strconv.ParseInt(strings.ReplaceAll(strings.Replace(said[1], "no", "0", 1), ",", ""), 10, 64); got != buckets[bucket].Arrivals {
			t.Errorf("%s says %q, and bucket %d has %d", o.Chart, o.Text, bucket, buckets[bucket].Arrivals)
		}
	}
}

// theSameAxes: the pictures of all strategies have one scale, so that they compare at a glance: the capacity stands in the same row
// of each, with either scale.
func theSameAxes(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	for _, scale := range []string{"bent", "even"} {
		var rows []int
		for i := range r.Runs {
			got := eval[struct{ N, Row int }](t, tab, fmt.Sprintf(`test.count("arrivals-%d", getComputedStyle(document.documentElement).getPropertyValue("--capacity"))`, i))
			if got.N < 100 {
				t.Errorf("%s: no capacity line in the picture of %s", scale, r.Runs[i].Strategy)
			}
			rows = append(rows, got.Row)
		}
		if slices.Max(rows)-slices.Min(rows) > 1 { // a line covers two rows
			t.Errorf("%s: the capacity stands in rows %v", scale, rows)
		}
		click(t, tab, "label:has(input[name=scale]:not(:checked))")
		draw(t, tab)
	}
	axes := eval[[]string](t, tab, `Object.entries(test.data().charts).filter(([id]) => id.startsWith("arrivals-")).map(([, c]) => JSON.stringify([c.x, c.y, c.height]))`)
	if slices.Sort(axes); len(slices.Compact(axes)) != 1 {
		t.Errorf("the axes are %v", axes)
	}
}

// A table is one behind a picture.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// aTableStandsBehindEveryPicture: it opens by keyboard, has a caption and heads, and that of the arrivals has the buckets of the JSON.
func aTableStandsBehindEveryPicture(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	drawn, _ := pictures(t, tab)
	for _, id := range drawn {
		eval[bool](t, tab, fmt.Sprintf(`document.querySelector('figure[data-chart="%s"] details.data summary').focus(), true`, id))
		press(t, tab, kb.Enter)
		got := eval[table](t, tab, fmt.Sprintf(`(() => {
			const t = document.querySelector('figure[data-chart="%s"] [data-role=data-table] table'), texts = r => [...r.cells].map(c => c.textContent.replaceAll("\u00a0", " "));
			return {caption: t.caption.textContent, head: texts(t.tHead.rows[0]), rows: [...t.tBodies[0].rows].map(texts)};
		})()`, id))
		if got.Caption == "" || len(got.Head) < 2 || len(got.Rows) == 0 {
			t.Errorf("%s: the table is %.200v", id, got)
		}
		for _, row := range got.Rows {
			if len(row) != len(got.Head) {
				t.Errorf("%s: %v under %v", id, row, got.Head)
				break
			}
		}
		if run, ok := strings.CutPrefix(id, "arrivals-"); ok {
			i, _ := strconv.Atoi(run)
			bucketsStand(t, &r.Runs[i], got)
		}
		press(t, tab, kb.Enter)
	}
}

// bucketsStand: the table of arrivals has a row for every bucket, with its arrivals.
func bucketsStand(t *testing.T, run *record.Run, got table) {
	t.Helper()
	column := slices.Index(got.Head, "arrivals")
	if column < 0 || len(got.Rows) < len(run.Buckets) {
		t.Errorf("%s: %d rows under %v, want %d", run.Strategy, len(got.Rows), got.Head, len(run.Buckets))
		return
	}
	for i, row := range got.Rows {
		var want int64
		if i < len(run.Buckets) {
			want = run.Buckets[i].Arrivals
		}
		if n, err := strconv.ParseInt(strings.ReplaceAll(row[column], ",", ""), 10, 64); err != nil || n != want {
			t.Errorf("%s: row %d has %q arrivals, want %d", run.Strategy, i, row[column], want)
			return
		}
	}
}

// everythingIsReachedByKeyboard: Tab comes by every link, switch, picture and summary, in the order of the page, and each shows that
// it has the focus. It begins with a page in which nothing has had it.
func everythingIsReachedByKeyboard(t *testing.T, tab *browsertest.Tab, _ *record.Result) {
	want := eval[int](t, tab, `[...document.querySelectorAll("a[href], summary, input[type=checkbox], input:checked[type=radio], [data-role=plot][tabindex]")].filter(e => e.checkVisibility()).length`)
	seen := map[string]bool{}
	for range 400 {
		if err := tab.Do(chromedp.KeyEvent(kb.Tab)); err != nil {
			t.Fatal(err)
		}
		at := eval[struct{ ID, Ring string }](t, tab, `(() => {
			const e = document.activeElement;
			if (e === document.body) return {id: "", ring: ""};
			e.dataset.stop ??= String(window.stops = (window.stops || 0) + 1);
			const shown = e.type === "radio" ? e.nextElementSibling : e, s = getComputedStyle(shown);
			return {id: e.matches("a[href], summary, input, [data-role=plot]") ? e.dataset.stop : "-", ring: s.outlineStyle === "none" ? "none: " + e.outerHTML.slice(0, 120) : s.outlineStyle};
		})()`)
		if at.ID == "" || seen[at.ID] && at.ID != "-" {
			break
		}
		if strings.HasPrefix(at.Ring, "none") {
			t.Errorf("nothing shows the focus: %s", at.Ring)
		}
		seen[at.ID] = true
	}
	delete(seen, "-")
	if len(seen) != want {
		t.Errorf("Tab came by %d of %d", len(seen), want)
	}
}
