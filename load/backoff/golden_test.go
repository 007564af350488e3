package backoff_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormtest/load/backoff"
)

var update = flag.Bool("update", false, "rewrite testdata/delays_ms.golden")

// The golden holds the first ten delays of every strategy in ms, drawn with one seed and
// the guides' parameters. A row changes only where its formula or its draws do: read the
// diff before -update, and say in the commit why.
func TestDelaysGolden(t *testing.T) {
	path := filepath.Join("testdata", "delays_ms.golden")
	var b strings.Builder
	for _, e := range backoff.Table {
		fmt.Fprintf(&b, "%-14s", e.Name)
		for _, d := range walk(e.New(backoff.Defaults()), rand.New(rand.NewPCG(1, 2)), 10) {
			fmt.Fprintf(&b, " %12s", fmt.Sprintf("%d.%06d", d/ms, d%ms))
		}
		b.WriteByte('\n')
	}
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./load/backoff -update writes it)", err)
	}
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		got, want := lineAt(gotLines, i), lineAt(wantLines, i)
		if got != want {
			t.Fatalf("%s:%d\n got %q\nwant %q", path, i+1, got, want)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(no line)"
	}
	return lines[i]
}
