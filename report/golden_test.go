package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the goldens instead of comparing with them")

// golden compares got with testdata/name.golden and prints the first line that differs, or of a picture the first byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if difference := firstDifference(got, want); difference != "" {
		t.Fatalf("%s differs first in %s", path, difference)
	}
}

// firstDifference says where got is not want, and how it reads there; empty where they are alike.
func firstDifference(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	if !utf8.Valid(got) || !utf8.Valid(want) {
		at := commonBytes(got, want)
		return fmt.Sprintf("byte %d:\n got % x (of %d)\nwant % x (of %d)", at, got[at:min(len(got), at+8)], len(got), want[at:min(len(want), at+8)], len(want))
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := lineOrEnd(gotLines, i), lineOrEnd(wantLines, i); g != w {
			at := commonBytes([]byte(g), []byte(w))
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, around(g, at), around(w, at))
		}
	}
	return "nothing" // cannot be: they are of other bytes and the same lines
}

// commonBytes is how many bytes both begin with.
func commonBytes(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// around is what of a line stands round a byte: a page has lines of 100 kB.
func around(line string, at int) string {
	const reach = 150
	from, to := max(0, at-reach), min(len(line), at+reach)
	text := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		text = "..." + text
	}
	if to < len(line) {
		text += "..."
	}
	return text
}

func lineOrEnd(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end of file)"
}

// The helper is only as good as what it says.
func TestFirstDifference(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct{ name, got, want, says string }{
		{"alike", "a\nb\n", "a\nb\n", ""},
		{"a line", "a\nc\nd\n", "a\nb\nd\n", "line 2:\n got c\nwant b"},
		{"too long", "a\nb\n", "a\n", "line 2:\n got b\nwant "},
		{"too short", "a", "a\nb", "line 2:\n got (end of file)\nwant b"},
		{"long lines", long + "1" + long, long + "2" + long, "line 1:\n got ..." + long[:150] + "1" + long[:149] + "...\nwant ..." + long[:150] + "2" + long[:149] + "..."},
		{"picture", "\xff\x00\x01", "\xff\x00", "byte 2:\n got 01 (of 3)\nwant  (of 2)"},
	} {
		if says := firstDifference([]byte(tt.got), []byte(tt.want)); says != tt.says {
			t.Errorf("%s: %.500q, want %.500q", tt.name, says, tt.says)
		}
	}
}
