// Package check holds what only Prometheus' own code can say of our metrics, their dashboard and their rules. It is a
// module of its own, so that the program does not depend on Prometheus' server.
package check

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/otlptranslator"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/parser"
)

const root = "../.."

// The exposition of every family, and what is asked of it.
var (
	goldens   = filepath.Join(root, "report", "metrics", "testdata")
	dashboard = filepath.Join(root, "examples", "grafana", "dashboard.json")
	rules     = filepath.Join(root, "examples", "grafana", "rules.yml")
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scraped returns every series as Prometheus would store it: by its name, the values of each label.
func scraped(t *testing.T, name, contentType string) map[string]map[string][]string {
	t.Helper()
	p, err := textparse.New(read(t, filepath.Join(goldens, name)), contentType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		p.Labels(&series)
		metric := series.Get(labels.MetricName)
		if all[metric] == nil {
			all[metric] = map[string][]string{}
		}
		series.Range(func(l labels.Label) { all[metric][l.Name] = append(all[metric][l.Name], l.Value) })
	}
}

// TestExpositions: Prometheus reads both formats, and finds the same series in them.
func TestExpositions(t *testing.T) {
	plain := scraped(t, "full.prom", "text/plain; version=0.0.4")
	open := scraped(t, "full.openmetrics", "application/openmetrics-text; version=1.0.0")
	if !slices.Equal(slices.Sorted(maps.Keys(plain)), slices.Sorted(maps.Keys(open))) || len(plain) < 60 {
		t.Errorf("%d names of series in one, %d in the other", len(plain), len(open))
	}
}

// TestOTLPNames: a receiver that makes Prometheus' names of OpenTelemetry's adds nothing to ours, so that the dashboard
// shows both. Units are sent as report/otlp does it: seconds where the name ends in them, and else none.
func TestOTLPNames(t *testing.T) {
	namer := otlptranslator.MetricNamer{WithMetricSuffixes: true}
	kinds := map[string]otlptranslator.MetricType{
		"gauge": otlptranslator.MetricTypeGauge, "counter": otlptranslator.MetricTypeMonotonicCounter,
		"histogram": otlptranslator.MetricTypeHistogram, "summary": otlptranslator.MetricTypeSummary,
	}
	types := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(string(read(t, filepath.Join(goldens, "full.prom"))), -1)
	if len(types) < 50 {
		t.Fatalf("%d families", len(types))
	}
	for _, m := range types {
		metric := otlptranslator.Metric{Name: m[1], Type: kinds[m[2]]}
		if strings.HasSuffix(m[1], "_seconds") {
			metric.Unit = "s"
		}
		if got, err := namer.Build(metric); err != nil || got != m[1] {
			t.Errorf("%s becomes %s, %v", m[1], got, err)
		}
	}
}

// variables are what Grafana puts into an expression before it asks.
var variables = strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$backoff_strategy", ".*")

// asked checks that an expression is one, and that everything it selects is there: the metric, and each label with, where
// the expression names them, a value that it has.
func asked(t *testing.T, where, expression string, series map[string]map[string][]string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(variables.Replace(expression))
	if err != nil {
		t.Errorf("%s: %s: %v", where, expression, err)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			have, known := series[n.Name]
			if !known {
				t.Errorf("%s: no metric %s", where, n.Name)
				return nil
			}
			for _, m := range n.LabelMatchers {
				if !slices.ContainsFunc(have[m.Name], m.Matches) {
					t.Errorf("%s: %s has no series with %v", where, n.Name, m)
				}
			}
		case *parser.AggregateExpr:
			labelled(t, where, n.Grouping, n.Expr, series)
		}
		return nil
	})
}

// labelled checks that what is grouped by labels has them.
func labelled(t *testing.T, where string, grouping []string, inside parser.Expr, series map[string]map[string][]string) {
	t.Helper()
	parser.Inspect(inside, func(node parser.Node, _ []parser.Node) error {
		if n, ok := node.(*parser.VectorSelector); ok {
			for _, label := range grouping {
				if _, there := series[n.Name][label]; !there {
					t.Errorf("%s: %s has no label %s", where, n.Name, label)
				}
			}
		}
		return nil
	})
}

// A board is what the test looks at of a dashboard.
type board struct {
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ Expr, LegendFormat, RefID string }
		FieldConfig              struct {
			Defaults struct {
				Unit string
			}
		}
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

// TestDashboard: every panel asks for what there is, says in words what it shows, and has a unit and a place of its own.
func TestDashboard(t *testing.T) {
	var b board
	if err := json.Unmarshal(read(t, dashboard), &b); err != nil {
		t.Fatal(err)
	}
	series := scraped(t, "full.prom", "text/plain; version=0.0.4")
	used, taken := map[string]bool{}, map[[2]int]string{}
	for _, p := range b.Panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%q and %q overlap", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || len(p.Description) < 20 || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d, %q: no title, description, unit or target", p.ID, p.Title)
		}
		for _, target := range p.Targets {
			asked(t, p.Title, target.Expr, series)
			legends(t, p.Title, target.Expr, target.LegendFormat)
			used[target.Expr] = true
		}
	}
	all := strings.Join(slices.Sorted(maps.Keys(used)), "\n")
	for _, name := range []string{"retry_delay_ms", "retry_attempt_number", "retry_total_elapsed_seconds", "retry_synchronisation_index", "convoy_index", "peak_over_capacity", `"$backoff_strategy"`} {
		if !strings.Contains(all, name) {
			t.Errorf("no panel shows %s", name)
		}
	}
	for _, v := range b.Templating.List {
		if v.Name == "backoff_strategy" {
			asked(t, "the variable", regexp.MustCompile(`label_values\((\w+), `).FindStringSubmatch(v.Definition)[1], series)
			return
		}
	}
	t.Error("no variable backoff_strategy")
}

// legends checks that a legend names only labels that stand in the expression's result.
func legends(t *testing.T, where, expression, legend string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		if strings.Contains(expression, " by (") && !strings.Contains(expression, m[1]) {
			t.Errorf("%s: the legend %q names a label that %s does not keep", where, legend, expression)
		}
	}
}

// TestRules: the alerts are valid, and ask for what there is.
func TestRules(t *testing.T) {
	groups, faults := rulefmt.Parse(read(t, rules), false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	series := scraped(t, "full.prom", "text/plain; version=0.0.4")
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			asked(t, r.Alert, r.Expr, series)
		}
	}
}
