package plan_test

import (
	"reflect"
	"testing"

	"stormtest/load/plan"
)

func TestWarnings(t *testing.T) {
	tests := []struct {
		name  string
		flags []plan.Setting
		want  []string
	}{
		{"default", nil, nil},
		{"all strategies", []plan.Setting{{"strategy", "all"}}, nil},
		{"everything that full reads", []plan.Setting{{"base", "50ms"}, {"cap", "5s"}, {"multiplier", "3"}, {"first-exponent", "1"}, {"cap-mode", "random-cap"}, {"cap-jitter", "50%"}, {"shared-seed", "true"}}, nil},
		{"numbers of other strategies", []plan.Setting{{"noise", "1ms"}, {"spread", "1%"}, {"floor", "1ms"}, {"cap-jitter", "1%"}}, []string{
			"cap-jitter 1%: no effect on strategy full", "noise 1ms: no effect on strategy full",
			"spread 1%: no effect on strategy full", "floor 1ms: no effect on strategy full",
		}},
		{"one of them reads it", []plan.Setting{{"strategy", "none,fixed"}, {"noise", "1ms"}}, nil},
		{"constant grows not", []plan.Setting{{"strategy", "constant"}, {"multiplier", "3"}, {"cap", "5s"}, {"cap-mode", "clamp"}}, []string{
			"cap 5s: no effect on strategy constant", "multiplier 3: no effect on strategy constant", "cap-mode clamp: no effect on strategy constant",
		}},
		{"a base that the default cap does not allow", []plan.Setting{{"strategy", "constant"}, {"base", "30s"}, {"cap", "30s"}}, nil},
		{"decorrelated has its own growth", []plan.Setting{{"strategy", "decorrelated"}, {"multiplier", "3"}}, []string{"multiplier 3: no effect on strategy decorrelated"}},
		{"a surge of nothing", []plan.Setting{{"rate", "5/s"}, {"surge", "1s..2s=x1"}}, []string{"surge 1s..2s=x1: no effect, for the rate is as it was"}},
		{"a surge to the end", []plan.Setting{{"rate", "5/s"}, {"surge", "20s..30s=x2"}}, []string{"surge 20s..30s=x2: not over before the run ends at 30s, so no recovery is seen"}},
		{"a lull to the end", []plan.Setting{{"rate", "5/s"}, {"surge", "20s..30s=x0"}}, nil},
		{"immediate", []plan.Setting{{"strategy", "immediate"}, {"base", "1s"}}, []string{"base 1s: no effect on strategy immediate"}},
		{"a shared seed of exact delays", []plan.Setting{{"strategy", "none,linear"}, {"shared-seed", "true"}}, []string{"shared-seed true: no effect on strategy none,linear, which draws nothing"}},
		{"a shared seed of drawn caps", []plan.Setting{{"strategy", "none"}, {"cap-mode", "random-cap"}, {"shared-seed", "true"}}, nil},
		{"no retries", []plan.Setting{{"max-retries", "0"}, {"strategy", "all"}, {"noise", "1ms"}, {"retry-on", "5xx"}, {"retry-after", "ignore"}}, []string{
			"strategy none,equal,full,decorrelated: they do not differ with max-retries 0",
			"retry-after ignore: no effect with max-retries 0", "retry-on 5xx: no effect with max-retries 0",
		}},
		{"repeats of a safe method", []plan.Setting{{"retry-non-idempotent", "true"}}, []string{"retry-non-idempotent true: no effect on method GET"}},
		{"repeats with a key", []plan.Setting{{"method", "POST"}, {"retry-non-idempotent", "true"}}, []string{"retry-non-idempotent true: no effect with idempotency-key true"}},
		{"repeats without a key", []plan.Setting{{"method", "POST"}, {"retry-non-idempotent", "true"}, {"idempotency-key", "false"}}, nil},
		{"burst of slots", []plan.Setting{{"burst", "5"}}, []string{"burst 5: no effect on model slots"}},
		{"slots of a bucket", []plan.Setting{{"model", "token-bucket"}, {"burst", "5"}, {"workers", "2"}, {"queue", "3"}, {"service", "exp"}, {"abandoned", "cancel"}}, []string{
			"workers 2: no effect on model token-bucket", "queue 3: no effect on model token-bucket",
			"service exp: no effect on model token-bucket", "abandoned cancel: no effect on model token-bucket",
		}},
		{"all that a busy target reads", []plan.Setting{{"model", "reject-if-busy"}, {"capacity", "5/s"}, {"service", "exp"}, {"status", "429"}, {"send-retry-after", "1s"}, {"outage", "1s..2s"}}, nil},
		{"a busy target answers at once", []plan.Setting{{"model", "reject-if-busy"}, {"burst", "5"}, {"abandoned", "cancel"}}, []string{
			"burst 5: no effect on model reject-if-busy", "abandoned cancel: no effect on model reject-if-busy",
		}},
		{"nor over a network", []plan.Setting{{"model", "reject-if-busy"}, {"abandoned", "cancel"}, {"latency", "1ms"}}, []string{"abandoned cancel: no effect on model reject-if-busy"}},
		{"what a row is not", []plan.Setting{{"model", "occ"}, {"capacity", "5/s"}, {"workers", "2"}, {"queue", "3"}, {"burst", "4"}, {"service", "exp"}, {"send-retry-after", "1s"}, {"abandoned", "cancel"}, {"status", "409"}}, []string{
			"capacity 5/s: no effect on model occ", "workers 2: no effect on model occ", "queue 3: no effect on model occ",
			"burst 4: no effect on model occ", "service exp: no effect on model occ", "send-retry-after 1s: no effect on model occ",
			"abandoned cancel: no effect on model occ",
		}},
		{"a floor for each client", []plan.Setting{{"budget", "finagle"}}, []string{
			"budget finagle: its floor is for each client: 2000 clients x 10/s may send 20000 retries/s whatever the ratio, 20x the capacity of 1000/s; scope=fleet shares one budget",
		}},
		{"a floor of the fleet", []plan.Setting{{"budget", "finagle:scope=fleet"}}, nil},
		{"a budget for a client's one operation", []plan.Setting{{"budget", "envoy:scope=client"}}, []string{
			"budget envoy:ratio=20%,min=3,scope=client: no effect with scope client: a client has one operation at a time, and the budget allows 3 retries at a time; all 2000 may retry at once",
		}},
		{"tokens for each client", []plan.Setting{{"budget", "aws"}}, []string{
			"budget aws: its tokens are for each client: 2000 clients x 35 retries may be sent before one is refused, 70000; scope=fleet shares one budget",
		}},
		{"tokens of the fleet", []plan.Setting{{"budget", "grpc:scope=fleet"}}, nil},
		{"tokens that are worth nothing", []plan.Setting{{"budget", "grpc:tokens=2"}}, nil},
		{"first attempts of a fleet", []plan.Setting{{"budget", "sre:scope=fleet"}}, []string{"budget sre: one account for a fleet that begins together has no answer to go by: of the first 2000 attempts it lets out a few"}},
		{"first attempts of a fleet, one after another", []plan.Setting{{"budget", "sre:scope=fleet"}, {"ramp", "10s"}}, nil},
		{"first attempts that are refused at once", []plan.Setting{{"budget", "sre"}, {"operations", "5000"}}, []string{
			"budget sre: an operation that is refused takes no time, and without a rate its client begins the next one at once"}},
		{"a limit that nothing switches on", []plan.Setting{{"budget", "aws-adaptive:scope=fleet"}}, []string{
			"budget aws-adaptive: attempts wait for their turn from the first answer 429 on, and the target answers 503: with status 429 they would"}},
		{"a limit that something does", []plan.Setting{{"budget", "aws-adaptive:scope=fleet"}, {"status", "429"}}, nil},
		{"breakers that open together", []plan.Setting{{"breaker", "polly"}}, []string{
			"breaker polly: the breakers of clients that fail together let probes out together, 5s later: up to 2000, 20x what the target serves in a bucket, and the jitter of the retries alone keeps them apart; jitter=50% spreads the breakers, too"}},
		{"and do not close together", []plan.Setting{{"breaker", "polly:jitter=50%"}}, nil},
		{"one breaker", []plan.Setting{{"breaker", "polly:scope=fleet"}}, nil},
		{"a breaker and no sleep", []plan.Setting{{"breaker", "polly:scope=fleet"}, {"max-retries", "0"}, {"operations", "5000"}}, []string{
			"breaker polly: with max-retries 0 an operation that is refused takes no time, and without a rate its client begins the next one at once"}},
		{"a budget for no retries", []plan.Setting{{"budget", "envoy"}, {"max-retries", "0"}}, []string{"budget envoy:ratio=20%,min=3,scope=fleet: no effect with max-retries 0"}},
		{"a budget for copies", []plan.Setting{{"budget", "envoy"}, {"max-retries", "0"}, {"hedge", "10ms"}}, nil},
		{"a budget for more copies than it allows at a time", []plan.Setting{{"budget", "envoy:scope=client"}, {"hedge", "10ms,4"}}, nil},
		{"what copies read", []plan.Setting{
			{"max-retries", "0"}, {"hedge", "10ms"}, {"retry-after", "ignore"}, {"retry-on", "5xx"}, {"method", "POST"}, {"idempotency-key", "false"}, {"retry-non-idempotent", "true"},
		}, nil},
		{"copies that would do the work twice", []plan.Setting{{"hedge", "10ms"}, {"method", "POST"}, {"idempotency-key", "false"}}, []string{
			"hedge 10ms,1: no effect on method POST without an idempotency-key: a copy might do the work twice",
		}},
		{"a base for an answer that never comes", []plan.Setting{{"throttled-base", "1s"}}, []string{"throttled-base 1s: no effect where the target answers 503, and never 429"}},
		{"a base for the answer of a layer", []plan.Setting{{"throttled-base", "1s"}, {"layer", "db;status=429"}}, nil},
		{"deadlines that nobody reads", []plan.Setting{{"propagate-deadline", "true"}}, []string{
			"propagate-deadline true: no effect on a target that serves what has expired: with expired drop it would not",
		}},
		{"deadlines of a chain", []plan.Setting{{"propagate-deadline", "true"}, {"layer", "db"}}, nil},
		{"work without end", []plan.Setting{{"capacity", "0"}, {"workers", "2"}, {"shed-cost", "10%"}, {"contention", "0.1"}}, []string{
			"contention 0.1: no effect with a capacity of 0: the work that is begun has no end",
			"shed-cost 10%: no effect with a capacity of 0: the work that is begun has no end",
		}},
		{"what a layer has no use for", []plan.Setting{
			{"layer", "db;burst=5;max-retries=0;budget=grpc;outage=1s..40s"}, {"layer", "disk;strategy=constant;multiplier=3;retry-after=ignore"},
		}, []string{
			"layer db: budget grpc:tokens=10,ratio=0.1,scope=client: no effect with max-retries 0", "layer db: burst 5: no effect on model slots",
			"layer db: outage 1s..40s=status: not over before the run ends at 30s, so no recovery is seen",
			"layer disk: multiplier 3: no effect on strategy constant",
		}},
		{"fewer operations than clients", []plan.Setting{{"operations", "1999"}}, []string{"operations 1999: 1 of the 2000 clients have nothing to do"}},
		{"as many operations as clients", []plan.Setting{{"operations", "2000"}}, nil},
		{"few operations at a rate", []plan.Setting{{"operations", "5"}, {"rate", "1/s"}}, nil},
		{"an outage to the end", []plan.Setting{{"outage", "1s..30s"}, {"outage", "30s..31s"}, {"duration", "31s"}}, []string{
			"outage 30s..31s=status: not over before the run ends at 31s, so no recovery is seen",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, _, err := plan.Resolve(plan.Input{Flags: test.flags})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Warnings(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("Warnings() = %q\nwant         %q", got, test.want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	const first = "base 100ms is not longer than bucket 100ms: jitter cannot lower the first peak"
	tests := []struct {
		name  string
		flags []plan.Setting
		want  []string
	}{
		{"default", nil, []string{first}},
		{"longer base", []plan.Setting{{"base", "101ms"}}, nil},
		{"no jitter", []plan.Setting{{"strategy", "none,constant"}}, nil},
		{"some jitter", []plan.Setting{{"strategy", "none,equal"}}, []string{first}},
		{"refused for good", []plan.Setting{{"base", "1s"}, {"status", "500"}}, []string{"status 500 is not in retry-on: an operation that the target refuses is not retried"}},
		{"writers of no distance", []plan.Setting{{"base", "1s"}, {"model", "occ"}}, []string{"model occ without a latency: a client writes at the moment it reads, so that only clients of one moment conflict"}},
		{"writers over a network", []plan.Setting{{"base", "1s"}, {"model", "occ"}, {"latency", "0s~1ms"}}, nil},
		{"refused and retried", []plan.Setting{{"base", "1s"}, {"status", "500"}, {"retry-on", "+500"}}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, _, err := plan.Resolve(plan.Input{Flags: test.flags})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Notes(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("Notes() = %q, want %q", got, test.want)
			}
		})
	}
}
