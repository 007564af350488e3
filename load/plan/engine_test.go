package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stormtest/load/plan"
)

func TestFor(t *testing.T) {
	const elsewhere = " in virtual time: no request leaves this process, and the target is the plan's own"
	const network = " in real time: the network is the one that there is; stormtest sim has a model of it"
	const forEver = `strategy: "immediate": want a latency, a Retry-After that is sent and honoured, a limit of max-retries or a budget other than envoy with immediate in virtual time: a client that is refused comes back at the same moment, for ever`
	tests := []struct {
		name          string
		flags         []plan.Setting
		real, virtual string // empty: nothing is refused
	}{
		{name: "default"},
		{name: "several seeds", flags: []plan.Setting{{"repeat", "7"}}},
		{name: "another way to the same target", flags: []plan.Setting{{"transport", "memory"}}},
		{name: "layers and hedges without sockets", flags: []plan.Setting{{"transport", "memory"}, {"hedge", "1s"}, {"layer", "db;capacity=5/s"}},
			real: `layer: "db;capacity=5/s": want none with transport memory in real time: services call each other over sockets; stormtest sim has chains of any size` + "\n" +
				`hedge: "1s,1": want off with transport memory in real time: copies of an attempt go over connections of their own; stormtest sim has fleets of any size with them`},
		{name: "a probe that nobody wants", flags: []plan.Setting{{"probe", "off"}}},
		{name: "as many as goroutines go", flags: []plan.Setting{{"clients", "1000000"}}},
		{name: "one more", flags: []plan.Setting{{"clients", "1000001"}},
			real: `clients: "1000001": want 1..1000000 in real time; stormtest sim takes up to 10000000`},
		{name: "a network", flags: []plan.Setting{{"latency", "1ms"}, {"loss", "1%"}},
			real: `latency: "1ms": want 0s` + network + "\n" + `loss: "1%": want 0%` + network},
		{name: "the guide's target", flags: []plan.Setting{{"model", "reject-if-busy"}},
			real: `model: "reject-if-busy": want slots in real time, which with one worker and no queue refuses the same: a client over HTTP learns of its success only when it is served; stormtest sim has reject-if-busy`},
		{name: "a row", flags: []plan.Setting{{"model", "occ"}},
			real: `model: "occ": want slots or token-bucket in real time: the HTTP target has no versioned row; stormtest sim has occ`},
		{name: "no wait at all", flags: []plan.Setting{{"strategy", "full,immediate"}, {"max-elapsed", "1s"}},
			virtual: `strategy: "full,immediate": want a latency, a Retry-After that is sent and honoured, a limit of max-retries or a budget other than envoy with immediate in virtual time: a client that is refused comes back at the same moment, for ever`},
		{name: "no wait but the network's", flags: []plan.Setting{{"strategy", "immediate"}, {"latency", "1ns"}},
			real: `latency: "1ns": want 0s` + network},
		{name: "no wait but the target's", flags: []plan.Setting{{"strategy", "immediate"}, {"send-retry-after", "1s"}}},
		{name: "no wait, and a hint that nobody heeds", flags: []plan.Setting{{"strategy", "immediate"}, {"send-retry-after", "1s"}, {"retry-after", "ignore"}}, virtual: forEver},
		{name: "no wait, and nobody to send a hint", flags: []plan.Setting{{"strategy", "immediate"}, {"send-retry-after", "1s"}, {"outage", "1s..2s=refuse"}}, virtual: forEver},
		{name: "no wait, and a hint of a backlog without end", flags: []plan.Setting{{"strategy", "immediate"}, {"send-retry-after", "auto"}, {"capacity", "0"}}, virtual: forEver},
		{name: "no wait, and a budget of too much", flags: []plan.Setting{{"strategy", "immediate"}, {"budget", "finagle:min=1000000/s"}, {"clients", "1000"}},
			virtual: `strategy: "immediate": want a latency or a lower max-retries or budget with immediate in virtual time: up to 10000000200 retries may come at one moment, so that time would stand still for long; it takes 1000000000`},
		{name: "no wait, and a limit of too much", flags: []plan.Setting{{"strategy", "immediate"}, {"max-retries", "1000000"}, {"clients", "10000"}},
			virtual: `strategy: "immediate": want a latency or a lower max-retries or budget with immediate in virtual time: up to 10000000000 retries may come at one moment, so that time would stand still for long; it takes 1000000000`},
		{name: "no wait, and two limits", flags: []plan.Setting{{"strategy", "immediate"}, {"max-retries", "1000000"}, {"clients", "10000"}, {"budget", "aws"}}},
		{name: "no wait, and a limit", flags: []plan.Setting{{"strategy", "immediate"}, {"max-retries", "1000"}}},
		{name: "no wait, and a budget", flags: []plan.Setting{{"strategy", "immediate"}, {"budget", "grpc"}}},
		{name: "no wait, and a budget that comes back", flags: []plan.Setting{{"strategy", "immediate"}, {"budget", "envoy"}},
			virtual: `strategy: "immediate": want a latency, a Retry-After that is sent and honoured, a limit of max-retries or a budget other than envoy with immediate in virtual time: a client that is refused comes back at the same moment, for ever`},
		{name: "a target elsewhere", flags: []plan.Setting{{"url", "http://127.0.0.1/?token=hush"}, {"header", "Authorization: hush"}, {"body", "hush"}, {"probe", "on"}},
			virtual: `url: "http://127.0.0.1/?token=left-out": want none` + elsewhere + "\n" +
				`header: "Authorization: (left out)": want none` + elsewhere + "\n" +
				`body: "(left out: 4 bytes, SHA-256 dc8331bcb228...)": want nothing` + elsewhere + "\n" +
				`probe: "on": want auto` + elsewhere},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, _, err := plan.Resolve(plan.Input{Flags: test.flags})
			if err != nil {
				t.Fatal(err)
			}
			for engine, want := range map[plan.Engine]string{plan.Real: test.real, plan.Virtual: test.virtual} {
				got := p.For(engine)
				if text := fmt.Sprint(got); text != want && (got != nil || want != "") {
					t.Errorf("For(%d) = %s\nwant %s", engine, text, want)
				}
			}
		})
	}
}

