package backoff

import (
	"fmt"
	"math"
	"time"
)

// What the fields of Params mean when they are zero.
const (
	defaultCapJitterShare = 0.2
	defaultNoise          = 50 * time.Millisecond
	defaultSpreadShare    = 0.2
)

// Params are the numbers of all strategies; each reads those that its comment names.
// Strategies take them as they are: whoever fills them in calls Validate first.
type Params struct {
	// Base is b, the first delay before jitter. Above 0; there is no default.
	Base time.Duration
	// Cap is the limit of the delays, in the sense of CapMode. At least Base; there is no
	// default.
	Cap time.Duration
	// Multiplier is m, the growth from one ceiling to the next. At least 1 and finite;
	// there is no default, the usual value is 2. A whole number gives exact ceilings.
	Multiplier float64
	// FirstExponent is the exponent of m in the first ceiling: 0 for Base, 1 for
	// Base*Multiplier. Strategies that grow otherwise begin one step later with 1.
	FirstExponent int
	// CapMode says how Cap and jitter meet. Zero: CapCeiling.
	CapMode CapMode
	// CapJitterShare is q of CapRandom: each delay has a cap of its own, uniform in
	// (Cap*(1-q), Cap]. In 0..1. Zero: 0.2.
	CapJitterShare float64
	// Noise is a of Fixed and FixedUp, at least 0. Zero: 50 ms.
	Noise time.Duration
	// SpreadShare is p of Proportional and j of Additive, in 0..1. Zero: 0.2.
	SpreadShare float64
	// Floor is f of FullFloor, FullClamp and EqualClamp, in 0..Cap. Zero: Base/2.
	Floor time.Duration
	// WaitMax is max of LinearJitter, at least 0. Zero: Cap.
	WaitMax time.Duration
}

// Defaults returns the parameters of the published guides: 100 ms doubling up to 20 s.
func Defaults() Params {
	return Params{Base: 100 * time.Millisecond, Cap: 20 * time.Second, Multiplier: 2}
}

// A ParamError names a parameter as flags and files spell it, what it held and what it may
// hold.
type ParamError struct{ Field, Got, Want string }

func (e *ParamError) Error() string {
	return fmt.Sprintf("backoff: %s = %s, want %s", e.Field, e.Got, e.Want)
}

// Validate returns every fault of p, each a *ParamError; nil where it has none.
func (p Params) Validate() []error {
	var faults []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			faults = append(faults, &ParamError{field, fmt.Sprint(got), want})
		}
	}
	inShare := func(x float64) bool { return x >= 0 && x <= 1 }
	check(p.Base > 0, "base", p.Base, "more than 0s")
	check(p.Cap > 0, "cap", p.Cap, "more than 0s")
	if p.Base > 0 && p.Cap > 0 {
		check(p.Cap >= p.Base, "cap", p.Cap, fmt.Sprintf("at least the base, %v", p.Base))
	}
	check(p.Multiplier >= 1 && !math.IsInf(p.Multiplier, 0), "multiplier", p.Multiplier, "a finite number, at least 1")
	check(p.FirstExponent == 0 || p.FirstExponent == 1, "first-exponent", p.FirstExponent, "0 or 1")
	check(p.CapMode.known(), "cap-mode", p.CapMode, capModeWords())
	check(inShare(p.CapJitterShare), "cap-jitter", p.CapJitterShare, "0..1")
	check(p.Noise >= 0, "noise", p.Noise, "at least 0s")
	check(inShare(p.SpreadShare), "spread", p.SpreadShare, "0..1")
	check(p.Floor >= 0, "floor", p.Floor, "at least 0s")
	if p.Cap > 0 {
		check(p.Floor <= p.Cap, "floor", p.Floor, fmt.Sprintf("at most the cap, %v", p.Cap))
	}
	check(p.WaitMax >= 0, "wait-max", p.WaitMax, "at least 0s")
	return faults
}

func (p *Params) capJitterShare() float64 {
	if p.CapJitterShare == 0 {
		return defaultCapJitterShare
	}
	return p.CapJitterShare
}

func (p *Params) noise() time.Duration {
	if p.Noise == 0 {
		return defaultNoise
	}
	return p.Noise
}

func (p *Params) spreadShare() float64 {
	if p.SpreadShare == 0 {
		return defaultSpreadShare
	}
	return p.SpreadShare
}

func (p *Params) floor() time.Duration {
	if p.Floor == 0 {
		return p.Base / 2
	}
	return p.Floor
}

func (p *Params) waitMax() time.Duration {
	if p.WaitMax == 0 {
		return p.Cap
	}
	return p.WaitMax
}
