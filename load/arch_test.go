package load_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module, root its folder seen from here.
const (
	module = "stormtest"
	root   = ".."
)

// imports says which of our packages each package may import. A package that is not listed
// fails the test, so that a new one is placed on purpose.
var imports = map[string][]string{
	"load/backoff":       {"target/exact"},
	"load/seed":          {},
	"load/record":        {"target/exact"},
	"load/probe":         {"load/record"},
	"load/pace":          {"target/exact"},
	"load/retry":         {"load/backoff", "load/retry/breaker", "load/retry/budget"},
	"load/retry/budget":  {"target/exact"},
	"load/retry/breaker": {},
	"target/exact":       {},
	"target/station":     {"target/exact"},
	"target/wake":        {},
	"target/wire":        {},
	"target/targettest":  {},
	"target":             {"target/station", "target/wake", "target/wire"},
	"load/remote":        {"load/retry", "load/secret"},
	"load/plan":          {"load/backoff", "load/pace", "load/retry", "load/retry/breaker", "load/retry/budget", "load/secret", "target/station"},
	"load/secret":        {},
	"load/fleet":         {"load/plan", "load/remote", "load/retry", "load/retry/breaker", "load/retry/budget", "load/pace", "load/seed", "load/record", "target", "target/station", "target/wake", "target/wire"},
	"load/sim":           {"load/pace", "load/plan", "load/record", "load/retry", "load/retry/breaker", "load/retry/budget", "load/seed", "target/exact", "target/station"},
	"load/validate":      {"load", "load/backoff", "load/plan", "load/record", "load/retry", "load/retry/budget", "load/seed", "load/sim", "target/station"},
	"load": {
		"load/backoff", "load/fleet", "load/pace", "load/plan", "load/probe", "load/record", "load/remote", "load/retry", "load/retry/breaker", "load/retry/budget", "load/seed", "load/sim",
		"target", "target/station", "target/wake",
	},
	"load/advise": {
		"load", "load/backoff", "load/plan", "load/record", "load/retry", "load/retry/budget", "load/seed", "load/sim", "target/station",
	},
	"load/tip":       {"load", "load/plan", "load/record", "load/retry/budget", "target/station"},
	"report":         {"load/record", "report/check", "report/compare", "report/literal", "report/metrics", "report/picture"},
	"report/check":   {"load/record"},
	"report/compare": {"load/record", "report/check", "report/literal"},
	"report/literal": {},
	"report/metrics": {"load/record", "report/literal"},
	"report/otlp":    {"report/metrics"},
	"report/picture": {},
	// It opens files and knows nothing of what is in them; its tests do.
	"report/browsertest": {},
	// Readers of what the formats write, for tests.
	"report/strict": {},
	// Results for tests.
	"report/hostile": {"load/record"},
	"cmd/stormtest": {
		"load", "load/advise", "load/backoff", "load/plan", "load/record", "load/remote", "load/secret", "load/tip", "load/validate", "report", "report/check", "report/compare", "report/metrics", "report/otlp", "target", "target/station",
	},
}

// pure packages know no clock, goroutine, file, network or global random source. Their tests
// may.
var pure = []string{
	"load/backoff", "load/retry", "load/retry/breaker", "load/retry/budget", "load/pace", "load/seed", "load/record", "load/sim", "target/exact", "target/station", "report/compare",
}

// impure lists what a pure package must not name. net/http is allowed for ParseTime and status
// texts, but nothing else of it.
var impure = map[string][]string{
	"time":         {"Now", "Sleep", "After", "AfterFunc", "Since", "Until", "Tick", "NewTicker", "NewTimer"},
	"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint", "UintN", "Uint32", "Uint32N", "Uint64", "Uint64N", "N", "Float32", "Float64", "ExpFloat64", "NormFloat64", "Perm", "Shuffle"},
}

// forbidden are packages that a pure package must not import at all.
var forbidden = []string{"os", "net", "io/ioutil", "math/rand", "crypto/rand", "sync/atomic", "log", "runtime", "syscall"}

