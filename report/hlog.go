package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"stormtest/load/record"
)

// Read reads a saved result, or makes one of what a histogram log tells (see [record.FromLog]); which
// of both it is shows in how it begins, not in a name.
func Read(in io.Reader) (*record.Result, error) {
	data, err := readBytes(in)
	if err != nil {
		return nil, err
	}
	if !record.IsHLog(data) {
		return readJSON(data)
	}
	log, err := record.ReadHLog(data)
	if err != nil {
		return nil, fmt.Errorf("report: read histogram log: %w", err)
	}
	return log.Result(), nil
}

// readBytes reads all, up to readBytesMax.
func readBytes(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, readBytesMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("report: read result: %w", err)
	case len(data) > readBytesMax:
		return nil, fmt.Errorf("report: read result: more than %d MiB", readBytesMax>>20)
	case len(data) == 0:
		return nil, errors.New("report: read result: the file is empty")
	}
	return data, nil
}

// fromLog reports whether a result was made from a log: then all its runs were.
func fromLog(r *record.Result) bool {
	return slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.FromLog != nil })
}

// logTroubles says what a result from a log lacks.
func logTroubles(r *record.Result, plan planFields) []trouble {
	list := []trouble{{mark: markYellow, word: "RECOVERED", text: "Made from a log of arrivals: what it does not hold is left out below, and no strategy is judged."}}
	if r.Interrupted {
		list = append(list, trouble{mark: markYellow, word: "INTERRUPTED", text: "The run was ended early" + notBegun(r, plan) + "."})
	}
	return list
}

// logSentence says of a run from a log what stands beside a verdict.
func logSentence(run *record.Run) string {
	text := plural(run.Books.Arrivals, "arrival") + " in " + span(run.Duration)
	if finite(run.Convoy.PeakOverCapacity) {
		text += ", up to " + times(run.Convoy.PeakOverCapacity) + " capacity in a bucket"
	}
	return text + "; not judged, as a log does not say which were retries."
}

// writeLogRun writes the section of a run from a log: its arrivals.
func writeLogRun(p *page, run *record.Run) {
	c := &run.Convoy
	over := overCapacity(c.PeakOverCapacity)
	if finite(c.PeakOverMean) {
		over = append(over, number(c.PeakOverMean)+"x the mean")
	}
	p.fact("Peak", count(c.PeakArrivals)+" in a bucket"+inBrackets(over))
	p.fact("Waves", waves(c), "half-life "+halfLife(c))
	for _, note := range run.Notes {
		p.para("Note", factIndent, clean(note))
	}
}

// The types below are a Result with null where a log tells nothing: a field that shadows one of the
// struct inside it takes its place.
type (
	result record.Result
	run    record.Run
	convoy record.Convoy
	null   = *struct{}

	resultFromLog struct {
		result
		Runs []runFromLog `json:"runs"`
	}
	runFromLog struct {
		run
		Operations       null            `json:"operations"`
		Attempts         null            `json:"attempts"`
		Buckets          []bucketFromLog `json:"buckets"`
		Convoy           convoyFromLog   `json:"convoy"`
		Recovery         null            `json:"recovery"`
		Latency          null            `json:"latency_ns"`
		OperationLatency null            `json:"operation_latency_ns"`
		Delay            null            `json:"delay_ns"`
		AttemptAtSuccess null            `json:"attempt_at_success"`
		Elapsed          null            `json:"elapsed_ns"`
		Lateness         null            `json:"lateness_ns"`
		Generator        null            `json:"generator"`
		Hints            null            `json:"retry_after"`
		Books            booksFromLog    `json:"books"`
	}
	bucketFromLog struct {
		At        time.Duration `json:"at_ns"`
		Arrivals  int64         `json:"arrivals"`
		First     null          `json:"first"`
		Retries   null          `json:"retries"`
		Served    null          `json:"served"`
		Wasted    null          `json:"wasted"`
		Rejected  null          `json:"rejected"`
		ByAttempt null          `json:"by_attempt"`
		RSI       null          `json:"retry_synchronisation_index"`
		OffsetP50 *int64        `json:"offset_p50_ns"`
		OffsetP99 *int64        `json:"offset_p99_ns"`
	}
	convoyFromLog struct {
		convoy
		WindowFrom          null `json:"window_from_ns"`
		WindowTo            null `json:"window_to_ns"`
		WindowArrivals      null `json:"window_arrivals"`
		Insufficient        null `json:"insufficient"`
		PeakSlidingArrivals null `json:"peak_sliding_arrivals"`
		Verdict             null `json:"verdict"`
		Flags               null `json:"flags"`
	}
	booksFromLog struct {
		AttemptsSent null  `json:"attempts_sent"`
		Arrivals     int64 `json:"arrivals"`
		Lost         null  `json:"lost"`
		Balanced     null  `json:"balanced"`
	}
)

// withNulls returns what stands for r in JSON: r itself, or with null for what a log does not tell.
func withNulls(r record.Result) any {
	if !fromLog(&r) {
		return r
	}
	out := resultFromLog{result: result(r)}
	for _, x := range r.Runs {
		dup := runFromLog{run: run(x), Convoy: convoyFromLog{convoy: convoy(x.Convoy)}, Books: booksFromLog{Arrivals: x.Books.Arrivals}}
		dup.Buckets = make([]bucketFromLog, 0, len(x.Buckets))
		for _, b := range x.Buckets {
			dup.Buckets = append(dup.Buckets, bucketFromLog{At: b.At, Arrivals: b.Arrivals, OffsetP50: b.OffsetP50, OffsetP99: b.OffsetP99})
		}
		out.Runs = append(out.Runs, dup)
	}
	return out
}

// known is a figure's text, or none where the run cannot tell the figure.
func (c criterion) known(run *record.Run) string {
	if c.unknown(run) {
		return none
	}
	return c.text(run)
}

// value is what the criterion chooses the best by.
func (c criterion) value(run *record.Run) *float64 {
	if c.unknown(run) {
		return nil
	}
	return c.figure(run)
}

// unknown says that a log does not tell the figure, or that only clients know it that were not ours.
func (c criterion) unknown(run *record.Run) bool {
	m, _ := record.MetricNamed(c.metric)
	return run.FromLog != nil && !c.ofArrivals || run.Outside != nil && !m.AtTarget
}

// barWords name what the bars of the chart are.
func (c *chart) barWords() []string {
	if c.fromLog {
		return []string{c.blocks[7] + " arrivals"}
	}
	return []string{c.blocks[7] + " retries", c.first + " first attempts"}
}
