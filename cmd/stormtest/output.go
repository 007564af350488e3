package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
)

// outputs are the flags that say where reports go.
type outputs struct {
	files map[string]*string // by the format's flag
	trace string
	ascii bool
	quiet bool
}

// traceFlag is the one output that is written while the run goes on.
const traceFlag = "trace"

// fileFormats are the formats that go to a file.
func fileFormats() []report.Format {
	var list []report.Format
	for _, f := range report.Formats() {
		if f.Flag != "" {
			list = append(list, f)
		}
	}
	return list
}

// outputVariables are the STORMTEST_* names that are no fields of a plan.
func outputVariables() []string {
	list := []string{variable(traceFlag), variable("ascii"), variable("quiet"), variable("file")}
	for _, f := range fileFormats() {
		list = append(list, variable(f.Flag))
	}
	return list
}

func variable(flag string) string {
	return plan.EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// add defines the flags; running adds those that only a run has.
func (o *outputs) add(cmd *cobra.Command, running bool) {
	set := cmd.Flags()
	o.files = make(map[string]*string)
	group := map[string][]string{groupAnnotation: {groupOutput}}
	for _, f := range fileFormats() {
		o.files[f.Flag] = set.String(f.Flag, "", f.Summary+"; - is stdout")
		set.Lookup(f.Flag).Annotations = group
		_ = cmd.MarkFlagFilename(f.Flag)
	}
	set.BoolVar(&o.ascii, "ascii", false, "draw with plain ASCII")
	set.Lookup("ascii").Annotations = group
	if !running {
		return
	}
	set.StringVar(&o.trace, traceFlag, "", "CSV, one row an attempt, written as the run goes on; - is stdout")
	set.Lookup(traceFlag).Annotations = group
	_ = cmd.MarkFlagFilename(traceFlag)
	set.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	set.Lookup("quiet").Annotations = group
}

// fill takes from the environment what no flag gave.
func (o *outputs) fill(cmd *cobra.Command, env []string) error {
	var faults []error
	set := cmd.Flags()
	for _, pair := range env {
		name, text, _ := strings.Cut(pair, "=")
		flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, plan.EnvPrefix), "_", "-"))
		known := set.Lookup(flag)
		if !strings.HasPrefix(name, plan.EnvPrefix) || variable(flag) != name || known == nil || known.Changed {
			continue
		}
		if g := known.Annotations[groupAnnotation]; len(g) == 0 || g[0] != groupOutput && g[0] != groupSource {
			continue
		}
		if err := set.Set(flag, text); err != nil {
			faults = append(faults, usage("%s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

// A sink is one opened output.
type sink struct {
	flag   string
	path   string // where the report is to stand
	file   *os.File
	temp   string // the file's name until it is whole; empty where it is written in place
	format report.Format
}

// sinks are the opened outputs of one command.
type sinks struct {
	w       world
	files   []sink
	stdout  string // the flag that took stdout; empty: the terminal report has it
	tracing io.Writer
	traced  *os.File
	options report.Options
}

// open opens every output before anything is sent, so that a bad one costs no run.
//
// A report appears under its name only when it is whole: until then it is a file beside it,
// and what stood there before stays. A trace is written in place as the run goes on.
func (o *outputs) open(w world) (*sinks, error) {
	s := &sinks{w: w, options: terminalOptions(w, o.ascii)}
	var faults []error
	for _, f := range fileFormats() {
		if err := s.add(f, *o.files[f.Flag]); err != nil {
			faults = append(faults, err)
		}
	}
	if err := s.openTrace(o.trace, len(faults) == 0); err != nil {
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		s.discard()
		return nil, usageError{err}
	}
	return s, nil
}

// add opens one output; an empty path is none.
func (s *sinks) add(f report.Format, path string) error {
	switch path {
	case "":
		return nil
	case "-":
		if err := s.takeStdout(f.Flag); err != nil {
			return err
		}
		s.files = append(s.files, sink{flag: f.Flag, format: f})
		return nil
	}
	if err := s.taken(f.Flag, path); err != nil {
		return err
	}
	file, temp, err := create(path)
	if err != nil {
		return fmt.Errorf("--%s: %w", f.Flag, err)
	}
	s.files = append(s.files, sink{flag: f.Flag, path: path, file: file, temp: temp, format: f})
	return nil
}

// taken is the error of two outputs in one file.
func (s *sinks) taken(flag, path string) error {
	for _, other := range s.files {
		if other.path != "" && filepath.Clean(other.path) == filepath.Clean(path) {
			return fmt.Errorf("--%s: %s: --%s writes there already", flag, path, other.flag)
		}
	}
	return nil
}

func (s *sinks) takeStdout(flag string) error {
	if s.stdout != "" {
		return fmt.Errorf("--%s: -: --%s took stdout already", flag, s.stdout)
	}
	s.stdout = flag
	return nil
}

// openTrace empties the file only where nothing else is wrong.
func (s *sinks) openTrace(path string, faultless bool) error {
	switch path {
	case "":
		return nil
	case "-":
		s.tracing = s.w.out
		return s.takeStdout(traceFlag)
	}
	if err := s.taken(traceFlag, path); err != nil || !faultless {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--%s: %w", traceFlag, err)
	}
	s.traced, s.tracing = file, file
	return nil
}

// create opens a file to be renamed to path, or path itself where that is no regular file.
func create(path string) (file *os.File, temp string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return file, "", err
	}
	file, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		// The temporary name would only confuse.
		var p *os.PathError
		if errors.As(err, &p) {
			err = &os.PathError{Op: "create", Path: path, Err: p.Err}
		}
		return nil, "", err
	}
	return file, file.Name(), nil
}

// trace is where the run writes its trace; nil is nowhere.
func (s *sinks) trace() io.Writer { return s.tracing }

// write renders the result everywhere. Every output is tried, whatever another met, and
// stdout comes last, where a reader may have gone.
func (s *sinks) write(r *record.Result) error {
	var faults []error
	if s.traced != nil {
		if err := s.traced.Close(); err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", traceFlag, err))
		}
		s.traced = nil
	}
	for i := range s.files {
		if f := &s.files[i]; f.file != nil {
			if err := f.write(r, s.options); err != nil {
				faults = append(faults, fmt.Errorf("--%s: %w", f.flag, err))
			}
		}
	}
	if err := s.writeStdout(r); err != nil {
		faults = append(faults, fmt.Errorf("stdout: %w", err))
	}
	return errors.Join(faults...)
}

