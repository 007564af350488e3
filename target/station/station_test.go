package station_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/target/station"
)

const ms = time.Millisecond

// finished drains s at now.
func finished(s *station.Station, now time.Duration) []station.Done {
	var done []station.Done
	for d, ok := s.Finish(now); ok; d, ok = s.Finish(now) {
		done = append(done, d)
	}
	return done
}

// ends returns the tags and ends of done, for comparisons.
func ends(done []station.Done) map[uint64]time.Duration {
	at := map[uint64]time.Duration{}
	for _, d := range done {
		at[d.Tag] = d.At
	}
	return at
}

// TestServiceThroughOutages gives one job, which needs 100 ms of a single slot and arrives
// at 1 s, an outage, and expects its end from the integral of the speed done by hand.
func TestServiceThroughOutages(t *testing.T) {
	tests := []struct {
		name    string
		outages []string
		want    time.Duration
	}{
		{"none", nil, 1100 * ms},
		{"over before", []string{"0s..1s=slow:2"}, 1100 * ms},
		{"begins at its end", []string{"1100ms..2s=capacity:0%"}, 1100 * ms},
		{"begins 1 ns before its end", []string{"1099999999ns..2s=capacity:0%"}, 2*time.Second + 1},
		{"slow all along", []string{"0s..10s=slow:3"}, 1300 * ms},
		{"slow until half", []string{"0s..1100ms=slow:2"}, 1150 * ms},
		{"slow from half", []string{"1050ms..10s=slow:4"}, 1250 * ms},
		{"slow in the middle", []string{"1025ms..1125ms=slow:2"}, 1150 * ms},
		{"a fifth left", []string{"1s..10s=capacity:20%"}, 1500 * ms},
		{"a third left, ends inside", []string{"1s..1030ms=capacity:33.3333333%"}, 1120*ms + 1},
		{"all left", []string{"0s..10s=capacity:100%"}, 1100 * ms},
		{"frozen at arrival", []string{"500ms..3s=capacity:0%"}, 3100 * ms},
		{"frozen in the middle", []string{"1040ms..2s=capacity:0%"}, 2060 * ms},
		{"two stops that touch", []string{"1040ms..2s=capacity:0%", "2s..3s=capacity:0%"}, 3060 * ms},
		{"slow, stopped, a quarter", []string{"1s..1050ms=slow:2", "1060ms..2s=capacity:0%", "2s..3s=capacity:25%"}, 2260 * ms},
		{"in reverse order", []string{"2s..3s=capacity:25%", "1060ms..2s=capacity:0%", "1s..1050ms=slow:2"}, 2260 * ms},
		{"modes for arrivals", []string{"1010ms..1020ms=status", "1020ms..1030ms=hang", "1030ms..1040ms=reset", "1040ms..2s=refuse"}, 1100 * ms},
		{"a millionth", []string{"1s..1h=slow:1000000"}, 3600*time.Second + 100*ms - 3599*time.Microsecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := station.Config{PerSecond: 10}
			for _, text := range test.outages {
				c.Outages = append(c.Outages, outage(t, text))
			}
			s := station.New(c, nil)
			if a := s.Arrive(time.Second, 5); a.Kind != station.Accepted {
				t.Fatalf("Arrive(1s) = %v, want accepted", a.Kind)
			}
			if at, ok := s.Next(); at != test.want || !ok {
				t.Errorf("Next() = %v, %v, want %v, true", at, ok, test.want)
			}
			if d, ok := s.Finish(test.want - 1); ok {
				t.Errorf("Finish(%v) = %+v, want none before %v", test.want-1, d, test.want)
			}
			if got := finished(s, 2*time.Hour); len(got) != 1 || got[0].At != test.want || got[0].Started != time.Second {
				t.Errorf("Finish(2h) = %+v, want one from 1s to %v", got, test.want)
			}
		})
	}
}

