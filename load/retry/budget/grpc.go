package budget

import "time"

// A grpc lets nobody retry while failures outweigh successes:
//
//	tokens   Size at the start, never more, never below 0
//	failure  of an attempt, first or retry, takes 1, where it is worth a retry
//	success  of one brings Ratio
//	allowed  if tokens > Size / 2, after the failure has taken its 1
//
// Tokens are counted in thousandths, so that no ratio depends on how a binary number was
// rounded. With 10 tokens the first 4 failures in a row may be followed by a retry and the
// fifth may not; where more than Ratio / (1 + Ratio) of the attempts fail (9.1 % of them
// with 0.1) there are in the end no retries at all.
//
// A retry takes nothing for itself, so one that is cancelled gives nothing back. A larger
// Size is a longer memory and not always more: after a long outage it takes more successes
// to fill it by half.
//
// A failure that must not be repeated counts as the source's pushback does; attempts that the
// source repeats unseen, because they never left, do not exist here.
// Source: gRFC A6, "Throttling Retry Attempts and Hedged RPCs", and grpc-go 1.85.0; the domain
// reference, 3.3.
type grpc struct {
	size, ratio int64 // in thousandths
	tokens      int64
}

// tokenParts is how a token is divided.
const tokenParts = 1000

func newGRPC(c Config) *grpc {
	size := int64(c.Size) * tokenParts
	return &grpc{size: size, ratio: c.parts() / (RatioParts / tokenParts), tokens: size}
}

func (g *grpc) note(_ time.Duration, e event, o Outcome, _ *Ticket) {
	switch {
	case e != answered:
	case o == Succeeded:
		g.tokens = min(g.size, g.tokens+g.ratio)
	case o.Retryable():
		g.tokens = max(0, g.tokens-tokenParts)
	}
}

func (g *grpc) take(time.Duration, Outcome, *Ticket) bool { return g.tokens > g.size/2 }

// balance is how many failures in a row may be followed by a retry.
func (g *grpc) balance(time.Duration) int64 {
	return max(0, g.tokens-g.size/2-1) / tokenParts
}
