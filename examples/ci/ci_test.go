// Package ci_test runs the pipelines of this folder as their CI systems would: every command as it stands there, in
// a shell with the variables that the pipeline sets. What is shortened is so by these variables alone.
package ci_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
)

// root is the folder in which a pipeline's commands run.
const root = "../.."

// short are the variables that the pipelines leave to be set; each must stand in them.
var short = map[string]string{"STORMTEST_DURATION": "3s", "STORMTEST_PROBE": "off"}

// decode reads a YAML file, in which every key is known.
func decode(t *testing.T, name string, into any) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(b, into, yaml.Strict()); err != nil {
		t.Fatalf("%s: %s", name, yaml.FormatError(err, false, true))
	}
	return string(b)
}

// A shell is where commands run: variables over those of the test.
type shell struct {
	variables map[string]string
	results   string // the folder of what they write
}

// newShell gives a pipeline its own folders and shortens its runs.
func newShell(t *testing.T, variables map[string]string) shell {
	t.Helper()
	s := shell{variables: maps.Clone(variables), results: t.TempDir()}
	if variables["RESULTS"] != "stormtest-results" {
		t.Errorf("RESULTS is %q, and the artifacts are in stormtest-results", variables["RESULTS"])
	}
	s.variables["RESULTS"] = s.results
	for name, value := range short {
		if _, stands := variables[name]; !stands {
			t.Errorf("%s does not stand in the pipeline", name)
		}
		s.variables[name] = value
	}
	return s
}

// run runs a script and returns its exit code.
func (s shell) run(t *testing.T, script string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = root
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "STORMTEST_") && !strings.HasPrefix(pair, "GITHUB_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	for name, value := range s.variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the script leaves behind ends with it, as on a runner
	cmd.WaitDelay = 0
	err := cmd.Start()
	if err == nil {
		state, _ := cmd.Process.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		t.Logf("%s\n%s", script, out.String())
		return state.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// judged are the exit codes of a storm in real time: a machine under load may be too slow for a gate or for the run.
var judged = []int{0, 3, 4}

// checkReports holds the reports of a storm against its exit code.
func (s shell) checkReports(t *testing.T, name string, code int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.results, name+".xml"))
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &suites); err != nil {
		t.Fatal(err)
	}
	suite := suites.Suites[0]
	if red := suite.Failures+suite.Errors > 0; red != (code != 0) || suite.Tests < 3 {
		t.Errorf("%s: exit code %d with %+v", name, code, suite)
	}
	for _, kind := range []string{".json", ".html"} {
		if _, err := os.Stat(filepath.Join(s.results, name+kind)); err != nil {
			t.Error(err)
		}
	}
}

// A githubWorkflow is what the workflow may hold; a key that it misspells is refused.
type githubWorkflow struct {
	Name        string            `yaml:"name"`
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency map[string]any    `yaml:"concurrency"`
	Jobs        map[string]struct {
		RunsOn  string            `yaml:"runs-on"`
		Timeout int               `yaml:"timeout-minutes"`
		Env     map[string]string `yaml:"env"`
		Steps   []githubStep      `yaml:"steps"`
	} `yaml:"jobs"`
}

