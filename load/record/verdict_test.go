package record

import "testing"

func TestJudge(t *testing.T) {
	const below, above = 100, 101
	capacity := 100.0
	nothing := 0.0
	for _, c := range []struct {
		name     string
		index    *float64
		peak     int64
		capacity *float64
		want     Verdict
	}{
		{"convoy", ptr(0.25), above, &capacity, VerdictConvoy},
		{"convoy, perfect", ptr(1.0), above, &capacity, VerdictConvoy},
		{"clumped: sharp and harmless", ptr(1.0), below, &capacity, VerdictClumped},
		{"clumped: partly and harmless", ptr(0.10), below, &capacity, VerdictClumped},
		{"clumped: partly and too much, the hole of the matrix", ptr(0.10), above, &capacity, VerdictClumped},
		{"clumped: just under a convoy and too much", ptr(0.2499), above, &capacity, VerdictClumped},
		{"overload", ptr(0.0999), above, &capacity, VerdictOverload},
		{"overload without any synchrony", ptr(0.0), above, &capacity, VerdictOverload},
		{"clear", ptr(0.0999), below, &capacity, VerdictClear},
		{"insufficient and too much", nil, above, &capacity, VerdictOverload},
		{"insufficient and harmless", nil, below, &capacity, VerdictClear},
		{"nobody knows the capacity: convoy", ptr(0.25), above, nil, VerdictConvoy},
		{"nobody knows the capacity: clumped", ptr(0.2), above, nil, VerdictClumped},
		{"nobody knows the capacity: clear", ptr(0.05), above, nil, VerdictClear},
		{"nobody knows anything", nil, above, nil, VerdictClear},
		{"no capacity at all and one retry", nil, 1, &nothing, VerdictOverload},
		{"no capacity at all and none", nil, 0, &nothing, VerdictClear},
		{"no capacity at all and waves", ptr(1.0), 5, &nothing, VerdictConvoy},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Evidence{Index: c.index, Peak: c.peak, Capacity: c.capacity}
			if got := Judge(e); got != c.want {
				t.Errorf("Judge(%+v) = %s, want %s", e, got, c.want)
			}
		})
	}
}

func TestSharedSeed(t *testing.T) {
	for _, c := range []struct {
		name     string
		jittered bool
		mode     *float64
		want     bool
	}{
		{"all alike", true, ptr(1.0), true},
		{"just over half", true, ptr(0.51), true},
		{"half", true, ptr(0.5), false},
		{"no figure", true, nil, false},
		{"alike because nothing is drawn", false, ptr(1.0), false},
	} {
		if got := sharedSeed(c.jittered, c.mode); got != c.want {
			t.Errorf("%s: sharedSeed = %t, want %t", c.name, got, c.want)
		}
	}
}

// TestHeadline: CLEAR stands by itself only where retries were judged and somebody was served.
func TestHeadline(t *testing.T) {
	run := func(v Verdict, index *float64, succeeded int64) Run {
		return Run{Convoy: Convoy{Verdict: v, ConvoyIndex: index}, Operations: Operations{Started: 9, Succeeded: succeeded}}
	}
	low := 0.01
	for _, tt := range []struct {
		name string
		run  Run
		want Verdict
	}{
		{"clear", run(VerdictClear, &low, 1), VerdictClear},
		{"without an index", run(VerdictClear, nil, 9), VerdictUnjudged},
		{"nobody served", run(VerdictClear, &low, 0), VerdictUnserved},
		{"neither", run(VerdictClear, nil, 0), VerdictUnjudged},
		{"overload without an index", run(VerdictOverload, nil, 0), VerdictOverload},
		{"convoy", run(VerdictConvoy, &low, 0), VerdictConvoy},
	} {
		if got := tt.run.Headline(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
