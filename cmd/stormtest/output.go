package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
)

// outputs are the flags that say where reports go.
type outputs struct {
	files   map[string]*string // by the format's flag
	streams map[string]*string // by the stream's flag; empty where nothing runs
	ascii   bool
	quiet   bool
	// formats are the ways in which the command can render what it has; nil is those of a result.
	formats []report.Format

	listenMetrics string // empty: nowhere

	// variables are the STORMTEST_* names of the flags that came from the environment.
	variables map[string]string

	// progress is a word of --progress.
	progress string
}

// The outputs that are written while the run goes on.
const (
	hlogFlag  = "hlog"
	traceFlag = "trace"
)

// streams are these outputs, in the order of the help.
var streams = []struct{ flag, usage string }{
	{hlogFlag, "histogram log (HdrHistogram): the arrivals of each bucket, whose values are positions inside the bucket and no latencies, written as the run goes on, so that a killed run leaves them; - is stdout"},
	{traceFlag, "CSV, one row an attempt that ended, written as the run goes on; - is stdout"},
}

// fileFormats are the formats of a result that go to a file.
func fileFormats() []report.Format { return withFlag(report.Formats()) }

// withFlag returns the formats that go to a file.
func withFlag(all []report.Format) []report.Format {
	return slices.DeleteFunc(slices.Clone(all), func(f report.Format) bool { return f.Flag == "" })
}

// all returns the command's formats.
func (o *outputs) all() []report.Format {
	if o.formats == nil {
		return report.Formats()
	}
	return o.formats
}

// terminal renders what goes to stdout where no file took it.
func (o *outputs) terminal() report.Format {
	all := o.all()
	return all[slices.IndexFunc(all, func(f report.Format) bool { return f.Flag == "" })]
}

// outputVariables are the STORMTEST_* names that are no fields of a plan.
func outputVariables() []string {
	list := []string{variable("ascii"), variable("quiet"), variable("progress"), variable("file"), variable(metricsFlag)}
	for _, stream := range streams {
		list = append(list, variable(stream.flag))
	}
	for _, f := range fileFormats() {
		list = append(list, variable(f.Flag))
	}
	return list
}

// serveVariables are the STORMTEST_* names of serve's own flags.
func serveVariables() []string {
	var list []string
	for _, name := range serveFlagNames {
		list = append(list, variable(name))
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
	for _, f := range withFlag(o.all()) {
		o.files[f.Flag] = new(string)
		set.Var(fileName{o.files[f.Flag]}, f.Flag, f.Summary+"; - is stdout")
		set.Lookup(f.Flag).Annotations = group
		_ = cmd.MarkFlagFilename(f.Flag)
	}
	set.BoolVar(&o.ascii, "ascii", false, "draw with plain ASCII")
	set.Lookup("ascii").Annotations = group
	if !running {
		return
	}
	o.streams = make(map[string]*string)
	for _, stream := range streams {
		o.streams[stream.flag] = new(string)
		set.Var(fileName{o.streams[stream.flag]}, stream.flag, stream.usage)
		set.Lookup(stream.flag).Annotations = group
		_ = cmd.MarkFlagFilename(stream.flag)
	}
	set.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	set.Lookup("quiet").Annotations = group
	set.Var(newWord(&o.progress, progressAuto, strings.Join(progressWords, "|")), "progress",
		"How far the run is, on stderr: live draws its arrivals, where a terminal has room for them, bar is one line that is redrawn, lines one every 5 s; auto is the first that the terminal can show")
	set.Lookup("progress").Annotations = group
	complete(cmd, "progress", progressWords)
}

// A fileName is a pflag.Value of a file's name. An empty one is most likely a variable of a script that was never set: it
// is refused, as nothing would be written for it and nobody would know.
type fileName struct{ text *string }

func (f fileName) Set(text string) error {
	if text == "" {
		return errors.New("want the name of a file")
	}
	*f.text = text
	return nil
}
func (f fileName) String() string {
	if f.text == nil { // pflag asks a zero one for its default
		return ""
	}
	return *f.text
}
func (f fileName) Type() string { return "string" }

// manner says how progress is told beside the outputs, or refuses the word that was given.
func (o *outputs) manner(w world) (manner, error) {
	if !slices.Contains(progressWords, o.progress) {
		return manner{}, usage("%s: %q: want one of %s", o.named("progress"), o.progress, strings.Join(progressWords, ", "))
	}
	t := manner{how: o.progress, ascii: o.ascii}
	if o.quiet {
		t.how = progressNone
	}
	if _, isTerminal := terminalWidth(w.out); isTerminal {
		for _, path := range o.streams {
			t.taken = t.taken || *path == "-"
		}
	}
	return t, nil
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
		if g := known.Annotations[groupAnnotation]; len(g) == 0 || g[0] != groupOutput && g[0] != groupSource && !slices.Contains(serveFlagNames, flag) {
			continue
		}
		if err := set.Set(flag, text); err != nil {
			faults = append(faults, usage("%s: %w", name, err))
		}
		if o.variables == nil {
			o.variables = make(map[string]string)
		}
		o.variables[flag] = name
	}
	return errors.Join(faults...)
}

// named is the flag as it is told: by its variable where that gave it.
func (o *outputs) named(flag string) string { return cmp.Or(o.variables[flag], "--"+flag) }

// A sink is one opened output.
type sink struct {
	flag   string
	path   string // where the report is to stand
	file   *os.File
	temp   string // the file's name until it is whole; empty where it is written in place
	append bool   // the file is added to
	format report.Format
}

// sinks are the opened outputs of one command.
type sinks struct {
	w       world
	files   []sink
	streams []stream
	stdout  string // the flag that took stdout; empty: the terminal report has it
	// terminal renders what stdout has then.
	terminal report.Format
	options  report.Options
	inputs   []string // what the command reads, which no output may replace; - is stdin
}

