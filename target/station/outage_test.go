package station_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"stormtest/target/station"
)

func TestParseOutage(t *testing.T) {
	tests := []struct {
		text string
		want station.Outage
		back string // String of it
	}{
		{"2s..4s", station.Outage{From: 2 * time.Second, To: 4 * time.Second}, "2s..4s=status"},
		{"0..5s=status", station.Outage{To: 5 * time.Second}, "0s..5s=status"},
		{"0s..1ns=hang", station.Outage{To: 1, Mode: station.ModeHang}, "0s..1ns=hang"},
		{"1.5s..1m=reset", station.Outage{From: 1500 * ms, To: time.Minute, Mode: station.ModeReset}, "1.5s..1m0s=reset"},
		{"10ms..1h2m3s=refuse", station.Outage{From: 10 * ms, To: 3723 * time.Second, Mode: station.ModeRefuse}, "10ms..1h2m3s=refuse"},
		{"2s..4s=slow:3", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeSlow, Factor: 3}, "2s..4s=slow:3"},
		{"2s..4s=slow:1", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeSlow, Factor: 1}, "2s..4s=slow:1"},
		{"2s..4s=slow:001.50", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeSlow, Factor: 1.5}, "2s..4s=slow:1.5"},
		{"2s..4s=slow:1000000", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeSlow, Factor: 1e6}, "2s..4s=slow:1000000"},
		{"2s..4s=capacity:7%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity, Factor: 0.07}, "2s..4s=capacity:7%"},
		{"2s..4s=capacity:0%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity}, "2s..4s=capacity:0%"},
		{"2s..4s=capacity:100%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity, Factor: 1}, "2s..4s=capacity:100%"},
		{"2s..4s=capacity:12.5%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity, Factor: 0.125}, "2s..4s=capacity:12.5%"},
		{"2s..4s=capacity:0.2000007%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity, Factor: 0.002000007}, "2s..4s=capacity:0.2000007%"},
		{"2s..4s=capacity:0.0000001%", station.Outage{From: 2 * time.Second, To: 4 * time.Second, Mode: station.ModeCapacity, Factor: 1e-9}, "2s..4s=capacity:0.0000001%"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := station.ParseOutage(test.text)
			if err != nil || got != test.want {
				t.Errorf("ParseOutage(%q) = %+v, %v, want %+v", test.text, got, err, test.want)
			}
			if back := got.String(); back != test.back {
				t.Errorf("String() = %q, want %q", back, test.back)
			}
		})
	}
}

// TestParseOutageErrors: each names the text, the part that is wrong, and what is allowed.
func TestParseOutageErrors(t *testing.T) {
	tests := []struct {
		text  string
		parts []string
	}{
		{"", []string{`""`, "FROM..TO[=MODE]"}},
		{"2s", []string{`"2s"`, "FROM..TO[=MODE]", "slow:N"}},
		{"2s-4s", []string{"FROM..TO[=MODE]"}},
		{"2..4s", []string{`from = "2"`, "unit"}},
		{"..4s", []string{`from = ""`, "unit"}},
		{"2s..", []string{`to = ""`, "unit"}},
		{" 2s..4s", []string{`from = " 2s"`, "unit"}},
		{"2s.. 4s", []string{`to = " 4s"`}},
		{"-1s..4s", []string{"from = -1s", "0 or later"}},
		{"4s..4s", []string{"to = 4s", "later than from = 4s"}},
		{"4s..2s", []string{"to = 2s", "later than from = 4s"}},
		{"0s..9223372036854775808ns", []string{`to = "9223372036854775808ns"`}},
		{"2s..4s=", []string{`mode = ""`, "status, hang, reset, refuse, slow:N, capacity:P% or errors:P%"}},
		{"2s..4s=down", []string{`mode = "down"`, "status, hang, reset, refuse, slow:N, capacity:P% or errors:P%"}},
		{"2s..4s=Status", []string{`mode = "Status"`}},
		{"2s..4s=hang:3", []string{`mode = "hang:3"`, "hang without an argument"}},
		{"2s..4s=status:", []string{`mode = "status:"`, "without an argument"}},
		{"2s..4s=slow", []string{`mode = "slow"`, "slow:N", "1..1000000"}},
		{"2s..4s=slow:", []string{`mode = "slow:"`, "slow:N"}},
		{"2s..4s=slow:0.5", []string{"slow factor = 0.5", "1..1000000"}},
		{"2s..4s=slow:1000000.1", []string{"slow factor = 1.0000001e+06", "1..1000000"}},
		{"2s..4s=slow:-3", []string{`mode = "slow:-3"`, "decimal number 1..1000000"}},
		{"2s..4s=slow:1e3", []string{`mode = "slow:1e3"`}},
		{"2s..4s=slow:NaN", []string{`mode = "slow:NaN"`}},
		{"2s..4s=slow:3%", []string{`mode = "slow:3%"`}},
		{"2s..4s=slow:.5", []string{`mode = "slow:.5"`}},
		{"2s..4s=slow:5.", []string{`mode = "slow:5."`}},
		{"2s..4s=slow:1.0000000001", []string{`mode = "slow:1.0000000001"`}},
		{"2s..4s=slow:99999999999999999999", []string{`mode = "slow:99999999999999999999"`}},
		{"2s..4s=capacity:50", []string{`mode = "capacity:50"`, "capacity:P%", "0..100"}},
		{"2s..4s=capacity:%", []string{`mode = "capacity:%"`}},
		{"2s..4s=capacity:0.5", []string{`mode = "capacity:0.5"`}},
		{"2s..4s=capacity:101%", []string{`mode = "capacity:101%"`, "capacity:P%", "0..100"}},
		{"2s..4s=errors:200%", []string{`mode = "errors:200%"`, "errors:P%", "above 0 and at most 100"}},
		{"2s..4s=errors:0%", []string{`mode = "errors:0%"`, "above 0 and at most 100"}},
		{"2s..4s=error:20%", []string{`mode = "error:20%"`, "did you mean errors?"}},
		{"2s..4s=Hangs", []string{`mode = "Hangs"`, "did you mean hang?"}},
		{"2s..4s=capacity:-1%", []string{`mode = "capacity:-1%"`}},
		{"2s..4s=slow:3=4", []string{`mode = "slow:3=4"`}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			o, err := station.ParseOutage(test.text)
			if err == nil || o != (station.Outage{}) {
				t.Fatalf("ParseOutage(%q) = %+v, %v, want an error", test.text, o, err)
			}
			for _, part := range append(test.parts, "station: outage ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("ParseOutage(%q) = %v, want it to say %q", test.text, err, part)
				}
			}
		})
	}
}

