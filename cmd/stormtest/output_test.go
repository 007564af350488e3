package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An output that is an input of the same command, under whatever name, is refused, and the input stays as it was.
func TestNoOutputReplacesAnInput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, seed := range map[string]string{"a.json": "1", "b.json": "2"} {
		if got := do(t.Context(), nil, "sim", "--clients", "2", "--seed", seed, "--json", at(name)); got.code != codePassed {
			t.Fatal(got.err)
		}
	}
	for name, text := range map[string]string{"storm.yaml": "clients: 2\n", "body": "x"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(from, to string) error{"hard": os.Link, "soft": os.Symlink} {
		if err := make(at("a.json"), at(name)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"report", []string{"report", at("a.json"), "--html", at("a.json")}, "--html: " + at("a.json") + ": the command reads that file"},
		{"another spelling", []string{"report", at("a.json"), "--html", dir + "/./a.json"}, "reads that file"},
		{"a hard link", []string{"report", at("a.json"), "--html", at("hard")}, "the same file as " + at("a.json")},
		{"a symbolic link", []string{"report", at("soft"), "--json", at("a.json")}, "the same file as " + at("soft")},
		{"compare", []string{"compare", at("a.json"), at("b.json"), "--markdown", at("b.json")}, "--markdown"},
		{"merge", []string{"merge", at("a.json"), at("b.json"), "--json", at("a.json")}, "--json"},
		{"a log", []string{"sim", "--file", at("storm.yaml"), "--hlog", at("storm.yaml")}, "--hlog"},
		{"a body", []string{"http://127.0.0.1:1", "--body-file", at("body"), "--trace", at("body")}, "--trace"},
		{"a winner", []string{"advise", "--completion", "30s", "--file", at("storm.yaml"), "--file-out", at("storm.yaml")}, "--file-out"},
		{"an address", []string{"serve", "--file", at("storm.yaml"), "--address-file", at("storm.yaml")}, "--address-file"},
		{"an address in a report", []string{"serve", "--json", at("new"), "--address-file", at("new")}, "--json writes there already"},
		{"stdin", []string{"report", "-", "--html", at("a.json")}, "the same file as stdin"},
	}
	before := files(t, dir)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in, err := os.Open(at("a.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			var out, errs bytes.Buffer
			if code := run(t.Context(), tc.args, world{in: in, out: &out, err: &errs}); code != codeUsage || out.Len() > 0 || !strings.Contains(errs.String(), tc.want) {
				t.Errorf("code %d, stdout %q, stderr %q; want 2 and %q", code, out.String(), errs.String(), tc.want)
			}
			if after := files(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// files is everything in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, one := range list {
		b, err := os.ReadFile(filepath.Join(dir, one.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(one.Name() + ": " + string(b) + "\n")
	}
	return text.String()
}

// What is wrong with gates alone is mended with the list of them; and the flag is told alike everywhere.
func TestHelpForGates(t *testing.T) {
	const list = "Run 'stormtest gates' for"
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"sim", "--gate", "convoi<1", "--gate", "delay<1s"}, list},
		{[]string{"gates", "convoi"}, list},
		{[]string{"sim", "--gate", "convoi<1", "--clients", "0"}, "Run 'stormtest sim --help' for"},
		{[]string{"sim", "--clients", "0"}, "Run 'stormtest sim --help' for"},
	} {
		if got := do(t.Context(), nil, tc.args...); got.code != codeUsage || !strings.Contains(got.err, tc.want) || strings.Count(got.err, "Run '") != 1 {
			t.Errorf("%q: code %d, %s", tc.args, got.code, got.err)
		}
	}
	const told = "--gate METRIC OP VALUE"
	for _, command := range []string{"sim", "report"} {
		if got := do(t.Context(), nil, command, "--help"); !strings.Contains(got.out, told) || strings.Contains(got.out, "([])") {
			t.Errorf("%s --help has no %s", command, told)
		}
	}
}

// A file without a name is a variable that was never set.
func TestAFileWithoutAName(t *testing.T) {
	for _, args := range [][]string{
		{"sim", "--html", ""}, {"sim", "--hlog="}, {"sim", "--file", ""}, {"--listen-metrics", ""}, {"serve", "--address-file", ""}, {"advise", "-o", ""},
	} {
		if got := do(t.Context(), nil, args...); got.code != codeUsage || !strings.Contains(got.err, "want") {
			t.Errorf("%q: code %d, %s", args, got.code, got.err)
		}
	}
	if got := do(t.Context(), []string{"STORMTEST_PROGRESS=x"}, "sim"); got.code != codeUsage || !strings.Contains(got.err, "STORMTEST_PROGRESS") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	if got := do(t.Context(), []string{"STORMTEST_JSON="}, "sim"); got.code != codeUsage || !strings.Contains(got.err, "STORMTEST_JSON") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
}
