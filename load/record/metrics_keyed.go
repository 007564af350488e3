package record

import (
	"slices"
	"strings"
)

// A Family is a table of counters by key: each key of it is a metric of its own, such as outcome_503.
// A key that the run does not hold counts 0.
type Family struct {
	Prefix  string // with the "_" at its end
	Group   string
	Meaning string
	// Keys are those that there can be, beside the statuses.
	Keys []string
	// Statuses says that a status of three digits is a key.
	Statuses bool

	atTarget bool
	of       func(*Run) map[string]int64
}

// The keys of by_outcome, gave_up, lost and answers are named by the packages that count them; load has a test
// that these are all of them.
var (
	reasonKeys  = []string{"not_retryable", "not_idempotent", "max_retries", "max_elapsed", "refused_by_budget", "caller_gone"}
	outcomeKeys = []string{"refused", "connect_timeout", "connect_failed", "tls_failed", "local_descriptors", "local_ports", "local_network", "dns", "timeout", "reset", "malformed", "cancelled", otherKey}
	lossKeys    = []string{
		"refused", "connect_timeout", "connect_failed", "reset_before_arrival", "connecting_at_end", "given_up_connecting", "tls_failed", "local_descriptors", "local_ports",
		"local_network", "dns", "unread_at_end", "lost_request", "not_written", "on_the_way_at_end",
	}
	answerKeys = []string{"reset", "client_gone"}
)

// otherKey counts what is not named: in by_outcome all but the most frequent.
const otherKey = "other"

var families = []Family{
	{Prefix: "gave_up_", Group: operationMetrics[0].Group, Meaning: "operations that gave up for this reason", Keys: reasonKeys,
		of: func(r *Run) map[string]int64 { return r.Operations.GaveUp }},
	{Prefix: "outcome_", Group: attemptMetrics[0].Group, Meaning: "attempts that ended so: a status, or a failure on the wire", Keys: outcomeKeys, Statuses: true,
		of: func(r *Run) map[string]int64 { return r.Attempts.ByOutcome }},
	{Prefix: "lost_", Group: attemptMetrics[0].Group, Meaning: "attempts that were lost so on their way to the target", Keys: lossKeys,
		of: func(r *Run) map[string]int64 { return r.Books.Lost }},
	{Prefix: "answer_", Group: outsideMetrics[0].Group, Meaning: "arrivals that got this answer: a status, reset, or client_gone", Keys: answerKeys, Statuses: true, atTarget: true,
		of: answers},
}

func answers(r *Run) map[string]int64 {
	if r.Outside == nil {
		return nil
	}
	return r.Outside.Answers
}

// Families returns every family. The slice is the caller's.
func Families() []Family { return slices.Clone(families) }

// name is the metric of a key. A key that has the prefix in it needs no other.
func (f *Family) name(key string) string { return f.Prefix + strings.TrimPrefix(key, f.Prefix) }

// Names are the metrics of Keys.
func (f *Family) Names() []string {
	var names []string
	for _, key := range f.Keys {
		names = append(names, f.name(key))
	}
	return names
}

// named returns the metric of a name.
func (f *Family) named(name string) (Metric, bool) {
	rest, ok := strings.CutPrefix(name, f.Prefix)
	at := slices.IndexFunc(f.Keys, func(key string) bool { return f.name(key) == name })
	if !ok || at < 0 && (!f.Statuses || !isStatus(rest)) {
		return Metric{}, false
	}
	key := rest
	if at >= 0 {
		key = f.Keys[at]
	}
	m := Metric{Name: name, Group: f.Group, Unit: UnitCount, Meaning: f.Meaning, AtTarget: f.atTarget, OnlyServe: f.atTarget, family: f, key: key}
	m.value = func(r *Run) *float64 { return f.count(r, key) }
	if f.atTarget {
		m.Absent = onlyOutside
	}
	if slices.Contains(f.Keys, otherKey) {
		m.Absent = "it is not among the 20 most frequent outcomes, which alone are counted by name"
	}
	return m, true
}

// count is what the run holds of a key: nil where it may be among those that are not named.
func (f *Family) count(r *Run, key string) *float64 {
	counts := f.of(r)
	n, named := counts[key]
	if f.atTarget && r.Outside == nil || !named && counts[otherKey] > 0 && slices.Contains(f.Keys, otherKey) {
		return nil
	}
	return count(n)
}

// isStatus says whether key is an HTTP status.
func isStatus(key string) bool {
	return len(key) == 3 && key[0] >= '1' && key[0] <= '9' && strings.Trim(key, "0123456789") == ""
}

// keyed returns what a run counts by key, 0 left out: by the metric's name. Nil where nothing was started.
func keyed(r *Run) map[string]int64 {
	if r.FromLog != nil || r.Outside == nil && r.Operations.Started == 0 {
		return nil
	}
	all := map[string]int64{}
	for i := range families {
		for key, n := range families[i].of(r) {
			if n != 0 {
				all[families[i].name(key)] = n
			}
		}
	}
	return all
}
