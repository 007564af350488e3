package retry_test

import (
	"math"
	"strings"
	"testing"

	"stormtest/load/retry"
)

func TestPolicyValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *retry.Policy)
		want   []string // beginnings of the faults
	}{
		{"default", func(*retry.Policy) {}, nil},
		{"no strategy", func(p *retry.Policy) { p.Strategy = nil }, []string{"retry: strategy = nil, want a strategy"}},
		{"no retries", func(p *retry.Policy) { p.MaxRetries = 0 }, nil},
		{"many retries", func(p *retry.Policy) { p.MaxRetries = math.MaxInt }, nil},
		{"negative retries", func(p *retry.Policy) { p.MaxRetries = -2 }, []string{"retry: max-retries = -2, want 0 or more"}},
		{"negative elapsed", func(p *retry.Policy) { p.MaxElapsed = -1 }, []string{"retry: max-elapsed = -1ns, want 0s (no limit) to "}},
		{"longest elapsed", func(p *retry.Policy) { p.MaxElapsed = retry.NoLimit }, nil},
		{"too long elapsed", func(p *retry.Policy) { p.MaxElapsed = retry.NoLimit + 1 }, []string{"retry: max-elapsed = "}},
		{"negative timeout", func(p *retry.Policy) { p.Timeout = -1 }, []string{"retry: timeout = -1ns, want 0s"}},
		{"longest timeout", func(p *retry.Policy) { p.Timeout = retry.NoLimit }, nil},
		{"too long timeout", func(p *retry.Policy) { p.Timeout = retry.NoLimit + 1 }, []string{"retry: timeout = "}},
		{"longest J", func(p *retry.Policy) { p.RetryAfterJitter = retry.NoLimit }, nil},
		{"too long J", func(p *retry.Policy) { p.RetryAfterJitter = retry.NoLimit + 1 }, []string{"retry: retry-after-jitter = "}},
		{"own method", func(p *retry.Policy) { p.Method = "M-SEARCH" }, nil},
		{"every method character", func(p *retry.Policy) { p.Method = "azAZ09!#$%&'*+-.^_`|~" }, nil},
		{"method with a space", func(p *retry.Policy) { p.Method = "GET /" }, []string{`retry: method = "GET /", want letters`}},
		{"method with a line end", func(p *retry.Policy) { p.Method = "GET\r\n" }, []string{`retry: method = "GET\r\n", want letters`}},
		{"method of other letters", func(p *retry.Policy) { p.Method = "GÉT" }, []string{`retry: method = "GÉT", want letters`}},
		{"method with a bracket", func(p *retry.Policy) { p.Method = "[" }, []string{`retry: method = "[", want letters`}},
		{"zero policy", func(p *retry.Policy) { *p = retry.Policy{} }, []string{"retry: strategy = nil"}},
		{
			"every fault", func(p *retry.Policy) {
				*p = retry.Policy{RetryAfterJitter: math.MaxInt64, MaxRetries: -7, MaxElapsed: -1, Timeout: -1, Method: "@"}
			},
			[]string{"retry: strategy", "retry: max-retries", "retry: max-elapsed", "retry: timeout", "retry: retry-after-jitter", "retry: method"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policyFor(t, "full", params())
			tt.change(&p)
			got := p.Validate()
			if len(got) != len(tt.want) {
				t.Fatalf("Validate() = %v, want %d faults", got, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i].Error(), want) {
					t.Errorf("Validate()[%d] = %q, want it to begin %q", i, got[i], want)
				}
			}
		})
	}
}
