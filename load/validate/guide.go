package validate

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/retry"
	"stormtest/load/sim"
)

// A guideRow is one strategy in the tables of the guides' model: attempts and completion in s, mean
// [5-95 %] over 400 runs of 100 and of 1,000 clients and 200 of 10,000; and p50 / p99 in s of when the
// 1,000 were served. Empty: not given.
type guideRow struct {
	variant    string
	attempts   [3]string
	completion [3]string
	quantiles  string
}

// guideSizes are the columns of the tables, with how many runs we take and how many the means are of.
func guideSizes() []struct{ clients, runs, published int } {
	return []struct{ clients, runs, published int }{{100, 400, 400}, {1000, 200, 400}, {10_000, 20, 200}}
}

// guideRows are the tables of the domain reference, 6.1, as they stand there.
func guideRows() []guideRow {
	return []guideRow{
		{
			"fixed-up 50ms", [3]string{"302 [293-310]", "7098 [6993-7191]", "250 448 [249 257-251 579]"},
			[3]string{"2.34 [1.6-3.3] sd 0.85", "139.8 [126-146] sd 10", "895.8 [887-907]"}, "6.4 / 116 sd 10",
		},
		{
			"fixed 50ms", [3]string{"261 [253-269]", "5218 [5165-5275]", "166 548 [165 798-167 284]"},
			[3]string{"1.16 [0.8-1.6] sd 0.4", "61.9 [46-66] sd 8.7", "547 [545-566]"}, "1.5 / 45 sd 3.4",
		},
		{
			"constant-full", [3]string{"248 [238-257]", "6968 [6894-7044]", "519 827 [519 051-520 462]"},
			[3]string{"0.43 [0.4-0.5]", "1.52 [1.45-1.60]", "10.7 [10.7-10.8]"}, "0.57 / 1.37",
		},
		{
			"exponent", [3]string{"352 [346-359]", "5249 [5218-5280]", "88 351 [88 185-88 519]"},
			[3]string{"1.14 [0.8-1.6]", "10.7 [7.0-18.0]", "55.3 [48-65]"}, "0.9 / 4.6 sd 0.43",
		},
		{
			"proportional 20%", [3]string{"302 [294-310]", "5085 [5056-5115]", "80 176 [80 066-80 278]"},
			[3]string{"1.62 [1.4-1.7] sd 0.33", "14.8 [13.4-24.1]", "90.0 [86-93]"}, "1.6 / 10.7 sd 2.1",
		},
		{
			"equal", [3]string{"289 [282-297]", "4840 [4813-4868]", "77 121 [77 031-77 221]"},
			[3]string{"1.14 [0.6-1.4]", "10.4 [9.0-11.5] sd 1.3", "61.1 [57-69]"}, "1.1 / 5.5",
		},
		{
			"full-clamp 50ms", [3]string{"307 [297-317]", "4845 [4816-4874]", "77 917 [77 811-78 016]"},
			[3]string{}, "",
		},
		{
			"full-floor 50ms", [3]string{"284 [277-291]", "4725 [4696-4754]", "77 394 [77 302-77 495]"},
			[3]string{"0.84 [0.6-1.2]", "8.1 [5.6-11.3]", "49.3 [45-55]"}, "0.75 / 4.4",
		},
		{
			"full", [3]string{"269 [261-277]", "4724 [4693-4753]", "77 701 [77 580-77 803]"},
			[3]string{"0.76 [0.5-1.2]", "8.3 [5.9-11.5] sd 2.0", "49.5 [45-55]"}, "0.67 / 4.4",
		},
		{
			"polly", [3]string{"257 [249-264]", "4537 [4514-4561]", "76 590 [76 525-76 652]"},
			[3]string{"0.65 [0.5-1.1]", "6.4 [4.5-9.0]", "61.2 [52-71]"}, "",
		},
		{
			"proportional 50%", [3]string{"257 [250-263]", "4148 [4122-4174]", "68 819 [68 743-68 898]"},
			[3]string{"0.95 [0.8-1.6]", "7.7 [6.7-8.5] sd 0.9", "62.5 [58-75]"}, "0.79 / 4.1 sd 0.4",
		},
		{
			"exponent-noisy", [3]string{"247 [240-254]", "3965 [3939-3991]", "67 003 [66 917-67 080]"},
			[3]string{"1.02 [0.7-1.6]", "7.8 [5.5-9.8]", "62.5 [55-72]"}, "0.77 / 4.4",
		},
		{
			"decorrelated, clamp", [3]string{"235 [229-242]", "3745 [3702-3785]", "80 296 [79 887-80 725]"},
			[3]string{"1.25 [0.9-2.0]", "6.5 [5.1-8.6]", "49.7 [43-59]"}, "0.82 / 3.9",
		},
		{
			"decorrelated, ceiling", [3]string{"235 [229-242]", "3745 [3702-3785]", "80 296 [79 887-80 725]"},
			[3]string{"1.25 [0.9-2.0]", "6.5 [5.1-8.6]", "43.6 [39-50]"}, "0.82 / 3.9",
		},
	}
}