func (s *sinks) writeStdout(r *record.Result) error {
	if s.stdout == traceFlag {
		return nil
	}
	render := report.Terminal
	for _, f := range s.files {
		if f.path == "" && f.flag == s.stdout {
			render = f.format.Write
		}
	}
	var text bytes.Buffer
	if err := render(&text, r, s.options); err != nil {
		return err
	}
	_, err := s.w.out.Write(text.Bytes())
	return err
}

// write renders r and gives the file its name.
func (f *sink) write(r *record.Result, o report.Options) error {
	file := f.file
	f.file = nil
	err := errors.Join(f.format.Write(file, r, o), file.Close())
	if f.temp == "" || err != nil {
		return err
	}
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	// The mode of what stood there, or what os.Create would have given; the temporary file was
	// the user's alone.
	mode := 0o666 &^ umask()
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(f.temp, mode); err != nil {
		return err
	}
	temp := f.temp
	f.temp = ""
	return os.Rename(temp, path)
}

// discard closes what is open and removes what is not whole.
func (s *sinks) discard() {
	for i := range s.files {
		f := &s.files[i]
		if f.file != nil {
			_ = f.file.Close()
		}
		if f.temp != "" {
			_ = os.Remove(f.temp)
		}
	}
	if s.traced != nil {
		_ = s.traced.Close()
	}
}
