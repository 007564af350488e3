package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// The policy of every preset is what its source says of it: the least, the most and the mean of its first delays, how often it
// tries, and its budget, all of which stand beside its fields and were worked out by hand from the source's formula.
//
// The ends of a range may differ by 2 ns, for what is drawn is whole ns below the end, and by what its floating point
// rounds. A mean of 20,000 draws lies within 6 standard errors of the true one but for a chance of 2e-9.
func TestPresetsAreWhatTheirSourcesSay(t *testing.T) {
	const draws = 20_000
	for _, s := range Presets() {
		t.Run(s.Name, func(t *testing.T) {
			p := s.Plan()
			if got := attempts(&p); s.Sets("max-retries") && got != s.Attempts || !s.Sets("max-retries") && s.Attempts != 0 {
				t.Errorf("%d attempts, want %d", got, s.Attempts)
			}
			f, _ := FieldNamed("budget")
			if got, want := f.Get(&p)[0], s.Budget; got != want && (got != "none" || want != "") {
				t.Errorf("budget %s, want %q", got, want)
			}
			strategy := p.Backoff(p.Strategies[0])
			sums, squares := make([]float64, len(s.Delays)), make([]float64, len(s.Delays))
			r := rand.New(rand.NewPCG(1, 2))
			for range draws {
				var carry float64
				a := backoff.Attempt{Carry: &carry}
				for k := range s.Delays {
					a.Retry = k
					a.Prev = strategy.Delay(r, a)
					x := float64(a.Prev)
					sums[k], squares[k] = sums[k]+x, squares[k]+x*x
				}
			}
			for k, want := range s.Delays {
				lo, hi := strategy.Range(backoff.Attempt{Retry: k})
				mean := sums[k] / draws
				sd := math.Sqrt(max(0, squares[k]/draws-mean*mean))
				if !near(lo, length(t, want.Least), 2) || !near(hi, length(t, want.Most), 2) || !near(time.Duration(mean), length(t, want.Mean), 6*sd/math.Sqrt(draws)+2) {
					t.Errorf("retry %d: %v..%v mean %v, want %s..%s mean %s", k+1, lo, hi, time.Duration(mean), want.Least, want.Most, want.Mean)
				}
			}
			if len(s.Delays) == 0 && s.Attempts != 1 {
				t.Error("no delays to hold it against")
			}
		})
	}
}

// attempts is how many attempts an operation makes at most; 0 is no limit.
func attempts(p *Plan) int {
	if p.MaxRetries == Unlimited {
		return 0
	}
	return p.MaxRetries + 1
}

func length(t *testing.T, text string) time.Duration {
	t.Helper()
	d, want := parseDuration(text)
	if want != "" {
		t.Fatalf("%q: want %s", text, want)
	}
	return d
}

func near(got, want time.Duration, within float64) bool {
	return math.Abs(float64(got-want)) <= within+1e-9*float64(want)
}

// The analytic checks of the domain reference, 6.4, for presets.
func TestPresetsOfTheReference(t *testing.T) {
	for _, c := range []struct {
		preset string
		want   []string // least..most before retry 1, 2, ..., in seconds
	}{
		{"azure-go", []string{"0.64-1.04", "1.92-3.12", "4.48-7.28"}},
		{"envoy", []string{"0-0.025", "0-0.05", "0-0.1", "0-0.2", "0-0.25"}},
		{"cenkalti", []string{"0.25-0.75", "0.375-1.125", "0.5625-1.6875", "0.84375-2.53125"}},
		{"aws-standard-2026", []string{"0-0.05", "0-0.1"}},
		{"stripe-go", []string{"0.5-0.5"}},
		{"stripe-python", []string{"0.5-0.5"}},
	} {
		s, ok := PresetNamed(c.preset)
		if !ok {
			t.Fatalf("no preset %s", c.preset)
		}
		p := s.Plan()
		for k, want := range c.want {
			lo, hi := p.Backoff(p.Strategies[0]).Range(backoff.Attempt{Retry: k})
			var least, most float64
			if _, err := fmt.Sscanf(want, "%g-%g", &least, &most); err != nil {
				t.Fatal(err)
			}
			if math.Abs(lo.Seconds()-least) > 2e-9 || math.Abs(hi.Seconds()-most) > 2e-9 {
				t.Errorf("%s: retry %d: %v..%v, want %s s", c.preset, k+1, lo, hi, want)
			}
		}
	}
}

