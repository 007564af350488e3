package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"stormtest/load/record"
)

// A Flag is one that stands beside a verdict, on both sides.
type Flag struct {
	Flag    string    `json:"flag"` // such as METASTABLE
	Base    FlagSeeds `json:"base"`
	Other   FlagSeeds `json:"other"`
	Finding Finding   `json:"finding"`
	P       *float64  `json:"p"`      // as that of a Figure
	Effect  string    `json:"effect"` // as that of a Figure; a flag is nothing good

	metric record.Metric
	// base and other are 1 for a seed with the flag, and 0 for one without.
	base, other []float64
}

// FlagSeeds says how many of the seeds of a side have a flag.
type FlagSeeds struct {
	Flagged int64 `json:"flagged"`
	Known   int64 `json:"known"` // with it or without: the others could not tell
	Seeds   int64 `json:"seeds"` // that ran
}

// flags returns the flags that some seed of a side has: nothing is worse news than METASTABLE, so it is the first.
func flags(base, other *record.Run) []Flag {
	list := []Flag{}
	for _, m := range record.Metrics() {
		if m.Unit != record.UnitWord || m.Name == metricVerdict {
			continue
		}
		f := Flag{Flag: strings.ToUpper(strings.ReplaceAll(m.Name, "_", "-")), Effect: Neutral, metric: m}
		f.Base, f.base = flagged(m, base)
		f.Other, f.other = flagged(m, other)
		if f.Base.Flagged == 0 && f.Other.Flagged == 0 {
			continue
		}
		if f.apart() == 0 {
			f.Finding = Equal
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b Flag) int { return cmp.Compare(flagPlace(a.Flag), flagPlace(b.Flag)) })
	return list
}

func flagPlace(flag string) int {
	if flag == record.FlagMetastable {
		return 0
	}
	return 1
}

// apart is above 0 where a larger share of the other's seeds has the flag, and below where a smaller one has.
func (f *Flag) apart() int {
	return cmp.Compare(f.Other.Flagged*f.Base.Seeds, f.Base.Flagged*f.Other.Seeds)
}

// flagged counts the seeds with a flag. The first of the words of such a metric is yes.
func flagged(m record.Metric, run *record.Run) (counts FlagSeeds, each []float64) {
	values := []*float64{m.Value(run)}
	if r := repeats(run); r != nil {
		values = r.Values(m)
		counts.Seeds = r.Count
		if values == nil { // from before they were kept: of the first seed alone
			counts.Seeds, values = 1, []*float64{m.Value(run)}
		}
	} else {
		counts.Seeds = 1
	}
	for _, v := range values {
		each = append(each, 0)
		if v = finite(v); v == nil {
			continue
		}
		counts.Known++
		if *v == 0 {
			counts.Flagged++
			each[len(each)-1] = 1
		}
	}
	return counts, each
}

// metricVerdict is the one word that is no flag.
const metricVerdict = "verdict"

// headlines are those of every seed. Which of the seeds without a convoy index was told which word is not kept, and
// no matter: they are taken in one order.
func headlines(run *record.Run) []record.Verdict {
	rep := repeats(run)
	m, _ := record.MetricNamed(metricVerdict)
	left := map[record.Verdict]int64{}
	for v, n := range rep.Verdicts {
		left[v] = n
	}
	list := make([]record.Verdict, rep.Count)
	for i, v := range rep.Values(m) {
		if place := orNaN(v); place >= 0 && int(place) < len(m.Words) && i < len(list) {
			list[i] = record.Verdict(m.Words[int(place)])
			left[list[i]]--
		}
	}
	words := verdictsOf(left, nil)
	for i := range list {
		if list[i] != "" {
			continue
		}
		for _, v := range words {
			if left[v] > 0 {
				list[i] = v
				left[v]--
				break
			}
		}
	}
	return list
}

// hasVerdict is 1 for a seed with the verdict, and 0 for one with another.
func hasVerdict(list []record.Verdict, v record.Verdict) []float64 {
	out := make([]float64, len(list))
	for i := range list {
		if list[i] == v {
			out[i] = 1
		}
	}
	return out
}

// presence is 1 for a seed that has a value, and 0 for one without.
func presence(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			out[i] = 1
		}
	}
	return out
}
