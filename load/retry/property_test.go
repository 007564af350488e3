package retry_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/backoff"
	"stormtest/load/retry"
)

// A scenario is one operation of one client: a policy and what the target will say.
type scenario struct {
	policy retry.Policy
	seed   uint64
	script []answer
}

// play runs the scenario under p. The script's length bounds the attempts.
func (s scenario) play(p retry.Policy) trace {
	return run(clientOf(&p, s.seed, 0), time.Hour, s.script, len(s.script))
}

// anyScenario draws from every strategy of the table and every field of the policy.
func anyScenario(t *rapid.T) scenario {
	entry := rapid.SampledFrom(backoff.Table).Draw(t, "strategy")
	p := policyOf(entry, params())
	p.MaxRetries = rapid.IntRange(retry.Unlimited, 12).Draw(t, "maxRetries")
	p.MaxElapsed = anyDuration(t, "maxElapsed", time.Minute)
	p.Timeout = anyDuration(t, "timeout", 10*time.Second)
	p.HonourRetryAfter = rapid.Bool().Draw(t, "honour")
	p.RetryAfterJitter = rapid.SampledFrom([]time.Duration{retry.StrategyDraw, 0, 1, time.Second}).Draw(t, "J")
	p.RetryOn = rapid.SampledFrom([]retry.Set{retry.DefaultSet(), {}}).Draw(t, "retryOn")
	p.Method = rapid.SampledFrom([]string{"", "GET", "POST"}).Draw(t, "method")
	p.IdempotencyKey = rapid.Bool().Draw(t, "key")
	return scenario{
		policy: p,
		seed:   rapid.Uint64().Draw(t, "seed"),
		script: rapid.SliceOfN(rapid.Custom(anyAnswer), 1, 30).Draw(t, "script"),
	}
}

func anyDuration(t *rapid.T, name string, most time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
}

// anyAnswer is mostly a failure that may be retried, for otherwise operations are short.
func anyAnswer(t *rapid.T) answer {
	o := retry.Outcome{Status: rapid.SampledFrom([]int{503, 503, 503, 503, 429, 429, 502, 408, 200, 404}).Draw(t, "status")}
	if rapid.IntRange(0, 9).Draw(t, "answered") == 0 {
		o = retry.Outcome{Kind: retry.Kind(rapid.IntRange(1, int(retry.KindCount)-1).Draw(t, "kind"))}
	}
	if rapid.Bool().Draw(t, "hasHint") {
		o.Hint = retry.Hint{After: anyDuration(t, "hint", 30*time.Second), Valid: rapid.Bool().Draw(t, "valid"), Seen: true}
	}
	return answer{outcome: o, after: anyDuration(t, "after", time.Second)}
}

func TestPropertyHintIsFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		for i, d := range s.play(s.policy).decisions {
			o := s.script[i].outcome
			obey := s.policy.HonourRetryAfter && o.Kind == retry.Responded && o.Hint.Valid
			if d.Retry && obey && d.Delay < o.Hint.After {
				t.Fatalf("attempt %d: delay %v, want >= the hint %v", i, d.Delay, o.Hint.After)
			}
			if d.Retry && (!obey || o.Hint.After == 0) && (d.Delay != d.Draw || d.Hinted) {
				t.Fatalf("attempt %d: %+v without a hint, want the draw", i, d)
			}
			if d.Delay < 0 || !d.Retry && d.Delay != 0 {
				t.Fatalf("attempt %d: %+v, want no delay without a retry", i, d)
			}
		}
	})
}

func TestPropertyLimitsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		p := s.policy
		tr := s.play(p)
		if p.MaxRetries != retry.Unlimited && len(tr.starts) > p.MaxRetries+1 {
			t.Fatalf("%d attempts, want at most %d", len(tr.starts), p.MaxRetries+1)
		}
		for i, at := range tr.starts[1:] {
			if p.MaxElapsed > 0 && at-tr.starts[0] >= p.MaxElapsed {
				t.Fatalf("retry %d starts %v after the first attempt, want < %v", i, at-tr.starts[0], p.MaxElapsed)
			}
			if from := tr.starts[i] + s.script[i].after; at < from {
				t.Fatalf("retry %d starts at %v, before the answer at %v", i, at, from)
			}
		}
	})
}

// Within one operation. Over several a larger limit may draw more from the stream in an
// earlier one, and thereby shift the delays of the later ones.
func TestPropertyMoreAllowedNeverFewer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		less, more := s.policy, s.policy
		if less.MaxRetries != retry.Unlimited {
			more.MaxRetries += rapid.IntRange(0, 5).Draw(t, "moreRetries")
			if rapid.Bool().Draw(t, "unlimited") {
				more.MaxRetries = retry.Unlimited
			}
		}
		if less.MaxElapsed != 0 {
			more.MaxElapsed += anyDuration(t, "moreElapsed", time.Minute)
			if rapid.Bool().Draw(t, "endless") {
				more.MaxElapsed = 0
			}
		}
		a, b := s.play(less), s.play(more)
		if a.retries() > b.retries() {
			t.Fatalf("%d retries under retries <= %d, elapsed < %v; only %d under %d, %v",
				a.retries(), less.MaxRetries, less.MaxElapsed, b.retries(), more.MaxRetries, more.MaxElapsed)
		}
		if !slices.Equal(a.starts, b.starts[:len(a.starts)]) {
			t.Fatalf("attempts at %v and %v, want the same as far as both go", a.starts, b.starts)
		}
	})
}

// Hints shift delays and no draw: not the values, and not the stream's position after them.
func TestPropertyHintsShiftNoDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		p := s.policy
		p.MaxElapsed = 0 // a hint may end an operation that the strategy alone would not
		draws := func(script []answer) (all []time.Duration, next uint64) {
			backoffStream, hintStream := stream(s.seed, 0), stream(s.seed, 1)
			var c retry.Client
			c.Init(&p, backoffStream, hintStream)
			for _, d := range run(&c, 0, script, len(script)).decisions {
				all = append(all, d.Draw)
			}
			return all, backoffStream.Uint64()
		}
		bare := slices.Clone(s.script)
		for i := range bare {
			bare[i].outcome.Hint = retry.Hint{}
		}
		with, nextWith := draws(s.script)
		without, nextWithout := draws(bare)
		if !slices.Equal(with, without) || nextWith != nextWithout {
			t.Fatalf("draws %v with hints, %v without, then %d and %d", with, without, nextWith, nextWithout)
		}
	})
}

// An attempt that Decide planned has time to run, and never more than either limit.
func TestPropertyAttemptTimeout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		p := s.policy
		tr := s.play(p)
		c := clientOf(&p, 0, 0)
		c.Begin(tr.starts[0])
		for i, at := range tr.starts {
			got := c.AttemptTimeout(at)
			if p.Timeout > 0 && got > p.Timeout || p.MaxElapsed > 0 && at+got > tr.starts[0]+p.MaxElapsed {
				t.Fatalf("attempt %d at %v may take %v, want within %v and %v", i, at, got, p.Timeout, p.MaxElapsed)
			}
			if got <= 0 {
				t.Fatalf("attempt %d at %v may take %v, want some time", i, at, got)
			}
		}
	})
}