// A stream is an output that is written while the run goes on.
type stream struct {
	flag, path string
	to         io.Writer
	file       *os.File // nil for stdout, and when it is closed
}

// open opens every output before anything is sent, so that a bad one costs no run.
//
// A report appears under its name only when it is whole: until then it is a file beside it,
// and what stood there before stays. A stream is written in place as the run goes on. No output
// may be one of the inputs, which are the files that the command reads.
func (o *outputs) open(w world, inputs ...string) (*sinks, error) {
	s := &sinks{w: w, options: terminalOptions(w, o.ascii), terminal: o.terminal(), inputs: inputs}
	var faults []error
	for _, f := range withFlag(o.all()) {
		if err := s.add(f, *o.files[f.Flag]); err != nil {
			faults = append(faults, err)
		}
	}
	faults = append(faults, s.openStreams(o.streams, len(faults) == 0)...)
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
	x := sink{flag: f.Flag, path: path, format: f, append: path == value(s.w.env, summaryVariable)}
	var err error
	if x.append {
		x.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	} else {
		x.file, x.temp, err = create(path)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", f.Flag, err)
	}
	s.files = append(s.files, x)
	return nil
}

// summaryVariable names the file that GitHub Actions shows as a step's summary. It is the one file that reports are added
// to and never put in the place of: the step may have written before, and the next command of the step will write
// after.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// taken is the error of an output in a file that has another use: as an output, or as an input.
func (s *sinks) taken(flag, path string) error {
	if err := s.read(flag, path); err != nil {
		return err
	}
	for _, other := range s.files {
		if other.path != "" && filepath.Clean(other.path) == filepath.Clean(path) {
			return fmt.Errorf("--%s: %s: --%s writes there already", flag, path, other.flag)
		}
	}
	for _, other := range s.streams {
		if other.path != "" && filepath.Clean(other.path) == filepath.Clean(path) {
			return fmt.Errorf("--%s: %s: --%s writes there already", flag, path, other.flag)
		}
	}
	return nil
}

// read is the error of an output that is a file which the command reads, under whatever names.
func (s *sinks) read(flag, path string) error {
	out, _ := os.Stat(path)
	if out == nil || !out.Mode().IsRegular() { // not there yet; or a pipe, a terminal, which nothing replaces
		return nil
	}
	for _, name := range s.inputs {
		in, err := stat(s.w, name)
		switch {
		case err != nil || !os.SameFile(in, out):
			continue
		case filepath.Clean(name) == filepath.Clean(path):
			return fmt.Errorf("--%s: %s: the command reads that file, and would replace it: want another one", flag, path)
		case name == "-":
			name = "stdin"
		}
		return fmt.Errorf("--%s: %s: the same file as %s, which the command reads: want another one", flag, path, name)
	}
	return nil
}

// stat is os.Stat of an input.
func stat(w world, name string) (os.FileInfo, error) {
	if name != "-" {
		return os.Stat(name)
	}
	if f, ok := w.in.(*os.File); ok {
		return f.Stat()
	}
	return nil, os.ErrNotExist
}

func (s *sinks) takeStdout(flag string) error {
	if s.stdout != "" {
		return fmt.Errorf("--%s: -: --%s took stdout already", flag, s.stdout)
	}
	s.stdout = flag
	return nil
}

// openStreams checks every stream and, only where nothing is wrong, empties their files.
func (s *sinks) openStreams(paths map[string]*string, faultless bool) []error {
	var faults []error
	for _, one := range streams {
		path := paths[one.flag]
		if path == nil || *path == "" {
			continue
		}
		x := stream{flag: one.flag, path: *path}
		var err error
		if *path == "-" {
			x.path, x.to = "", s.w.out
			err = s.takeStdout(one.flag)
		} else {
			err = s.taken(one.flag, *path)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		s.streams = append(s.streams, x)
	}
	if !faultless || len(faults) > 0 {
		return faults
	}
	for i := range s.streams {
		x := &s.streams[i]
		if x.to != nil {
			continue
		}
		file, err := os.Create(x.path)
		if err != nil {
			return []error{fmt.Errorf("--%s: %w", x.flag, err)}
		}
		x.file, x.to = file, file
	}
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

// stream is where the run writes the output of a flag; nil is nowhere.
func (s *sinks) stream(flag string) io.Writer {
	for _, x := range s.streams {
		if x.flag == flag {
			return x.to
		}
	}
	return nil
}

// write renders the result everywhere. Every output is tried, whatever another met, and
// stdout comes last, where a reader may have gone.
func (s *sinks) write(r *record.Result) error {
	var faults []error
	for i := range s.streams {
		x := &s.streams[i]
		if x.file == nil {
			continue
		}
		if err := x.file.Close(); err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", x.flag, err))
		}
		x.file = nil
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
	if s.stream(s.stdout) != nil {
		return nil
	}
	render := s.terminal.Write
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

// render writes r into the file. What is added to a file is so in one piece, after an empty line.
func (f *sink) render(file *os.File, r *record.Result, o report.Options) error {
	if !f.append {
		return f.format.Write(file, r, o)
	}
	var text bytes.Buffer
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		text.WriteByte('\n')
	}
	if err := f.format.Write(&text, r, o); err != nil {
		return err
	}
	_, err := file.Write(text.Bytes())
	return err
}

// write renders r and gives the file its name.
func (f *sink) write(r *record.Result, o report.Options) error {
	file := f.file
	f.file = nil
	err := errors.Join(f.render(file, r, o), file.Close())
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
	for i := range s.streams {
		if s.streams[i].file != nil {
			_ = s.streams[i].file.Close()
		}
	}
}
