package browsertest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/browsertest"
	"stormtest/report/hostile"
)

// TestThePictureInABrowser: the SVG is drawn as it is, asks for nothing, has a name for those who cannot see it, and no text of it runs.
func TestThePictureInABrowser(t *testing.T) {
	r, _ := theStorm(t)
	f, ok := report.Lookup("svg")
	if !ok {
		t.Fatal("there is no picture")
	}
	bad := copied(t, r)
	if err := hostile.Plant(bad, hostile.Texts()["markup"]); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*record.Result{"storm": r, "hostile": bad} {
		var b bytes.Buffer
		if err := f.Write(&b, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".svg")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		tab := open(t, path, browsertest.View{})
		got := eval[struct {
			Root, Title string
			Shapes, Out int
			Pwned       bool
		}](t, tab, `(() => {
			const root = document.documentElement, box = root.getBoundingClientRect();
			const out = [...root.querySelectorAll("text")].filter(e => { const b = e.getBoundingClientRect(); return b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1 });
			return {root: root.localName, title: root.querySelector("title")?.textContent ?? "", shapes: root.querySelectorAll("path, rect, line").length, out: out.length, pwned: "pwned" in window};
		})()`)
		if got.Root != "svg" || len(strings.Fields(got.Title)) < 2 || got.Shapes < 10 || got.Pwned {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Out > 0 {
			t.Errorf("%s: %d texts stand outside the picture", name, got.Out)
		}
	}
}
