package record

import (
	"slices"
	"testing"
	"time"
)

func TestValidity(t *testing.T) {
	lateWords := "the generator was late: 1 % of the sends left 38.2ms or more after they were due, and a 100ms bucket allows 10ms; " +
		"buckets of 500ms would fit, or about 26 % of this load"
	spreadWords := "the fleet did not start together: its first wave took 1.4s to arrive (p99 - p1), and a 100ms bucket allows 50ms; " +
		"buckets of 5s would fit, or about 3 % of these clients"
	for _, c := range []struct {
		name         string
		late, spread *int64
		want         []string
	}{
		{"nothing measured", nil, nil, nil},
		{"just kept up", ptr(int64(10 * time.Millisecond)), ptr(int64(50 * time.Millisecond)), nil},
		{"late", ptr(int64(38_234_567)), nil, []string{lateWords}},
		{"apart", nil, ptr(int64(1400 * time.Millisecond)), []string{spreadWords}},
		{"both", ptr(int64(38_234_567)), ptr(int64(1400 * time.Millisecond)), []string{lateWords, spreadWords}},
		{"1 ns too late", ptr(int64(10*time.Millisecond) + 1), nil, []string{
			"the generator was late: 1 % of the sends left 10ms or more after they were due, and a 100ms bucket allows 10ms; " +
				"buckets of 200ms would fit, or about 99 % of this load"}},
		{"hopeless", nil, ptr(int64(time.Hour)), []string{
			"the fleet did not start together: its first wave took 1h0m0s to arrive (p99 - p1), and a 100ms bucket allows 50ms; " +
				"buckets of 2h46m40s would fit, or less than 1 % of these clients"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := Run{Bucket: 100 * time.Millisecond}
			run.Lateness.P99 = c.late
			run.Generator.StartSpread = c.spread
			if got := Validity(run); !slices.Equal(got, c.want) {
				t.Errorf("Validity =\n%q, want\n%q", got, c.want)
			}
			if run.Engine = EngineVirtual; Validity(run) != nil {
				t.Errorf("in virtual time Validity = %q, want none: nobody is late there", Validity(run))
			}
		})
	}
}

// Case D-13: with a ramp there is no start spread; without one it is p99 - p1 of the first wave at the target, and of
// nothing else.
func TestStartSpread(t *testing.T) {
	for _, together := range []bool{true, false} {
		r := New(Config{StartTogether: together})
		for i := range 2001 {
			r.Arrival(Arrival{At: time.Duration(i) * 100 * time.Microsecond, Opening: true})
			r.Arrival(Arrival{At: time.Duration(i) * time.Millisecond}) // a later operation's first attempt
			r.Arrival(Arrival{At: time.Duration(i) * time.Millisecond, Attempt: 1})
		}
		run := r.Summarise(End{At: 3 * time.Second})
		got := run.Generator.StartSpread
		switch {
		case !together && (got != nil || !run.Generator.KeptUp):
			t.Errorf("start spread with a ramp = %v, want none", *got)
		case together && (*got < int64(195*time.Millisecond) || *got > int64(197*time.Millisecond)):
			t.Errorf("start spread = %v, want 196 ms", time.Duration(*got))
		case together && run.Generator.KeptUp:
			t.Error("KeptUp with a start spread of two buckets")
		}
	}
}
