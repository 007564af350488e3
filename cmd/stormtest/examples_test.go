package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// exampleCommand is a line of an example's comment: a command, and the exit code that it promises.
var exampleCommand = regexp.MustCompile(`(?m)^#   stormtest (\w+ \S+.*?)\s+# exit code (\d): `)

// What the comments of the examples say of exit codes is so, in virtual time: each has a command for what goes wrong and one
// for what helps.
func TestExamplesKeepTheirWord(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	root := filepath.Join("..", "..")
	t.Chdir(root)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(filepath.Join("examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "| `"+strings.TrimSuffix(name, ".yaml")+"` |") {
			t.Errorf("%s is not in the table of the README", name)
		}
		commands := exampleCommand.FindAllStringSubmatch(string(text), -1)
		if n := strings.Count(string(text), "\n#   stormtest "); len(commands) != n {
			t.Errorf("%s: %d commands, of which %d promise an exit code", name, n, len(commands))
		}
		seen := map[int]bool{}
		for _, m := range commands {
			args := strings.Fields(strings.ReplaceAll(m[1], "'", ""))
			if args[1] != "examples/"+name {
				t.Errorf("%s: the command %q is of another file", name, m[1])
			}
			args = append(args, "--seed", "1", "--quiet")
			if args[0] == "tip" { // one seed, as a test is quick
				args = append(args, "--repeat", "1")
			}
			if args[0] == "run" && !strings.Contains(m[1], "--virtual") {
				args = append(args, "--virtual")
			}
			want, _ := strconv.Atoi(m[2])
			if args[0] == "run" {
				seen[want] = true
			}
			t.Run(name+" "+strings.Join(args[2:], " "), func(t *testing.T) {
				t.Parallel()
				if got := do(t.Context(), nil, args...); got.code != want || got.err != "" {
					t.Errorf("exit code %d, want %d; stderr %q\n%s", got.code, want, got.err, got.out)
				}
			})
		}
		if !seen[codePassed] || !seen[codeGate] {
			t.Errorf("%s has no command that passes, or none that a gate ends: %v", name, seen)
		}
	}
}
