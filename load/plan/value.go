package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stormtest/load/backoff"
	"stormtest/load/retry"
)

// A scalar reads and writes one field of a plan as one text. read returns what it wanted
// when it did not take the text, and leaves the plan alone then; write returns the
// canonical text, which read takes and turns into the same value.
type scalar interface {
	read(p *Plan, text string) (want string)
	write(p *Plan) string
	word() string      // the kind of value, for help texts
	choices() []string // the words it takes; nil where it takes other texts as well
}

// count is a whole number in lo..hi, or one special word.
type count[T int | int64] struct {
	at      func(*Plan) *T
	lo, hi  T
	special string
	means   T // the special word's value
}

func (v count[T]) read(p *Plan, text string) string {
	if v.special != "" && text == v.special {
		*v.at(p) = v.means
		return ""
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n < uint64(v.lo) || n > uint64(v.hi) {
		return orWords(bounds(strconv.FormatInt(int64(v.lo), 10), strconv.FormatInt(int64(v.hi), 10)), v.special)
	}
	*v.at(p) = T(n)
	return ""
}

func (v count[T]) write(p *Plan) string {
	if n := *v.at(p); v.special == "" || n != v.means {
		return strconv.FormatInt(int64(n), 10)
	}
	return v.special
}

func (count[T]) word() string      { return "count" }
func (count[T]) choices() []string { return nil }

// number is a plain decimal number in lo..hi.
type number struct {
	at     func(*Plan) *float64
	lo, hi float64
}

func (v number) read(p *Plan, text string) string {
	n, ok := parseNumber(text)
	if !ok || n < v.lo || n > v.hi {
		return formatNumber(v.lo) + ".." + formatNumber(v.hi)
	}
	*v.at(p) = n
	return ""
}

func (v number) write(p *Plan) string { return formatNumber(*v.at(p)) }
func (number) word() string           { return "number" }
func (number) choices() []string      { return nil }

// special is a word that stands for a length of time.
type special struct {
	word  string
	means time.Duration
}

// duration is a length of time in lo..hi, a multiple of step, or a special word.
type duration struct {
	at       func(*Plan) *time.Duration
	lo, hi   time.Duration
	step     time.Duration // 0 is 1 ns
	specials []special
}

func (v duration) read(p *Plan, text string) string {
	var words []string
	for _, s := range v.specials {
		if text == s.word {
			*v.at(p) = s.means
			return ""
		}
		words = append(words, s.word)
	}
	d, want := parseDuration(text)
	switch {
	case strings.HasPrefix(text, "-") || isZero(text) && v.lo > 0 || want == "" && (d < v.lo || d > v.hi):
		want = bounds(formatDuration(v.lo), formatDuration(v.hi))
	case want == "" && v.step > 0 && d%v.step != 0:
		want = "a multiple of " + formatDuration(v.step)
	}
	if want != "" {
		return orWords(want, words...)
	}
	*v.at(p) = d
	return ""
}

func (v duration) write(p *Plan) string {
	d := *v.at(p)
	for _, s := range v.specials {
		if d == s.means {
			return s.word
		}
	}
	return formatDuration(d)
}

func (duration) word() string      { return "duration" }
func (duration) choices() []string { return nil }

// rate is a number per second in lo..hi, or one special word for 0.
type rate struct {
	at     func(*Plan) *float64
	lo, hi float64
	zero   string // the word for 0
}

func (v rate) read(p *Plan, text string) string {
	if text == v.zero {
		*v.at(p) = 0
		return ""
	}
	n, want := parseRate(text)
	if want == "" && n == 0 && v.zero == "0" { // 0/s
		*v.at(p) = 0
		return ""
	}
	if want == "" && (n < v.lo || n > v.hi) || strings.HasPrefix(text, "-") {
		want = bounds(formatRate(v.lo), formatRate(v.hi))
	}
	if want != "" {
		return orWords(want, v.zero)
	}
	*v.at(p) = n
	return ""
}

func (v rate) write(p *Plan) string {
	if n := *v.at(p); n != 0 {
		return formatRate(n)
	}
	return v.zero
}

func (rate) word() string      { return "rate" }
func (rate) choices() []string { return nil }

// share is a part of a whole in (0, 1], or with zero in [0, 1], written in percent.
type share struct {
	at   func(*Plan) *float64
	zero bool
}

func (v share) read(p *Plan, text string) string {
	if v.zero && isZero(text) { // of nothing there is no unit
		*v.at(p) = 0
		return ""
	}
	n, want := parseShare(text)
	switch outside := want == "" && (n <= 0 && !v.zero || n > 1) || strings.HasPrefix(text, "-") || isZero(text); {
	case outside && v.zero:
		want = bounds("0%", "100%")
	case outside:
		want = "more than 0%, at most 100%"
	}
	if want == "" {
		*v.at(p) = n
	}
	return want
}

func (v share) write(p *Plan) string { return formatShare(*v.at(p)) }
func (share) word() string           { return "share" }
func (share) choices() []string      { return nil }

// flag is true or false.
type flag struct{ at func(*Plan) *bool }

func (v flag) read(p *Plan, text string) string {
	if text != "true" && text != "false" {
		return "true or false"
	}
	*v.at(p) = text == "true"
	return ""
}

func (v flag) write(p *Plan) string { return strconv.FormatBool(*v.at(p)) }
func (flag) word() string           { return "bool" }
func (flag) choices() []string      { return []string{"true", "false"} }

// choice is one of a few words.
type choice struct {
	at    func(*Plan) *string
	words []string
	later int // so many of words, the last, are for virtual time only
}

func (v choice) read(p *Plan, text string) string {
	if !slices.Contains(v.words, text) {
		return didYouMean(oneOf(v.words), text, v.words)
	}
	*v.at(p) = text
	return ""
}

func (v choice) write(p *Plan) string { return *v.at(p) }
func (v choice) word() string         { return strings.Join(v.words, "|") }
func (v choice) choices() []string    { return v.words }

// seed is a Seed in decimal or 0x form; random, or nothing, leaves it to the caller.
type seed struct{ at func(*Plan) *Seed }

const seedRandom = "random"

func (v seed) read(p *Plan, text string) string {
	if text == "" || text == seedRandom {
		*v.at(p) = Seed{}
		return ""
	}
	digits, base := text, 10
	if hex, found := strings.CutPrefix(text, "0x"); found {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return orWords(bounds("0", strconv.FormatUint(math.MaxUint64, 10))+", 0x and up to 16 hex digits", seedRandom)
	}
	*v.at(p) = Seed{Value: n, Set: true}
	return ""
}

func (v seed) write(p *Plan) string {
	if s := *v.at(p); s.Set {
		return strconv.FormatUint(s.Value, 10)
	}
	return seedRandom
}

func (seed) word() string      { return "seed" }
func (seed) choices() []string { return nil }

// method is an HTTP method in upper case.
type method struct{ at func(*Plan) *string }

func (v method) read(p *Plan, text string) string {
	if !isMethod(text) {
		if upper := strings.ToUpper(text); isMethod(upper) {
			return "an HTTP method in upper case: " + upper
		}
		return "an HTTP method in upper case, such as GET or POST"
	}
	*v.at(p) = text
	return ""
}

func (v method) write(p *Plan) string { return *v.at(p) }
func (method) word() string           { return "method" }
func (method) choices() []string      { return nil }

// isMethod reports whether text is a token of RFC 9110 in capital letters, digits, - and _.
func isMethod(text string) bool {
	const most = 32
	for i := range len(text) {
		c := text[i]
		if (c < 'A' || c > 'Z') && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != "" && len(text) <= most
}

// capMode is a backoff.CapMode.
type capMode struct{}

func (v capMode) read(p *Plan, text string) string {
	mode, err := backoff.ParseCapMode(text)
	if err != nil {
		return didYouMean(oneOf(v.choices()), text, v.choices())
	}
	p.CapMode = mode
	return ""
}

func (capMode) write(p *Plan) string { return p.CapMode.String() }
func (v capMode) word() string       { return strings.Join(v.choices(), "|") }
func (capMode) choices() []string    { return backoff.CapModes() }

// retryOn is a retry.Set.
type retryOn struct{}

func (retryOn) read(p *Plan, text string) string {
	const want = "a comma list of connect, timeout, reset, malformed, statuses 100..599 and classes 1xx..5xx, each with + or - before it if wished, or none"
	set, err := retry.ParseSet(text)
	if err != nil {
		return want
	}
	p.RetryOn = set
	return ""
}

func (retryOn) write(p *Plan) string { return p.RetryOn.String() }
func (retryOn) word() string         { return "list" }
func (retryOn) choices() []string    { return nil }

// bounds writes a closed range of whole numbers or of texts.
func bounds(lo, hi string) string {
	if lo == "0" && hi == "1" {
		return "0 or 1"
	}
	return lo + ".." + hi
}

// oneOf writes words as alternatives: a, b or c.
func oneOf(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// orWords appends words to want as alternatives. Empty words do not count.
func orWords(want string, words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	switch {
	case len(words) == 0:
		return want
	case strings.Contains(want, " "):
		return want + ", or " + oneOf(words)
	}
	return oneOf(append([]string{want}, words...))
}

// isLine reports whether text is one line of printable UTF-8 of a sane length.
func isLine(text string) bool {
	const most = 200
	return len(text) <= most && isLongLine(text)
}

// isLongLine reports whether text is one line of printable UTF-8 of at most 4 KiB.
func isLongLine(text string) bool {
	const most = 4 << 10
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.TrimSpace(text) != text {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
}
