package validate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/sim"
	"stormtest/target/station"
)

// A hintRow is one spread of a Retry-After of 5 s: attempts, completion in s, peak over capacity and convoy
// index.
type hintRow struct {
	spread                             time.Duration
	attempts, completion, peak, convoy string
}

// hintRows are the table of the domain reference, 3.12.
func hintRows() []hintRow {
	const ms = time.Millisecond
	return []hintRow{
		{0, "501 500", "5000", "10.0", "1.00"},
		{50 * ms, "7107", "68.9 sd 2.5", "10.0", "1.00"},
		{100 * ms, "5220", "49.7 sd 2.2", "10.0", "0.91"},
		{500 * ms, "3055", "26.9 sd 1.1", "2.16", "0.25"},
		{1000 * ms, "2628", "23.0 sd 1.1", "1.15", "0.09"},
		{2500 * ms, "2305", "21.1 sd 1.5", "0.53", "0.02"},
		{5000 * ms, "2170", "24.5 sd 2.0", "0.31", "0.01"},
	}
}

// hintWindow is the window of the index. The reference names none; with the first 30 s all of its seven rows
// come out, and over the whole run the index is 0.994 and 0.901 at 50 and 100 ms.
const hintWindow = 30 * time.Second

const hintNote = "all clients fail at t0 before the first wave, and the peak is of retries; the index is that of the first 30 s, a window that the table does not name (of the whole run it is 0.994 and 0.901 with U[0, 50ms) and U[0, 100ms))"

// retryAfter holds 1,000 clients that honour a Retry-After of 5 s on every rejection, spread by U[0, J).
func retryAfter(c Config) []trial {
	var trials []trial
	for _, row := range hintRows() {
		runs := 100
		if row.spread == 0 {
			runs = 1 // no chance in it
		}
		p := lookup("full").guide(1000, long)
		p.SendRetryAfter, p.RetryAfterJitter = 5*time.Second, row.spread
		p.Outages = []station.Outage{{To: 1}} // everybody fails at t0
		trials = append(trials, trial{
			runs: runs,
			cost: parseReference(row.attempts, 1).mean,
			run: func(ctx context.Context, i int) []float64 {
				var times []time.Duration
				s := simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i), Trace: func(r retry.Row) {
					if r.Attempt > 0 {
						times = append(times, r.Due)
					}
				}})
				slices.Sort(times)
				index, _ := record.ConvoyIndexExact(times, 0, hintWindow)
				return []float64{float64(s.Attempts), s.Completion.Seconds(), peakOf(times, 100*time.Millisecond) / 100, index}
			},
			judge: row.checks,
		})
	}
	return trials
}

func (row hintRow) checks(figures [][]float64) []Check {
	const published = 200
	prefix := fmt.Sprintf("Retry-After 5s + U[0, %s): ", record.Short(row.spread))
	if row.spread == 0 {
		prefix = "Retry-After 5s exactly: "
	}
	list := []Check{
		parseReference(row.attempts, published).check(Check{Name: prefix + "attempts"}, figures[0]),
		parseReference(row.completion, published).check(Check{Name: prefix + "completion", Unit: "s"}, figures[1]),
		parseReference(row.peak, published).check(Check{Name: prefix + "peak/capacity"}, figures[2]),
		parseReference(row.convoy, published).check(Check{Name: prefix + "convoy index"}, figures[3]),
	}
	if row.spread == 0 {
		for i := range list {
			list[i].About = hintNote
		}
	}
	return list
}

// peakOf returns the fullest bucket since t0 of times in ascending order.
func peakOf(times []time.Duration, width time.Duration) float64 {
	peak, count, bucket := 0, 0, time.Duration(-1)
	for _, at := range times {
		if b := at / width; b != bucket {
			bucket, count = b, 0
		}
		count++
		peak = max(peak, count)
	}
	return float64(peak)
}
