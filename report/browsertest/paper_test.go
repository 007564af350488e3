package browsertest_test

import (
	"bytes"
	"regexp"
	"testing"

	"stormtest/report/browsertest"
)

// pdfPages finds the pages of a PDF.
var pdfPages = regexp.MustCompile(`/Type\s*/Page\b`)

// TestPaper: printed, whatever the colours of the reader's screen, every picture is drawn on white, nothing is left that only works on a
// screen, and afterwards the page is as before.
func TestPaper(t *testing.T) {
	r, file := theStorm(t)
	tab := open(t, file, browsertest.View{Dark: true})
	eval[bool](t, tab, library+`, addEventListener("beforeprint", () => {
		window.printed = {drawn: document.querySelectorAll("[data-role=plot] canvas").length, pictures: test.figures().filter(f => test.plot(f.dataset.chart)).length};
	}), true`)
	paper, err := tab.PDF()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pdfPages.FindAll(paper, -1)); !bytes.HasPrefix(paper, []byte("%PDF-")) || n < 3 || n > 40 {
		t.Errorf("a PDF of %d pages in %d bytes", n, len(paper))
	}
	printed := eval[struct{ Drawn, Pictures int }](t, tab, `window.printed`)
	if printed.Drawn < len(r.Runs)+4 || printed.Drawn < printed.Pictures-2 {
		t.Errorf("%d pictures were drawn for paper, of %d", printed.Drawn, printed.Pictures)
	}
	// Between the margins a sheet of A4 is 688 pixels wide. Of what is wider Chromium shrinks the whole document.
	if err := tab.Look(browsertest.View{Dark: true, Print: true, Width: 688}); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, tab, `dispatchEvent(new Event("beforeprint"))`)
	settle(t, tab)
	noSideways(t, tab, 688)
	style := eval[struct {
		Ground, Ink string
		Shown       int
	}](t, tab, `({ground: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color,
		shown: [...document.querySelectorAll("nav, input, .skip")].filter(e => e.checkVisibility()).length})`)
	if style.Ground != "rgb(255, 255, 255)" && style.Ground != "rgba(0, 0, 0, 0)" || style.Shown > 0 {
		t.Errorf("on paper: %+v; want white, and nothing to press", style)
	}
	eval[bool](t, tab, `dispatchEvent(new Event("afterprint"))`)
	if err := tab.Look(browsertest.View{Dark: true}); err != nil {
		t.Fatal(err)
	}
	draw(t, tab)
	if open := eval[int](t, tab, `document.querySelectorAll("details[open]").length`); open > 0 {
		t.Errorf("after printing %d parts stay open", open)
	}
}
