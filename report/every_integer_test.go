package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/compare"
)

// lineOfJSON is the depth of a line, its name, and its whole number.
var lineOfJSON = regexp.MustCompile(`(?m)^( *)(?:"([^"\n]*)": )?(?:(-?[0-9]+),?$)?`)

// TestHostileIntegers: a file whose whole numbers, each field alone, are at the ends of what a number holds is refused in
// a sentence, or is read, written, compared and merged.
func TestHostileIntegers(t *testing.T) {
	run := storm{strategy: "full", clients: 20, service: 10_000, length: 900_000, outage: [2]int64{200_000, 400_000}, delay: strategies["full"]}.run()
	run.Buckets = run.Buckets[:3]
	tame := seededResult(1, seedsOf(inVirtualTime(run), 1, 3, 0.01))
	other := seededResult(101, seedsOf(inVirtualTime(run), 101, 3, 0.01))
	survivesAll(t, tame, other)
	tame.Runs[0].Repeats.Figures = map[string]record.Spread{} // as a file may have it: nothing else tells how many seeds there are
	survivesAll(t, tame, other)
}

// survivesAll puts the ends of what a number holds into each field of tame.
func survivesAll(t *testing.T, tame, other *record.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, encode(t, tame), "", "  "); err != nil { // one number a line
		t.Fatal(err)
	}
	text := b.Bytes()
	seen := map[string]bool{}
	var path []string
	read := 0
	for _, at := range lineOfJSON.FindAllSubmatchIndex(text, -1) {
		path = append(path[:min(len(path), (at[3]-at[2])/2)], "")
		if at[4] >= 0 {
			path[len(path)-1] = string(text[at[4]:at[5]])
		}
		field := strings.Join(path, ".")
		if at[6] < 0 || seen[field] {
			continue
		}
		seen[field] = true
		for _, x := range []int64{-1, math.MinInt64, 1 << 60, math.MaxInt64} {
			hostile := slices.Concat(text[:at[6]], fmt.Append(nil, x), text[at[7]:])
			r, err := report.ReadJSON(bytes.NewReader(hostile))
			if err != nil {
				continue
			}
			read++
			survives(t, fmt.Sprintf("%s = %d", field, x), r, other)
		}
	}
	if len(seen) < 50 || read < 2*len(seen) {
		t.Errorf("%d fields, %d files were read: the test looks at too little", len(seen), read)
	}
}

// seededResult is a result of which the first seed is that.
func seededResult(seed uint64, runs ...record.Run) *record.Result {
	r := resultOf(guidePlan, runs...)
	r.Seed = seed
	return r
}

// survives writes, compares and merges r: a panic is a fault, that of a comparison on either side.
func survives(t *testing.T, what string, r, other *record.Result) {
	t.Helper()
	defer func() {
		if x := recover(); x != nil {
			t.Errorf("%s: panic: %v", what, x)
		}
	}()
	render(t, r, report.Options{})
	a, b := compare.Input{Name: "a.json", Result: r}, compare.Input{Name: "b.json", Result: other}
	for _, pair := range [][2]compare.Input{{a, b}, {b, a}} {
		if c, ok := against(t, pair[0], pair[1]); ok {
			renderComparison(t, c, report.Options{All: true})
		}
	}
	merged, err := compare.Merge([]compare.Input{a, b}, planFieldsKnown)
	if err != nil {
		return
	}
	if _, err := report.ReadJSON(bytes.NewReader(encode(t, merged))); err != nil {
		t.Errorf("%s: what was merged cannot be read: %v", what, err)
	}
}
