package plan

import (
	"strings"
	"time"
)

// ResetRetryAfter is the SendRetryAfter that names the next moment at which the clock shows a whole multiple of the window.
func ResetRetryAfter(window time.Duration) time.Duration { return -window }

// retryAfterWindow is the window of a SendRetryAfter, false where it has none.
func (p *Plan) retryAfterWindow() (time.Duration, bool) {
	return -p.SendRetryAfter, p.SendRetryAfter <= -time.Second
}

// RetryAfterDated reports whether the target's Retry-After names a moment, and not a length of time.
func (p *Plan) RetryAfterDated() bool {
	_, dated := p.retryAfterWindow()
	return dated
}

// sentHint is Plan.SendRetryAfter.
type sentHint struct{ duration }

const hintReset = "reset:"

func (v sentHint) read(p *Plan, text string) string {
	window, reset := strings.CutPrefix(text, hintReset)
	var d time.Duration
	own := v.duration
	own.at = func(*Plan) *time.Duration { return &d }
	if reset {
		own.specials = nil
		if want := own.read(p, window); want != "" {
			return hintReset + "DURATION with " + want
		}
		*v.at(p) = ResetRetryAfter(d)
		return ""
	}
	if want := own.read(p, text); want != "" {
		return want + ", or " + hintReset + "DURATION"
	}
	*v.at(p) = d
	return ""
}

func (v sentHint) write(p *Plan) string {
	if window, ok := p.retryAfterWindow(); ok {
		return hintReset + formatDuration(window)
	}
	return v.duration.write(p)
}
