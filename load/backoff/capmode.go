package backoff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A CapMode says how the cap and the jitter of a delay meet. J is the strategy's jitter,
// raw its delay at this retry before jitter and cap.
type CapMode uint8

// The four meanings of "a cap with jitter".
const (
	// CapCeiling caps, then jitters: J(min(cap, raw)). No atom at the cap.
	CapCeiling CapMode = iota
	// CapClamp jitters, then caps: min(cap, J(raw)). An atom at the cap that grows with
	// every retry; a raw delay of 292 years or more is exactly the cap.
	CapClamp
	// CapFixed does not jitter a capped delay: exactly cap once raw >= cap.
	CapFixed
	// CapRandom draws a cap of its own for every delay, uniform in
	// (cap*(1-CapJitterShare), cap], then goes on as CapCeiling. No atom.
	CapRandom
)

// capModeNames is indexed by CapMode.
var capModeNames = [...]string{"ceiling", "clamp", "fixed", "random-cap"}

// CapModes returns the words for all modes, in the order of their numbers.
func CapModes() []string { return append([]string(nil), capModeNames[:]...) }

// String returns the word by which flags and files know m.
func (m CapMode) String() string {
	if !m.known() {
		return fmt.Sprintf("cap-mode(%d)", uint8(m))
	}
	return capModeNames[m]
}

// ParseCapMode returns the mode that String writes as s. Grammar: one word, in lower case,
// without spaces around it.
func ParseCapMode(s string) (CapMode, error) {
	for m, name := range capModeNames {
		if s == name {
			return CapMode(m), nil
		}
	}
	return 0, fmt.Errorf("backoff: cap-mode = %q, want %s", s, capModeWords())
}

func (m CapMode) known() bool { return int(m) < len(capModeNames) }

func capModeWords() string { return strings.Join(capModeNames[:], ", ") }

// A jitter gives the window of delays around a delay before jitter. Its ends must not fall
// as raw grows.
type jitter func(p *Params, raw time.Duration) window

// window returns the delays of a strategy that has this jitter and has reached raw, under
// every mode but CapRandom. Under CapClamp it reaches above the cap.
func (p *Params) window(raw time.Duration, j jitter) window {
	switch {
	case p.CapMode == CapClamp && raw == forever, p.CapMode == CapFixed && raw >= p.Cap:
		return window{lo: int64(p.Cap)}
	case p.CapMode == CapCeiling:
		raw = min(raw, p.Cap)
	}
	return j(p, raw)
}

// draw returns one delay of a strategy that has this jitter and has reached raw, under
// p.CapMode. One draw; under CapRandom two, the cap's first; none for an exact delay.
func (p *Params) draw(r *rand.Rand, raw time.Duration, j jitter) time.Duration {
	switch p.CapMode {
	case CapRandom:
		return j(p, min(raw, p.capWindow().draw(r))).draw(r)
	case CapClamp:
		return min(p.Cap, p.window(raw, j).draw(r))
	default:
		return p.window(raw, j).draw(r)
	}
}

// reach returns the ends of what draw may return.
func (p *Params) reach(raw time.Duration, j jitter) (lo, hi time.Duration) {
	switch p.CapMode {
	case CapRandom:
		capMin, capMax := p.capWindow().ends()
		lo, _ = j(p, min(raw, capMin)).ends()
		_, hi = j(p, min(raw, capMax)).ends()
		return lo, hi
	case CapClamp:
		lo, hi = p.window(raw, j).ends()
		return min(p.Cap, lo), min(p.Cap, hi)
	default:
		return p.window(raw, j).ends()
	}
}

// lid returns the limit of one delay of a strategy whose jitter does not act on a ceiling,
// so that CapCeiling has nothing to cap before it and does what CapClamp does. exact says
// that the delay is the limit itself: under CapFixed once raw has reached the cap.
func (p *Params) lid(r *rand.Rand, raw time.Duration) (limit time.Duration, exact bool) {
	switch p.CapMode {
	case CapFixed:
		return p.Cap, raw >= p.Cap
	case CapRandom:
		return p.capWindow().draw(r), false
	default:
		return p.Cap, false
	}
}

// lidEnds returns the ends of what lid may return, and its exact.
func (p *Params) lidEnds(raw time.Duration) (lo, hi time.Duration, exact bool) {
	switch p.CapMode {
	case CapFixed:
		return p.Cap, p.Cap, raw >= p.Cap
	case CapRandom:
		lo, hi = p.capWindow().ends()
		return lo, hi, false
	default:
		return p.Cap, p.Cap, false
	}
}

// capWindow is where CapRandom draws the cap of one delay: (Cap*(1-q), Cap].
func (p *Params) capWindow() window {
	width := max(1, share(p.Cap, p.capJitterShare()))
	return window{lo: int64(uint64(p.Cap) - width + 1), width: width}
}