func outage(t *testing.T, text string) station.Outage {
	t.Helper()
	o, err := station.ParseOutage(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAdmissionInOutages walks through the modes that concern arrivals: work accepted
// before goes on, windows are half-open, and Retry-After is the time left.
func TestAdmissionInOutages(t *testing.T) {
	c := station.Config{
		PerSecond: 1, Status: 502,
		RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto},
		Outages: []station.Outage{
			outage(t, "4s..5s=refuse"), outage(t, "3s..4s=reset"), outage(t, "2s..3s=hang"), outage(t, "500ms..2s"),
		},
	}
	s := station.New(c, nil)
	tests := []struct {
		now  time.Duration
		want station.Admission
	}{
		{0, station.Admission{Kind: station.Accepted}},
		{500*ms - 1, station.Admission{Kind: station.Rejected, Status: 502, RetryAfter: time.Second}},
		{500 * ms, station.Admission{Kind: station.Failed, Status: 502, RetryAfter: 2 * time.Second}},
		{1000 * ms, station.Admission{Kind: station.Failed, Status: 502, RetryAfter: time.Second}},
		{2000*ms - 1, station.Admission{Kind: station.Failed, Status: 502, RetryAfter: time.Second}},
		{2000 * ms, station.Admission{Kind: station.Hung}},
		{3000*ms - 1, station.Admission{Kind: station.Hung}},
		{3000 * ms, station.Admission{Kind: station.Reset}},
		{4000 * ms, station.Admission{Kind: station.Refused}},
		{5000*ms - 1, station.Admission{Kind: station.Refused}},
		{5000 * ms, station.Admission{Kind: station.Accepted}},
		{5000 * ms, station.Admission{Kind: station.Rejected, Status: 502, RetryAfter: time.Second}},
	}
	for _, test := range tests {
		got := s.Arrive(test.now, 0)
		if got.Job == (station.JobID{}) != (test.want.Kind != station.Accepted) {
			t.Errorf("Arrive(%v) has the job %v, and is %v", test.now, got.Job, got.Kind)
		}
		if got.Job = (station.JobID{}); got != test.want {
			t.Errorf("Arrive(%v) = %+v, want %+v", test.now, got, test.want)
		}
	}
	if got := ends(finished(s, time.Hour)); len(got) != 1 || got[0] != 6*time.Second {
		t.Errorf("ends = %v, want the last at 6s", got)
	}
}

// TestRetryAfter is about the value of the hint alone.
func TestRetryAfter(t *testing.T) {
	auto := station.RetryAfterRule{Mode: station.RetryAfterAuto}
	fixed := func(d time.Duration) station.RetryAfterRule {
		return station.RetryAfterRule{Mode: station.RetryAfterFixed, After: d}
	}
	tests := []struct {
		name     string
		config   station.Config
		accepted int // arrivals at 0 that fill the station
		now      time.Duration
		want     time.Duration
	}{
		{"none", station.Config{PerSecond: 0.1}, 1, 0, 0},
		{"fixed, whole", station.Config{PerSecond: 0.1, RetryAfter: fixed(5 * time.Second)}, 1, 0, 5 * time.Second},
		{"fixed, rounded up", station.Config{PerSecond: 0.1, RetryAfter: fixed(5*time.Second + 1)}, 1, 0, 6 * time.Second},
		{"fixed, least", station.Config{PerSecond: 0.1, RetryAfter: fixed(1)}, 1, 0, time.Second},
		{"fixed, capacity 0", station.Config{RetryAfter: fixed(time.Minute)}, 0, 0, time.Minute},
		{"auto, capacity 0", station.Config{RetryAfter: auto}, 0, 0, 0},
		{"auto, at least a second", station.Config{PerSecond: 1000, RetryAfter: auto}, 1, 0, time.Second},
		{"auto, exact seconds", station.Config{PerSecond: 0.1, RetryAfter: auto}, 1, 0, 10 * time.Second},
		{"auto, time left", station.Config{PerSecond: 0.1, RetryAfter: auto}, 1, 7 * time.Second, 3 * time.Second},
		{"auto, rounded up", station.Config{PerSecond: 0.1, RetryAfter: auto}, 1, 7*time.Second - 1, 4 * time.Second},
		{"auto, behind a queue", station.Config{PerSecond: 0.5, Queue: 3, RetryAfter: auto}, 4, 0, 8 * time.Second},
		{"auto, workers share the queue", station.Config{PerSecond: 1, Workers: 4, Queue: 8, RetryAfter: auto}, 12, 0, 12 * time.Second},
		{"auto, a stop ahead", station.Config{PerSecond: 0.1, RetryAfter: auto, Outages: []station.Outage{outage(t, "5s..35s=capacity:0%")}}, 1, 0, 40 * time.Second},
		{"auto, in a stop", station.Config{PerSecond: 0.1, RetryAfter: auto, Outages: []station.Outage{outage(t, "5s..35s=capacity:0%")}}, 1, 20 * time.Second, 20 * time.Second},
		{"auto, slow", station.Config{PerSecond: 0.1, RetryAfter: auto, Outages: []station.Outage{outage(t, "0s..1h=slow:6")}}, 1, 0, time.Minute},
		{"auto, bucket", station.Config{Model: station.TokenBucket, PerSecond: 0.25, Burst: 3, RetryAfter: auto}, 3, time.Second, 3 * time.Second},
		{"auto, bucket in a stop", station.Config{Model: station.TokenBucket, PerSecond: 0.25, RetryAfter: auto, Outages: []station.Outage{outage(t, "1s..11s=capacity:0%")}}, 1, 2 * time.Second, 12 * time.Second},
		{"auto, bucket, capacity 0", station.Config{Model: station.TokenBucket, RetryAfter: auto}, 0, 0, 0},
		{"auto, backlog beyond all moments", station.Config{PerSecond: 1.0 / (365 * 24 * 3600), Queue: 600, RetryAfter: auto}, 601, 0, 0},
		{"auto, outage for ever", station.Config{RetryAfter: auto, Outages: []station.Outage{{To: 1<<63 - 1}}}, 0, 0, 0},
		{"auto, outage nearly for ever", station.Config{RetryAfter: auto, Outages: []station.Outage{{To: 1<<63 - 2}}}, 0, 0, 9223372036 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := station.New(test.config, nil)
			for range test.accepted {
				if a := s.Arrive(0, 0); a.Kind != station.Accepted {
					t.Fatalf("Arrive(0) = %v, want accepted", a.Kind)
				}
			}
			a := s.Arrive(test.now, 0)
			if a.Kind == station.Accepted || a.Status != 503 || a.RetryAfter != test.want {
				t.Errorf("Arrive(%v) = %+v, want a refusal with 503 and Retry-After %v", test.now, a, test.want)
			}
		})
	}
}

