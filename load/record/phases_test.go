package record

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The names and bounds of phases, whatever order the triggers are given in.
func TestPhaseNames(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name     string
		triggers []Trigger
		end      time.Duration
		want     string
	}{
		{"no trigger", nil, 30 * s, "[]"},
		{"one", []Trigger{{From: 10 * s, To: 15 * s}}, 30 * s, "[before 0s..10s outage 10s..15s after 15s..30s]"},
		{"at once", []Trigger{{To: 5 * s}}, 30 * s, "[outage 0s..5s after 5s..30s]"},
		{"to the end", []Trigger{{From: 10 * s, To: 40 * s}}, 30 * s, "[before 0s..10s outage 10s..30s]"},
		{"over before it began", []Trigger{{From: 10 * s, To: 15 * s}}, 10 * s, "[]"},
		{"two, the later one first", []Trigger{{From: 20 * s, To: 25 * s, Surge: true}, {From: 10 * s, To: 15 * s}}, 30 * s,
			"[before 0s..10s outage 1 10s..15s between 1 and 2 15s..20s surge 2 20s..25s after 25s..30s]"},
		{"two, and cut before the second", []Trigger{{From: 10 * s, To: 15 * s}, {From: 20 * s, To: 25 * s}}, 18 * s,
			"[before 0s..10s outage 1 10s..15s between 1 and 2 15s..18s]"},
		{"two that touch", []Trigger{{From: 10 * s, To: 15 * s}, {From: 15 * s, To: 20 * s}}, 30 * s,
			"[before 0s..10s outage 1 10s..15s outage 2 15s..20s after 20s..30s]"},
		{"two that overlap", []Trigger{{From: 10 * s, To: 15 * s}, {From: 12 * s, To: 20 * s, Surge: true}}, 30 * s,
			"[before 0s..10s outage and surge 10s..20s after 20s..30s]"},
		{"one in another", []Trigger{{From: 10 * s, To: 20 * s}, {From: 12 * s, To: 14 * s}}, 30 * s, "[before 0s..10s outage 10s..20s after 20s..30s]"},
		{"one of no length", []Trigger{{From: 10 * s, To: 10 * s}}, 30 * s, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{}
			for _, p := range phases(tt.triggers, nil, 100*time.Millisecond, tt.end) {
				got = append(got, fmt.Sprintf("%s %v..%v", p.Name, p.From, p.To))
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("phases = %v, want %v", got, tt.want)
			}
		})
	}
}

// A bucket that a boundary cuts is of the phase that it begins in, and the rate is over the time of these buckets. What was
// counted after the end is of the last phase. Nothing is counted twice or left out.
func TestPhasesCountWholeBuckets(t *testing.T) {
	const width = 100 * time.Millisecond
	list := make([]Bucket, 11) // the last begins when the run is over
	for i := range list {
		n := int64(1) << i
		list[i] = Bucket{At: time.Duration(i) * width, Arrivals: 3 * n, First: n, Retries: 2 * n, Served: 4 * n, Wasted: n, Rejected: n}
	}
	got := phases([]Trigger{{From: 250 * time.Millisecond, To: 600 * time.Millisecond}}, list, width, 950*time.Millisecond)
	wantFirst := []int64{1 + 2 + 4, 8 + 16 + 32, 64 + 128 + 256 + 512 + 1024}
	wantSpan := []float64{0.3, 0.3, 0.35} // s of buckets: the run ended in the tenth
	if len(got) != len(wantFirst) {
		t.Fatalf("%d phases: %+v", len(got), got)
	}
	for i, p := range got {
		n := wantFirst[i]
		want := Phase{Arrivals: 3 * n, First: n, Retries: 2 * n, Served: 4 * n, Wasted: n, Rejected: n}
		if counts := (Phase{Arrivals: p.Arrivals, First: p.First, Retries: p.Retries, Served: p.Served, Wasted: p.Wasted, Rejected: p.Rejected}); counts != want {
			t.Errorf("%s counts %+v, want %+v", p.Name, counts, want)
		}
		same(t, p.Name+" amplification", p.Amplification, ptr(3.0))
		same(t, p.Name+" wasted share", p.WastedShare, ptr(0.25))
		same(t, p.Name+" goodput", p.GoodputPerSecond, ptr(float64(3*n)/wantSpan[i]))
	}
}

// A phase in which nothing happened has a goodput of 0, and no ratios; one in which no bucket begins has no goodput.
func TestPhasesOfNothing(t *testing.T) {
	for _, p := range phases([]Trigger{{From: 110 * time.Millisecond, To: 190 * time.Millisecond}}, make([]Bucket, 3), 100*time.Millisecond, 300*time.Millisecond) {
		if p.Amplification != nil || p.WastedShare != nil {
			t.Errorf("%s has ratios of nothing: %+v", p.Name, p)
		}
		if begins := p.Name != "outage"; (p.GoodputPerSecond != nil) != begins {
			t.Errorf("%s: goodput %v, want one: %v", p.Name, p.GoodputPerSecond, begins)
		}
	}
}

