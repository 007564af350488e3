package record

import (
	"fmt"
	"time"
)

// A FromLog marks a Run that was made from a histogram log, which holds arrivals by bucket and nothing
// else. Everything that is not of arrivals alone is zero in such a Run and stands for "not known":
// operations, attempts, distributions, generator, books, what of the convoy speaks of retries (its index
// and the verdict), and of every bucket all but its arrivals and their offsets. Reports show no figure
// there, and null in JSON.
type FromLog struct {
	// Complete says that the log has the run's end. Where it has not, the run was killed, and
	// Duration is as far as the log goes.
	Complete bool `json:"complete"`
}

// Result makes of a log what it tells. A run in it is not valid, as nobody knows whether the generator kept up,
// and interrupted unless the log has its end and no signal ended a run.
func (l *HLog) Result() *Result {
	r := &Result{
		Schema:         Schema,
		Tool:           l.Header.Tool,
		Plan:           l.Header.Plan,
		PlanHash:       l.Header.PlanHash,
		Seed:           l.Header.Seed,
		StartedAt:      l.Header.StartedAt,
		Valid:          len(l.Runs) == 0,
		InvalidReasons: []string{},
		Runs:           []Run{},
		Gates:          []Gate{},
		Interrupted:    !l.Done,
	}
	if !r.Valid {
		r.InvalidReasons = append(r.InvalidReasons, "made from a log of arrivals, which does not say whether the generator kept up")
	}
	for i := range l.Runs {
		p := &l.Runs[i]
		r.Runs = append(r.Runs, p.run())
		if p.End == nil || p.End.Interrupted {
			r.Interrupted = true
		}
	}
	return r
}

// run is what a part of a log tells of its run.
func (p *HLogPart) run() Run {
	run := Run{
		Strategy:           p.Strategy,
		Engine:             p.Engine,
		ArrivalsMeasuredAt: p.ArrivalsMeasuredAt,
		Duration:           time.Duration(len(p.Buckets)) * p.Bucket,
		Bucket:             p.Bucket,
		CapacityPerSecond:  p.CapacityPerSecond,
		Buckets:            make([]Bucket, len(p.Buckets)),
		FromLog:            &FromLog{Complete: p.End != nil},
	}
	if p.End != nil {
		run.Duration = p.End.Duration
	}
	arrivals := make([]int64, len(p.Buckets))
	var sum int64
	for i, x := range p.Buckets {
		arrivals[i] = x.Arrivals()
		sum += arrivals[i]
		run.Buckets[i] = Bucket{
			At:        x.At,
			Arrivals:  x.Arrivals(),
			OffsetP50: x.offsets.quantile(0.5, int64(p.Bucket)),
			OffsetP99: x.offsets.quantile(0.99, int64(p.Bucket)),
		}
	}
	run.Books.Arrivals = sum
	c := &run.Convoy
	c.WavePeaks, c.Flags = []int64{}, []string{}
	c.PeakArrivals = peakOf(arrivals)
	c.PeakOverMean = optional(peakOverMean(arrivals, run.Duration, p.Bucket))
	if p.CapacityPerSecond != nil {
		c.againstCapacity(arrivals, nil, *p.CapacityPerSecond*float64(p.Bucket)/float64(time.Second))
	}
	run.Notes = p.notes(sum)
	return run
}

// notes says in words what was recovered and what was lost.
func (p *HLogPart) notes(arrivals int64) []string {
	span := time.Duration(len(p.Buckets)) * p.Bucket
	what := fmt.Sprintf("made from a log: %d arrivals in %d buckets up to %v after the start", arrivals, len(p.Buckets), span)
	if p.End == nil {
		of := ""
		if p.Planned > 0 {
			of = fmt.Sprintf(", of %v planned,", p.Planned)
		}
		what += ", and what came after that" + of + " is lost, because the program was ended before the run was"
	}
	return []string{
		what,
		"a log does not hold outcomes, latencies, delays, operations, which arrivals were retries, and whether the generator kept up, so there is no convoy index and no verdict",
	}
}
