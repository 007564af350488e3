package plan

import (
	"strconv"
	"strings"
	"time"

	"stormtest/load/retry"
)

// hedgeOff sends no copies.
const hedgeOff = "off"

const hedgesMost = retry.HedgesMost

// hedgeForm is the form of a hedge.
const hedgeForm = "DELAY[,COPIES]"

// hedge is when, and how often at most, an attempt without an answer is sent once more.
type hedge struct{}

func (hedge) read(p *Plan, text string) string {
	if text == hedgeOff {
		p.Hedge = Hedge{}
		return ""
	}
	after, copies, given := strings.Cut(text, ",")
	h := Hedge{Most: 1}
	want := duration{at: func(*Plan) *time.Duration { return &h.After }, lo: 1, hi: day}.read(p, after)
	if want == "" && given {
		n, err := strconv.Atoi(copies)
		if err != nil || n < 1 || n > hedgesMost {
			want = "a time and 1..4 copies, such as 2s,1"
		}
		h.Most = n
	}
	if want != "" {
		return orWords(want, hedgeOff)
	}
	p.Hedge = h
	return ""
}

func (hedge) write(p *Plan) string {
	if p.Hedge.Most == 0 {
		return hedgeOff
	}
	return formatDuration(p.Hedge.After) + "," + strconv.Itoa(p.Hedge.Most)
}

func (hedge) word() string      { return hedgeForm }
func (hedge) choices() []string { return nil }
