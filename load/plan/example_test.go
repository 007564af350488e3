package plan_test

import (
	"fmt"

	"stormtest/load/plan"
)

// A scenario file, overruled by the environment, overruled by a flag. The error names the
// place of every fault.
func ExampleResolve() {
	p, sources, err := plan.Resolve(plan.Input{
		Flags:    []plan.Setting{{Name: "clients", Text: "500"}},
		Env:      []string{"STORMTEST_OUTAGE=2s..4s; 10s..12s=slow:3"},
		FileName: "storm.yaml",
		File:     []byte("clients: 100\nstrategy: all\n"),
	})
	fmt.Println(p.Clients, p.Strategies, p.Outages, err)
	fmt.Println(sources["clients"], sources["strategy"])

	_, _, err = plan.Resolve(plan.Input{
		Flags:    []plan.Setting{{Name: "max-retries", Text: "-1"}},
		FileName: "storm.yaml",
		File:     []byte("base: 10\ncap: 1s\nclinets: 100\n"),
	})
	fmt.Println(err)

	// Output:
	// 500 [none equal full decorrelated] [2s..4s=status 10s..12s=slow:3] <nil>
	// --clients storm.yaml:2: strategy
	// storm.yaml:1: base: "10": want a duration with a unit, such as 10s or 10ms
	// storm.yaml:3: clinets: no such field; did you mean clients?
	// --max-retries: "-1": want 0..1000000 or unlimited
}