// TestCapacityZero is the default of a Config: all are turned away at once, also where
// there would be room to wait.
func TestCapacityZero(t *testing.T) {
	for _, c := range []station.Config{
		{},
		{Workers: 4, Queue: 100},
		{Model: station.TokenBucket, Burst: 100},
	} {
		s := station.New(c, nil)
		for now := range 3 * time.Second {
			if a := s.Arrive(now, 0); a != (station.Admission{Kind: station.Rejected, Status: 503}) {
				t.Fatalf("Arrive(%v) with %+v = %+v, want rejected", now, c, a)
			}
			if now == 1000 {
				break
			}
		}
		if at, ok := s.Next(); ok {
			t.Errorf("Next() with %+v = %v, want none", c, at)
		}
	}
}

// TestBusyUntil is the guides' model: served iff t >= busyUntil.
func TestBusyUntil(t *testing.T) {
	s := station.New(station.Config{PerSecond: 1000}, nil)
	for _, step := range []struct {
		now  time.Duration
		want station.Kind
	}{
		{0, station.Accepted}, {0, station.Rejected}, {1*ms - 1, station.Rejected},
		{1 * ms, station.Accepted}, {1 * ms, station.Rejected},
		{5 * ms / 2, station.Accepted}, {7*ms/2 - 1, station.Rejected}, {7 * ms / 2, station.Accepted},
	} {
		if a := s.Arrive(step.now, 0); a.Kind != step.want {
			t.Errorf("Arrive(%v) = %v, want %v", step.now, a.Kind, step.want)
		}
	}
}

