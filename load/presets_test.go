package load_test

import (
	"testing"

	"stormtest/load"
	"stormtest/load/record"
)

// Policies as they are shipped, side by side, through an outage of 5 s at 500 operations a second, of which 40 clients make
// each 12 or 13 a second: no budget lets more retries through than its arithmetic allows, no operation is tried more often than
// its policy says, and every service is back.
//
// Of what fails between 5 and 10 s, 2,500 operations, each is retried as often as it may be.
func TestPresetsThroughAnOutage(t *testing.T) {
	p := scenario(t, "preset: aws-standard-2026,grpc-retry,envoy,envoy-retry-budget,urllib3", "clients: 40", "rate: 500/s",
		"outage: ['5s..10s']", "duration: 30s", "seed: 1")
	result := simulate(t, p, load.Env{})
	bounds := map[string]func(r *record.Run) (most float64, why string){
		"aws-standard-2026": func(r *record.Run) (float64, string) {
			return (500*40+float64(r.Operations.Succeeded))/14 + float64(r.Operations.Succeeded)*0.01, "14 tokens each, of 500 a client and one for a success; the few that succeed give theirs back"
		},
		"grpc-retry": func(r *record.Run) (float64, string) {
			return 4*40 + 0.1*float64(r.Operations.Succeeded), "four failures from 10 tokens down to half of them, and a tenth of a token for a success"
		},
		"envoy": func(*record.Run) (float64, string) {
			return 3 * 5 / 0.0125 * 1.1, "three at a time, each some 12.5 ms, for 5 s"
		},
		"envoy-retry-budget": func(*record.Run) (float64, string) { return 2500, "one for each operation" },
		"urllib3":            func(*record.Run) (float64, string) { return 10 * 2500, "ten for each operation" },
	}
	for i := range result.Runs {
		r := &result.Runs[i]
		if !r.Books.Balanced || r.Preset == nil || r.Preset.Name != r.Strategy || r.Preset.Source == "" || r.Preset.Version == "" {
			t.Errorf("%s: preset %+v, books %+v", r.Strategy, r.Preset, r.Books)
		}
		most, why := bounds[r.Strategy](r)
		if got := float64(r.Attempts.Retries); got > most || got == 0 {
			t.Errorf("%s: %.0f retries, at most %.0f are allowed: %s", r.Strategy, got, most, why)
		}
		if b := r.Budget; b != nil && b.Taken != b.Returned+b.Spent {
			t.Errorf("%s: budget %+v", r.Strategy, b)
		}
		if after := r.Operations.Succeeded; after < 25*500-10 {
			t.Errorf("%s: %d operations succeeded, want all but those of the outage, 12,500", r.Strategy, after)
		}
	}
	if r := result.Runs[4]; r.Attempts.Retries != 25_000 {
		t.Errorf("urllib3: %d retries, want ten for each of the 2,500 operations of the outage", r.Attempts.Retries)
	}
}

// There is a strategy polly and a preset of that name. Which of them a run is of its plan says; in a mixed fleet it is the strategy.
func TestPresetOrStrategy(t *testing.T) {
	for line, want := range map[string]bool{"strategy: polly": false, "preset: polly": true, "fleet: 'polly=50%,envoy=50%'": false} {
		run := simulate(t, scenario(t, line, "clients: 4", "duration: 1s", "seed: 1"), load.Env{}).Runs[0]
		if len(run.Parts) > 0 {
			if envoy := run.Parts[1].Run.Preset; envoy == nil || envoy.Name != "envoy" {
				t.Errorf("%s: envoy's preset is %+v", line, envoy)
			}
			run = *run.Parts[0].Run
		}
		if got := run.Preset != nil; got != want {
			t.Errorf("%s: preset %+v, want one: %v", line, run.Preset, want)
		}
	}
}
