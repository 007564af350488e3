package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stormtest/load/record"
	"stormtest/report"
)

// snapshot is a run as it was after a time.
func snapshot(run record.Run, elapsed time.Duration) *report.Snapshot {
	s := &report.Snapshot{
		Strategy: run.Strategy, Count: 1, Seeds: 1, Elapsed: elapsed, Length: run.Duration, Bucket: run.Bucket, CapacityPerSecond: run.CapacityPerSecond, Operations: run.Operations.Started,
	}
	for _, b := range run.Buckets {
		if b.At < elapsed {
			s.Ticks = append(s.Ticks, record.Tick{Arrivals: b.Arrivals, First: b.First, Retries: b.Retries, Served: b.Served, Rejected: b.Rejected})
			s.Totals.Arrivals += b.Arrivals
			s.Totals.Served += b.Served
		}
	}
	s.Totals.Succeeded = s.Totals.Served
	return s
}

// snapshots are what the goldens and the properties are made of.
func snapshots() map[string]*report.Snapshot {
	early, late := snapshot(guideStorm("full"), 300*time.Millisecond), snapshot(guideStorm("full"), 12_340*time.Millisecond)
	late.Index, late.Count, late.Seed, late.Seeds = 2, 4, 6, 20
	open := snapshot(openLoop().Runs[0], 12*time.Second)
	open.Outages = []report.Window{{From: 10 * time.Second, To: 15 * time.Second, Mode: "hang"}, {From: 25 * time.Second, To: 26 * time.Second, Mode: "status"}}
	outside := snapshot(guideStorm("equal"), 12*time.Second)
	outside.Outside, outside.Length, outside.Strategy = true, 0, "outside"
	unknown := snapshot(guideStorm("none"), 29_990*time.Millisecond)
	unknown.CapacityPerSecond = nil
	long := snapshot(longResult().Runs[0], 90*time.Minute)
	hostile := snapshot(guideStorm("none"), 5*time.Second)
	hostile.Strategy, hostile.Outages = hostileText, []report.Window{{From: 0, To: 10 * time.Second, Mode: hostileText}, {From: 9, To: 3}, {From: -5, To: -4}}
	return map[string]*report.Snapshot{
		"nothing": {Strategy: "full", Bucket: 100 * time.Millisecond, Length: 30 * time.Second}, "early": early, "late": late, "open": open, "outside": outside, "unknown": unknown, "long": long,
		"hostile": hostile, "zero": {},
	}
}

func TestLiveGoldens(t *testing.T) {
	all := snapshots()
	for _, tt := range []struct {
		name   string
		o      report.Options
		height int
	}{
		{"nothing", report.Options{Width: 80}, 24}, {"early", report.Options{Width: 80}, 24}, {"late", report.Options{Width: 80}, 24}, {"late", report.Options{Width: 50}, 12},
		{"late", report.Options{Width: 200}, 60}, {"late", report.Options{Width: 80, Color: true}, 24}, {"late", report.Options{Width: 80, ASCII: true}, 24},
		{"open", report.Options{Width: 80}, 24}, {"outside", report.Options{Width: 100}, 24}, {"unknown", report.Options{Width: 80}, 16}, {"long", report.Options{Width: 80}, 24},
		{"hostile", report.Options{Width: 60, ASCII: true}, 14},
	} {
		name := fmt.Sprintf("live-%s-%dx%d", tt.name, tt.o.Width, tt.height)
		if tt.o.ASCII {
			name += "-ascii"
		}
		if tt.o.Color {
			name += "-color"
		}
		t.Run(name, func(t *testing.T) {
			golden(t, name, []byte(strings.Join(report.Live(all[tt.name], tt.o, tt.height), "\n")+"\n"))
		})
	}
}

// TestLiveFits: at every size there is no line too long and none too many, and no character that moves the cursor.
func TestLiveFits(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9]+m")
	for name, s := range snapshots() {
		for width := 1; width <= 250; width += 1 + width/20 {
			for height := 1; height <= 40; height += 1 + height/6 {
				if name == "long" && width%7 != 0 {
					continue
				}
				lines := report.Live(s, report.Options{Width: width, ASCII: width%2 == 0}, height)
				coloured := report.Live(s, report.Options{Width: width, ASCII: width%2 == 0, Color: true}, height)
				if len(lines) > height {
					t.Fatalf("%s at %dx%d: %d lines", name, width, height, len(lines))
				}
				for i, line := range lines {
					if n := displayCells(line); n > width || !utf8.ValidString(line) {
						t.Fatalf("%s at %dx%d: %d cells: %q", name, width, height, n, line)
					}
					if at := strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0xe000 && r < 0xf900 }); at >= 0 {
						t.Fatalf("%s at %dx%d: a control character in %q", name, width, height, line)
					}
					if plain := colours.ReplaceAllString(coloured[i], ""); plain != line {
						t.Fatalf("%s at %dx%d: colour changes %q to %q", name, width, height, line, plain)
					}
				}
			}
		}
	}
}

// TestLiveKeepsItsPeak: of two hours the one high bucket is in the picture, and its number beside it.
func TestLiveKeepsItsPeak(t *testing.T) {
	text := strings.Join(report.Live(snapshots()["long"], report.Options{Width: 80}, 24), "\n")
	if !strings.Contains(text, "350 the most in 100\u00a0ms") && !strings.Contains(text, "350 the most in 100 ms") {
		t.Errorf("the peak is not there:\n%s", text)
	}
}
