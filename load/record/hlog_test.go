package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// decodeV2 reads an interval's payload by the V2 specification and nothing else: base64 of a cookie, a
// length and zlib of a header of 40 bytes and the counts, zigzag LEB128, a negative one for so
// many zeros. It returns the counts by index and the lowest value and digits of the header.
func decodeV2(t testing.TB, text string) (counts []int64, lowest int64) {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	be := binary.BigEndian
	if be.Uint32(packed) != 0x1c849314 || int(be.Uint32(packed[4:])) != len(packed)-8 {
		t.Fatalf("cookie %x, length %d of %d", be.Uint32(packed), be.Uint32(packed[4:]), len(packed)-8)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[8:]))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if be.Uint32(raw) != 0x1c849313 || int(be.Uint32(raw[4:])) != len(raw)-40 || be.Uint32(raw[8:]) != 0 {
		t.Fatalf("inner header % x", raw[:12])
	}
	if digits := be.Uint32(raw[12:]); digits != 2 {
		t.Fatalf("digits = %d, want 2", digits)
	}
	for rest := raw[40:]; len(rest) > 0; {
		var n uint64
		for shift := 0; ; shift += 7 {
			b := rest[0]
			rest = rest[1:]
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		if v := int64(n>>1) ^ -int64(n&1); v >= 0 {
			counts = append(counts, v)
		} else {
			counts = append(counts, make([]int64, -v)...)
		}
	}
	return counts, int64(be.Uint64(raw[16:]))
}

// stepsOf returns where each count of a V2 histogram of two digits begins, up to most: 256 steps of
// the largest power of two that is at most lowest, then 128 each of twice the step before.
func stepsOf(lowest, most int64) []int64 {
	step := int64(1)
	for step*2 <= lowest {
		step *= 2
	}
	var from []int64
	for at := int64(0); at <= most; {
		from = append(from, at)
		at += step
		if n := len(from); n >= 256 && n%128 == 0 {
			step *= 2
		}
	}
	return from
}

func sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// A logOf is a recorder whose buckets go to a log.
type logOf struct {
	*Recorder
	encode HLogEncoder
	text   []byte
}

func newLog(width time.Duration, t0 time.Duration) *logOf {
	l := &logOf{Recorder: New(Config{Bucket: width, Shards: 1})}
	l.text = l.encode.Header(nil, HLogHeader{
		Tool: Tool{"1"}, Plan: json.RawMessage(`{"a":"b, c\n"}`), PlanHash: "h", Seed: 5, StartedAt: time.UnixMilli(1796016724177),
	})
	l.text = l.encode.Run(l.text, HLogRun{Strategy: "full", Engine: "real", ArrivalsMeasuredAt: "target", T0: t0, Planned: time.Minute, Bucket: width, CapacityPerSecond: ptr(1000.0)})
	return l
}

func (l *logOf) export(until time.Duration) {
	for x, ok := l.Export(until); ok; x, ok = l.Export(until) {
		l.text = l.encode.Interval(l.text, x)
	}
}

func (l *logOf) end(at time.Duration) Run {
	run := l.Summarise(End{At: at, Strategy: "full"})
	l.export(time.Duration(len(run.Buckets)) * run.Bucket)
	for _, x := range l.ExportLate() {
		l.text = l.encode.Interval(l.text, x)
	}
	l.text = l.encode.Done(l.encode.End(l.text, HLogEnd{Strategy: "full", Duration: at, Arrivals: run.Books.Arrivals}))
	return run
}

