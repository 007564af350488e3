package backoff

// ProportionalLate waits exactly Base before the first retry, and is Proportional from the second one on.
//
// With a FirstExponent of 1 it is Proportional. At the cap as Proportional.
//
// Wrong: the first retry of everyone who failed together comes at one moment.
//
// One draw, none for the first. Immutable, so safe for concurrent use.
// Source: gRPC's connection backoff, in which the jitter is put on the delay that comes next; grpc-go 1.85.0 does the same.
type ProportionalLate struct{ late }

func newProportionalLate(p Params) Ranged {
	return &ProportionalLate{newLate(p, &proportionalShape, p.Base)}
}