// TestNowStepsBack: moments before the latest one count as the latest, and before 0 as 0.
func TestNowStepsBack(t *testing.T) {
	s := station.New(station.Config{PerSecond: 1000, Workers: 2}, nil)
	s.Arrive(-time.Hour, 1)
	s.Arrive(10*ms, 2)
	s.Arrive(9*ms, 3)
	want := map[uint64]time.Duration{1: 2 * ms, 2: 12 * ms, 3: 12 * ms}
	if got := ends(finished(s, time.Second)); len(got) != 3 || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("ends = %v, want %v", got, want)
	}
	if got := finished(s, 0); got != nil {
		t.Errorf("Finish(0) again = %v, want none", got)
	}
}

// TestCancel takes a job out at every stage, in both modes. One slot serves 10 a second;
// jobs 1, 2 and 3 arrive at 0, and one of them is cancelled at 50 ms, then all end.
func TestCancel(t *testing.T) {
	type row struct {
		tag, at   int64 // ms
		abandoned bool
	}
	tests := []struct {
		name   string
		cancel bool
		job    int
		at     time.Duration
		want   bool
		rows   []row
	}{
		{"process, in service", false, 1, 50 * ms, true, []row{{1, 100, true}, {2, 200, false}, {3, 300, false}}},
		{"process, queued", false, 2, 50 * ms, true, []row{{1, 100, false}, {2, 200, true}, {3, 300, false}}},
		{"process, finished", false, 1, 100 * ms, false, []row{{1, 100, false}, {2, 200, false}, {3, 300, false}}},
		{"process, a nanosecond before", false, 1, 100*ms - 1, true, []row{{1, 100, true}, {2, 200, false}, {3, 300, false}}},
		{"process, no job", false, 0, 50 * ms, false, []row{{1, 100, false}, {2, 200, false}, {3, 300, false}}},
		{"cancel, in service", true, 1, 50 * ms, true, []row{{2, 150, false}, {3, 250, false}}},
		{"cancel, head of the queue", true, 2, 50 * ms, true, []row{{1, 100, false}, {3, 200, false}}},
		{"cancel, tail of the queue", true, 3, 50 * ms, true, []row{{1, 100, false}, {2, 200, false}}},
		{"cancel, second in service", true, 2, 150 * ms, true, []row{{1, 100, false}, {3, 250, false}}},
		{"cancel, finished", true, 1, 100 * ms, false, []row{{1, 100, false}, {2, 200, false}, {3, 300, false}}},
		{"cancel, no job", true, 0, 50 * ms, false, []row{{1, 100, false}, {2, 200, false}, {3, 300, false}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := station.New(station.Config{PerSecond: 10, Queue: 2, CancelAbandoned: test.cancel}, nil)
			jobs := make([]station.JobID, 4)
			for i := range 3 {
				jobs[i+1] = s.Arrive(0, uint64(i+1)).Job
			}
			if got := s.Cancel(test.at, jobs[test.job]); got != test.want {
				t.Errorf("Cancel(%v, job %d) = %v, want %v", test.at, test.job, got, test.want)
			}
			if s.Cancel(test.at, jobs[test.job]) {
				t.Errorf("Cancel(%v, job %d) again = true, want false", test.at, test.job)
			}
			if test.cancel && test.want {
				// Its place is free at once: the station holds three again.
				if a := s.Arrive(test.at, 9); a.Kind != station.Accepted {
					t.Errorf("Arrive after Cancel = %v, want accepted", a.Kind)
				} else if !s.Cancel(test.at, a.Job) {
					t.Errorf("Cancel of the newcomer = false")
				}
			}
			var rows []row
			for _, d := range finished(s, time.Second) {
				rows = append(rows, row{int64(d.Tag), d.At.Milliseconds(), d.Abandoned})
			}
			if !slices.Equal(rows, test.rows) {
				t.Errorf("done = %v, want %v", rows, test.rows)
			}
			for i, j := range jobs {
				if s.Cancel(time.Second, j) {
					t.Errorf("Cancel of job %d when all are done = true, want false", i)
				}
			}
		})
	}
}

