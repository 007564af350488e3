package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Over says over which seeds a gate is judged. The zero Over is the worst of them.
type Over struct {
	Kind OverKind
	// ShareMillionths is the least share of the seeds that must hold, in millionths; of OverShare alone.
	ShareMillionths int64
}

// An OverKind is the word of an Over.
type OverKind string

// The kinds. OverUnsaid is OverWorst that was not written.
const (
	OverUnsaid OverKind = ""
	OverWorst  OverKind = "worst"
	OverMean   OverKind = "mean"
	OverFirst  OverKind = "first"
	OverShare  OverKind = "share"
)

var overWords = []OverKind{OverWorst, OverMean, OverFirst}

// OverWords are the words that may stand behind an "@", beside a share.
func OverWords() []string {
	var words []string
	for _, w := range overWords {
		words = append(words, string(w))
	}
	return words
}

// millionthsPerPercent and percentDecimals are the resolution of a share of the seeds.
const (
	millionthsPerPercent = 10_000
	percentDecimals      = 4
)

// ParseOver reads what stands behind the "@". The error says what it may be.
func ParseOver(text string) (Over, error) {
	if kind := OverKind(text); slices.Contains(overWords, kind) {
		return Over{Kind: kind}, nil
	}
	const want = "want worst, mean, first, or the share of the seeds that must hold, such as 95%"
	number, percent := strings.CutSuffix(text, "%")
	whole, fraction, dotted := strings.Cut(strings.TrimSpace(number), ".")
	if rest, ok := digits(whole); !ok || rest != "" || len(whole) > 3 || len(fraction) > percentDecimals {
		return Over{}, fmt.Errorf("@%s: %s", text, want)
	}
	if rest, ok := digits(fraction); dotted && (!ok || rest != "") {
		return Over{}, fmt.Errorf("@%s: %s", text, want)
	}
	if !percent {
		return Over{}, fmt.Errorf("@%s needs a unit: %s", text, want)
	}
	n, err := strconv.ParseInt(whole+(fraction + "0000")[:percentDecimals], 10, 64)
	if err != nil || n <= 0 || n > 100*millionthsPerPercent {
		return Over{}, fmt.Errorf("@%s: want a share above 0%% and up to 100%%", text)
	}
	return Over{Kind: OverShare, ShareMillionths: n}, nil
}

// String returns what ParseOver reads as the same Over, with the "@"; nothing where nothing was said.
func (o Over) String() string {
	switch o.Kind {
	case OverUnsaid:
		return ""
	case OverShare:
		return "@" + formatNumber(o.percent()) + "%"
	}
	return "@" + string(o.Kind)
}

// percent is the share in percent.
func (o Over) percent() float64 { return float64(o.ShareMillionths) / millionthsPerPercent }

// enough says whether so many of n seeds are the share that must hold.
func (o Over) enough(held, n int) bool {
	return int64(held)*100*millionthsPerPercent >= o.ShareMillionths*int64(n)
}
