package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// HLogSchema names the form of our comments in a histogram log; a reader refuses any other.
const HLogSchema = "stormtest.hlog/v1"

// A histogram log (.hlog, format 1.3 of HdrHistogram) is lines of text:
//
//	#[stormtest header {...}]     an HLogHeader; then what the values are, and start and base time, the same moment
//	#[stormtest run {...}]        an HLogRun, where a strategy's t0 is known
//	Tag=full,0.141,0.1,99.8,HIST… one Interval for each bucket, in order, empty ones too
//	#[stormtest end {...}]        an HLogEnd
//	#[stormtest done {}]          after the last run; what is missing was killed
//
// The interval's histogram holds where in the bucket its arrivals lie, in ns. Its times are in
// seconds since the base time, exact to the ns; the bucket's moment in its run is that less the
// run's t0. What arrived after its bucket was written follows at the end of the run as one more
// interval of that bucket, so that a bucket's arrivals are the sum over its intervals. Other
// readers skip our lines, as they begin with #.
const (
	hlogHeader = "header"
	hlogRun    = "run"
	hlogEnd    = "end"
	hlogDone   = "done"
)

// An HLogHeader is what a reader must know of the whole invocation. It is a Result's beginning.
type HLogHeader struct {
	Schema    string          `json:"schema"`
	Tool      Tool            `json:"tool"`
	Plan      json.RawMessage `json:"plan"`
	PlanHash  string          `json:"plan_hash"`
	Seed      uint64          `json:"seed"`
	StartedAt time.Time       `json:"started_at"` // the base time; whole ms
}

// An HLogRun begins a run.
type HLogRun struct {
	Strategy           string        `json:"strategy"` // the tag of its intervals
	Engine             string        `json:"engine"`
	ArrivalsMeasuredAt string        `json:"arrivals_measured_at"`
	T0                 time.Duration `json:"t0_ns"`      // since the base time
	Planned            time.Duration `json:"planned_ns"` // 0: until a signal
	Bucket             time.Duration `json:"bucket_ns"`
	CapacityPerSecond  *float64      `json:"capacity_per_second"`
}

// An HLogEnd ends the run that began last.
type HLogEnd struct {
	Strategy    string        `json:"strategy"`
	Duration    time.Duration `json:"duration_ns"`
	Arrivals    int64         `json:"arrivals"`
	Interrupted bool          `json:"interrupted"` // by a signal
}

// An HLogEncoder writes the lines of a histogram log. Every method appends whole lines to b and
// returns it. The zero value is ready; not safe for concurrent use.
//
// It has its own V2 encoder, because the library's makes a compressor of 0.8 MB for every
// interval, which a garbage collection in the middle of the run would have to take back; and
// its own lines, because the library's hold whole milliseconds only.
type HLogEncoder struct {
	run     HLogRun
	raw     []byte
	packed  bytes.Buffer
	deflate *zlib.Writer
}

// Header begins the log.
func (e *HLogEncoder) Header(b []byte, h HLogHeader) []byte {
	h.Schema = HLogSchema
	h.StartedAt = h.StartedAt.UTC().Truncate(time.Millisecond)
	b = append(b, "#[Histogram log format version 1.3]\n"...)
	b = hlogComment(b, hlogHeader, h)
	b = append(b, "# Each value is where in its interval an arrival lies, in ns after the interval's beginning; none is a latency.\n"...)
	since := secondsText(nil, time.Duration(h.StartedAt.UnixMilli())*time.Millisecond)
	b = fmt.Appendf(b, "#[StartTime: %s (seconds since epoch), %s]\n", since, h.StartedAt.Format(time.RFC3339Nano))
	b = fmt.Appendf(b, "#[BaseTime: %s (seconds since epoch)]\n", since)
	return append(b, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"...)
}

// Run begins a run: the intervals that follow are its.
func (e *HLogEncoder) Run(b []byte, r HLogRun) []byte {
	e.run = r
	return hlogComment(b, hlogRun, r)
}

// End ends the run.
func (e *HLogEncoder) End(b []byte, end HLogEnd) []byte { return hlogComment(b, hlogEnd, end) }

// Done ends the log.
func (e *HLogEncoder) Done(b []byte) []byte { return hlogComment(b, hlogDone, struct{}{}) }

// hlogComment appends one of our lines. It panics where v has no JSON: its parts are plain data.
func hlogComment(b []byte, kind string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("record: BUG: " + err.Error())
	}
	b = append(append(b, "#[stormtest "...), kind...)
	return append(append(append(b, ' '), text...), "]\n"...)
}

// Interval appends the line of one interval. About 20 µs.
func (e *HLogEncoder) Interval(b []byte, x Interval) []byte {
	b = append(append(append(b, "Tag="...), e.run.Strategy...), ',')
	b = append(secondsText(b, e.run.T0+x.At), ',')
	b = append(secondsText(b, x.Width), ',')
	most := x.offsets.highest(int64(x.Width))
	b = strconv.AppendFloat(b, float64(most)/float64(time.Millisecond), 'f', 3, 64)
	b = e.histogram(append(b, ','), x)
	return append(b, '\n')
}

// secondsText appends d >= 0 in seconds, with as many decimals as it takes, at least 3.
func secondsText(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	digits := strconv.FormatInt(int64(time.Second+d%time.Second), 10)[1:] // with leading zeros
	for len(digits) > 3 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return append(append(b, '.'), digits...)
}

// The V2 encoding (HdrHistogram, AbstractHistogram.encodeIntoByteBuffer).
const (
	v2Cookie           = 0x1c849303 | 0x10
	v2CompressedCookie = 0x1c849304 | 0x10
	v2HeaderBytes      = 40
)

// histogram appends the interval's histogram as base64 of the compressed V2 encoding.
func (e *HLogEncoder) histogram(b []byte, x Interval) []byte {
	width := int64(x.Width)
	raw := append(e.raw[:0], make([]byte, v2HeaderBytes)...)
	raw = x.offsets.appendCounts(raw, width)
	binary.BigEndian.PutUint32(raw[0:], v2Cookie)
	binary.BigEndian.PutUint32(raw[4:], uint32(len(raw)-v2HeaderBytes))
	binary.BigEndian.PutUint32(raw[12:], offsetDigits)
	binary.BigEndian.PutUint64(raw[16:], uint64(offsetLowest(width)))
	binary.BigEndian.PutUint64(raw[24:], uint64(offsetHighest(width)))
	binary.BigEndian.PutUint64(raw[32:], math.Float64bits(1)) // a value is itself
	e.raw = raw

	e.packed.Reset()
	_, _ = e.packed.Write(make([]byte, 8)) // a bytes.Buffer never fails
	if e.deflate == nil {
		e.deflate = zlib.NewWriter(&e.packed)
	} else {
		e.deflate.Reset(&e.packed)
	}
	_, _ = e.deflate.Write(raw)
	_ = e.deflate.Close()
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed[0:], v2CompressedCookie)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	return base64.StdEncoding.AppendEncode(b, packed)
}