// TestJobIDsAreNotReused keeps the handles of many short jobs that share a slot.
func TestJobIDsAreNotReused(t *testing.T) {
	s := station.New(station.Config{PerSecond: 1000, CancelAbandoned: true}, nil)
	seen := map[station.JobID]bool{}
	for i := range 1000 {
		now := time.Duration(i) * ms
		a := s.Arrive(now, uint64(i))
		if seen[a.Job] {
			t.Fatalf("job %d has the handle %v of an earlier job", i, a.Job)
		}
		for old := range seen {
			if s.Cancel(now, old) {
				t.Fatalf("Cancel(%v, %v) = true for a job that is done", now, old)
			}
		}
		seen[a.Job] = true
		if finished(s, now); len(seen) > 20 {
			clear(seen)
		}
	}
}

// TestBooks plays random scripts: every arrival ends as exactly one of finished, cancelled,
// rejected, failed, hung, reset, refused, still inside; no tag comes back twice; and no
// more are inside than there is room for.
func TestBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := station.Config{
			Model:           rapid.SampledFrom([]station.Model{station.Slots, station.Slots, station.TokenBucket}).Draw(t, "model"),
			PerSecond:       rapid.SampledFrom([]float64{0, 1, 3, 1e3, 1e9}).Draw(t, "per second"),
			Workers:         rapid.SampledFrom([]int{0, 1, 3, 10_000}).Draw(t, "workers"),
			Queue:           rapid.SampledFrom([]int{0, 1, 5, 10_000}).Draw(t, "queue"),
			Burst:           rapid.IntRange(0, 5).Draw(t, "burst"),
			ServiceExp:      rapid.Bool().Draw(t, "exp"),
			CancelAbandoned: rapid.Bool().Draw(t, "cancel"),
			Outages:         drawOutages(t, time.Second),
		}
		s := station.New(c, rand.New(rand.NewPCG(3, 4)))
		s.SetChance(rand.New(rand.NewPCG(5, 6)))
		var now time.Duration
		var kinds [station.Refused + 1]int
		var arrivals, done, cancelled int
		var jobs []station.JobID
		collected := map[uint64]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now += drawLength(t, "gap", 200*ms)
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step < 6:
				a := s.Arrive(now, uint64(arrivals))
				kinds[a.Kind]++
				jobs = append(jobs, a.Job)
				arrivals++
			case step < 8 && arrivals > 0:
				j := jobs[rapid.IntRange(0, arrivals-1).Draw(t, "which")]
				if s.Cancel(now, j) && c.CancelAbandoned {
					cancelled++
				}
			default:
				for _, d := range finished(s, now) {
					if collected[d.Tag] || d.Arrived > d.Started || d.Started > d.At || d.At > now {
						t.Fatalf("Finish(%v) = %+v, want a new job with its moments in order", now, d)
					}
					collected[d.Tag] = true
					done++
				}
			}
		}
		done += len(finished(s, now))
		inside := s.Busy() + s.Queued()
		if room := max(c.Workers, 1) + c.Queue; inside > room || s.Busy() > max(c.Workers, 1) || s.Queued() > c.Queue {
			t.Fatalf("inside = %d + %d, want at most %d", s.Busy(), s.Queued(), room)
		}
		if got := done + cancelled + inside; got != kinds[station.Accepted] {
			t.Fatalf("done %d + cancelled %d + inside %d = %d, want the %d accepted", done, cancelled, inside, got, kinds[station.Accepted])
		}
		sum := 0
		for _, n := range kinds {
			sum += n
		}
		if sum != arrivals {
			t.Fatalf("kinds %v sum to %d, want %d arrivals", kinds, sum, arrivals)
		}
		for _, d := range finished(s, 1e6*time.Hour) {
			if collected[d.Tag] {
				t.Fatalf("tag %d came back twice", d.Tag)
			}
		}
		if left := s.Busy() + s.Queued(); left != 0 {
			t.Fatalf("left for ever = %d", left)
		}
	})
}

