package plan

import (
	"strings"
	"time"
)

// A Law is the distribution of a length of time: always Mean, or where SD is above 0 the size
// |Normal(Mean, SD)| of a draw for each. The zero Law is no time at all.
type Law struct{ Mean, SD time.Duration }

// String returns the text of l as its flag takes it: 10ms or 10ms~2ms.
func (l Law) String() string {
	if l.SD == 0 {
		return formatDuration(l.Mean)
	}
	return formatDuration(l.Mean) + lawMark + formatDuration(l.SD)
}

// lawMark stands between the mean and the deviation.
const lawMark = "~"

// law is a Law:
//
//	law = duration [ "~" duration ]
type law struct{ at func(*Plan) *Law }

func (v law) read(p *Plan, text string) string {
	mean, sd, spread := strings.Cut(text, lawMark)
	var l Law
	want := lawPart(mean, &l.Mean)
	if spread && want == "" {
		if want = lawPart(sd, &l.SD); want != "" && want != durationForm {
			want = "after " + lawMark + " " + want
		}
	}
	if want == durationForm {
		want = "a duration such as 10ms, or mean and deviation such as 10ms" + lawMark + "2ms"
	}
	if want == "" {
		*v.at(p) = l
	}
	return want
}

// lawPart reads one of a law's two lengths.
func lawPart(text string, d *time.Duration) (want string) {
	scratch := Plan{}
	want = duration{at: func(p *Plan) *time.Duration { return &p.Base }, lo: 0, hi: day}.read(&scratch, text)
	*d = scratch.Base
	return want
}

func (v law) write(p *Plan) string { return v.at(p).String() }
func (law) word() string           { return "MEAN[" + lawMark + "SD]" }
func (law) choices() []string      { return nil }
