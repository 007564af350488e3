package retry_test

import (
	"testing"

	"stormtest/load/retry"
)

func TestClassify(t *testing.T) {
	standard := retry.DefaultSet()
	code := func(n int) retry.Outcome { return retry.Outcome{Status: n} }
	kind := func(k retry.Kind) retry.Outcome { return retry.Outcome{Kind: k} }
	tests := []struct {
		name    string
		set     retry.Set
		outcome retry.Outcome
		want    retry.Class
	}{
		{"first success", standard, code(200), retry.Success},
		{"204", standard, code(204), retry.Success},
		{"redirect", standard, code(301), retry.Success},
		{"last success", standard, code(399), retry.Success},
		{"listed success is a failure", parseSet("202"), code(202), retry.Retryable},
		{"class of successes", parseSet("3xx"), code(304), retry.Retryable},
		{"101", standard, code(101), retry.Final},
		{"last interim", standard, code(199), retry.Final},
		{"400", standard, code(400), retry.Final},
		{"404", standard, code(404), retry.Final},
		{"408", standard, code(408), retry.Retryable},
		{"409", standard, code(409), retry.Final},
		{"429", standard, code(429), retry.Retryable},
		{"500", standard, code(500), retry.Final},
		{"501", standard, code(501), retry.Final},
		{"502", standard, code(502), retry.Retryable},
		{"503", standard, code(503), retry.Retryable},
		{"504", standard, code(504), retry.Retryable},
		{"505", standard, code(505), retry.Final},
		{"first of a set", parseSet("100"), code(100), retry.Retryable},
		{"last of a set", parseSet("599"), code(599), retry.Retryable},
		{"below a set", parseSet("1xx,5xx"), code(99), retry.Final},
		{"above a set", parseSet("1xx,5xx"), code(600), retry.Final},
		{"no status", parseSet("1xx,2xx,3xx,4xx,5xx"), code(0), retry.Final},
		{"negative status", parseSet("1xx,2xx,3xx,4xx,5xx"), code(-503), retry.Final},
		{"999", parseSet("5xx"), code(999), retry.Final},
		{"refused", standard, kind(retry.Refused), retry.Retryable},
		{"connect timeout", standard, kind(retry.ConnectTimeout), retry.Retryable},
		{"connect failed", standard, kind(retry.ConnectFailed), retry.Retryable},
		{"timeout", standard, kind(retry.Timeout), retry.Retryable},
		{"reset", standard, kind(retry.Reset), retry.Final},
		{"malformed", standard, kind(retry.Malformed), retry.Final},
		{"reset listed", parseSet("reset"), kind(retry.Reset), retry.Retryable},
		{"malformed listed", parseSet("malformed"), kind(retry.Malformed), retry.Retryable},
		{"connect alone is no timeout", parseSet("connect"), kind(retry.Timeout), retry.Final},
		{"timeout alone is no connect timeout", parseSet("timeout"), kind(retry.ConnectTimeout), retry.Final},
		{"status of a lost attempt", parseSet("503"), retry.Outcome{Kind: retry.Reset, Status: 503}, retry.Final},
		{"success of a lost attempt", standard, retry.Outcome{Kind: retry.Malformed, Status: 200}, retry.Final},
		{"nothing listed", retry.Set{}, code(503), retry.Final},
		{"no such kind", standard, kind(retry.KindCount), retry.Final},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.set.Classify(tt.outcome); got != tt.want {
				t.Errorf("%v.Classify(%v) = %d, want %d", tt.set, tt.outcome, got, tt.want)
			}
		})
	}
}

// The names of a result file. A change here breaks its readers.
func TestKeys(t *testing.T) {
	for k, want := range map[retry.Kind]string{
		retry.Responded: "responded", retry.Timeout: "timeout", retry.Refused: "refused",
		retry.ConnectTimeout: "connect_timeout", retry.ConnectFailed: "connect_failed",
		retry.TLSFailed: "tls_failed", retry.NoDescriptor: "local_descriptors", retry.NoPort: "local_ports", retry.LocalNetwork: "local_network", retry.LookupFailed: "dns",
		retry.Reset: "reset", retry.Malformed: "malformed", retry.ShortCircuited: "short_circuited", retry.Cancelled: "cancelled", retry.KindCount: "Kind(14)", 255: "Kind(255)",
	} {
		if got := k.String(); got != want {
			t.Errorf("Kind(%d).String() = %q, want %q", uint8(k), got, want)
		}
	}
	for r, want := range map[retry.Reason]string{
		retry.Retrying: "retrying", retry.Succeeded: "succeeded", retry.NotRetryable: "not_retryable",
		retry.NotIdempotent: "not_idempotent", retry.MaxRetries: "max_retries",
		retry.MaxElapsed: "max_elapsed", retry.RefusedByBudget: "refused_by_budget", retry.Throttled: "refused_by_budget", retry.CallerGone: "caller_gone", retry.ReasonCount: "Reason(9)", 255: "Reason(255)",
	} {
		if got := r.String(); got != want {
			t.Errorf("Reason(%d).String() = %q, want %q", uint8(r), got, want)
		}
	}
	for o, want := range map[retry.Outcome]string{
		{Status: 429}: "429", {Kind: retry.Reset, Status: 503}: "reset",
	} {
		if got := o.String(); got != want {
			t.Errorf("%#v.String() = %q, want %q", o, got, want)
		}
	}
}