// TestSameStreamSameService: service times come from the stream alone, in the order of
// arrival, and another stream gives others.
func TestSameStreamSameService(t *testing.T) {
	run := func(seed uint64) []station.Done {
		s := station.New(station.Config{PerSecond: 1000, Workers: 3, Queue: 100, ServiceExp: true}, rand.New(rand.NewPCG(seed, 0)))
		for i := range uint64(100) {
			s.Arrive(0, i)
		}
		return finished(s, time.Hour)
	}
	if a, b := run(1), run(1); !slices.Equal(a, b) {
		t.Error("one seed gives two runs")
	}
	if a, b := run(1), run(2); slices.Equal(a, b) {
		t.Error("two seeds give one run")
	}
}

func TestNewPanics(t *testing.T) {
	for _, test := range []struct {
		name   string
		config station.Config
	}{
		{"not valid", station.Config{Workers: -1}},
		{"no stream", station.Config{PerSecond: 1, ServiceExp: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("New did not panic")
				}
			}()
			station.New(test.config, nil)
		})
	}
}

// TestFarMoments goes to the end of what a Duration holds: nothing overflows, and what
// would end beyond it never ends.
func TestFarMoments(t *testing.T) {
	const end = time.Duration(1<<63 - 1)
	auto := station.RetryAfterRule{Mode: station.RetryAfterAuto}
	for _, test := range []struct {
		name   string
		config station.Config
		ends   bool
	}{
		{"1/s", station.Config{PerSecond: 1, Queue: 2, RetryAfter: auto}, false},
		{"1/ns", station.Config{PerSecond: 1e9, Queue: 2}, false},
		{"a stop until the end", station.Config{PerSecond: 1, Outages: []station.Outage{{From: 1, To: end, Mode: station.ModeCapacity}}}, false},
		{"slow at the end", station.Config{PerSecond: 1, Outages: []station.Outage{{From: end - 1, To: end, Mode: station.ModeSlow, Factor: 1e6}}}, false},
		{"token bucket", station.Config{PerSecond: 1, Model: station.TokenBucket}, true},
		{"a year of service for each", station.Config{PerSecond: 1.0 / (365 * 24 * 3600), Queue: 10_000, RetryAfter: auto}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := station.New(test.config, nil)
			for range 20_000 {
				if a := s.Arrive(end-1, 0); a.RetryAfter != 0 {
					t.Fatalf("Arrive(end-1) = %+v, want no hint, for that moment never comes", a)
				}
			}
			if at, ok := s.Next(); ok != test.ends || ok && at != end-1 {
				t.Errorf("Next() = %v, %v, want an end: %v", at, ok, test.ends)
			}
			finished(s, end)
			s.Arrive(end, 0)
			finished(s, end)
		})
	}
}

// zeros is a source of chance that draws 0, and with it service times of 0.
type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// TestNoServiceTakesNoTime: a service time that is drawn as 0 still ends after its start,
// and after the stop in which it starts.
func TestNoServiceTakesNoTime(t *testing.T) {
	s := station.New(station.Config{
		PerSecond: 1, Queue: 1, ServiceExp: true, Outages: []station.Outage{outage(t, "2s..3s=capacity:0%")},
	}, rand.New(zeros{}))
	for _, step := range []struct{ arrive, end time.Duration }{
		{time.Second, time.Second + 1},
		{2*time.Second - 1, 2 * time.Second},
		{2500 * ms, 3*time.Second + 1},
	} {
		s.Arrive(step.arrive, 0)
		if at, ok := s.Next(); at != step.end || !ok {
			t.Errorf("Next() after Arrive(%v) = %v, %v, want %v", step.arrive, at, ok, step.end)
		}
		finished(s, step.end)
	}
}

