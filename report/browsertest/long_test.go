package browsertest_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"stormtest/report/browsertest"
)

// pointsMost bounds what is drawn of one row of a picture: a screen has not more columns of pixels.
const pointsMost = 4000

// TestTwoHours: 72,000 buckets of 2,000 clients are a page of under 2 MB whose pictures hold few enough points to be drawn at once, and
// whose highest bucket is still read. How long it took is told and not judged: this machine may be busy.
func TestTwoHours(t *testing.T) {
	browser(t)
	r := simulated(t, "clients: 2000\nrate: 5/s\nduration: 2h\nbase: 20s\ncap: 40s\nmax-elapsed: 2h\noutage: [1h..3660s=status]")
	run := &r.Runs[0]
	if len(run.Buckets) < 71_990 {
		t.Fatalf("%d buckets", len(run.Buckets))
	}
	highest := 36_345 // put where no thinning by chance keeps it
	run.Buckets[highest].Arrivals, run.Buckets[highest].First = 1234, 1234
	run.Convoy.PeakArrivals = 1234
	file := pageOf(t, r)
	info, err := os.Stat(file)
	if err != nil || info.Size() > 2_000_000 {
		t.Errorf("the page has %d bytes, want 2 MB at most; %v", info.Size(), err)
	}
	tab := open(t, file, browsertest.View{})
	eval[bool](t, tab, library)
	took := eval[[]float64](t, tab, `(async () => {
		const load = performance.getEntriesByType("navigation")[0].loadEventEnd, begin = performance.now();
		if (await test.draw()) return [];
		return [load, performance.now() - begin];
	})()`)
	if len(took) != 2 {
		t.Fatal("not all pictures are drawn")
	}
	t.Logf("%d bytes; load event after %.0f ms, all pictures drawn in %.0f ms more, scrolling to each", info.Size(), took[0], took[1])
	points := eval[map[string]int](t, tab, `Object.fromEntries(Object.entries(test.data().charts).map(([id, c]) => [id, Math.max(0, ...Object.values(c.views).flatMap(v => (v.series || []).map(s => s.y.length)))]))`)
	for id, n := range points {
		if n > pointsMost {
			t.Errorf("%s has %d points, want %d at most", id, n, pointsMost)
		}
	}
	if points["arrivals-0"] < 200 {
		t.Errorf("of 72,000 buckets %d are left", points["arrivals-0"])
	}
	figure := eval[string](t, tab, `document.querySelector('figure[data-chart="arrivals-0"]').textContent`)
	if !strings.Contains(figure, "1,234") {
		t.Errorf("the highest bucket is not told beside the picture: %.300q", figure)
	}
	// The cursor finds it too: the bar that the bucket is in is as high as it is.
	peak := eval[int](t, tab, `Math.max(...test.data().charts["arrivals-0"].views.attempts.series[0].y)`)
	if peak != 1234 {
		t.Errorf("the highest bar is %d high, want 1,234", peak)
	}
	at := int64(highest) * int64(run.Bucket)
	said := eval[string](t, tab, fmt.Sprintf(`(() => {
		const p = test.plot("arrivals-0"), b = test.data().charts["arrivals-0"].buckets;
		const press = key => p.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
		p.focus();
		press("Home");
		for (let i = Math.floor(%s / (b.width * b.merged)); i > 0;) {
			press(i >= 10 ? "PageUp" : "ArrowRight");
			i -= i >= 10 ? 10 : 1;
		}
		return test.readout("arrivals-0").textContent;
	})()`, strconv.FormatInt(at, 10)))
	if !strings.Contains(said, "1,234") {
		t.Errorf("under the cursor the highest bucket reads %q", said)
	}
}
