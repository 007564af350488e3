package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/strict"
)

// Every flag and command that the README names exists, and its table of strategies is the
// program's own.
func TestReadmeTellsTheTruth(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	root := newRoot(world{})
	known := map[string]bool{"update": true} // of go test
	for _, c := range append(root.Commands(), root) {
		for _, f := range flagNames(c) {
			known[f] = true
		}
	}
	flags := regexp.MustCompile(`(^|[ '\x60(])--([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1)
	if len(flags) < 10 {
		t.Fatalf("found %d flags in the README: the test does not see them", len(flags))
	}
	for _, m := range flags {
		if !known[m[2]] {
			t.Errorf("the README names --%s, which does not exist", m[2])
		}
	}
	if !strings.Contains(text, strategyTable()) {
		t.Error("the README's table of strategies is not the program's: run scripts/readme-report")
	}
}

// The README's picture is one, of a real run with all strategies.
func TestReadmePicture(t *testing.T) {
	b, err := os.ReadFile("../../examples/storm.svg")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := strict.Read("svg", b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2,000 clients", "none", "equal", "full", "decorrelated", "real time, over sockets"} {
		if !strings.Contains(strings.ReplaceAll(picture.Text, "\u00a0", " "), want) {
			t.Errorf("examples/storm.svg has no %q: run scripts/readme-picture", want)
		}
	}
}

func flagNames(c *cobra.Command) []string {
	var names []string
	for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
		names = append(names, m[1])
	}
	return names
}

// The guide's table in the README is what the commands below it print, to the last digit there: none is its
// closed form, and of the others the mean and the range of 400 seeds from 1.
func TestReadmeTellsTheGuidesTable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "<!-- guide:")
	table, _, found := strings.Cut(table, "<!-- /guide -->")
	rows := guideRow.FindAllStringSubmatch(table, -1)
	if !found || len(rows) != 4 {
		t.Fatalf("found %d rows of the guide's table", len(rows))
	}
	const seeds = 400
	for _, row := range rows {
		name, calls, seconds := row[1], guideRange(t, row[2]), guideRange(t, row[3])
		args := []string{"sim", "--quiet", "--json", "-", "--model", "reject-if-busy", "--clients", "1000", "--strategy", name, "--seed", "1"}
		if calls.lo == calls.hi { // unjittered: one client a wave
			args = append(args, "--duration", "6h", "--max-elapsed", "unlimited", "--bucket", "10s")
			run := simulated(t, args)
			if got := float64(run.Attempts.Sent); got != calls.mean || got != 1000*1001/2 {
				t.Errorf("%s: %v calls, want %v", name, got, calls.mean)
			}
			if got := float64(*run.Completion) / 1e9; got != seconds.mean || got != 25.5+20*(1000-9) {
				t.Errorf("%s: %v s, want %v", name, got, seconds.mean)
			}
			continue
		}
		figures := simulated(t, append(args, "--repeat", strconv.Itoa(seeds))).Repeats.Figures
		for metric, want := range map[string]guideFigure{"attempts_sent": calls, "completion": seconds} {
			got, unit, digit := figures[metric], 1.0, 1.0
			if metric == "completion" {
				unit, digit = 1e9, 0.1
			}
			for _, pair := range [][2]float64{{*got.Mean, want.mean}, {*got.P5, want.lo}, {*got.P95, want.hi}} {
				if math.Abs(pair[0]/unit-pair[1]) > digit*0.5001 || got.Count != seeds {
					t.Errorf("%s: %s = %.5g of %d seeds, want %v", name, metric, pair[0]/unit, got.Count, pair[1])
				}
			}
		}
	}
}

// guideRow is strategy, calls and seconds of the model.
var guideRow = regexp.MustCompile(`(?m)^\| (\w+) \| ~[\d,]+ \| ([^|]+) \| ~[\d,]+ \| ([^|]+) \|$`)

// A guideFigure is mean [lo-hi] of the table.
type guideFigure struct{ mean, lo, hi float64 }

func guideRange(t *testing.T, text string) guideFigure {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	mean, bounds, spread := strings.Cut(strings.TrimSuffix(text, "]"), " [")
	if !spread {
		return guideFigure{number(mean), number(mean), number(mean)}
	}
	lo, hi, _ := strings.Cut(bounds, "-")
	return guideFigure{number(mean), number(lo), number(hi)}
}

// simulated returns the only run of a command that writes JSON.
func simulated(t *testing.T, args []string) record.Run {
	t.Helper()
	got := do(t.Context(), nil, args...)
	result, err := report.ReadJSON(strings.NewReader(got.out))
	if got.code != codePassed || err != nil {
		t.Fatalf("%v: code %d, %v: %s", args, got.code, err, got.err)
	}
	return result.Runs[0]
}
