package record

import (
	"encoding/json"
	"maps"
	"time"
)

// Outside is what the target knows of clients that are not ours.
type Outside struct {
	// Answers counts arrivals by what they got: a status, "reset", or "client_gone" where the
	// client left first. Those without any are left out.
	Answers map[string]int64 `json:"answers"`
	// Unanswered counts arrivals without an answer when the run ended.
	Unanswered int64 `json:"unanswered_at_end"`
	// Unknown counts arrivals that nothing told a first attempt from a retry by. Those from Failure
	// on are taken for retries, those before it, or all where it is nil, for first attempts.
	Unknown int64          `json:"unknown_attempts"`
	Failure *time.Duration `json:"first_failure_ns"`
}

// MarshalJSON writes null for what only clients know where they were not ours.
func (r Run) MarshalJSON() ([]byte, error) {
	type plain Run
	if r.Outside == nil {
		return json.Marshal(plain(r))
	}
	type none = *struct{}
	return json.Marshal(struct {
		plain
		Operations none `json:"operations"`
		Attempts   none `json:"attempts"`
		Hints      none `json:"retry_after"`
		Generator  any  `json:"generator"`
		Books      any  `json:"books"`
	}{
		plain: plain(r),
		Generator: struct {
			Generator
			KeptUp      none `json:"kept_up"`
			TimerSource none `json:"timer_source"`
			Replayed    none `json:"replayed_by_transport"`
		}{Generator: r.Generator},
		Books: struct {
			Books
			AttemptsSent none `json:"attempts_sent"`
			Lost         none `json:"lost"`
		}{Books: r.Books},
	})
}

// known returns o with its counters copied, nil where there is none.
func (o *Outside) known() *Outside {
	if o == nil {
		return nil
	}
	own := *o
	own.Answers = map[string]int64{}
	maps.Copy(own.Answers, o.Answers)
	return &own
}

// equations are the books of a run whose clients are not ours.
func (o *Outside) equations(arrivals, unknown int64) []equation {
	return []equation{
		{"arrivals", "answers + unanswered at the end", arrivals, sumOf(o.Answers) + o.Unanswered},
		{"arrivals of unknown attempts", "their sum over the buckets", o.Unknown, unknown},
	}
}
