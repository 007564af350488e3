package plan_test

import (
	"strings"
	"testing"

	"stormtest/load/plan"
)

// A result's plan holds no body, and its hash tells bodies apart and secrets not.
func TestRedacted(t *testing.T) {
	p := plan.Default()
	p.URL, p.Headers, p.Body = "http://localhost/?code=hush&page=7", []string{"X-Api-Key: hush", "X-Of: 3"}, "hush"
	r := p.Redacted()
	if strings.Contains(string(r.YAML()), "hush") || !strings.Contains(r.URL, "page=7") || r.Headers[1] != "X-Of: 3" || !strings.Contains(r.Body, "4 bytes") {
		t.Errorf("redacted: %q %q %q", r.URL, r.Headers, r.Body)
	}
	other := p
	other.URL, other.Headers = "http://localhost/?code=shush&page=7", []string{"X-Api-Key: shush", "X-Of: 3"}
	if other.Hash() != p.Hash() {
		t.Error("the hash goes by secrets")
	}
	other.Body = "shush"
	if other.Hash() == p.Hash() {
		t.Error("the hash does not go by the body")
	}
	if p.Body != "hush" || p.Headers[0] != "X-Api-Key: hush" {
		t.Error("the plan itself was redacted")
	}
}