// TestForEveryField sets every field by itself: what a group's engine has is taken, and the rest is
// refused by the name of the field.
func TestForEveryField(t *testing.T) {
	for _, c := range fieldCases {
		f := field(t, c.name)
		for _, texts := range c.good {
			p := plan.Default()
			if err := f.Set(&p, texts[0]); err != nil {
				t.Fatal(err)
			}
			for _, engine := range []plan.Engine{plan.Real, plan.Virtual} {
				_, canonical := goodText(texts)
				words := c.name == "model" || c.name == "clients" || c.name == "probe" && canonical == "off"
				err := p.For(engine)
				if words {
					continue // TestFor has them
				}
				if want := !f.Group.Has(engine) && canonical != c.deflt; engine == plan.Virtual && canonical == "immediate" {
					continue // TestFor has it
				} else if (err != nil) != want {
					t.Errorf("%s %q: For(%d) = %v, want refused %v", c.name, texts[0], engine, err, want)
				}
				var fault *plan.FieldError
				if err != nil && (!errors.As(err, &fault) || fault.Field != c.name) {
					t.Errorf("%s %q: For(%d) = %v, want a *FieldError of it", c.name, texts[0], engine, err)
				}
			}
		}
	}
}

func TestLocate(t *testing.T) {
	p, sources, err := plan.Resolve(plan.Input{
		Flags: []plan.Setting{{"clients", "2000000"}}, Env: []string{"STORMTEST_LOSS=5%"}, FileName: "s.yaml", File: []byte("# one\nlatency: 10ms~2ms\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(fmt.Sprint(sources.Locate(p.For(plan.Real))), "\n")
	for i, want := range []string{"s.yaml:2: latency: ", "STORMTEST_LOSS: ", "--clients: "} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of %q does not begin with %q", i, lines, want)
		}
	}
	if err := sources.Locate(nil); err != nil {
		t.Errorf("Locate(nil) = %v", err)
	}
}

// What is newer than the first saved results changes no hash of theirs while it says nothing.
func TestLaterFieldsKeepTheHash(t *testing.T) {
	p := plan.Default()
	p.Strategies, p.Clients = []string{"none", "equal", "full", "decorrelated"}, 1000
	const saved = "bf2e6ee7b283eabb8b4a75d407ce0e778af30ed8c7bedcf36d0078b1c1759923"
	if got := p.Hash(); got != saved {
		t.Errorf("Hash() = %s, want %s", got, saved)
	}
}

// TestResolveForVirtualTime: what belongs to a target elsewhere is refused because there is none, not because it wants
// a URL, which would be refused next.
func TestResolveForVirtualTime(t *testing.T) {
	for _, s := range []plan.Setting{{Name: "http", Text: "2"}, {Name: "unix-socket", Text: "/s"}, {Name: "header", Text: "A: b"}, {Name: "body", Text: "x"}, {Name: "body-file", Text: "x"}} {
		in := plan.Input{Flags: []plan.Setting{s}}
		if _, _, err := plan.Resolve(in); err == nil || !strings.Contains(err.Error(), "want a URL with it") {
			t.Errorf("%s: %v", s.Name, err)
		}
		in.Engine = plan.Virtual
		if _, _, err := plan.Resolve(in); err == nil || strings.Contains(err.Error(), "URL") || !strings.Contains(err.Error(), "in virtual time: no request leaves this process") {
			t.Errorf("%s in virtual time: %v", s.Name, err)
		}
	}
}

// TestChoicesOfAnEngine: real time does not offer the models that it refuses.
func TestChoicesOfAnEngine(t *testing.T) {
	f, _ := plan.FieldNamed("model")
	if got := f.TypeFor(plan.Real); got != "slots|token-bucket" {
		t.Errorf("model in real time is %s", got)
	}
	if got := f.TypeFor(plan.Virtual); got != f.Type() || !strings.Contains(got, plan.ModelOCC) {
		t.Errorf("model in virtual time is %s", got)
	}
	for _, f := range plan.Fields() {
		for _, word := range f.ChoicesFor(plan.Real) {
			p := plan.Default()
			if err := f.Set(&p, word); err == nil && f.Name != "strategy" && f.Name != "method" && f.Group.Has(plan.Real) {
				if err := p.For(plan.Real); err != nil {
					t.Errorf("%s offers %q, and %v", f.Name, word, err)
				}
			}
		}
	}
}