// Every arrival is in the interval of its bucket and in the right count of it, whatever the width,
// the offset and the moment at which it was recorded. The log is read by this test's own decoder.
func TestIntervalsHoldEveryArrival(t *testing.T) {
	for _, width := range []time.Duration{time.Microsecond, 1234567, time.Millisecond, 100 * time.Millisecond, 10 * time.Second} {
		t.Run(width.String(), func(t *testing.T) {
			draw, t0 := seeded(uint64(width)), 41236871*time.Nanosecond
			l := newLog(width, t0)
			offsetsOf := map[int][]int64{}
			for i := range 3000 {
				bucket := i/100 + draw.IntN(3)
				offset := draw.Int64N(int64(width))
				switch draw.IntN(10) {
				case 0:
					offset = 0
				case 1:
					offset = int64(width) - 1
				}
				l.Arrival(Arrival{At: time.Duration(bucket)*width + time.Duration(offset), Attempt: i % 3})
				offsetsOf[bucket] = append(offsetsOf[bucket], offset)
				if i%50 == 0 { // some of the buckets that are handed out are not over
					l.export(time.Duration(i/100+1) * width)
				}
			}
			run := l.end(40 * width)
			counts := map[int][]int64{}
			for line := range strings.Lines(string(l.text)) {
				fields := strings.Split(strings.TrimSpace(line), ",")
				if fields[0] != "Tag=full" {
					continue
				}
				at, err := strconv.ParseFloat(fields[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				index := int((at-t0.Seconds())/width.Seconds() + 0.5)
				got, lowest := decodeV2(t, fields[4])
				if lowest != max(1, int64(width)/100_000) {
					t.Fatalf("lowest = %d", lowest)
				}
				counts[index] = append(counts[index], make([]int64, max(0, len(got)-len(counts[index])))...)
				addEach(counts[index], got)
			}
			if len(counts) != 40 || len(run.Buckets) != 40 {
				t.Fatalf("%d intervals, %d buckets; want 40", len(counts), len(run.Buckets))
			}
			from := stepsOf(max(1, int64(width)/100_000), int64(width))
			for i, b := range run.Buckets {
				want := make([]int64, len(from))
				for _, offset := range offsetsOf[i] {
					at, found := slices.BinarySearch(from, offset)
					if !found {
						at--
					}
					want[at]++
				}
				got := append(counts[i], make([]int64, len(from)-len(counts[i]))...)
				if !slices.Equal(got, want) || sum(got) != b.Arrivals {
					t.Fatalf("bucket %d holds %d arrivals in the log, %d in the result:\n got %v\nwant %v", i, sum(got), b.Arrivals, got, want)
				}
			}
			if late := bytes.Count(l.text, []byte("Tag=full")) - 40; late < 20 {
				t.Errorf("%d late intervals: the test does not make any", late)
			}
			checkReads(t, l.text, run)
		})
	}
}

// checkReads reads a log and compares it with the run it is of.
func checkReads(t *testing.T, text []byte, run Run) {
	t.Helper()
	log, err := ReadHLog(text)
	if err != nil {
		t.Fatal(err)
	}
	r := log.Result()
	if r.Interrupted || r.Valid || r.Seed != 5 || r.PlanHash != "h" || string(r.Plan) != `{"a":"b, c\n"}` || r.StartedAt.UnixMilli() != 1796016724177 {
		t.Errorf("result = %+v", r)
	}
	got := r.Runs[0]
	if len(got.Buckets) != len(run.Buckets) || got.Duration != run.Duration || got.FromLog == nil || !got.FromLog.Complete {
		t.Fatalf("%d buckets in %v, %+v; want %d in %v", len(got.Buckets), got.Duration, got.FromLog, len(run.Buckets), run.Duration)
	}
	for i, b := range got.Buckets {
		want := run.Buckets[i]
		want = Bucket{At: want.At, Arrivals: want.Arrivals, OffsetP50: want.OffsetP50, OffsetP99: want.OffsetP99}
		if !reflect.DeepEqual(b, want) {
			t.Errorf("bucket %d = %+v, want %+v", i, b, want)
		}
	}
	same(t, "peak", &got.Convoy.PeakArrivals, &run.Convoy.PeakArrivals)
	same(t, "peak over mean", got.Convoy.PeakOverMean, run.Convoy.PeakOverMean)
	same(t, "arrivals", &got.Books.Arrivals, &run.Books.Arrivals)
	if c := got.Convoy; c.ConvoyIndex != nil || c.RSI != nil || c.Dispersion != nil || c.Verdict != "" {
		t.Errorf("convoy = %+v: nobody knows which arrivals were retries", c)
	}
}

// sampleLog is a small log with empty buckets and one late arrival.
func sampleLog() []byte {
	l := newLog(100*time.Millisecond, 123456789)
	for i := range 300 {
		l.Arrival(Arrival{At: time.Duration(i%7) * 130 * time.Millisecond, Attempt: i})
	}
	l.export(500 * time.Millisecond)
	l.Arrival(Arrival{At: 210 * time.Millisecond})
	l.end(1200 * time.Millisecond)
	return l.text
}

// A log that is cut anywhere gives what is whole of it.
func TestReadHLogOfEveryPrefix(t *testing.T) {
	text := sampleLog()
	header := bytes.Index(text, []byte("# Each value"))
	whole, err := ReadHLog(text)
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		log, err := ReadHLog(text[:n])
		if n < header-1 {
			if err == nil {
				t.Fatalf("a log of %d bytes, without its header, is read", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("a log cut after %d bytes: %v", n, err)
		}
		r := log.Result()
		if complete := n >= len(text)-1; r.Interrupted == complete {
			t.Fatalf("cut after %d of %d bytes: interrupted = %v", n, len(text), r.Interrupted)
		}
		end := bytes.LastIndexByte(text[:n], '\n')
		if text[n] == '\n' {
			end = n // only the end of the line is missing
		}
		for _, run := range r.Runs {
			lines := bytes.Count(text[:end], []byte("\nTag="))
			if len(run.Buckets) != min(lines, len(whole.Runs[0].Buckets)) {
				t.Fatalf("cut after %d bytes: %d buckets, want %d", n, len(run.Buckets), lines)
			}
		}
	}
}

func TestReadHLogRefuses(t *testing.T) {
	text := string(sampleLog())
	line := "Tag=full,0.223456789,0.100," // the second bucket
	tests := []struct{ name, old, now, want string }{
		{"another schema", "stormtest.hlog/v1", "stormtest.hlog/v2", `line 2: schema = "stormtest.hlog/v2"`},
		{"no header", "#[stormtest header", "#[another header", "line 7: a run before the header"},
		{"an interval of nobody", "#[stormtest run", "#[another run", "line 8: an interval outside a run"},
		{"a tag of another run", line, "Tag=none,0.223456789,0.100,", `line 9: "Tag=none", want "Tag=full"`},
		{"a bucket that is none", line, "Tag=full,0.22345679,0.100,", "line 9: the interval of 100ms from 100.000001ms is no bucket"},
		{"a bucket of another width", line, "Tag=full,0.223456789,0.200,", "line 9: the interval of 200ms"},
		{"a bucket too far", line, "Tag=full,0.323456789,0.100,", "line 9: bucket 2 where bucket 1 is next"},
		{"a moment that is none", line, "Tag=full,-0.2,0.100,", `line 9: start: "-0.2"`},
		{"a histogram that is none", "HISTF", "HISTE", "line 8: histogram"},
		{"arrivals that are lost", `"arrivals":301`, `"arrivals":300`, "300 arrivals at the end, and the intervals hold 301"},
		{"a width of 0", `"bucket_ns":100000000`, `"bucket_ns":0`, "line 7: bucket = 0s"},
		{"a name that is none", `"strategy":"full"`, `"strategy":"a,b"`, `line 7: strategy = "a,b"`},
		{"an end of another", `end {"strategy":"full"`, `end {"strategy":"none"`, `the end of "none" in the run of "full"`},
		{"no date", "2026-11-30T05:32:04.177Z\"", "0001-01-01T00:00:00Z\"", "line 2: started_at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(text, tt.old, tt.now, 1)
			if changed == text {
				t.Fatalf("the log has no %q", tt.old)
			}
			if _, err := ReadHLog([]byte(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
	for _, foreign := range []string{"", "{}", "#[Histogram log format version 1.3]\n#[StartTime: 1 (seconds since epoch)]\n"} {
		if _, err := ReadHLog([]byte(foreign)); err == nil || !strings.Contains(err.Error(), "not a log of stormtest") {
			t.Errorf("error of %q = %v", foreign, err)
		}
	}
}

// What is read is written and read again as the same.
func FuzzReadHLog(f *testing.F) {
	text := sampleLog()
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add([]byte("#[stormtest header {}]\n"))
	for _, n := range []string{"0", "-1", "1", "9223372036854775807", "9223372036854775806", "-9223372036854775808"} {
		f.Add([]byte(strings.ReplaceAll(string(text), "100000000", n)))
		f.Add([]byte(strings.ReplaceAll(string(text), "0.223456789", n)))
		f.Add([]byte(strings.ReplaceAll(string(text), "123456789", n)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := ReadHLog(data)
		if err != nil {
			return
		}
		var e HLogEncoder
		out := e.Header(nil, log.Header)
		for _, p := range log.Runs {
			out = e.Run(out, p.HLogRun)
			for _, x := range p.Buckets {
				out = e.Interval(out, x)
			}
			if p.End != nil {
				out = e.End(out, *p.End)
			}
		}
		if log.Done {
			out = e.Done(out)
		}
		again, err := ReadHLog(out)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, out)
		}
		want, got := log.Result(), again.Result()
		want.Plan, got.Plan = nil, nil
		want.StartedAt, got.StartedAt = want.StartedAt.UTC().Truncate(time.Millisecond), got.StartedAt.UTC()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read again: %+v\nfirst: %+v", got, want)
		}
	})
}

func TestSecondsText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.000", 1: "0.000000001", time.Second: "1.000", 1100 * time.Millisecond: "1.100", 41236871: "0.041236871",
		time.Hour + time.Microsecond: "3600.000001",
	} {
		got := string(secondsText(nil, d))
		if back, err := parseSeconds(got); got != want || back != d || err != nil {
			t.Errorf("secondsText(%d) = %s, want %s; read again %d, %v", d, got, want, back, err)
		}
	}
	for _, bad := range []string{"", "x", ".", "-1", "1e3", "+1", "1.2.3", "0.0000000001", "99999999999", "1 "} {
		if d, err := parseSeconds(bad); err == nil {
			t.Errorf("parseSeconds(%q) = %v, want an error", bad, d)
		}
	}
}

// Neither an arrival in a bucket that was handed out nor one in another allocates.
func TestArrivalsDoNotAllocateWhileExporting(t *testing.T) {
	r := New(Config{Shards: 1})
	at := []time.Duration{5 * time.Millisecond, 905 * time.Millisecond}
	for _, at := range at {
		r.Arrival(Arrival{At: at})
	}
	for _, ok := r.Export(500 * time.Millisecond); ok; _, ok = r.Export(500 * time.Millisecond) {
	}
	r.Arrival(Arrival{At: at[0]}) // makes the late histogram
	for _, at := range at {
		if n := testing.AllocsPerRun(100, func() { r.Arrival(Arrival{At: at}) }); n != 0 {
			t.Errorf("an arrival at %v allocates %v times", at, n)
		}
	}
	if late := r.ExportLate(); len(late) != 1 || late[0].Arrivals() != 102 || len(r.ExportLate()) != 0 {
		t.Errorf("late = %+v, want one of 102, once", late)
	}
}

func fullBucket() *Recorder {
	r, draw := New(Config{Shards: 1}), rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		r.Arrival(Arrival{At: time.Duration(draw.Int64N(int64(100 * time.Millisecond)))})
	}
	return r
}

// BenchmarkExport is how long handing out a bucket of 2,000 arrivals holds the target's side.
func BenchmarkExport(b *testing.B) {
	r := fullBucket()
	b.ReportAllocs()
	for b.Loop() {
		r.site.buckets.exported = 0
		r.Export(time.Second)
	}
}

// BenchmarkInterval writes a bucket's line, outside the lock.
func BenchmarkInterval(b *testing.B) {
	for _, name := range []string{"2000 arrivals", "empty"} {
		b.Run(name, func(b *testing.B) {
			r := fullBucket()
			if name == "empty" {
				r = New(Config{Shards: 1})
			}
			x, _ := r.Export(time.Second)
			var e HLogEncoder
			var line []byte
			b.ReportAllocs()
			for b.Loop() {
				line = e.Interval(line[:0], x)
			}
			b.ReportMetric(float64(len(line)), "bytes")
		})
	}
}

func ExampleHLogEncoder() {
	var e HLogEncoder
	b := e.Run(nil, HLogRun{Strategy: "full", T0: 41236871, Bucket: 100 * time.Millisecond})
	r := New(Config{})
	r.Arrival(Arrival{At: 20 * time.Millisecond})
	x, _ := r.Export(time.Second)
	line := string(e.Interval(b, x)[len(b):])
	fmt.Println(line[:strings.LastIndex(line, ",")])
	// Output: Tag=full,0.041236871,0.100,20.054
}
