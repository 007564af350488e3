package record

import "strconv"

// Sizes of the fixed tables of names.
const (
	KindsMax = 24 // outcomes without a status
	NamesMax = 16 // reasons, losses
	// OutcomesMax is how many outcomes a result names at most; the others are one, "other".
	OutcomesMax = 20
)

// statusCodes is how many HTTP status codes have a counter of their own: every number of
// three digits, though only 100..599 mean something.
const statusCodes = 1000

// An OutcomeKey is the index of one counter of by_outcome: a status code or a kind of failure.
// Make it with StatusKey or KindKey.
type OutcomeKey uint16

// outcomeOther counts keys that are in no table; its name is "other".
const outcomeOther OutcomeKey = statusCodes + KindsMax

// outcomeCounters is the length of a table of counters by OutcomeKey.
const outcomeCounters = int(outcomeOther) + 1

// StatusKey returns the key of an answer with the given status; its name is the number. A status
// that is not in 0..999 is counted under "other".
func StatusKey(status int) OutcomeKey {
	if status < 0 || status >= statusCodes {
		return outcomeOther
	}
	return OutcomeKey(status)
}

// KindKey returns the key of an outcome without an answer; its name is Config.KindNames[kind]. A
// kind without a name is counted under "other".
func KindKey(kind int) OutcomeKey {
	if kind < 0 || kind >= KindsMax {
		return outcomeOther
	}
	return OutcomeKey(statusCodes + kind)
}

// outcomeName returns k's key in by_outcome.
func outcomeName(k OutcomeKey, kindNames []string) string {
	switch {
	case k < statusCodes:
		return strconv.Itoa(int(k))
	case int(k)-statusCodes < len(kindNames):
		return kindNames[int(k)-statusCodes]
	}
	return "other"
}

// indexedName returns names[i], or "other" where there is none.
func indexedName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "other"
}
