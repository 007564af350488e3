package check

import (
	"fmt"

	"stormtest/load/record"
)

// Evaluate holds every gate against every run it speaks of: one row for each pair, gates in
// the order given, within a gate runs in the order they ran. No gate stops the others.
//
// A figure without a value is never OK and its reason is "no data"; so is a gate whose runs do
// not exist. In a result of several runs each row's Gate begins with the run's strategy.
func Evaluate(gates []Gate, result *record.Result) []record.Gate {
	rows := make([]record.Gate, 0, len(gates)*len(result.Runs))
	for _, g := range gates {
		before := len(rows)
		for i := range result.Runs {
			run := &result.Runs[i]
			if g.Strategy == "" || g.Strategy == run.Strategy {
				rows = append(rows, g.evaluate(run, len(result.Runs) > 1))
			}
		}
		if len(rows) == before {
			rows = append(rows, record.Gate{Gate: g.Text, Reason: g.noRun()})
		}
	}
	return rows
}

// Passed reports whether every row is OK. It is true of no rows at all: nothing was asked.
func Passed(rows []record.Gate) bool {
	for _, row := range rows {
		if !row.OK {
			return false
		}
	}
	return true
}

func (g Gate) noRun() string {
	if g.Strategy == "" {
		return "no data: nothing ran"
	}
	return "no data: strategy " + g.Strategy + " did not run"
}

func (g Gate) evaluate(run *record.Run, several bool) record.Gate {
	m, ok := Lookup(g.Metric)
	if !ok {
		panic("check: BUG: gate on unknown metric " + g.Metric)
	}
	row := record.Gate{Gate: g.Text, Value: m.Value(run)}
	if several && g.Strategy == "" {
		row.Gate = run.Strategy + ": " + g.Text
	}
	if row.Value == nil {
		row.Reason = "no data"
		return row
	}
	row.OK = g.Op.Holds(*row.Value, g.Value)
	row.Reason = fmt.Sprintf("%s is %s", g.Metric, FormatValue(*row.Value, m))
	if !row.OK {
		row.Reason += fmt.Sprintf(", want %s %s", g.Op, FormatValue(g.Value, m))
	}
	return row
}