// guideTables hold every strategy in the guides' model against the tables, and those that begin one
// exponent later.
func guideTables(c Config) []trial {
	var trials []trial
	for size := range guideSizes() {
		if size == 2 && !c.Full {
			break
		}
		for _, row := range guideRows() {
			trials = append(trials, row.trial(c, size))
		}
	}
	return append(trials, firstExponent(c)...)
}

// trial holds one row at one size.
func (row guideRow) trial(c Config, size int) trial {
	n := guideSizes()[size]
	p := lookup(row.variant).guide(n.clients, long)
	attempts := parseReference(row.attempts[size], n.published)
	return trial{
		runs: n.runs,
		cost: attempts.mean,
		run: func(ctx context.Context, i int) []float64 {
			served := make([]time.Duration, 0, n.clients)
			s := simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i), Trace: func(r retry.Row) {
				if r.Decision.Reason == retry.Succeeded {
					served = append(served, r.End)
				}
			}})
			return []float64{
				float64(s.Attempts), s.Completion.Seconds(),
				quantile(served, n.clients, 0.5), quantile(served, n.clients, 0.99),
			}
		},
		judge: func(figures [][]float64) []Check {
			name := row.variant + " N=" + strconv.Itoa(n.clients) + ": "
			list := []Check{attempts.check(Check{Name: name + "attempts"}, figures[0])}
			if text := row.completion[size]; text != "" {
				list = append(list, parseReference(text, n.published).check(Check{Name: name + "completion", Unit: "s"}, figures[1]))
			}
			if p50, p99, ok := strings.Cut(row.quantiles, " / "); ok && n.clients == 1000 {
				list = append(list,
					parseReference(p50, n.published).check(Check{Name: name + "served p50", Unit: "s"}, figures[2]),
					parseReference(p99, n.published).check(Check{Name: name + "served p99", Unit: "s"}, figures[3]))
			}
			return list
		},
	}
}

// firstExponent holds 1,000 clients whose first ceiling is twice the base.
func firstExponent(c Config) []trial {
	const runs, published = 200, 200
	var trials []trial
	for _, row := range []struct{ variant, attempts, completion string }{
		{"equal", "4134", "10.9 sd 1.4"},
		{"full", "3958", "8.7 sd 2.2"},
		{"proportional 20%", "4351", "15.1 sd 3.6"},
		{"proportional 50%", "3539", "8.1 sd 1.8"},
		{"decorrelated, ceiling", "3745", "6.5 sd 1.2"},
	} {
		p := lookup(row.variant).guide(1000, long)
		p.FirstExponent = 1
		trials = append(trials, trial{
			runs: runs,
			cost: 5_000,
			run: func(ctx context.Context, i int) []float64 {
				s := simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i)})
				return []float64{float64(s.Attempts), s.Completion.Seconds()}
			},
			judge: func(figures [][]float64) []Check {
				name := row.variant + ", first exponent 1, N=1000: "
				return []Check{
					parseReference(row.attempts, published).check(Check{Name: name + "attempts"}, figures[0]),
					parseReference(row.completion, published).check(Check{Name: name + "completion", Unit: "s"}, figures[1]),
				}
			},
		})
	}
	return trials
}

// quantile returns, in s, when share q of so many clients had been served, NaN where they were not. It
// sorts served.
func quantile(served []time.Duration, clients int, q float64) float64 {
	i := int(math.Ceil(q*float64(clients))) - 1
	if i >= len(served) {
		return math.NaN()
	}
	slices.Sort(served)
	return served[i].Seconds()
}
