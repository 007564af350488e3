package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

func flagNames(c *cobra.Command) []string {
	var names []string
	for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
		names = append(names, m[1])
	}
	return names
}
