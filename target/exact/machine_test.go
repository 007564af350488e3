package exact_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	// What the program is made of, so that a change there runs the test again.
	_ "stormtest/load/sim"
)

// machines are compiled for, and run here: with GOAMD64=v3 products are fused into sums, and a 386 has
// other assembly and an int of its own. The first is what the others are held against.
var machines = []struct{ name, arch, level string }{
	{"amd64 v1", "amd64", "v1"},
	{"amd64 v3", "amd64", "v3"},
	{"386", "386", ""},
}

// One program prints what a result is made of, from single draws to the whole result of every
// strategy in five scenarios, and prints the same bytes whatever machine it was compiled for.
//
// Before package exact 36 of its lines differed between v1 and v3.
func TestSameBytesOnEveryMachine(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("-short: this compiles a program for three machines")
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		t.Skipf("programs for several machines run on linux/amd64; this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	var want string
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			got := printed(t, m.arch, m.level)
			if want == "" {
				want = got
			}
			if len(got) < 1_000_000 {
				t.Fatalf("%d bytes printed, want a million: the test does not see the results", len(got))
			}
			if line, here, there := firstDifference(got, want); line > 0 {
				t.Errorf("line %d differs from that of %s\n got %s\nwant %s", line, machines[0].name, here, there)
			}
		})
	}
}

// printed is what the program prints when it was compiled for a machine.
func printed(t *testing.T, arch, level string) string {
	t.Helper()
	if _, err := os.ReadFile("testdata/machine/main.go"); err != nil { // likewise
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "machine")
	build := exec.Command("go", "build", "-o", program, "./testdata/machine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch, "GOAMD64="+level)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var stdout, stderr bytes.Buffer
	run := exec.Command(program)
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil {
		if strings.Contains(stderr.String(), "microarchitecture support") {
			t.Skip("this CPU cannot run it: " + strings.TrimSpace(stderr.String()))
		}
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return stdout.String()
}

// firstDifference returns the number of the first line that differs, 0 where there is none, and what
// it is here and there from shortly before the difference on.
func firstDifference(got, want string) (line int, here, there string) {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := at(a, i), at(b, i)
		if x == y {
			continue
		}
		same := 0
		for same < min(len(x), len(y)) && x[same] == y[same] {
			same++
		}
		from := max(0, same-100)
		return i + 1, cut(x, from), cut(y, from)
	}
	return 0, "", ""
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(no line)"
}

// cut is what follows the beginning of a line up to its first comma, at a place of it.
func cut(line string, from int) string {
	name, _, _ := strings.Cut(line, ": ")
	return name + ": ..." + line[from:min(len(line), from+200)]
}
