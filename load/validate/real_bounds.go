package validate

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// zSeeds is Student's quantile at 1e-6 with the degrees of freedom of realSeeds, 5.8, rounded up.
const zSeeds = 6

// The share of what the network changes by which a run may differ beside chance: its law is measured from the
// mean and the tail alone, while real messages are late together. Without jitter a wave is a tie, which the
// network alone breaks, so that all of the change is its doing.
const (
	explainedShare    = 0.5
	explainedShareTie = 1
)

// A prediction is what seeds in virtual time have, figure by figure: on a network without delay, and on one as
// the real run had it.
type prediction struct {
	ideal, behind [][]float64
	law           plan.Law // of a message
	lag           float64  // of an attempt, in s: two messages on average
	tail          float64  // p99 of an attempt, in s, without what it has on an ideal network
}

// behind runs the seeds on a network like the run's; false where ctx ended first.
func (f realPlan) behind(ctx context.Context, run *record.Run, ideal [][]float64) (prediction, bool) {
	p := prediction{ideal: ideal, behind: ideal}
	got := figuresOf(run)
	p.law, p.lag = lawOf(got, ideal)
	p.tail = max(0, got[figureTail]-meanOf(ideal[figureTail]))
	if p.law == (plan.Law{}) {
		return p, true
	}
	f.plan.Latency = p.law
	figures := pool{workers: runtime.GOMAXPROCS(0), done: func(float64) {}}.run(ctx, []trial{{runs: realSeeds, run: f.virtual}})[0]
	p.behind = transposed(figures)
	return p, figures != nil
}

// lawOf returns the law of a message by which an attempt takes as long as in the run, on average and, as far as
// a normal distribution's size can, at p99; and how much longer that is than without a network, in s. Where an
// attempt waits for what its sender or its reader is busy with, that is in it.
func lawOf(got []float64, ideal [][]float64) (plan.Law, float64) {
	lag := got[figureLatency] - meanOf(ideal[figureLatency])
	if !(lag > 0) { // or unknown
		return plan.Law{}, 0
	}
	const p99 = 2.326
	tail := max(0, got[figureTail]-meanOf(ideal[figureTail])-lag)
	mean, sd := lag/2, tail/p99/math.Sqrt2
	if halfNormal := math.Sqrt(2 / math.Pi); sd*halfNormal > mean { // the widest that has this mean
		mean, sd = 0, mean/halfNormal
	} else {
		mean = foldedMean(mean, sd)
	}
	return plan.Law{Mean: seconds(mean), SD: seconds(sd)}, lag
}

// foldedMean returns the m for which |Normal(m, sd)| has the mean; sd*sqrt(2/pi) is at most the mean.
func foldedMean(mean, sd float64) float64 {
	if sd == 0 {
		return mean
	}
	low, high := 0.0, mean
	for range 50 {
		m := (low + high) / 2
		folded := sd*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*sd*sd)) + m*math.Erf(m/(sd*math.Sqrt2))
		if folded < mean {
			low = m
		} else {
			high = m
		}
	}
	return high
}

// reach returns what passes of figure k: the mean behind the network, give or take zSeeds deviations of one
// seed and a share of what the network changes, within what the figure can be at all.
//
// Without jitter the clients of a wave keep their order, so that a wave grows with each retry by as much as its
// last message is late, and its index falls to that of so long a wave.
func (f realPlan) reach(p prediction, k int) (mean, low, high float64) {
	mean = meanOf(p.behind[k])
	share := explainedShare
	if !f.jittered() {
		share = explainedShareTie
	}
	slack := zSeeds * deviationOf(p.behind[k]) * math.Sqrt(1+1.0/realSeeds)
	if ideal := meanOf(p.ideal[k]); !math.IsNaN(ideal) {
		slack += share * math.Abs(mean-ideal)
	}
	most := math.Inf(1)
	switch k {
	case figureServed:
		most = float64(f.plan.Clients)
	case figureConvoy:
		most = 1
	}
	low, high = max(0, mean-slack), min(most, mean+slack)
	if k == figureConvoy && !f.jittered() {
		retries := meanOf(p.behind[figureAttempts]) / float64(f.plan.Clients)
		low = min(low, smearedIndex(seconds(retries/2*p.tail)))
	}
	return mean, low, high
}

func (f realPlan) jittered() bool {
	e, ok := backoff.Lookup(f.plan.Strategies[0])
	return ok && e.Jittered
}

// smearedIndex is the index by the shorter two scales of a wave that is spread evenly over s.
func smearedIndex(s time.Duration) float64 {
	closer := func(w time.Duration) float64 {
		rest := max(0, 1-float64(w)/float64(s))
		return 1 - rest*rest
	}
	return max(0, expectedIndex(closer(shortScale), closer(middleScale), [2]time.Duration{shortScale, middleScale}, longScale))
}

// checks holds a real run against virtual time. Where this machine did not keep up nothing is judged.
func (f realPlan) checks(run *record.Run, p prediction) []Check {
	subject := f.plan.Strategies[0] + ", " + f.name
	about := f.reason(run, p)
	reasons := record.Validity(*run)
	if len(reasons) > 0 {
		about = "not judged: this machine was the bottleneck, and the figures are its own: " + strings.Join(reasons, "; ") + "; " + about
	}
	got := figuresOf(run)
	var list []Check
	for k, what := range []Check{
		figureAttempts: {Name: "attempts"}, figureServed: {Name: "served"}, figureCompletion: {Name: "completion", Unit: "s"},
		figurePeak: {Name: "peak/capacity"}, figureConvoy: {Name: "convoy index"},
	} {
		mean, low, high := f.reach(p, k)
		if math.IsNaN(mean) {
			continue // not every seed completes
		}
		what.Name, what.About, what.NotJudged = subject+": "+what.Name, about, len(reasons) > 0
		list = append(list, what.within(mean, low, high).judged(got[k]))
	}
	return list
}

// reason says what this machine added.
func (f realPlan) reason(run *record.Run, p prediction) string {
	return fmt.Sprintf("an attempt takes %s longer than without a network: in virtual time %s a message; sends are late by %s on average and %s at p99 after the first bucket; the first wave took %s",
		record.Short(seconds(p.lag)), shortLaw(p.law), mean(run.Generator.LatenessRest), p99(run.Generator.LatenessRest), spread(run))
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

func shortLaw(l plan.Law) string {
	return record.Short(l.Mean) + "~" + record.Short(l.SD)
}

// mean, p99 and spread are the texts of what a run has, or of nothing.
func mean(d record.Distribution) string {
	if d.Mean == nil {
		return "none"
	}
	return record.Short(time.Duration(*d.Mean))
}

func p99(d record.Distribution) string { return shortOf(d.P99) }

func spread(run *record.Run) string { return shortOf(run.Generator.StartSpread) }

func shortOf(ns *int64) string {
	if ns == nil {
		return "none"
	}
	return record.Short(time.Duration(*ns))
}
