package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
)

// presetField is the field and flag of presets.
const presetField = "preset"

// newPresets returns the command that lists the presets, and prints one as a scenario file.
func newPresets(w world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "presets [flags] [NAME...]",
		Short: "list the retry policies of clients as they are shipped, or print one",
		Long: `Lists the policies that --preset knows: what a client does after a failure as it is
shipped, whose source was read and in which version, and what is known to go wrong.
Those that are named are printed as scenario files, to be changed and run with --file.`,
		Example: "  stormtest presets\n  stormtest presets hashicorp > storm.yaml\n  stormtest --preset aws-standard-2026,hashicorp --outage 0s..5s",
		RunE: func(_ *cobra.Command, names []string) error {
			list, err := presetsNamed(names)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return writePresetsJSON(w.out, list)
			case len(names) == 0:
				_, err = io.WriteString(w.out, presetList(list))
				return err
			}
			for i, s := range list {
				if i > 0 {
					_, _ = io.WriteString(w.out, "---\n") // a stream of documents
				}
				if _, err := w.out.Write(s.YAML()); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: completePresets,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// presetsNamed returns the presets of the names, all of them where there are none, or every fault at once.
func presetsNamed(names []string) ([]plan.Preset, error) {
	if len(names) == 0 {
		return plan.Presets(), nil
	}
	var list []plan.Preset
	var faults []error
	for _, name := range names {
		s, known := plan.PresetNamed(name)
		if !known {
			faults = append(faults, usage("presets: %s", plan.UnknownPreset(name)))
		}
		list = append(list, s)
	}
	return list, errors.Join(faults...)
}

// presetGroups are the groups of the list, in its order.
var presetGroups = map[string]string{
	"cloud": "Cloud SDKs", "rpc": "RPC, meshes and proxies", "library": "HTTP and general libraries", "infrastructure": "Infrastructure clients",
}

// presetIndent is where the text of a preset begins.
const presetIndent = 4

// presetList is every preset for a terminal: what it does, what goes wrong, and where that was read.
func presetList(list []plan.Preset) string {
	var b strings.Builder
	b.WriteString(`Retry policies as clients ship them, for --preset NAME,... and each a run of its own.
'stormtest presets NAME' prints one as a scenario file, with notes on what it leaves out.
Delays are before the first, second and third retry: from the least to the most.
Clients without a policy of their own, where the caller says it all (sethvargo/go-retry,
failsafe-go), and what could not be verified (nginx, Ribbon) have no preset.
`)
	group := ""
	for _, s := range list {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n%s\n", presetGroups[group])
		}
		fmt.Fprintf(&b, "\n  %s\n", s.Name)
		writePresetLine(&b, s.Summary)
		writePresetLine(&b, "delays "+s.FirstDelays()+"; attempts "+s.AttemptsMost())
		for _, h := range s.Hazards {
			writePresetLine(&b, "hazard: "+h)
		}
		writePresetLine(&b, "source: "+s.Source+"; "+s.Version)
	}
	return b.String()
}

// writePresetLine writes a text in lines of the help's width.
func writePresetLine(b *strings.Builder, text string) {
	line := strings.Repeat(" ", presetIndent-1)
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > helpWidth {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", presetIndent+1)
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// A presetRow is one preset for machines.
type presetRow struct {
	plan.Preset
	FirstDelays string `json:"first_delays"`
	Attempts    string `json:"attempts"`
}

// writePresetsJSON writes presets for machines.
func writePresetsJSON(w io.Writer, list []plan.Preset) error {
	document := struct {
		Schema  string      `json:"schema"`
		Presets []presetRow `json:"presets"`
	}{Schema: "stormtest.presets/v1"}
	for _, s := range list {
		s.Hazards, s.Notes = append([]string{}, s.Hazards...), append([]string{}, s.Notes...)
		document.Presets = append(document.Presets, presetRow{s, s.FirstDelays(), s.AttemptsMost()})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(document)
}

// completePresets offers the names of presets, with what they do, to the shell; of a comma list the last one.
func completePresets(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before, last := "", begun
	if i := strings.LastIndexByte(begun, ','); i >= 0 {
		before, last = begun[:i+1], begun[i+1:]
	}
	var list []cobra.Completion
	for _, s := range plan.Presets() {
		if strings.HasPrefix(s.Name, last) && !strings.Contains(","+before, ","+s.Name+",") {
			list = append(list, cobra.CompletionWithDesc(before+s.Name, s.Summary))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
