package retry

import (
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
)

// A Party is clients of a fleet that follow one policy, with budgets and breakers of their own.
type Party struct {
	Policy   *Policy
	Budget   *budget.Bank  // by the client's place in the party; nil is no budget
	Breakers *breaker.Bank // so, too; nil is none
}

// Gates reports whether the party's attempts ask before they leave.
func (p *Party) Gates() bool { return p.Breakers != nil || p.Budget.Gates() }

// A Mixture is a fleet of several parties. Read only.
type Mixture struct {
	Parties []Party
	// Of and Place are by client: its party, and its place among the party's clients.
	Of    []uint8
	Place []uint32
}

// Party returns the party of a client, and its place there.
func (m *Mixture) Party(client int) (p *Party, place int) {
	return &m.Parties[m.Of[client]], int(m.Place[client])
}
