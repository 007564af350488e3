package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// An HLog is what a histogram log of ours holds.
type HLog struct {
	Header HLogHeader
	Runs   []HLogPart
	Done   bool // the log has its end
	// Cut says that the last line is not whole, and was left out: the program was killed while it
	// wrote it.
	Cut bool
}

// An HLogPart is one run of a log.
type HLogPart struct {
	HLogRun
	Buckets []Interval // from t0, without a gap
	End     *HLogEnd   // nil where the log ends before the run did
}

// IsHLog reports whether data begins as a histogram log does.
func IsHLog(data []byte) bool { return bytes.HasPrefix(data, []byte("#[")) }

// Limits of a log that is read.
const (
	hlogArrivalsMost = 1 << 53 // of a run
	hlogMomentMost   = 1000 * 24 * time.Hour
)

// ReadHLog reads what an HLogEncoder wrote. It is strict, and its error names the line, but for a last
// line that does not end: what a killed program left half written is left out.
func ReadHLog(data []byte) (*HLog, error) {
	r := hlogReader{log: new(HLog)}
	for number := 1; len(data) > 0; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		err := r.line(string(line))
		if err != nil && !whole {
			r.log.Cut = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if r.log.Header.Schema == "" {
		return nil, errors.New(`it has no line "#[stormtest header ...": this is not a log of stormtest`)
	}
	return r.log, nil
}

// An hlogReader takes a log line by line.
type hlogReader struct {
	log      *HLog
	run      *HLogPart // the one that was begun last; nil before the first and after an end
	arrivals int64     // of run
}

func (r *hlogReader) line(line string) error {
	switch {
	case strings.HasPrefix(line, "#[stormtest "):
		text, ok := strings.CutSuffix(strings.TrimPrefix(line, "#[stormtest "), "]")
		if !ok {
			return errors.New("a comment of stormtest without its end")
		}
		kind, value, _ := strings.Cut(text, " ")
		return r.comment(kind, []byte(value))
	case line == "" || line[0] == '#' || line[0] == '"':
		return nil
	case r.run == nil:
		return errors.New("an interval outside a run")
	}
	return r.interval(line)
}

func (r *hlogReader) comment(kind string, value []byte) error {
	switch kind {
	case hlogHeader:
		return r.header(value)
	case hlogRun:
		return r.begin(value)
	case hlogEnd:
		return r.end(value)
	case hlogDone:
		if r.run != nil || r.log.Header.Schema == "" {
			return errors.New("the log is done inside a run or before its header")
		}
		r.log.Done = true
	}
	return nil // of tomorrow
}

func (r *hlogReader) header(value []byte) error {
	h := &r.log.Header
	if h.Schema != "" {
		return errors.New("a second header")
	}
	var read HLogHeader
	if err := json.Unmarshal(value, &read); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if read.Schema != HLogSchema {
		return fmt.Errorf("schema = %q, want %q", read.Schema, HLogSchema)
	}
	if y := read.StartedAt.UTC().Year(); y < 1970 || y > 2200 {
		return fmt.Errorf("started_at = %v, want a date", read.StartedAt)
	}
	*h = read
	return nil
}

func (r *hlogReader) begin(value []byte) error {
	var run HLogRun
	if err := json.Unmarshal(value, &run); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	switch v := run.CapacityPerSecond; {
	case r.log.Header.Schema == "":
		return errors.New("a run before the header")
	case run.Strategy == "" || strings.ContainsAny(run.Strategy, ", \t\r\n"):
		return fmt.Errorf("strategy = %q, want a name", run.Strategy)
	case run.Bucket < BucketMin || run.Bucket > hlogMomentMost:
		return fmt.Errorf("bucket = %v, want %v..%v", run.Bucket, BucketMin, hlogMomentMost)
	case run.T0 < 0 || run.T0 > hlogMomentMost:
		return fmt.Errorf("t0 = %v, want 0..%v", run.T0, hlogMomentMost)
	case v != nil && !(*v >= 0):
		return fmt.Errorf("capacity = %v/s, want 0 or more", *v)
	}
	r.log.Runs = append(r.log.Runs, HLogPart{HLogRun: run})
	r.run, r.arrivals = &r.log.Runs[len(r.log.Runs)-1], 0
	return nil
}

func (r *hlogReader) end(value []byte) error {
	var end HLogEnd
	if err := json.Unmarshal(value, &end); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	switch {
	case r.run == nil:
		return errors.New("an end without a run")
	case end.Strategy != r.run.Strategy:
		return fmt.Errorf("the end of %q in the run of %q", end.Strategy, r.run.Strategy)
	case end.Duration < 0 || end.Duration > hlogMomentMost:
		return fmt.Errorf("duration = %v, want 0..%v", end.Duration, hlogMomentMost)
	case end.Arrivals != r.arrivals:
		return fmt.Errorf("%d arrivals at the end, and the intervals hold %d", end.Arrivals, r.arrivals)
	}
	r.run.End, r.run = &end, nil
	return nil
}

func (r *hlogReader) interval(line string) error {
	fields := strings.Split(line, ",")
	if len(fields) != 5 {
		return fmt.Errorf("%d fields, want 5", len(fields))
	}
	if tag := "Tag=" + r.run.Strategy; fields[0] != tag {
		return fmt.Errorf("%q, want %q", fields[0], tag)
	}
	at, err := parseSeconds(fields[1])
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	width, err := parseSeconds(fields[2])
	if err != nil {
		return fmt.Errorf("length: %w", err)
	}
	at -= r.run.T0
	index := at / r.run.Bucket
	switch {
	case at < 0 || at%r.run.Bucket != 0 || width != r.run.Bucket:
		return fmt.Errorf("the interval of %v from %v is no bucket of %v", width, at, r.run.Bucket)
	case int(index) > len(r.run.Buckets):
		return fmt.Errorf("bucket %d where bucket %d is next", index, len(r.run.Buckets))
	}
	return r.add(int(index), fields[4])
}

// add adds the histogram of an interval to its bucket.
func (r *hlogReader) add(index int, text string) error {
	h, err := hdrhistogram.DecodePacked([]byte(text))
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	width := int64(r.run.Bucket)
	if h.LowestTrackableValue() != offsetLowest(width) || h.HighestTrackableValue() != offsetHighest(width) || h.SignificantFigures() != offsetDigits {
		return fmt.Errorf("histogram: of %d..%d and %d digits, which is none of a bucket of %v",
			h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures(), r.run.Bucket)
	}
	if n := h.TotalCount(); n < 0 || n > hlogArrivalsMost-r.arrivals {
		return errors.New("histogram: more arrivals than a run can have")
	}
	r.arrivals += h.TotalCount()
	if index == len(r.run.Buckets) {
		x := Interval{At: time.Duration(index) * r.run.Bucket, Width: r.run.Bucket}
		if h.TotalCount() > 0 {
			x.offsets = offsets{histogram: h}
		}
		r.run.Buckets = append(r.run.Buckets, x)
		return nil
	}
	into := &r.run.Buckets[index].offsets
	if into.histogram == nil {
		*into = offsets{histogram: h}
		return nil
	}
	if dropped := into.histogram.Merge(h); dropped != 0 {
		return fmt.Errorf("histogram: %d arrivals have no room", dropped)
	}
	return nil
}

// parseSeconds reads what secondsText wrote, exactly.
func parseSeconds(text string) (time.Duration, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 9 || strings.Trim(whole+decimals, "0123456789") != "" {
		return 0, fmt.Errorf("%q, want seconds with at most 9 decimals", text)
	}
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || s >= int64(hlogMomentMost/time.Second) {
		return 0, fmt.Errorf("%q, want 0..%d s", text, hlogMomentMost/time.Second)
	}
	ns, err := strconv.ParseInt((decimals + "000000000")[:9], 10, 64)
	if err != nil || s > math.MaxInt64/int64(time.Second) {
		return 0, fmt.Errorf("%q, want seconds", text)
	}
	return time.Duration(s)*time.Second + time.Duration(ns), nil
}
