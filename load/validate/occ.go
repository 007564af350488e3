package validate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"stormtest/load/plan"
	"stormtest/load/sim"
)

// An occRow is one fleet of writers of one versioned row: writes, and completion in s.
type occRow struct {
	clients            int
	variant            string
	slow               bool // base 100 ms and cap 20 s in place of 5 ms and 2 s
	writes, completion string
	runs, published    int
	single             bool // the original program's own output, of one run
}

// occRows are the tables of the domain reference, 6.3: an independent implementation's means, and one run of
// the original program.
func occRows() []occRow {
	const n, other = 100, 200
	rows := []occRow{
		{100, "none", false, "1849 [1768-1944]", "63.2 [58-70]", n, other, false},
		{100, "decorrelated, clamp", false, "1003 [957-1051]", "4.54 [3.6-6.0]", n, other, false},
		{100, "equal", false, "812 [798-825]", "6.63 [5.7-7.7]", n, other, false},
		{100, "full", false, "796 [786-808]", "4.98 [4.1-6.0]", n, other, false},
		{100, "immediate", false, "2422 [2374-2474]", "2.03 [2.0-2.1]", n, other, false},
		{100, "fixed 50ms", false, "802 [780-825]", "14.4 [13-17]", n, other, false},
		{100, "proportional 20%", false, "839", "9.3", n, other, false},
		{100, "proportional 50%", false, "733", "6.5", n, other, false},
		{100, "exponent", false, "915", "5.0", n, other, false},
		{100, "exponent-noisy", false, "708", "6.0", n, other, false},
		{190, "none", false, "5158", "100.6", n, other, false},
		{190, "decorrelated, clamp", false, "2437", "7.9", n, other, false},
		{190, "equal", false, "1761", "9.4", n, other, false},
		{190, "full", false, "1771", "7.4", n, other, false},
		{1000, "none", false, "74 674 sd 790", "309 sd 5.8", 5, 10, false},
		{1000, "decorrelated, clamp", false, "23 433 sd 320", "26.4 sd 1.0", 10, 10, false},
		{1000, "equal", false, "14 737 sd 43", "27.3 sd 0.7", 10, 10, false},
		{1000, "full", false, "17 061 sd 55", "24.4 sd 0.5", 10, 10, false},
		{1000, "none", true, "74 662 sd 790", "3024 sd 57", 5, 10, false},
		{1000, "decorrelated, clamp", true, "9692 sd 100", "63.5 sd 6.0", 10, 10, false},
		{1000, "equal", true, "7624 sd 21", "73.5 sd 4.6", 10, 10, false},
		{1000, "full", true, "7665 sd 22", "59.0 sd 3.5", 10, 10, false},
	}
	for _, fleet := range []struct {
		clients int
		figures [5][2]string // writes, completion
	}{
		{10, [5][2]string{{"50", "3.419"}, {"38", "0.440"}, {"42", "0.740"}, {"39", "0.464"}, {"51", "0.379"}}},
		{50, [5][2]string{{"623", "35.992"}, {"375", "2.211"}, {"346", "4.239"}, {"333", "2.893"}, {"689", "1.134"}}},
		{100, [5][2]string{{"1853", "63.493"}, {"1003", "4.537"}, {"811", "6.535"}, {"796", "4.940"}, {"2419", "2.024"}}},
		{150, [5][2]string{{"3548", "86.015"}, {"1756", "6.543"}, {"1324", "8.313"}, {"1318", "6.378"}, {"5129", "2.872"}}},
		{190, [5][2]string{{"5154", "101.499"}, {"2424", "7.943"}, {"1760", "9.406"}, {"1771", "7.511"}, {"8002", "3.536"}}},
	} {
		for i, name := range []string{"none", "decorrelated, clamp", "equal", "full", "immediate"} {
			f := fleet.figures[i]
			rows = append(rows, occRow{fleet.clients, name, false, f[0], f[1], 40, 1, true})
		}
	}
	return rows
}

// occ holds writers under optimistic concurrency control, who send four messages of |Normal(10, 2)| ms an
// attempt and whose first backoff is of exponent 1, against the AWS architecture blog's simulator.
func occ(c Config) []trial {
	var trials []trial
	for _, row := range occRows() {
		p := row.plan()
		trials = append(trials, trial{
			runs: row.runs,
			cost: 4 * parseReference(row.writes, row.published).mean,
			run: func(ctx context.Context, i int) []float64 {
				s := simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i)})
				return []float64{float64(s.Attempts), s.Completion.Seconds()}
			},
			judge: row.checks,
		})
	}
	return trials
}

func (row occRow) plan() *plan.Plan {
	p := lookup(row.variant).guide(row.clients, long)
	p.Model = plan.ModelOCC
	p.Latency = plan.Law{Mean: 10 * time.Millisecond, SD: 2 * time.Millisecond}
	p.FirstExponent = 1
	if !row.slow {
		p.Base, p.Cap = 5*time.Millisecond, 2*time.Second
	}
	return p
}

func (row occRow) checks(figures [][]float64) []Check {
	name := row.variant + " N=" + strconv.Itoa(row.clients)
	if row.slow {
		name += ", base 100ms"
	}
	if row.single {
		name = fmt.Sprintf("original, %s N=%d", row.variant, row.clients)
	}
	return []Check{
		parseReference(row.writes, row.published).check(Check{Name: name + ": writes"}, figures[0]),
		parseReference(row.completion, row.published).check(Check{Name: name + ": completion", Unit: "s"}, figures[1]),
	}
}
