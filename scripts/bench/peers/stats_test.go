package main

import (
	"testing"
	"time"

	"stormtest/scripts/bench/figures"
	"stormtest/scripts/bench/stamp"
)

// hundred returns 100 connections of two requests each: the first ones 1 ms apart from 10 ms on, in
// falling order, the second ones 2 ms apart from 1 s on.
func hundred() []stamp.Stamp {
	var list []stamp.Stamp
	for i := range 100 {
		list = append(list,
			stamp.Stamp{At: time.Duration(110-i) * time.Millisecond, Connection: uint32(i)},
			stamp.Stamp{At: time.Second + time.Duration(2*i)*time.Millisecond, Connection: uint32(i), Request: 1})
	}
	return list
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name  string
		which burst
		n     int
		want  spread
		err   string
	}{
		{"first", first, 100, spread{98 * time.Millisecond, 99 * time.Millisecond}, ""},
		{"second", second, 100, spread{196 * time.Millisecond, 198 * time.Millisecond}, ""},
		// Of 200 in order p1 is the third, 13 ms, and p99 the last but one, 1.196 s.
		{"all", all, 200, spread{1183 * time.Millisecond, 1187 * time.Millisecond}, ""},
		{"too few", first, 101, spread{}, "100 of 101 arrived"},
		{"too many", all, 100, spread{}, "200 of 100 arrived"},
	} {
		got, err := spreadOf(hundred(), c.which, c.n)
		if got != c.want || err != nil && err.Error() != c.err || err == nil && c.err != "" {
			t.Errorf("%s: spreadOf() = %v, %v, want %v, %q", c.name, got, err, c.want, c.err)
		}
	}
}

// A thousand a second for 3 s, one more after 10 s, and a start that is not the clock's.
func TestRate(t *testing.T) {
	m := measure{cpu: 6002 * time.Microsecond}
	for i := range 3000 {
		m.stamps = append(m.stamps, stamp.Stamp{At: time.Minute + time.Duration(i)*time.Millisecond})
	}
	m.stamps = append(m.stamps, stamp.Stamp{At: time.Minute + 10*time.Second})
	got, err := rateOf(m, time.Second, time.Second)
	if want := (rate{1000, 2 * time.Microsecond}); err != nil || got != want {
		t.Errorf("rateOf() = %v, %v, want %v", got, err, want)
	}
	if got, err := rateOf(m, time.Second, 10*time.Second); err == nil {
		t.Errorf("rateOf() of a run that ended early = %v, want an error", got)
	}
	if got, err := rateOf(measure{}, 0, 0); err == nil {
		t.Errorf("rateOf() of nothing = %v, want an error", got)
	}
}

func TestMedian(t *testing.T) {
	if got := figures.Median([]int64{9, 1, 5}); got != 5 {
		t.Errorf("median of 9, 1, 5 = %d, want 5", got)
	}
	if got := figures.Median([]int64{4, 1, 3, 2}); got != 2 {
		t.Errorf("median of 4, 1, 3, 2 = %d, want 2", got)
	}
}
