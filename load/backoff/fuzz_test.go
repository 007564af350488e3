package backoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// Any parameters are either refused by Validate or give delays within their ranges. The
// corpus begins where doubling overflows and at both ends of each parameter.
func FuzzDelay(f *testing.F) {
	for i := range backoff.Table {
		for mode := range backoff.CapModes() {
			f.Add(uint8(i), uint8(mode), uint8(0), int64(1), int64(math.MaxInt64), 2.0, 0.2, int64(0), int64(62), uint64(1))
			f.Add(uint8(i), uint8(mode), uint8(1), int64(ms), int64(5*ms), 2.0, 1.0, int64(math.MaxInt64), int64(58), uint64(2))
			f.Add(uint8(i), uint8(mode), uint8(0), int64(math.MaxInt64), int64(math.MaxInt64), math.MaxFloat64, 0.0, int64(1), int64(math.MaxInt64), uint64(3))
			f.Add(uint8(i), uint8(mode), uint8(1), int64(math.MaxInt64-1), int64(math.MaxInt64), 1.0, 0.5, int64(math.MaxInt64-1), int64(0), uint64(4))
			f.Add(uint8(i), uint8(mode), uint8(0), int64(0), int64(-1), math.NaN(), math.Inf(1), int64(-1), int64(1), uint64(5))
		}
	}
	f.Fuzz(func(t *testing.T, entry, mode, first uint8, base, limit int64, multiplier, share float64, other, k int64, seed uint64) {
		p := backoff.Params{
			Base: time.Duration(base), Cap: time.Duration(limit), Multiplier: multiplier,
			FirstExponent: int(first), CapMode: backoff.CapMode(mode), CapJitterShare: share,
			SpreadShare: share, Noise: time.Duration(other), WaitMax: time.Duration(other),
			Floor: min(time.Duration(other), time.Duration(limit)),
		}
		if p.Validate() != nil || k < 0 {
			return
		}
		e := backoff.Table[int(entry)%len(backoff.Table)]
		checkDelay(t, e, p, rand.New(rand.NewPCG(seed, 0)), int(k))
	})
}

// Any random numbers, all zeros and all ones included, give delays within their ranges.
func FuzzDraw(f *testing.F) {
	for i := range backoff.Table {
		for mode := range backoff.CapModes() {
			f.Add(uint8(i), uint8(mode), int64(8), uint64(0))
			f.Add(uint8(i), uint8(mode), int64(8), uint64(math.MaxUint64))
			f.Add(uint8(i), uint8(mode), int64(0), uint64(math.MaxUint64))
			f.Add(uint8(i), uint8(mode), int64(0), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, entry, mode uint8, k int64, bits uint64) {
		p := backoff.Defaults()
		p.CapMode = backoff.CapMode(mode)
		if p.Validate() != nil || k < 0 {
			return
		}
		e := backoff.Table[int(entry)%len(backoff.Table)]
		checkDelay(t, e, p, rand.New(constant(bits)), int(k))
	})
}

// constant is a random source that says the same for ever.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

func FuzzParseCapMode(f *testing.F) {
	for _, s := range append(backoff.CapModes(), "", "CLAMP", "clamp ", "cap-mode(0)", "\x00", "ceilingclamp") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := backoff.ParseCapMode(s)
		if err == nil && m.String() != s {
			t.Errorf("ParseCapMode(%q) = %v", s, m)
		}
	})
}
