package backoff_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"stormtest/load/backoff"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *backoff.Params)
		want   []string
	}{
		{"guides", func(*backoff.Params) {}, nil},
		{"cap is base", func(p *backoff.Params) { p.Cap = p.Base }, nil},
		{"longest", func(p *backoff.Params) { p.Base, p.Cap = math.MaxInt64, math.MaxInt64 }, nil},
		{"largest multiplier", func(p *backoff.Params) { p.Multiplier = math.MaxFloat64 }, nil},
		{"whole shares", func(p *backoff.Params) { p.SpreadShare, p.CapJitterShare = 1, 1 }, nil},
		{"floor at the cap", func(p *backoff.Params) { p.Floor = p.Cap }, nil},
		{"zero", func(p *backoff.Params) { *p = backoff.Params{} }, []string{
			"backoff: base = 0s, want more than 0s",
			"backoff: cap = 0s, want more than 0s",
			"backoff: multiplier = 0, want a finite number, at least 1",
		}},
		{"cap below base", func(p *backoff.Params) { p.Cap = 99 * ms }, []string{"backoff: cap = 99ms, want at least the base, 100ms"}},
		{"multiplier below 1", func(p *backoff.Params) { p.Multiplier = math.Nextafter(1, 0) }, []string{"backoff: multiplier = 0.9999999999999999, want a finite number, at least 1"}},
		{"everything", func(p *backoff.Params) {
			*p = backoff.Params{
				Base: -1, Cap: -2, Multiplier: math.NaN(), FirstExponent: 2, CapMode: 9,
				CapJitterShare: math.NaN(), Noise: -3, SpreadShare: 1.5, Floor: -4, WaitMax: -5,
			}
		}, []string{
			"backoff: base = -1ns, want more than 0s",
			"backoff: cap = -2ns, want more than 0s",
			"backoff: multiplier = NaN, want a finite number, at least 1",
			"backoff: first-exponent = 2, want 0 or 1",
			"backoff: cap-mode = cap-mode(9), want ceiling, clamp, fixed, random-cap",
			"backoff: cap-jitter = NaN, want 0..1",
			"backoff: noise = -3ns, want at least 0s",
			"backoff: spread = 1.5, want 0..1",
			"backoff: floor = -4ns, want at least 0s",
			"backoff: wait-max = -5ns, want at least 0s",
		}},
		{"infinite", func(p *backoff.Params) { p.Multiplier, p.SpreadShare = math.Inf(1), math.Inf(-1) }, []string{
			"backoff: multiplier = +Inf, want a finite number, at least 1",
			"backoff: spread = -Inf, want 0..1",
		}},
		{"floor above the cap", func(p *backoff.Params) { p.Floor = p.Cap + 1 }, []string{"backoff: floor = 20.000000001s, want at most the cap, 20s"}},
		{"negative first exponent", func(p *backoff.Params) { p.FirstExponent = -1 }, []string{"backoff: first-exponent = -1, want 0 or 1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := backoff.Defaults()
			test.change(&p)
			var got []string
			for _, err := range p.Validate() {
				got = append(got, err.Error())
				var fault *backoff.ParamError
				if !errors.As(err, &fault) {
					t.Errorf("%v is no ParamError", err)
				}
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("Validate\n got:\n%s\nwant:\n%s", g, w)
			}
		})
	}
}

func TestCapModeWords(t *testing.T) {
	for i, word := range backoff.CapModes() {
		m, err := backoff.ParseCapMode(word)
		if err != nil || int(m) != i || m.String() != word {
			t.Errorf("ParseCapMode(%q) = %v, %v, want mode %d", word, m, err, i)
		}
	}
	var zero backoff.CapMode
	if zero != backoff.CapCeiling {
		t.Error("the zero mode is not the ceiling mode")
	}
	_, err := backoff.ParseCapMode("Ceiling ")
	if want := `backoff: cap-mode = "Ceiling ", want ceiling, clamp, fixed, random-cap`; err == nil || err.Error() != want {
		t.Errorf("ParseCapMode of a wrong word: %v, want %v", err, want)
	}
}

// Zero means the default that its comment states: the same seed gives the same delays with
// the field at zero and at that value.
func TestZeroMeansTheDefault(t *testing.T) {
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, zero backoff.Params) {
		full := zero
		full.CapJitterShare, full.Noise, full.SpreadShare = 0.2, 50*time.Millisecond, 0.2
		full.Floor, full.WaitMax = full.Base/2, full.Cap
		a, b := walk(e.New(zero), client(1, 0), 12), walk(e.New(full), client(1, 0), 12)
		for k := range a {
			if a[k] != b[k] {
				t.Errorf("delay at k = %d: %v with zeros, %v with the defaults written out", k, a[k], b[k])
			}
		}
	})
}