// Clients do not know what a target does for nobody: of it there is no share, in no phase.
func TestPhasesOfClientsKnowNothingWasted(t *testing.T) {
	const second = time.Second
	r := New(Config{Shards: 1, Duration: 40 * second, OpenLoop: true, Triggers: []Trigger{{From: 10 * second, To: 15 * second}}})
	r.OperationStarted(0)
	for at := time.Duration(0); at < 40*second; at += 100 * time.Millisecond {
		r.Arrival(Arrival{At: at})
		r.Served(at, false)
	}
	for measuredAt, known := range map[string]bool{"target": true, "client": false} {
		run := r.Summarise(End{At: 40 * second, ArrivalsMeasuredAt: measuredAt})
		for _, p := range run.Phases {
			if (p.WastedShare != nil) != known {
				t.Errorf("measured at the %s: wasted share %s is %v", measuredAt, p.Name, p.WastedShare)
			}
		}
		for _, name := range []string{"wasted_share_before", "wasted_share_during", "wasted_share_after", "wasted_share_last_minute"} {
			if m, _ := MetricNamed(name); (m.Value(&run) != nil) != known {
				t.Errorf("measured at the %s: %s has a value: %v", measuredAt, name, !known)
			}
		}
	}
}

// Of two outages the healthy time is the one before the first: between them the target was still down, and against that
// any goodput is a recovery.
func TestRecoveryIsAgainstTheTimeBeforeTheFirstTrigger(t *testing.T) {
	const second = time.Second
	r := New(Config{Shards: 1, Duration: 60 * second, OpenLoop: true, Triggers: []Trigger{{From: 30 * second, To: 35 * second, Surge: true}, {From: 10 * second, To: 15 * second}}})
	for at := time.Duration(0); at < 60*second; at += 10 * time.Millisecond {
		retry := at >= 15*second && at%(20*time.Millisecond) == 0
		r.Arrival(Arrival{At: at, Attempt: map[bool]int{true: 1}[retry]})
		r.Served(at, at >= 10*second && at%(100*time.Millisecond) != 0) // a tenth of it is good
	}
	run := r.Summarise(End{At: 60 * second})
	same(t, "goodput before", run.Recovery.GoodputBefore, ptr(100.0))
	same(t, "goodput at the end", run.Recovery.GoodputLast, ptr(10.0))
	same(t, "recovered", run.Recovery.RecoveredAt, nil)
	same(t, "amplification of the last minute", run.Recovery.AmplificationLast, ptr(2.0))
	same(t, "wasted share of the last minute", run.Recovery.WastedShareLast, ptr(0.9))
	if run.Recovery.Watched != 25*second || run.Recovery.WatchNeeded != RecoveryWatchDefault {
		t.Errorf("watched %v of %v, want 25 s of 120 s", run.Recovery.Watched, run.Recovery.WatchNeeded)
	}
	if slices.Contains(run.Convoy.Flags, FlagMetastable) {
		t.Error("METASTABLE after 25 s")
	}
}

// The last minute is 60 s of a run that was watched for longer, and no more than since the outage of another.
func TestLastMinute(t *testing.T) {
	for _, c := range []struct {
		end  time.Duration
		want float64 // arrivals for each first attempt
	}{{80 * time.Second, 2}, {100 * time.Second, 2}, {101 * time.Second, 4}, {160 * time.Second, 4}} {
		r := New(Config{Shards: 1, Duration: c.end, OpenLoop: true, Triggers: []Trigger{{From: 10 * time.Second, To: 40 * time.Second}}})
		for at := time.Duration(0); at < c.end; at += 100 * time.Millisecond {
			r.Served(at, false)
			second := int64(at / time.Second)
			switch { // one first attempt a second; three more retries in all the others' place from 41 s on
			case at%time.Second == 0:
				r.Arrival(Arrival{At: at})
			case at%time.Second <= 100*time.Millisecond || second >= 41 && second < 200 && at%time.Second <= 300*time.Millisecond && c.want == 4:
				r.Arrival(Arrival{At: at, Attempt: 1})
			case second < 40: // of which nothing may be seen
				r.Arrival(Arrival{At: at, Attempt: 1})
			}
		}
		same(t, fmt.Sprintf("amplification of the last minute of %v", c.end), r.Summarise(End{At: c.end}).Recovery.AmplificationLast, &c.want)
	}
}

// Of a run that is looked at while it goes on there are the phases so far, and nobody says yet that it has not recovered.
func TestPhasesWhileTheRunGoesOn(t *testing.T) {
	const second = time.Second
	r := New(Config{Shards: 1, Duration: 60 * second, OpenLoop: true, Triggers: []Trigger{{From: 10 * second, To: 15 * second}}})
	for at := time.Duration(0); at < 12*second; at += 100 * time.Millisecond {
		r.Arrival(Arrival{At: at})
		if at < 10*second {
			r.Served(at, false)
		}
	}
	for _, c := range []struct {
		at   time.Duration
		want string
	}{
		{5 * second, "[]"},
		{12 * second, "[before 0s..10s 100 outage 10s..12s 20]"},
	} {
		got := []string{}
		run := r.Interim(End{At: c.at})
		for _, p := range run.Phases {
			got = append(got, fmt.Sprintf("%s %v..%v %d", p.Name, p.From, p.To, p.Arrivals))
		}
		if fmt.Sprint(got) != c.want || run.Recovery.Watched != 0 || len(run.Convoy.Flags) > 0 {
			t.Errorf("at %v: phases %v, watched %v, flags %v; want %v and none", c.at, got, run.Recovery.Watched, run.Convoy.Flags, c.want)
		}
	}
}
