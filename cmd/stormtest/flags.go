package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
	"stormtest/load/secret"
	"stormtest/report/check"
)

// fileMost bounds a scenario file, resultMost a saved result.
const (
	fileMost   = 1 << 20
	resultMost = 1 << 30
)

// planFlags are the flags of a plan's fields, kept as texts in the order given: plan reads
// them, so that flags, environment and file mean the same.
type planFlags struct {
	settings []plan.Setting
	file     string
	engines  []plan.Engine // that the command has for the plan; none is either
}

// alone says that the command has no engine but this one.
func (f *planFlags) alone(e plan.Engine) bool { return len(f.engines) == 1 && f.engines[0] == e }

// widest is the engine of the command that takes most words.
func (f *planFlags) widest() plan.Engine {
	if f.alone(plan.Real) {
		return plan.Real
	}
	return plan.Virtual
}

// A setting is the pflag.Value of one field.
type setting struct {
	flags *planFlags
	field plan.Field
	given []string
}

func (s *setting) Set(text string) error {
	s.given = append(s.given, text)
	s.flags.settings = append(s.flags.settings, plan.Setting{Name: s.field.Name, Text: text})
	return nil
}

func (s *setting) String() string { return strings.Join(s.given, "; ") }
func (s *setting) Type() string   { return s.field.TypeFor(s.flags.widest()) }

// groupAnnotation names the help's group of a flag.
const groupAnnotation = "group"

// add defines a flag for every field of a plan. The help shows those that one of the engines can do
// something with; the others are taken too, so that they are refused with the reason.
func (f *planFlags) add(cmd *cobra.Command, engines ...plan.Engine) {
	f.engines = engines
	f.addFields(cmd, plan.Fields())
	for _, field := range plan.Fields() {
		if !slices.ContainsFunc(engines, field.Group.Has) {
			cmd.Flags().Lookup(field.Name).Hidden = true
		}
	}
}

// addFields defines a flag for each of the fields.
func (f *planFlags) addFields(cmd *cobra.Command, fields []plan.Field) {
	set := cmd.Flags()
	set.SortFlags = false // the table's order is the help's
	for _, field := range fields {
		flag := set.VarPF(&setting{flags: f, field: field}, field.Name, field.Shorthand, field.Usage)
		flag.DefValue = field.Default()
		flag.Annotations = map[string][]string{groupAnnotation: {string(field.Group)}}
		if field.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if choices := field.ChoicesFor(f.widest()); choices != nil {
			complete(cmd, field.Name, choices)
		}
		switch {
		case field.Group == plan.Gates:
			completeWith(cmd, field.Name, completeGates)
		case field.Name == presetField:
			completeWith(cmd, field.Name, completePresets)
		}
	}
	set.VarP(fileName{&f.file}, "file", "f", "YAML or JSON; - is stdin")
	set.Lookup("file").Annotations = map[string][]string{groupAnnotation: {groupSource}}
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "json")
}

// takeURL makes the URL argument the flag's value, which must not be another one.
func (f *planFlags) takeURL(args []string) error {
	for _, arg := range args {
		for _, s := range f.settings {
			if s.Name == "url" && s.Text != arg {
				return usage("--url %s and argument %q: want one target", secret.URL(s.Text), secret.URL(arg))
			}
		}
		f.settings = append(f.settings, plan.Setting{Name: "url", Text: arg})
	}
	return nil
}

// complete offers words for a flag's value to the shell.
func complete(cmd *cobra.Command, flag string, words []string) {
	completeWith(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func completeWith(cmd *cobra.Command, flag string, words cobra.CompletionFunc) {
	err := cmd.RegisterFlagCompletionFunc(flag, words)
	if err != nil {
		panic("stormtest: BUG: " + err.Error())
	}
}

// resolveFor returns the plan of all sources, which the engine must be able to run, and its gates.
// Every fault is reported.
func (f *planFlags) resolveFor(w world, engine plan.Engine) (plan.Plan, []check.Gate, error) {
	p, gates, sources, err := f.resolve(w)
	if sources != nil {
		if misfit := sources.Locate(p.For(engine)); misfit != nil {
			err = errors.Join(err, usageError{misfit})
		}
	}
	return p, gates, err
}

// resolve returns the plan of all sources, whatever engine it is for, its gates, and where its values
// stood, which is nil where the plan has a fault. Every fault is reported.
func (f *planFlags) resolve(w world) (plan.Plan, []check.Gate, plan.Sources, error) {
	in, err := f.input(w)
	if err != nil {
		return plan.Plan{}, nil, nil, err
	}
	p, sources, err := plan.Resolve(in)
	var judged judgedRuns
	if err == nil { // else the names may be what is wrong
		judged.strategies = p.GateNames()
	}
	gates, faults := judged.gates(p.Gates, sources[gateField])
	if err != nil {
		sources = nil
	}
	if err := errors.Join(err, faults); err != nil {
		return p, nil, sources, usageError{err}
	}
	return p, gates, sources, nil
}

// inputs are the files that a plan is read from, and those that it names.
func (f *planFlags) inputs(p plan.Plan) []string {
	return slices.DeleteFunc([]string{f.file, p.BodyFile, p.CACert, p.Cert, p.Key}, func(path string) bool { return path == "" })
}

// input collects the sources of a plan.
func (f *planFlags) input(w world) (plan.Input, error) {
	in := plan.Input{Flags: f.settings, Env: w.env, EnvOthers: append(outputVariables(), serveVariables()...)}
	if f.alone(plan.Virtual) {
		in.Engine = plan.Virtual
	}
	if f.file != "" {
		b, err := readFile(w, f.file, fileMost)
		if err != nil {
			return in, usage("--file: %w", err)
		}
		in.File, in.FileName = b, f.file
	}
	return in, nil
}

// readAll reads at most most bytes.
func readAll(r io.Reader, name string, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("read %s: more than %d bytes", name, most)
	}
	return b, nil
}