type githubStep struct {
	Name string            `yaml:"name"`
	If   string            `yaml:"if"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]string `yaml:"with"`
}

// pinned is an action by the commit that it is, with its version behind it.
var pinned = regexp.MustCompile(`(?m)uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestGitHubActions(t *testing.T) {
	t.Parallel()
	var w githubWorkflow
	text := decode(t, "github-actions.yml", &w)
	job := w.Jobs["storm"]
	if uses := strings.Count(text, "uses: "); uses != len(pinned.FindAllString(text, -1)) || uses < 3 {
		t.Errorf("of %d actions only %v are pinned", uses, pinned.FindAllString(text, -1))
	}
	if !maps.Equal(w.Permissions, map[string]string{"contents": "read"}) || job.Timeout < 1 || job.Timeout > 15 || strings.HasSuffix(job.RunsOn, "latest") {
		t.Errorf("permissions %v, %d minutes on %s", w.Permissions, job.Timeout, job.RunsOn)
	}
	s := newShell(t, job.Env)
	temp := t.TempDir()
	s.variables["RUNNER_TEMP"] = temp
	s.variables["GITHUB_PATH"] = filepath.Join(temp, "path")
	storms := map[string]string{"The policy in virtual time": "virtual", "A storm on the built-in target": "real", "A storm on a service": "service"}
	for i, step := range job.Steps {
		if step.Run == "" {
			continue
		}
		summary := filepath.Join(temp, "summary-"+string(rune('a'+i)))
		s.variables["GITHUB_STEP_SUMMARY"] = summary
		if err := os.WriteFile(summary, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		code := s.run(t, step.Run)
		if added, err := os.ReadFile(s.variables["GITHUB_PATH"]); err == nil {
			s.variables["PATH"] = strings.TrimSpace(string(added)) + ":" + os.Getenv("PATH")
		}
		name, storm := storms[step.Name]
		if !storm || name == "virtual" {
			if code != 0 {
				t.Fatalf("step %q: exit code %d", step.Name, code)
			}
		}
		if !storm {
			continue
		}
		delete(storms, step.Name)
		if !slices.Contains(judged, code) {
			t.Fatalf("step %q: exit code %d", step.Name, code)
		}
		s.checkReports(t, name, code)
		if b, err := os.ReadFile(summary); err != nil || !strings.HasPrefix(string(b), "## stormtest: ") {
			t.Errorf("step %q: the summary is %.100q, %v", step.Name, b, err)
		}
		if name != "virtual" && step.If == "" {
			t.Errorf("step %q does not run where one before it failed", step.Name)
		}
	}
	if len(storms) > 0 {
		t.Errorf("no steps %v", storms)
	}
	last := job.Steps[len(job.Steps)-1]
	if last.If != "${{ always() }}" || last.With["path"] != "stormtest-results/" {
		t.Errorf("the reports are kept if %q, from %q", last.If, last.With["path"])
	}
	s.variables["STORMTEST_STRATEGY"] = "none"
	for _, step := range job.Steps {
		if step.Name == "The policy in virtual time" {
			checkFailing(t, s, step.Run)
		}
	}
}

// checkFailing: a policy without jitter fails, by exit code 3, and every report says so.
func checkFailing(t *testing.T, s shell, script string) {
	t.Helper()
	if code := s.run(t, script); code != 3 {
		t.Errorf("a policy without jitter: exit code %d, want 3", code)
	}
	s.checkReports(t, "virtual", 3)
	summary := s.variables["GITHUB_STEP_SUMMARY"]
	if summary == "" {
		summary = filepath.Join(s.results, "virtual.md")
	}
	b, err := os.ReadFile(summary)
	if err != nil || !strings.Contains(string(b), "| **FAILED** | `convoy_index<0.15` |") {
		t.Errorf("the summary does not name the gate: %.300q, %v", b, err)
	}
}

// A gitlabJob is what a job may hold.
type gitlabJob struct {
	Extends       string           `yaml:"extends"`
	Stage         string           `yaml:"stage"`
	Image         string           `yaml:"image"`
	Timeout       string           `yaml:"timeout"`
	Interruptible bool             `yaml:"interruptible"`
	Rules         []map[string]any `yaml:"rules"`
	BeforeScript  []string         `yaml:"before_script"`
	Script        []string         `yaml:"script"`
	AllowFailure  map[string][]int `yaml:"allow_failure"`
	Artifacts     struct {
		When    string            `yaml:"when"`
		Expire  string            `yaml:"expire_in"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

type gitlabPipeline struct {
	Stages    []string          `yaml:"stages"`
	Variables map[string]string `yaml:"variables"`
	Template  gitlabJob         `yaml:".storm"`
	Virtual   gitlabJob         `yaml:"policy in virtual time"`
	Real      gitlabJob         `yaml:"storm on the built-in target"`
	Service   gitlabJob         `yaml:"storm on a service"`
}

func TestGitLabCI(t *testing.T) {
	t.Parallel()
	var p gitlabPipeline
	decode(t, "gitlab-ci.yml", &p)
	template := p.Template
	if !regexp.MustCompile(`^golang:1\.\d+\.\d+-`).MatchString(template.Image) || template.Timeout != "10m" || template.Artifacts.When != "always" ||
		!slices.Equal(template.Artifacts.Paths, []string{"stormtest-results/"}) || template.Artifacts.Reports["junit"] != "stormtest-results/*.xml" {
		t.Errorf("the jobs have %+v", template)
	}
	s := newShell(t, p.Variables)
	s.variables["TOOLS"] = t.TempDir()
	if code := s.run(t, strings.Join(append(slices.Clone(template.BeforeScript), "command -v stormtest"), "\n")); code != 0 {
		t.Fatalf("what stands before each job: exit code %d", code)
	}
	s.variables["PATH"] = s.variables["TOOLS"] + ":" + os.Getenv("PATH") // as it exported; to build once is enough
	for name, job := range map[string]gitlabJob{"virtual": p.Virtual, "real": p.Real, "service": p.Service} {
		if job.Extends != ".storm" {
			t.Errorf("%s extends %q", name, job.Extends)
		}
		code := s.run(t, strings.Join(job.Script, "\n"))
		if !slices.Contains(judged, code) || name == "virtual" && code != 0 {
			t.Fatalf("%s: exit code %d", name, code)
		}
		s.checkReports(t, name, code)
		if b, err := os.ReadFile(filepath.Join(s.results, name+".md")); err != nil || !strings.HasPrefix(string(b), "## stormtest: ") {
			t.Errorf("%s: the summary is %.100q, %v", name, b, err)
		}
		if warns := slices.Equal(job.AllowFailure["exit_codes"], []int{4}); warns != (name != "virtual") {
			t.Errorf("%s: failures allowed are %v", name, job.AllowFailure)
		}
	}
	s.variables["STORMTEST_STRATEGY"] = "none"
	checkFailing(t, s, strings.Join(p.Virtual.Script, "\n"))
}

// The exit codes that the pipelines explain are those of the program's own help.
func TestExitCodesAreExplained(t *testing.T) {
	for _, name := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(errors.Join(err))
		}
		for _, code := range []string{"0", "1", "2", "3", "4", "143"} {
			if !regexp.MustCompile(`(?m)^#   ` + code + ` {2,}\S`).Match(b) {
				t.Errorf("%s does not say what %s is", name, code)
			}
		}
	}
}