// TestEndAtAStop: three jobs at 1.5/s end at exactly 2 s, where their services, rounded to
// 2^-64 ns each, have added up to more; a stop that begins there must not hold the third.
func TestEndAtAStop(t *testing.T) {
	s := station.New(station.Config{PerSecond: 1.5, Queue: 2, Outages: []station.Outage{outage(t, "2s..5s=capacity:0%")}}, nil)
	for tag := range uint64(3) {
		s.Arrive(0, tag)
	}
	if got := ends(finished(s, time.Hour)); got[2] != 2*time.Second {
		t.Errorf("the third ended at %v, want 2s", got[2])
	}
}

// TestTiesEndInOrderOfStart: eight jobs that start and end together.
func TestTiesEndInOrderOfStart(t *testing.T) {
	s := station.New(station.Config{PerSecond: 8, Workers: 8}, nil)
	for tag := range uint64(8) {
		s.Arrive(0, tag)
	}
	for i, d := range finished(s, time.Second) {
		if d.Tag != uint64(i) {
			t.Errorf("end %d is of job %d", i, d.Tag)
		}
	}
}

// TestFinishIsInOrder lets completions pile up, and hands some out in between.
func TestFinishIsInOrder(t *testing.T) {
	s := station.New(station.Config{Model: station.TokenBucket, PerSecond: 1, Burst: 1000}, nil)
	var arrived, handedOut uint64
	for range 10 {
		for range 30 {
			s.Arrive(0, arrived)
			arrived++
		}
		for range 13 {
			if d, ok := s.Finish(0); !ok || d.Tag != handedOut {
				t.Fatalf("Finish = job %d, %v, want job %d", d.Tag, ok, handedOut)
			}
			handedOut++
		}
	}
	if got := uint64(len(finished(s, 0))); got != arrived-handedOut {
		t.Errorf("left = %d, want %d", got, arrived-handedOut)
	}
}

// TestCancelAmongMany takes two thirds of 3000 jobs out of their slots in random order: the
// others end at the moments they would have ended at, in order.
func TestCancelAmongMany(t *testing.T) {
	const n = 3000
	run := func(cancel int) []station.Done {
		s := station.New(station.Config{PerSecond: n, Workers: n, ServiceExp: true, CancelAbandoned: true}, rand.New(rand.NewPCG(8, 8)))
		jobs := make([]station.JobID, n)
		for tag := range jobs {
			jobs[tag] = s.Arrive(0, uint64(tag)).Job
		}
		for _, tag := range rand.New(rand.NewPCG(9, 9)).Perm(n)[:cancel] {
			if !s.Cancel(0, jobs[tag]) {
				t.Fatalf("Cancel(0, job %d) = false", tag)
			}
		}
		return finished(s, time.Hour)
	}
	all, rest := run(0), run(n*2/3)
	if len(rest) != n/3 || !slices.IsSortedFunc(rest, func(a, b station.Done) int { return cmp.Compare(a.At, b.At) }) {
		t.Fatalf("%d jobs ended, sorted or not, want %d in order", len(rest), n/3)
	}
	want := ends(all)
	for _, d := range rest {
		if d.At != want[d.Tag] {
			t.Errorf("job %d ended at %v, want %v", d.Tag, d.At, want[d.Tag])
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{station.Accepted.String(), "accepted"}, {station.Refused.String(), "refused"}, {station.Kind(9).String(), "kind 9"},
		{station.Slots.String(), "slots"}, {station.TokenBucket.String(), "token-bucket"}, {station.Model(9).String(), "model 9"},
		{station.ModeStatus.String(), "status"}, {station.ModeCapacity.String(), "capacity"}, {station.Mode(9).String(), "mode 9"},
	} {
		if test.got != test.want {
			t.Errorf("String() = %q, want %q", test.got, test.want)
		}
	}
}
