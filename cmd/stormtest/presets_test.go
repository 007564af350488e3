package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
)

func TestPresets(t *testing.T) {
	list := do(t.Context(), nil, "presets")
	for _, s := range plan.Presets() {
		if !strings.Contains(list.out, "\n  "+s.Name+"\n") {
			t.Errorf("%s is not in the list", s.Name)
		}
		if group := presetGroups[s.Group]; group == "" {
			t.Errorf("%s: group %s has no title", s.Name, s.Group)
		}
	}
	for line := range strings.Lines(list.out) {
		if len(line) > helpWidth+1 {
			t.Errorf("longer than %d: %s", helpWidth, line)
		}
	}
	for _, want := range []string{"exactly 0.5 s", "delays 500ms, 750ms..1s; attempts 3\n", "hazard: the first retry has no randomness", "stripe-go v82.5.1"} {
		if !strings.Contains(list.out, want) {
			t.Errorf("no %q in the list", want)
		}
	}
	var document struct {
		Presets []struct {
			Name, Source, Version, Attempts string
			Hazards, Notes                  []string
			Fields                          map[string]string
			FirstDelays                     string `json:"first_delays"`
		}
	}
	if got := do(t.Context(), nil, "presets", "--json", "hashicorp"); json.Unmarshal([]byte(got.out), &document) != nil || len(document.Presets) != 1 {
		t.Fatalf("json: %s", got.out)
	}
	if p := document.Presets[0]; p.Name != "hashicorp" || p.Version != "0.7.8" || p.Attempts != "5" || p.FirstDelays != "1s, 2s, 4s, ..." || len(p.Hazards) == 0 || p.Fields["base"] != "1s" {
		t.Errorf("json: %+v", p)
	}
	if got := do(t.Context(), nil, "presets", "hashikorp", "none"); got.code != codeUsage || !strings.Contains(got.err, `"hashikorp": want a preset, which 'stormtest presets' lists; did you mean hashicorp?`) {
		t.Errorf("code %d: %s", got.code, got.err)
	}
}

// Several are a stream of YAML documents, each of which is a scenario file.
func TestPresetsPrintedApart(t *testing.T) {
	one, other := do(t.Context(), nil, "presets", "hashicorp"), do(t.Context(), nil, "presets", "grpc-retry")
	if both := do(t.Context(), nil, "presets", "hashicorp", "grpc-retry"); both.out != one.out+"---\n"+other.out {
		t.Errorf("got\n%s", both.out)
	}
}

// What is printed of a preset runs as the preset does.
func TestPresetPrintedRunsAlike(t *testing.T) {
	file := do(t.Context(), nil, "presets", "grpc-retry")
	arguments := []string{"sim", "--seed=1", "--clients=50", "--capacity=20/s", "--duration=5s", "--quiet"}
	one := do(t.Context(), nil, append(arguments, "--json=-", "--preset=grpc-retry")...)
	path := filepath.Join(t.TempDir(), "preset.yaml")
	if err := os.WriteFile(path, []byte(file.out), 0o600); err != nil {
		t.Fatal(err)
	}
	other := do(t.Context(), nil, append(arguments, "--json=-", "--file="+path)...)
	var a, b struct {
		Runs []struct {
			Strategy string
			Attempts json.RawMessage
			Preset   *struct{ Name, Source, Version string }
		}
	}
	if json.Unmarshal([]byte(one.out), &a) != nil || json.Unmarshal([]byte(other.out), &b) != nil || len(a.Runs) != 1 || len(b.Runs) != 1 {
		t.Fatalf("code %d and %d: %s%s", one.code, other.code, one.err, other.err)
	}
	if string(a.Runs[0].Attempts) != string(b.Runs[0].Attempts) {
		t.Errorf("attempts %s, from its file %s", a.Runs[0].Attempts, b.Runs[0].Attempts)
	}
	if r := a.Runs[0]; r.Strategy != "grpc-retry" || r.Preset == nil || r.Preset.Version == "" || b.Runs[0].Preset != nil {
		t.Errorf("runs %+v and %+v", a.Runs[0], b.Runs[0])
	}
}

func TestPresetCompletion(t *testing.T) {
	for begun, want := range map[string]string{"hashi": "hashicorp", "envoy,hashi": "envoy,hashicorp"} {
		list, _ := completePresets(nil, nil, begun)
		if len(list) == 0 || !strings.HasPrefix(list[0], want+"\t") {
			t.Errorf("completion of %q = %q", begun, list)
		}
	}
	if list, directive := completePresets(nil, nil, "requests,reques"); len(list) != 0 || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("completion offers %q again", list)
	}
}