// FuzzParseOutage: no text panics; what is taken is valid and comes back from its String.
func FuzzParseOutage(f *testing.F) {
	for _, text := range []string{
		"", "..", "=", "0..0", "0..1ns", "0s..9223372036854775807ns", "9223372036854775806ns..9223372036854775807ns",
		"-9223372036854775808ns..0", "-1ns..1ns", "2562047h47m16.854775807s..2562047h47m16.854775808s",
		"0..1s=slow:0", "0..1s=slow:1", "0..1s=slow:0.999999999", "0..1s=slow:1.000000001", "0..1s=slow:1000000",
		"0..1s=slow:999999.999999999", "0..1s=slow:1000000.000000001", "0..1s=slow:9007199.254740991", "0..1s=slow:-1",
		"0..1s=capacity:0%", "0..1s=capacity:0.0000001%", "0..1s=capacity:99.9999999%", "0..1s=capacity:100%",
		"0..1s=capacity:100.0000001%", "0..1s=capacity:-1%", "0..1s=capacity:18446744073709551616%",
		"0..1s=capacity:7%", "0..1s=errors:20%", "0..1s=errors:0%", "0..1s=errors:100%", "0..1s=capacity:29.3%", "2s..4s", "2s..4s=hang", "1.5h..2h=refuse", "1µs..2µs=reset",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := station.ParseOutage(text)
		if err != nil {
			if o != (station.Outage{}) {
				t.Fatalf("ParseOutage(%q) = %+v beside the error %v", text, o, err)
			}
			return
		}
		if faults := o.Validate(); faults != nil {
			t.Fatalf("ParseOutage(%q) = %+v, not valid: %v", text, o, faults)
		}
		if again, err := station.ParseOutage(o.String()); err != nil || again != o {
			t.Fatalf("ParseOutage(%q) = %+v, but its text %q gives %+v, %v", text, o, o, again, err)
		}
	})
}

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	outages := func(texts ...string) station.Config {
		c := station.Config{PerSecond: 1}
		for _, text := range texts {
			c.Outages = append(c.Outages, outage(t, text))
		}
		return c
	}
	tests := []struct {
		name   string
		config station.Config
		want   []string // one part of each fault
	}{
		{"zero", station.Config{}, nil},
		{"largest", station.Config{PerSecond: 1e9, Workers: 1e6, Queue: 1e7, Burst: 1e9, Status: 599}, nil},
		{"slowest", station.Config{PerSecond: 1.0 / (365 * 24 * 3600)}, nil},
		{"negative rate", station.Config{PerSecond: -1}, []string{"per second = -1, want 0..1000000000"}},
		{"NaN rate", station.Config{PerSecond: nan}, []string{"per second = NaN"}},
		{"infinite rate", station.Config{PerSecond: inf}, []string{"per second = +Inf"}},
		{"denormal rate", station.Config{PerSecond: 5e-324}, []string{"service time, = +Infs, want at most 8760h0m0s"}},
		{"slow service", station.Config{PerSecond: 1, Workers: 365*24*3600 - 1}, []string{"workers = 31535999"}},
		{"slow bucket", station.Config{Model: station.TokenBucket, PerSecond: 1, Burst: 1e9}, []string{"time to fill the bucket, = 1e+09s, want at most 8760h0m0s"}},
		{"all at once", station.Config{
			Model: 2, PerSecond: -1, Workers: -1, Queue: -1, Burst: -1, Status: 200, RetryAfter: station.RetryAfterRule{Mode: 4},
			Outages: []station.Outage{{}},
		}, []string{"model = 2", "per second = -1", "workers = -1, want 1..1000000", "queue = -1, want 0..10000000", "burst = -1", "status = 200, want 400..599", "retry-after mode = 4", `outage "0s..0s=status": to = 0s`}},
		{"too many", station.Config{Workers: 1e6 + 1, Queue: 1e7 + 1, Burst: 1e9 + 1, Status: 600}, []string{"workers", "queue", "burst", "status"}},
		{"fixed 0", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed}}, []string{"retry-after = 0s, want above 0s"}},
		{"fixed negative", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: -1}}, []string{"retry-after = -1ns"}},
		{"fixed too long", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: math.MaxInt64}}, []string{"retry-after = 2562047h"}},
		{"auto with a time", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto, After: 1}}, []string{"want 0s where it is neither fixed nor a reset"}},
		{"reset of a part of a second", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterReset, After: 1500 * time.Millisecond}}, []string{"want whole seconds"}},
		{"reset of nothing", station.Config{RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterReset}}, []string{"want above 0s"}},
		{"strain", station.Config{Workers: 2, Contention: 1, Coherency: 1, ShedCost: 1}, nil},
		{"strain beyond its bounds", station.Config{Contention: 1.1, Coherency: -0.1, ShedCost: nan}, []string{"shed cost = NaN, want 0..1", "contention = 1.1", "coherency = -0.1"}},
		{"too much strain", station.Config{Workers: 1e6, Coherency: 1}, []string{"more than a billion times"}},
		{"no discipline", station.Config{Discipline: 5}, []string{"discipline = 5, want 0 (fifo)..4 (adaptive-lifo-codel)"}},
		{"a brownout", outages("0s..10s=capacity:50%", "1s..2s=errors:20%", "2s..11s=errors:1%"), nil},
		{"errors in an outage", outages("0s..10s=hang", "1s..2s=errors:20%"), []string{`"1s..2s=errors:20%" overlaps "0s..10s=hang"`}},
		{"errors in errors", outages("0s..10s=errors:3%", "5s..6s=slow:2", "9s..12s=errors:20%"), []string{`"9s..12s=errors:20%" overlaps "0s..10s=errors:3%"`}},
		{"touching", outages("4s..5s", "2s..4s=hang", "5s..6s=slow:2"), nil},
		{"overlapping", outages("4s..5s", "2s..4001ms=hang"), []string{`"4s..5s=status" overlaps "2s..4.001s=hang"`}},
		{"one inside, one later inside", outages("0s..10s=slow:2", "1s..2s", "3s..4s"), []string{`"1s..2s=status" overlaps "0s..10s=slow:2"`, `"3s..4s=status" overlaps "0s..10s=slow:2"`}},
		{"backwards", station.Config{Outages: []station.Outage{{From: 4, To: 2}, {From: 1, To: 9}}}, []string{"to = 2ns, want later than from = 4ns"}},
		{"equal", outages("1s..2s", "1s..2s"), []string{"overlaps"}},
		{"factors", station.Config{Outages: []station.Outage{
			{From: 0, To: 1, Mode: station.ModeSlow, Factor: nan}, {From: 1, To: 2, Mode: station.ModeSlow, Factor: 0.5},
			{From: 2, To: 3, Mode: station.ModeSlow, Factor: inf}, {From: 3, To: 4, Mode: station.ModeCapacity, Factor: 1.5},
			{From: 4, To: 5, Mode: station.ModeCapacity, Factor: -0.5}, {From: 5, To: 6, Mode: station.ModeCapacity, Factor: 1e-10},
			{From: 6, To: 7, Mode: station.ModeHang, Factor: 2}, {From: 7, To: 8, Mode: 7}, {From: -1, To: 0}, {From: 8, To: 9, Mode: station.ModeErrors}, {From: 9, To: 10, Mode: station.ModeErrors, Factor: 1.5},
		}}, []string{
			"slow factor = NaN, want 1..1000000", "slow factor = 0.5", "slow factor = +Inf", "capacity share = 1.5, want 0 or 1e-9..1",
			"capacity share = -0.5", "capacity share = 1e-10", "factor = 2, want 0 for mode hang", "mode = 7, want one of the 7 modes", "from = -1ns, want 0 or later", "error share = 0", "error share = 1.5",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.config.Validate()
			for i, want := range test.want {
				if i < len(got) && (!strings.Contains(got[i].Error(), want) || !strings.HasPrefix(got[i].Error(), "station: ")) {
					t.Errorf("fault %d = %v, want it to say station: and %q", i, got[i], want)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("Validate() = %v, want %d faults", got, len(test.want))
			}
		})
	}
}
