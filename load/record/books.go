package record

import "fmt"

// An equation of the books: two counts of one thing, taken in different places.
type equation struct {
	left, right           string
	leftCount, rightCount int64
}

// check returns what is wrong with each equation that does not hold, in words.
func check(equations []equation) []string {
	var faults []string
	for _, e := range equations {
		if e.leftCount != e.rightCount {
			faults = append(faults, fmt.Sprintf("%s (%d) differ from %s (%d) by %d",
				e.left, e.leftCount, e.right, e.rightCount, e.leftCount-e.rightCount))
		}
	}
	return faults
}

// balance fills run.Books from the merged client side and the target's side. run must already hold its
// operations, attempts and buckets.
func balance(run *Run, clients *shard, s *site, names []string) {
	books := Books{
		AttemptsSent: clients.sent,
		Arrivals:     s.arrivals,
		Lost:         byName(clients.lost[:], names),
	}
	var bucketed, columns, unknown, dropped int64
	for i := range run.Buckets {
		b := &run.Buckets[i]
		bucketed += b.Arrivals
		unknown += b.Unknown
		dropped += b.Dropped
		for _, n := range b.ByAttempt {
			columns += n
		}
	}
	ops, tries := run.Operations, run.Attempts
	outcomes, gaveUp, lost := sumOf(tries.ByOutcome), sumOf(ops.GaveUp), sumOf(books.Lost)
	sides := []equation{
		{"operations started", "succeeded + gave up + unfinished", ops.Started, ops.Succeeded + gaveUp + ops.Unfinished},
		{"attempts sent", "first attempts + retries + hedges", clients.sent, clients.first + clients.retries + clients.hedges},
		{"attempts sent", "outcomes + in flight at the end", clients.sent, outcomes + tries.InFlightAtEnd},
		{"attempts sent", "arrivals + lost", clients.sent, s.arrivals + lost},
		{"attempts sent", "lateness samples", clients.sent, clients.lateness.count + clients.lateness.faults},
		{"operations ended", "elapsed samples", ops.Succeeded + gaveUp, clients.elapsed.count + clients.elapsed.faults},
	}
	if b := run.Budget; b != nil {
		sides = append(sides,
			equation{"budget taken", "returned + spent", b.Taken, b.Returned + b.Spent},
			equation{"budget spent", "retries + hedges", b.Spent, clients.retries + clients.hedges},
			equation{"budget deposits", "first attempts", b.Deposits, clients.first})
	}
	if run.Outside != nil {
		sides = run.Outside.equations(s.arrivals, unknown)
	}
	books.Faults = check(append(sides,
		equation{"arrivals", "the sum over the buckets", s.arrivals, bucketed},
		equation{"arrivals", "the sum over the attempt numbers", s.arrivals, columns + unknown},
		equation{"attempts dropped", "the sum over the buckets", s.dropped, dropped},
	))
	for _, f := range []struct {
		n    int64
		what string
	}{
		{s.early, "moments before the start, counted at the start"},
		{s.late, "moments long after the end, counted at the last one possible"},
		{s.cells.saturated, "arrivals beyond what one cell can count"},
	} {
		if f.n != 0 {
			books.Faults = append(books.Faults, fmt.Sprintf("%d %s", f.n, f.what))
		}
	}
	books.Balanced = len(books.Faults) == 0
	run.Books = books
}

// byName returns the counters that are not 0 by their name, those without one as "other".
func byName(counters []int64, names []string) map[string]int64 {
	m := map[string]int64{}
	for i, n := range counters {
		if n != 0 {
			m[indexedName(names, i)] += n
		}
	}
	return m
}

func sumOf(m map[string]int64) int64 {
	var sum int64
	for _, n := range m {
		sum += n
	}
	return sum
}
