package load_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exactly lists the packages that make a result, or what a result is made of: with one plan and
// one seed they must come to the same bits on every machine. See package exact. The real engines are
// not among them, as no two of their runs are alike; nor is the report, which only shows.
func exactly() []string { return append(slices.Clone(pure), "load/plan") }

// exactMath are the functions of package math that IEEE 754 or their definition leaves no freedom.
// All others have package exact in their place, or none.
var exactMath = []string{
	"Abs", "Ceil", "Copysign", "Float64bits", "Float64frombits", "Floor", "Frexp", "Inf", "IsInf", "IsNaN",
	"Ldexp", "Mod", "Modf", "NaN", "Nextafter", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc",
}

// inexact lists what else is computed with logarithms or with products inside a sum.
var inexact = map[string][]string{
	"math/rand/v2": {"ExpFloat64", "NormFloat64", "NewZipf"},
	"github.com/HdrHistogram/hdrhistogram-go": {
		"Mean", "StdDev", "ValueAtQuantile", "ValueAtPercentiles", "CumulativeDistribution",
		"CumulativeDistributionWithTicks", "PercentilesPrint",
	},
}

// A product of floats that something is added to may be rounded once, with the sum, or
// twice, as the machine has it; and the compiler finds the sum across statements and inlined
// functions. So each is rounded where it is made, by a conversion, unless what becomes of it
// there is no sum.
func TestFloatsAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	exports := exportData(t)
	all := sources(t)
	for _, pkg := range exactly() {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, s := range all {
			if s.pkg != pkg || s.test {
				continue
			}
			file, err := parser.ParseFile(fset, filepath.Join(root, s.name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		for _, fault := range inexactIn(t, fset, files, exports) {
			t.Error(fault)
		}
	}
}

// exportData returns where the compiler left what each package that ours import exports.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, pkg := range exactly() {
		args = append(args, "./"+pkg)
	}
	list := exec.Command("go", args...)
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	return exports
}

// inexactIn returns what the files of one package do that machines do differently.
func inexactIn(t *testing.T, fset *token.FileSet, files []*ast.File, exports map[string]string) []string {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", open),
		Error:    func(error) {}, // such as files of other machines side by side
	}
	_, _ = config.Check("p", fset, files, info)
	var list []string
	fault := func(at ast.Node, format string, args ...any) {
		list = append(list, fset.Position(at.Pos()).String()+": "+fmt.Sprintf(format, args...))
	}
	for _, file := range files {
		var above []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil:
				above = above[:len(above)-1]
				return true
			case *ast.BinaryExpr:
				if n.Op == token.MUL && isVariableFloat(info, n) && !isRounded(info, above) {
					fault(n, "%s is not rounded, want float64(...) around it", types.ExprString(n))
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && isVariableFloat(info, n.Lhs[0]) {
					fault(n, "%s *= is not rounded, want = float64(...)", types.ExprString(n.Lhs[0]))
				}
			case *ast.Ident:
				if f, ok := info.Uses[n].(*types.Func); ok && isInexact(f) {
					fault(n, "%s differs from machine to machine, see package exact", f.FullName())
				}
			}
			above = append(above, n)
			return true
		})
	}
	return list
}

// isVariableFloat reports whether e is a float that the compiler does not know. One whose type is not known
// counts as one.
func isVariableFloat(info *types.Info, e ast.Expr) bool {
	known, ok := info.Types[e]
	if !ok || known.Type == nil {
		return true
	}
	basic, ok := known.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0 && known.Value == nil
}

// isRounded reports whether what stands around a product is no sum and hands it to none: a conversion, a
// factor, a quotient, a comparison, or a function of package math.
func isRounded(info *types.Info, above []ast.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.BinaryExpr:
			return n.Op != token.ADD && n.Op != token.SUB
		case *ast.CallExpr:
			if info.Types[n.Fun].IsType() {
				return true
			}
			called, ok := n.Fun.(*ast.SelectorExpr)
			return ok && info.Uses[called.Sel] != nil && info.Uses[called.Sel].Pkg() != nil && info.Uses[called.Sel].Pkg().Path() == "math"
		}
		return false
	}
	return false
}

func isInexact(f *types.Func) bool {
	if f.Pkg() == nil {
		return false
	}
	if f.Pkg().Path() == "math" {
		return !slices.Contains(exactMath, f.Name())
	}
	return slices.Contains(inexact[f.Pkg().Path()], f.Name())
}

// The rule is only as good as its eyes.
func TestTheRuleOfFloatsSees(t *testing.T) {
	text := `package p
import ("math"; "math/rand/v2"; "time")
const two = 2.0
func f(a, b, c float64, n int, r *rand.Rand) (float64, float64) {
	_ = a*b + c               // 5
	c -= (a * b)              // 6
	d := a * b                // 7
	a *= b                    // 8
	_ = a - math.Log(b)       // 9
	_ = r.NormFloat64()       // 10
	_ = g(a * b)              // 11
	_ = -(a * b) + c          // 12
	_ = float64(n) * time.Second.Seconds() // 13
	_ = float64(a*b) + c - math.Round(a*b) + math.Sqrt(two*b)
	_, _ = a*b/c + 1, n*n + 1
	_, _ = a*b > c, two*two + c
	n *= 2
	return d, a * b           // 18
}
func g(x float64) float64 { return x }`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fault := range inexactIn(t, fset, []*ast.File{file}, exportData(t)) {
		_, line, _ := strings.Cut(fault, ":")
		line, _, _ = strings.Cut(line, ":")
		got = append(got, line)
	}
	want := []string{"5", "6", "7", "8", "9", "10", "11", "12", "13", "18"}
	if !slices.Equal(got, want) {
		t.Errorf("lines with faults = %v, want %v", got, want)
	}
}
