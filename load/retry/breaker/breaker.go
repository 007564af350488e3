// Package breaker is the circuit breaker: it stops asking a target that fails, waits, and lets a few probes find out
// whether it is back. It is pure: time and chance arrive as arguments, and equal calls give equal answers.
package breaker

// A Kind names a rule by which a closed breaker opens. The zero Kind is None.
type Kind uint8

// A Config says when a breaker opens and closes. The zero Config is no breaker.
type Config struct {
	Kind Kind
}
