package report

import (
	"math"
	"slices"

	"stormtest/load/record"
)

// severalSeeds says that a run stands for several seeds, whose means and majorities count.
func severalSeeds(run *record.Run) bool { return run.Repeats != nil && run.Repeats.Count > 1 }

// figureOf is a figure's mean over the seeds, where there are several and all have it, or that of the one run.
func figureOf(run *record.Run, metric string) *float64 {
	if s := run.Repeats; severalSeeds(run) {
		if spread := s.Figures[metric]; spread.Count == s.Count {
			return spread.Mean
		}
		return nil
	}
	m, _ := record.MetricNamed(metric)
	return m.Value(run)
}

// meanOr0 is figureOf, or 0 where there is none.
func meanOr0(run *record.Run, metric string) float64 {
	if v := figureOf(run, metric); finite(v) {
		return *v
	}
	return 0
}

// done is how much got done: of one seed the operations, of several the share.
func done(run *record.Run) float64 {
	if severalSeeds(run) {
		return meanOr0(run, "success_share")
	}
	return float64(run.Operations.Succeeded)
}

// onAverage stands behind a figure of several seeds.
func onAverage(run *record.Run) string {
	if severalSeeds(run) {
		return " on average of " + plural(run.Repeats.Count, "seed")
	}
	return ""
}

// A fault speaks against a strategy. of counts the seeds that have it, of a run of several,
// where that is known.
type fault struct {
	name  string
	first func(*record.Run) bool
	of    func(*record.Run) (n int64, known bool)
}

// count says how many seeds have the fault, and how many there are.
func (f fault) count(run *record.Run) (n, all int64) {
	if severalSeeds(run) {
		if n, known := f.of(run); known {
			return n, run.Repeats.Count
		}
	}
	if f.first(run) {
		return 1, 1
	}
	return 0, 1
}

// most says that the run, or more than half of its seeds, has the fault.
func (f fault) most(run *record.Run) bool {
	n, all := f.count(run)
	return 2*n > all
}

// seeds says behind the fault's name in how many of the seeds it is; empty where that is in all.
func (f fault) seeds(run *record.Run) string {
	n, all := f.count(run)
	if n == all {
		return ""
	}
	return " in" + string(nbsp) + count(n) + " of " + plural(all, "seed")
}

var metastable = fault{
	name:  record.FlagMetastable,
	first: func(run *record.Run) bool { return slices.Contains(run.Convoy.Flags, record.FlagMetastable) },
	of: func(run *record.Run) (n int64, known bool) {
		m, _ := record.MetricNamed("metastable")
		values := run.Repeats.Values(m)
		yes := float64(slices.Index(m.Words, "yes"))
		for _, v := range values {
			if v != nil && *v == yes {
				n++
			}
		}
		return n, values != nil
	},
}

var notRecovered = fault{
	name:  "the target did not recover",
	first: neverRecovered,
	of: func(run *record.Run) (n int64, known bool) {
		before, known := run.Repeats.Figures["goodput_before"]
		if run.Recovery.Watched < recoveryWatched {
			return 0, known // the outage ends with the run, whatever the seed
		}
		return before.Count - run.Repeats.Figures["recovered_after"].Count, known
	},
}

// verdictFault is the verdict as a fault.
func verdictFault(v record.Verdict) fault {
	return fault{
		name:  string(v),
		first: func(run *record.Run) bool { return run.Convoy.Verdict == v },
		of: func(run *record.Run) (n int64, known bool) {
			return run.Repeats.Verdicts[v], len(run.Repeats.Verdicts) > 0
		},
	}
}

// commonVerdict is the headline of the run, or the one that most of its seeds have.
func commonVerdict(run *record.Run) record.Verdict {
	if severalSeeds(run) {
		if list := verdictsByCount(run.Repeats); len(list) > 0 {
			return list[0]
		}
	}
	return run.Headline()
}

// Chance is told from five seeds on: with fewer a standard error says next to nothing.
const (
	chanceSeeds  = 5
	chanceErrors = 3
)

// byChance says that the means of a figure differ by no more than three standard errors of their difference.
func byChance(a, b *record.Run, metric string) bool {
	meanA, errorA, okA := meanAndError(a, metric)
	meanB, errorB, okB := meanAndError(b, metric)
	return okA && okB && math.Abs(meanA-meanB) <= chanceErrors*math.Sqrt(errorA+errorB)
}

// meanAndError is a figure's mean over the seeds and the variance of that mean; false where too few seeds have the figure.
func meanAndError(run *record.Run, metric string) (mean, variance float64, ok bool) {
	if !severalSeeds(run) {
		return 0, 0, false
	}
	spread := run.Repeats.Figures[metric]
	n := float64(len(spread.Values))
	if n < chanceSeeds || spread.Count != int64(len(spread.Values)) || !finite(spread.Mean) {
		return 0, 0, false
	}
	mean = *spread.Mean
	for _, v := range spread.Values {
		if v == nil {
			return 0, 0, false
		}
		variance += (*v - mean) * (*v - mean)
	}
	return mean, variance / (n - 1) / n, true
}
