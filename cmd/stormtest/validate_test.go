package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValidateTells(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.json")
	c := do(t.Context(), nil, "validate", "--only", "published", "--json", file, "--quiet")
	if c.code != codePassed || !strings.Contains(c.out, " checks passed, 0 failed in ") || c.err != "" {
		t.Errorf("exit code %d, stderr %q, stdout %s", c.code, c.err, c.out)
	}
	b, err := os.ReadFile(file)
	var v validation
	if err != nil || json.Unmarshal(b, &v) != nil || v.Passed != len(v.Checks) || v.Passed == 0 || v.Failed != 0 || v.Seed != 1 {
		t.Errorf("--json wrote %s, error %v", b, err)
	}
	if c := do(t.Context(), nil, "validate", "--only", "published", "--json", "-", "--quiet"); json.Unmarshal([]byte(c.out), &v) != nil {
		t.Errorf("--json - wrote %q, want JSON alone", c.out)
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, args := range [][]string{{"--only", "nonsense"}, {"--json", "no/such/folder"}, {"--seed", "-1"}, {"--real", "--full"}, {"--real", "--only", "index"}, {"more"}} {
		if c := do(t.Context(), nil, append([]string{"validate"}, args...)...); c.code != codeUsage || c.out != "" {
			t.Errorf("%v: exit code %d, stderr %q, want 2", args, c.code, c.err)
		}
	}
}