// After a throttling answer the AWS SDKs wait longer.
func TestPresetAfterThrottling(t *testing.T) {
	s, _ := PresetNamed("aws-standard-2026")
	p := s.Plan()
	throttled := p.Policy(p.Strategies[0]).Throttled
	for k, want := range []time.Duration{time.Second, 2 * time.Second} {
		if lo, hi := throttled.Range(backoff.Attempt{Retry: k}); lo != 0 || hi != want-1 {
			t.Errorf("retry %d: %v..%v, want 0s..%v", k+1, lo, hi, want)
		}
	}
}

// Every preset is whole, names fields that there are, sets nothing that its strategy does not read, and goes with the
// default plan.
func TestPresetsAreWhole(t *testing.T) {
	groups := []string{"cloud", "rpc", "library", "infrastructure"}
	seen := map[string]bool{}
	for _, s := range Presets() {
		if seen[s.Name] || s.Source == "" || s.Version == "" || s.Summary == "" || !slices.Contains(groups, s.Group) || s.Name != strings.ToLower(s.Name) {
			t.Errorf("%s: twice, or without a source, a version, a summary or a group", s.Name)
		}
		seen[s.Name] = true
		for name := range s.Fields {
			if f, ok := FieldNamed(name); !ok || f.Group != Policy && f.Group != Fleet {
				t.Errorf("%s: %s is no field of a policy", s.Name, name)
			}
		}
		if !s.Sets("strategy") || !s.Sets("budget") {
			t.Errorf("%s: no strategy or no budget", s.Name)
		}
		for _, text := range append(slices.Clone(s.Hazards), s.Notes...) {
			if text == "" || strings.HasSuffix(text, ".") == slices.Contains(s.Hazards, text) {
				t.Errorf("%s: %q: hazards end without a full stop, notes with one", s.Name, text)
			}
		}
		p := Default()
		if p.Presets = []string{s.Name}; p.Validate() != nil {
			t.Errorf("%s: %v", s.Name, p.Validate())
		}
		part := s.Plan()
		for _, w := range part.idleStrategyFields() {
			t.Errorf("%s: %s", s.Name, w)
		}
		for _, w := range part.idlePolicyFields() {
			t.Errorf("%s: %s", s.Name, w)
		}
		if back, err := Decode("preset.yaml", s.YAML()); err != nil || back.Hash() != part.Hash() {
			t.Errorf("%s: its scenario file reads back as another plan: %v\n%s", s.Name, err, s.YAML())
		}
	}
}

func TestPresetBesideFields(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []Setting
		want  string
	}{
		{"alone", []Setting{{"preset", "aws-standard,urllib3"}}, ""},
		{"what it does not set", []Setting{{"preset", "aws-standard"}, {"timeout", "2s"}, {"clients", "10"}}, ""},
		{"a strategy", []Setting{{"preset", "aws-standard"}, {"strategy", "none"}},
			`--strategy: "none": want nothing beside preset aws-standard, which sets it; 'stormtest presets aws-standard' prints it as a scenario file to change`},
		{"what the second sets", []Setting{{"preset", "requests,hashicorp"}, {"base", "1s"}},
			`--base: "1s": want nothing beside preset hashicorp, which sets it; 'stormtest presets hashicorp' prints it as a scenario file to change`},
		{"a base of which it has none", []Setting{{"preset", "finagle"}, {"base", "50ms"}}, ""},
		{"what does not go with it", []Setting{{"preset", "aws-standard"}, {"retry-after-jitter", "3s"}},
			`--retry-after-jitter: "3s": want retry-after honour with it: a hint that is ignored has no jitter (with preset aws-standard)`},
		{"unknown", []Setting{{"preset", "envoi"}}, `--preset: "envoi": want a comma list of presets, which 'stormtest presets' lists, or none; did you mean envoy?`},
		{"twice", []Setting{{"preset", "envoy,envoy"}}, `--preset: "envoy,envoy": want each preset once, not envoy twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Resolve(Input{Flags: c.flags})
			if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Each preset is a run of its own, whose plan is that of the others but for the policy.
func TestPresetVariants(t *testing.T) {
	p := Default()
	p.Clients, p.Presets = 7, []string{"polly", "envoy"}
	if got := p.RunNames(); !slices.Equal(got, p.Presets) {
		t.Fatalf("runs %v", got)
	}
	for i, v := range p.Variants() {
		part := v.Parts[0].Plan
		s, _ := PresetNamed(p.Presets[i])
		if part.Clients != 7 || part.Presets != nil || len(part.Strategies) != 1 || part.Strategies[0] != s.Fields["strategy"] {
			t.Errorf("%s: %+v", v.Name, part)
		}
	}
	if p.Base != Default().Base || p.Presets == nil {
		t.Error("the plan itself was changed")
	}
}