// homes says which package alone may import a third-party module.
var homes = map[string][]string{
	"github.com/spf13/cobra":                  {"cmd/stormtest"},
	"github.com/spf13/pflag":                  {"cmd/stormtest"},
	"github.com/HdrHistogram/hdrhistogram-go": {"load/record"},
	"github.com/goccy/go-yaml":                {"load/plan"},
	"github.com/rakyll/hey":                   {"load/probe"},
	"golang.org/x/term":                       {"cmd/stormtest"},
	"github.com/prometheus/client_golang":     {"report/metrics"},
	"github.com/prometheus/common":            {"report/metrics", "report/strict"}, // the text formats, which client_golang brings
	"github.com/go-logr/logr":                 {"report/otlp"},                     // what the SDK logs to
	"go.opentelemetry.io/otel":                {"report/otlp"},
	"google.golang.org/grpc":                  nil,
	"go.opentelemetry.io/proto/otlp":          nil, // tests read what was sent
	"google.golang.org/protobuf":              nil,
	"charm.land/bubbletea":                    {"cmd/stormtest"},
	"github.com/charmbracelet/x/vt":           nil, // tests look at a terminal
	"github.com/chromedp":                     {"report/browsertest"},
	"github.com/yuin/goldmark":                {"report/strict"},
	"golang.org/x/net":                        {"report/strict"},
	"golang.org/x/image":                      {"report/picture"},
	"github.com/santhosh-tekuri/jsonschema":   nil,                                                               // tests hold scenario files against their schema
	"pgregory.net/rapid":                      nil,                                                               // tests, everywhere
	"golang.org/x/sys":                        {"target/wake", "target/wire", "target", "load", "cmd/stormtest"}, // each its own system call
}

// A source is one Go file of this module.
type source struct {
	pkg  string // such as load/backoff
	name string
	test bool
	file *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			// scripts are modules and programs of their own; examples are what users write.
			if strings.HasPrefix(d.Name(), ".") && path != root || name == "scripts" || name == "examples" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		list = append(list, source{
			pkg: filepath.ToSlash(filepath.Dir(name)), name: name, test: strings.HasSuffix(name, "_test.go"), file: file,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("found %d Go files: the test does not see the module", len(list))
	}
	return list
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		allowed, known := imports[s.pkg]
		if !known {
			t.Errorf("%s: package %s has no row in this test", s.name, s.pkg)
			continue
		}
		if s.test {
			continue
		}
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			ours, ok := strings.CutPrefix(path, module+"/")
			if ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s; %s may import %v", s.name, ours, s.pkg, allowed)
			}
		}
	}
}

func TestThirdPartyImportsHaveOneHome(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
				continue
			}
			i := slices.IndexFunc(keys(homes), func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which has no home in this test", s.name, path)
				continue
			}
			if home := homes[keys(homes)[i]]; !s.test && !slices.Contains(home, s.pkg) {
				t.Errorf("%s imports %s, whose home is %v", s.name, path, home)
			}
		}
	}
}

func keys(m map[string][]string) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func TestPurePackagesKnowNoClock(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(pure, s.pkg) {
			continue
		}
		names := map[string]string{} // local name -> import path
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s", s.name, path)
			}
			local := path[strings.LastIndex(path, "/")+1:]
			if path == "math/rand/v2" {
				local = "rand"
			}
			if spec.Name != nil {
				local = spec.Name.Name
			}
			names[local] = path
		}
		for _, fault := range faults(s.file, names) {
			t.Errorf("%s: %s", s.name, fault)
		}
	}
}

// faults returns what a file does that a pure package must not.
func faults(file *ast.File, names map[string]string) []string {
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			list = append(list, "starts a goroutine")
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				list = append(list, "has an init")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impure[names[x.Name]], n.Sel.Name) {
				list = append(list, "uses "+x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return list
}

// The rules above are only as good as their eyes.
func TestTheRulesSee(t *testing.T) {
	text := `package p
import ("time"; "math/rand/v2")
func init() { go func() { time.Sleep(1); _ = rand.Float64(); _ = time.Now() }() }`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := faults(file, map[string]string{"time": "time", "rand": "math/rand/v2"})
	want := []string{"has an init", "starts a goroutine", "uses time.Sleep", "uses rand.Float64", "uses time.Now"}
	if !slices.Equal(got, want) {
		t.Errorf("faults = %q, want %q", got, want)
	}
}

func TestNoPackageHasAnInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init", s.name)
			}
		}
	}
}
