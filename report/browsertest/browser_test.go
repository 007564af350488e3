package browsertest_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"stormtest/report/browsertest"
)

// The tests of the pages are only as good as the browser's eyes and ears, which are tested here on pages of
// a line or two.

func simple(body string) []byte {
	return []byte(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body><main><h1>A page</h1>` + body + `</main></body></html>`)
}

// TestEveryFaultIsHeard: each thing that a page of a report must not do is heard, and a page that does none
// of them is sound.
func TestEveryFaultIsHeard(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"sound", `<script>console.log("a word"); document.title = "drawn"</script>
			<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">`, nil},
		{"policy", `<meta http-equiv="Content-Security-Policy" content="script-src 'none'"><script>window.x = 1</script>`, []string{"Content Security Policy"}},
		{
			"all others", `<script>console.error("oh", 1); console.warn("careful"); console.assert(false, "never")</script>
			<script>null.x</script><script>setTimeout(() => { throw new Error("late") })</script><script>Promise.reject(new Error("unheard"))</script>
			<img alt="" src="http://127.0.0.1:9/x.png"><img alt="" src="beside.png"><script src="https://service.invalid/x.js"></script>
			<script>fetch("https://service.invalid/f").catch(() => {}); open("https://service.invalid/w"); alert("stop")</script>`,
			[]string{
				`console error: "oh" 1`, `console warning: "careful"`, `console assert: "never"`, "exception: Uncaught TypeError",
				"exception: Uncaught Error: late", "exception: Uncaught (in promise) Error: unheard", "a request for http://127.0.0.1:9/x.png",
				"a request for file:///", "a request for https://service.invalid/x.js", "a request for https://service.invalid/f", "dialog alert: stop",
				"a window was opened: https://service.invalid/w",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := openAnyway(t, write(t, simple(tt.body)), browsertest.View{})
			settle(t, tab)
			settle(t, tab)
			got := strings.Join(tab.Faults(), "\n")
			if len(tt.want) == 0 && got != "" {
				t.Errorf("faults = %q, want none", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("faults = %q, want %q in it", got, want)
				}
			}
		})
	}
}

// TestTheNetworkIsOff: nothing that a page asks for arrives, and the page is told so.
func TestTheNetworkIsOff(t *testing.T) {
	tab := openAnyway(t, write(t, simple("")), browsertest.View{})
	if eval[bool](t, tab, `navigator.onLine`) {
		t.Error("the page believes that there is a network")
	}
	if got := eval[string](t, tab, `fetch("http://127.0.0.1:9/").then(() => "arrived", e => e.name)`); got != "TypeError" {
		t.Errorf("a fetch ended as %q", got)
	}
}

// TestViews: width, colour scheme and paper are what was asked for, also when they change.
func TestViews(t *testing.T) {
	file := write(t, simple(""))
	for _, v := range []browsertest.View{{}, {Width: 390, Height: 700, Dark: true, Print: true}} {
		tab := open(t, file, v)
		check := func(v browsertest.View) {
			t.Helper()
			width := v.Width
			if width == 0 {
				width = 1280
			}
			if got := eval[int64](t, tab, `innerWidth`); got != width {
				t.Errorf("%+v: the page is %d wide", v, got)
			}
			if got := eval[bool](t, tab, `matchMedia("(prefers-color-scheme: dark)").matches`); got != v.Dark {
				t.Errorf("%+v: dark is %v", v, got)
			}
			if got := eval[bool](t, tab, `matchMedia("print").matches`); got != v.Print {
				t.Errorf("%+v: print is %v", v, got)
			}
		}
		check(v)
		other := browsertest.View{Width: 500, Dark: !v.Dark, Print: !v.Print}
		if err := tab.Look(other); err != nil {
			t.Fatal(err)
		}
		check(other)
		picture, err := tab.Screenshot()
		if err != nil {
			t.Fatal(err)
		}
		if config, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || config.Width != 500 {
			t.Errorf("%+v: the picture is %d wide, %v", v, config.Width, err)
		}
	}
}

// TestTabsShareNothing: what one page stores another does not find.
func TestTabsShareNothing(t *testing.T) {
	file := write(t, simple(""))
	for range 2 {
		tab := open(t, file, browsertest.View{})
		if eval[bool](t, tab, `localStorage.getItem("k") !== null || (localStorage.setItem("k", "v"), false)`) {
			t.Error("a tab found what another had stored")
		}
	}
}

// TestAxeSees: what is wrong with a page for those who cannot see it is found, and what is not is not.
func TestAxeSees(t *testing.T) {
	tab := open(t, write(t, simple(`<div id="it"></div>`)), browsertest.View{})
	for _, tt := range []struct{ name, body, want string }{
		{"nothing", `<p>Text</p>`, ""},
		{"picture without a text", `<img src="data:,">`, "image-alt"},
		{"pale text", `<p style="color:#bbb;background:#fff">Text</p>`, "color-contrast"},
		{"button without a name", `<button></button>`, "button-name"},
	} {
		eval[bool](t, tab, fmt.Sprintf("document.getElementById('it').innerHTML = %q, true", tt.body))
		got := strings.Join(axe(t, tab), "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: axe says %q, want %q in it", tt.name, got, tt.want)
		}
	}
}
