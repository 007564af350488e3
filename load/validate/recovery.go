package validate

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/retry"
	"stormtest/load/sim"
	"stormtest/target/station"
)

// A recoveryRow is one strategy in the table of recoveries: 1,000 clients fail together at t0 and go on
// failing until the outage ends, from where time counts. Empty: not given.
type recoveryRow struct {
	variant string
	short   [5]string // of 10 s: retries a client during it, peak over capacity after it, t50, t99, t100 in s
	long    [5]string // of 60 s
	runs    [2]int    // 0: the usual number; 1 for what has no chance in it
}

// recoveryRows are the table of the domain reference, 4.3.
func recoveryRows() []recoveryRow {
	return []recoveryRow{
		{"none", [5]string{"6.0", "10.0"}, [5]string{"9.0"}, [2]int{1, 1}},
		{
			"fixed-up 50ms", [5]string{"6.0", "7.2", "55.8", "177.9 sd 6.6", "202 [196-216] sd 9.5"},
			[5]string{"9.0", "", "", "180.7 sd 8.6", "203 sd 9.6"}, [2]int{},
		},
		{
			"fixed 50ms", [5]string{"6.0", "4.2", "35.4", "115.5", "135 [116-136] sd 7.8"},
			[5]string{"9.0", "", "", "115.5 sd 9.9", "134 sd 9.8"}, [2]int{},
		},
		{
			"equal", [5]string{"6.65", "0.36", "7.5", "27.1 sd 0.7", "32.8 [29-42] sd 4.2"},
			[5]string{"10.2", "", "", "26.6 sd 1.2", "34.4 sd 3.0"}, [2]int{},
		},
		{
			"full", [5]string{"7.29", "0.19", "5.5", "22.0 sd 1.1", "30.3 [26-36]"},
			[5]string{"12.4", "", "", "22.5 sd 1.4", "31.7 sd 2.5"}, [2]int{},
		},
		{
			"decorrelated, clamp", [5]string{"9.42", "0.45", "2.5", "17.2 sd 1.3", "27.8 [23-32]"},
			[5]string{"18.3", "", "", "29.2 sd 2.1", "40.8 sd 4.8"}, [2]int{},
		},
		{
			"decorrelated, ceiling", [5]string{"9.42", "0.45", "2.5", "16.8 sd 1.2", "25.3 [22-29]"},
			[5]string{"19.9", "", "", "20.9 sd 1.3", "30.2 sd 2.7"}, [2]int{},
		},
		{
			"proportional 20%", [5]string{"6.0", "0.50", "3.1", "22.2 sd 6.2", "39.2 [37-41] sd 3.1"},
			[5]string{"9.1", "", "", "29.6 sd 0.8", "40.7 sd 5.2"}, [2]int{},
		},
		{
			"proportional 50%", [5]string{"6.1", "0.24", "3.9", "21.8 sd 0.7", "39.0 [28-48]"},
			[5]string{"9.3", "", "", "34.9 sd 2.0", "47.9 sd 4.1"}, [2]int{},
		},
		{
			"full, cap fixed", [5]string{"7.25", "0.17", "6.8", "37.3 sd 3.0", "48.5 [40-60] sd 8.4"},
			[5]string{"10.0", "", "", "36.4 sd 0.8", "53.2 sd 7.2"}, [2]int{},
		},
		{
			"equal, cap fixed", [5]string{"6.65", "0.36", "7.5", "30.7 sd 1.2", "50.4 [46-68] sd 7.9"},
			[5]string{"9.6", "", "", "40.4 sd 3.0", "63.4 sd 9.2"}, [2]int{},
		},
		{"full, cap clamp", [5]string{}, [5]string{"", "", "", "35.3 sd 1.5", ""}, [2]int{}},
		{
			"constant", [5]string{"99", "10.0", "49.9", "98.9", "99.9"},
			[5]string{"599", "", "", "98.9", "99.9"}, [2]int{1, 1},
		},
		{
			"constant-full", [5]string{"99.7", "9.7", "0.57", "1.36", "1.5 sd 0.05"},
			[5]string{"600", "", "", "1.36", "1.5 sd 0.05"}, [2]int{20, 4},
		},
	}
}

// recoveryWatch is how long the fleet is watched after the outage.
const recoveryWatch = 300 * time.Second

// recovery holds the table's rows.
func recovery(c Config) []trial {
	var trials []trial
	for _, row := range recoveryRows() {
		for i, outage := range []time.Duration{10 * time.Second, 60 * time.Second} {
			columns := [2][5]string{row.short, row.long}[i]
			if columns == [5]string{} {
				continue
			}
			runs := row.runs[i]
			if runs == 0 {
				runs = 40
				if c.Full {
					runs = 200
				}
			}
			trials = append(trials, c.recoveryTrial(row.variant, outage, columns, runs))
		}
	}
	return trials
}

func (c Config) recoveryTrial(name string, outage time.Duration, columns [5]string, runs int) trial {
	const clients, published = 1000, 200
	p := lookup(name).guide(clients, outage+recoveryWatch)
	p.Outages = []station.Outage{{To: outage}}
	return trial{
		runs: runs,
		cost: recoveryCost(name, outage),
		run: func(ctx context.Context, i int) []float64 {
			w := watch{outage: outage, buckets: make([]int64, p.Duration/p.Bucket)}
			simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i), Trace: w.row})
			return []float64{
				// The first attempt, which fails at t0, is none of the reference's "calls during".
				float64(w.during)/clients - 1,
				float64(slices.Max(w.buckets)) / (p.CapacityPerSecond * p.Bucket.Seconds()),
				quantile(w.served, clients, 0.5), quantile(w.served, clients, 0.99), quantile(w.served, clients, 1),
				float64(clients - len(w.served)),
			}
		},
		judge: func(figures [][]float64) []Check {
			prefix := name + ", outage " + strconv.Itoa(int(outage.Seconds())) + "s: "
			var list []Check
			for k, what := range []Check{
				{Name: "retries a client in it"}, {Name: "peak/capacity after"},
				{Name: "t50", Unit: "s"}, {Name: "t99", Unit: "s"}, {Name: "t100", Unit: "s"},
			} {
				if columns[k] != "" {
					what.Name = prefix + what.Name
					list = append(list, parseReference(columns[k], published).check(what, figures[k]))
				}
			}
			if name == "none" {
				list = append(list, unserved(prefix, outage, figures[5][0]))
			}
			return list
		},
	}
}

// recoveryCost is that of one run of a trial.
func recoveryCost(name string, outage time.Duration) float64 {
	if strings.HasPrefix(name, "constant") {
		return 10_000 * outage.Seconds()
	}
	return 20_000
}

// unserved holds how much of a fleet without jitter is left after 300 s.
func unserved(prefix string, outage time.Duration, got float64) Check {
	c := Check{Name: prefix + "unserved at 300 s"}.exact(984)
	if outage > 10*time.Second {
		c = c.exact(985).noted("not printed for this outage: of the waves at 65.5 s, 85.5 s, ... 345.5 s each serves one")
	}
	return c.judged(got)
}

// A watch keeps what a fleet does during an outage that begins at t0, and after it.
type watch struct {
	outage  time.Duration
	during  int64           // attempts
	buckets []int64         // attempts after it, by the moment they arrive since t0, in 100 ms
	served  []time.Duration // since the end of the outage
}

func (w *watch) row(r retry.Row) {
	if r.Due < w.outage {
		w.during++
		return
	}
	w.buckets[int(r.Due/(100*time.Millisecond))]++
	if r.Decision.Reason == retry.Succeeded {
		w.served = append(w.served, r.End-w.outage)
	}
}
