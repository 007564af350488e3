package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"stormtest/load/plan"
)

// mixture returns the variant of a mixed fleet.
func mixture(t *testing.T, clients int, text string) plan.Variant {
	t.Helper()
	p, _, err := plan.Resolve(plan.Input{Flags: []plan.Setting{{Name: "fleet", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	p.Clients = clients
	return p.Variants()[0]
}

// What is said of a mixed fleet is said of its strategies together, and of each of its presets.
func TestMixedFleetsSayWhatHasNoEffect(t *testing.T) {
	tests := []struct {
		name  string
		flags []plan.Setting
		want  []string
	}{
		{"nothing", []plan.Setting{{"fleet", "full=70%,none=30%"}}, nil},
		{"one of them reads it", []plan.Setting{{"fleet", "full=70%,fixed=30%"}, {"noise", "1ms"}}, nil},
		{"none of them reads it", []plan.Setting{{"fleet", "full=70%,none=30%"}, {"noise", "1ms"}}, []string{"noise 1ms: no effect on strategy full,none"}},
		{"fewer operations than clients", []plan.Setting{{"fleet", "full=70%,none=30%"}, {"clients", "10"}, {"operations", "7"}}, []string{"operations 7: 3 of the 10 clients have nothing to do"}},
		{"tokens of the clients of the part", []plan.Setting{{"fleet", "grpc-retry=30%,full=70%"}, {"clients", "10"}}, []string{
			"preset grpc-retry: budget grpc: its tokens are for each client: 3 clients x 4 retries may be sent before one is refused, 12; scope=fleet shares one budget"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _, err := plan.Resolve(plan.Input{Flags: tt.flags})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Warnings(); !slices.Equal(got, tt.want) {
				t.Errorf("Warnings() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	tests := []struct {
		fleet   string
		clients int
		want    []int
	}{
		{"full=70%,none=30%", 10, []int{7, 3}},
		{"full=70%,none=30%", 1000, []int{700, 300}},
		{"full=70%,none=30%", 1, []int{1, 0}},
		{"full=70%,none=30%", 3, []int{2, 1}},
		{"full=50%,none=50%", 3, []int{2, 1}},
		{"full=33.3%,none=33.3%,equal=33.4%", 10, []int{3, 3, 4}},
		{"full=99.9%,none=0.1%", 100, []int{100, 0}},
		{"full=99.9%,none=0.1%", 1000, []int{999, 1}},
		{"full=100%", 7, []int{7}},
	}
	for _, tt := range tests {
		if got := mixture(t, tt.clients, tt.fleet).Counts(tt.clients); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %d clients: %v, want %v", tt.fleet, tt.clients, got, tt.want)
		}
	}
}

// Of the first n clients every part has its share of n, rounded down or up, whatever n is, so that any stretch has it but
// for one client or two; and all that the deal says of a client agrees.
func TestDealIsAMixtureEverywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		clients := rapid.IntRange(1, 400).Draw(r, "clients")
		v := plan.Variant{Parts: make([]plan.Part, rapid.IntRange(1, 10).Draw(r, "parts"))}
		left := 1000
		for i := range v.Parts {
			share := left
			if i < len(v.Parts)-1 {
				share = rapid.IntRange(0, left).Draw(r, "share")
			}
			left -= share
			v.Parts[i].Share = float64(share) / 1000
		}
		counts, deal := v.Counts(clients), v.Deal(clients)
		has := make([]int, len(counts))
		for client, part := range deal.Of {
			if got := deal.Members[part][deal.Place[client]]; int(got) != client || int(deal.Place[client]) != has[part] {
				r.Fatalf("client %d is in place %d of part %d, whose client there is %d", client, deal.Place[client], part, got)
			}
			has[part]++
			for i, n := range has {
				if lo := counts[i] * (client + 1) / clients; n < lo || n > lo+1 || n == lo+1 && lo*clients == counts[i]*(client+1) {
					r.Fatalf("part %d has %d of the first %d clients, and %d of %d", i, n, client+1, counts[i], clients)
				}
			}
		}
		sum := 0
		for i, n := range counts {
			sum += n
			if exact := v.Parts[i].Share * float64(clients); n != has[i] || len(deal.Members[i]) != n || float64(n) < exact-1 || float64(n) > exact+1 {
				r.Fatalf("part %d has %d clients, %d were dealt, and its share is %.3f", i, n, has[i], exact)
			}
		}
		if sum != clients {
			r.Fatalf("the parts have %d clients of %d", sum, clients)
		}
	})
}
