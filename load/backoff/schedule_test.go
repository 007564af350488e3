package backoff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// An extreme is a source whose every word is the least or the greatest.
type extreme uint64

func (e extreme) Uint64() uint64 { return uint64(e) }

// Delays come out of a table that New fills, ranges out of the formulas: the least and the
// greatest word give the two ends of the range, inside the table and beyond it. So a rung
// that is wrong by 1 ns shows, and so does one where it was none or two draws. Left out are
// the strategies whose ends are floating point, and of Polly's delays, which begin where the
// one before ended, there is nothing to say here.
func TestExtremeWordsGiveTheEndsOfTheRange(t *testing.T) {
	float := []string{"exponent", "exponent-noisy", "polly"}
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, p backoff.Params) {
		if slices.Contains(float, e.Name) {
			t.Skip("ranges of floating point are padded")
		}
		check := func(p backoff.Params) {
			if p.Validate() != nil {
				return // such as a cap below the base
			}
			s := e.New(p)
			for _, k := range edgeRetries {
				a := backoff.Attempt{Retry: k, Prev: min(p.Base, forever/8)}
				lo, hi := s.Range(a)
				least := s.Delay(rand.New(extreme(0)), a)
				greatest := s.Delay(rand.New(extreme(math.MaxUint64)), a)
				if least != lo || greatest != hi {
					t.Fatalf("%+v, retry %d: delays = %d..%d ns, want the range %d..%d", p, k, least, greatest, lo, hi)
				}
			}
		}
		for _, m := range edgeMultipliers {
			for _, base := range edgeTimes {
				p.Base, p.Cap, p.Multiplier = base, math.MaxInt64, m
				check(p)
				p.Cap = base
				check(p)
				p.Cap = add(base, 20*time.Second)
				check(p)
				p.FirstExponent = 1 - p.FirstExponent
			}
		}
		p.Base, p.Cap, p.Multiplier = 100*ms, 20*time.Second, 2
		for _, x := range edgeTimes {
			for _, share := range edgeShares {
				p.Noise, p.Floor, p.WaitMax = x, min(x, p.Cap), x
				p.SpreadShare, p.CapJitterShare = share, share
				check(p)
			}
		}
	})
}

func add(x, y time.Duration) time.Duration {
	if x > forever-y {
		return forever
	}
	return x + y
}
