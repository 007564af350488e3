package plan

import "stormtest/load/retry/breaker"

// breakerNone breaks nothing.
const breakerNone = "none"

// circuitBreaker is a breaker.Config.
type circuitBreaker struct{}

func (circuitBreaker) read(p *Plan, text string) string {
	if text != breakerNone {
		return breakerNone
	}
	p.Breaker = breaker.Config{}
	return ""
}

func (circuitBreaker) write(*Plan) string { return breakerNone }
func (circuitBreaker) word() string       { return "NAME[:KEY=VALUE,...]" }
func (circuitBreaker) choices() []string  { return nil }
