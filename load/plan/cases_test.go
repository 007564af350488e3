package plan_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden compares got with a file of testdata and prints the first line that differs.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(golden), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(end)"
		}
		if at(gotLines) != at(wantLines) {
			t.Fatalf("%s:%d differs:\n got %s\nwant %s", path, i+1, at(gotLines), at(wantLines))
		}
	}
}

// fieldCase says of one field which texts it takes, and which not.
type fieldCase struct {
	name  string
	deflt string     // canonical text of the default
	good  [][]string // texts, or text and its canonical form
	bad   []string
}

// badLines are refused by every field of one line.
var badLines = []string{"", " a", "a ", "a\nb", "a\tb", "a\x00b", "a\xffb", strings.Repeat("a", 4<<10+1)}

// hostile texts are refused by every field that takes no free text.
var hostile = []string{
	"-1", "+1", "1e309", "NaN", "Inf", "-Inf", "0x1p4", "1_000", " 5", "5 ", "5\n", "5\x00", "٣", "½", "💥", "\xff", "true false",
	"9223372036854775808", "18446744073709551616", strings.Repeat("9", 400), "[]", "{}", "null", "~", "''", ",", "=", "%", "/s", "ms",
}

var badDurations = []string{"", "0", "10", "1.5", "-1s", "+1s", "1 s", "s", ".s", "1.2.3s", "1x", "1S", "1d", "1sec", "1e3s", "1s ", "1s30",
	"0.1ns", "1.0000000001s", "1h-1m", "NaNs", "9223372036854775807ns", "9223372036854775808ns", "999999999999h", "24h1ns",
	strings.Repeat("9", 400) + "s", "1m30s⁰"}

var badRates = []string{"", "10", "10/", "/s", "10/d", "10/S", "10s", "10/s/s", "-10/s", "1e3/s", "NaN/s", "Inf/s", "1/ms ", " 1/s", "1//s",
	"0.0001/h", "99999999999/s", "1.2.3/s", "./s", strings.Repeat("9", 400) + "/s"}

var badShares = []string{"", "0", "20", "0.2", "0%", "-1%", "100.1%", "101%", "1e1%", "NaN%", "%", "20 %", "20%%", " 20%", "1.2.3%",
	strings.Repeat("9", 400) + "%"}

// fieldCases has one row for each field, in the order of the table.
var fieldCases = []fieldCase{
	{name: "clients", deflt: "2000", good: [][]string{{"1"}, {"10000000"}, {"007", "7"}}, bad: []string{"", "0", "10000001", "1.5", "all"}},
	{name: "strategy", deflt: "full",
		good: [][]string{{"none"}, {"all", "none,equal,full,decorrelated"}, {"full, fixed", "full,fixed"}, {"polly,all", "polly,none,equal,full,decorrelated"}},
		bad:  []string{"", "ful", "Full", "full,", ",full", "full,full", "all,full", "full;none", "full-jitter", "exponential", "decorelated", "xyzzy"}},
	{name: "base", deflt: "100ms",
		good: [][]string{{"1ns"}, {"24h"}, {"1.5s"}, {"1500ms", "1.5s"}, {"1m30s", "90s"}, {"60s"}, {"1m", "60s"}, {"2m"}, {"120s", "2m"}, {"90.5s"}, {"0.5us", "500ns"},
			{"7us"}, {"7µs", "7us"}, {"7μs", "7us"}, {".5s", "500ms"}, {"1h0.000000001s", "3600.000000001s"}, {"0.0000000010s", "1ns"}, {"1500us"}},
		bad: append([]string{"0s", "0ns", "auto", "unlimited"}, badDurations...)},
	{name: "throttled-base", deflt: "same", good: [][]string{{"1s"}, {"24h"}, {"same"}}, bad: append([]string{"0s"}, badDurations...)},
	{name: "cap", deflt: "20s", good: [][]string{{"100ms"}, {"24h"}}, bad: append([]string{"0s"}, badDurations...)},
	{name: "multiplier", deflt: "2", good: [][]string{{"1"}, {"1.5"}, {"1000"}, {"2.0", "2"}, {"1.0000000000000002"}},
		bad: []string{"", "0", "0.999", "1000.1", "1e2", "2x", "1.", ".", "1.2.3"}},
	{name: "first-exponent", deflt: "0", good: [][]string{{"0"}, {"1"}}, bad: []string{"", "2", "0.5"}},
	{name: "cap-mode", deflt: "ceiling", good: [][]string{{"ceiling"}, {"clamp"}, {"fixed"}, {"random-cap"}}, bad: []string{"", "Clamp", "cieling", "random", "random_cap"}},
	{name: "cap-jitter", deflt: "20%", good: [][]string{{"100%"}, {"0.1%"}, {"33.3%"}, {"12.50%", "12.5%"}, {"7%"}, {"29%"}, {"0.000001%"}}, bad: badShares},
	{name: "noise", deflt: "50ms", good: [][]string{{"1ns"}, {"24h"}}, bad: append([]string{"0s"}, badDurations...)},
	{name: "spread", deflt: "20%", good: [][]string{{"100%"}, {"57%"}}, bad: badShares},
	{name: "floor", deflt: "auto", good: [][]string{{"auto"}, {"1ns"}, {"20s"}}, bad: append([]string{"0s", "Auto", "half"}, badDurations...)},
	{name: "shared-seed", deflt: "false", good: [][]string{{"true"}, {"false"}}, bad: []string{"", "0", "1", "yes", "True", "TRUE", "on"}},
	{name: "preset", deflt: "none", good: [][]string{{"none"}}, bad: []string{"", "xyzzy"}},
	{name: "fleet", deflt: "none", good: [][]string{{"full=70%,none=30%"}, {"full=100%"}, {"none=1%, full=99%", "none=1%,full=99%"}},
		bad: []string{"", "full", "full=70%", "full=70%,none=40%", "full=50%,full=50%", "full=0%,none=100%", "xyzzy=100%", "full=0.7,none=0.3"}},
	{name: "operations", deflt: "auto", good: [][]string{{"auto"}, {"2000"}, {"1000000000"}}, bad: []string{"", "0", "1000000001", "9223372036854775807"}},
	{name: "rate", deflt: "off", good: [][]string{{"off"}, {"50/s"}, {"0.5/s"}, {"60/m", "1/s"}, {"1/m"}, {"1/h"}, {"10/ms", "10000/s"}, {"100/m"}, {"0.1/s"}},
		bad: append([]string{"0", "0/s", "none", "10000001/s"}, badRates...)},
	{name: "arrivals", deflt: "even", good: [][]string{{"even"}}, bad: []string{"", "Poisson", "poison", "uniform"}},
	{name: "surge", deflt: "none", good: [][]string{{"10s..15s=x3"}, {"0s..1m=x0.5", "0s..60s=x0.5"}, {"1s..2s=x0"}},
		bad: []string{"", "10s..15s", "10s..15s=3", "15s..10s=x3", "1s..1s=x2", "1s..2s=x-1", "1s..2s=x1001", "1..2=x3"}},
	{name: "ramp", deflt: "0s", good: [][]string{{"0s"}, {"0ns", "0s"}, {"10s"}, {"29999ms", "29.999s"}}, bad: append([]string{"off"}, badDurations...)},
	{name: "duration", deflt: "30s", good: [][]string{{"100ms"}, {"24h"}, {"5m"}}, bad: append([]string{"0s", "999us"}, badDurations...)},
	{name: "seed", deflt: "random",
		good: [][]string{{"random"}, {"", "random"}, {"0"}, {"1"}, {"18446744073709551615"}, {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"}, {"0xff", "255"}},
		bad:  []string{"18446744073709551616", "0x", "0X1", "0x10000000000000000", "1.5", "Random", "x", "0xg", "0x_1"}},
	{name: "repeat", deflt: "1", good: [][]string{{"1"}, {"10000"}}, bad: []string{"", "0", "10001", "1.5", "x3"}},
	{name: "transport", deflt: "tcp", good: [][]string{{"memory"}, {"tcp"}}, bad: []string{"", "udp", "TCP"}},

	{name: "timeout", deflt: "5s", good: [][]string{{"1ns"}, {"24h"}}, bad: append([]string{"0s", "unlimited"}, badDurations...)},
	{name: "max-retries", deflt: "unlimited", good: [][]string{{"unlimited"}, {"0"}, {"1"}, {"1000000"}}, bad: []string{"", "1000001", "none", "infinite", "3.0"}},
	{name: "max-elapsed", deflt: "60s", good: [][]string{{"unlimited"}, {"1ns"}, {"24h"}}, bad: append([]string{"0s", "none"}, badDurations...)},
	{name: "budget", deflt: "none",
		good: [][]string{{"none"}, {"finagle", "finagle:ratio=20%,min=10/s,ttl=10s,scope=client"}, {"envoy", "envoy:ratio=20%,min=3,scope=fleet"},
			{"envoy:scope=client,min=0,ratio=0%", "envoy:ratio=0%,min=0,scope=client"}, {"envoy:ratio=100%,min=1000000,scope=fleet"},
			{"finagle:ratio=0%,min=0/s,ttl=1s,scope=fleet"}, {"finagle:ratio=100000%,min=1000000/s,ttl=60s,scope=client"},
			{"finagle:ratio=0.001%,min=60/m", "finagle:ratio=0.001%,min=1/s,ttl=10s,scope=client"}, {"finagle:min=0,ttl=1m", "finagle:ratio=20%,min=0/s,ttl=60s,scope=client"},
			{"finagle:ratio=33.33333%,min=7/s,ttl=2000ms,scope=fleet", "finagle:ratio=33.33333%,min=7/s,ttl=2s,scope=fleet"},
			{"aws", "aws:size=500,cost=14,throttled=5,first=1,scope=client"}, {"aws:scope=fleet,first=0,size=1000000,throttled=1,cost=1", "aws:size=1000000,cost=1,throttled=1,first=0,scope=fleet"},
			{"aws-legacy", "aws-legacy:size=500,cost=5,timeout=10,first=1,scope=client"}, {"aws-legacy:timeout=7", "aws-legacy:size=500,cost=5,timeout=7,first=1,scope=client"},
			{"grpc", "grpc:tokens=10,ratio=0.1,scope=client"}, {"grpc:tokens=1000,ratio=0.001,scope=fleet"}, {"grpc:ratio=.1250", "grpc:tokens=10,ratio=0.125,scope=client"},
			{"aws-adaptive", "aws-adaptive:size=500,cost=14,throttled=5,first=1,scope=client"},
			{"sre", "sre:window=2m,k=2,retries=100%,scope=client"}, {"sre:k=1.10,window=90s,scope=fleet", "sre:window=90s,k=1.1,retries=100%,scope=fleet"}, {"sre:window=1h,k=1000,retries=10%,scope=client"},
			{"sre:retries=0.001%", "sre:window=2m,k=2,retries=0.001%,scope=client"},
			{"aws:scope=100", "aws:size=500,cost=14,throttled=5,first=1,scope=100"}, {"envoy:ratio=20%,min=3,scope=1000000"}, {"grpc:tokens=10,ratio=0.1,scope=2"}},
		bad: []string{"", "20%", "Finagle", "finagel", "envoy:", "none:", "none:min=3", "finagle:ratio", "finagle:ratio=", "finagle:ratio=20", "finagle:ratio=0.0001%",
			"finagle:ratio=33.333333%", "finagle:ratio=100001%", "finagle:ratio=-1%", "finagle:ratio=NaN%", "envoy:ratio=101%", "envoy:ttl=10s", "envoy:min=3/s", "envoy:min=-1",
			"envoy:min=1000001", "envoy:rato=20%", "finagle:min=10", "finagle:min=0.5/s", "finagle:min=1000001/s", "finagle:min=-1/s", "finagle:ttl=0s", "finagle:ttl=999ms",
			"finagle:ttl=61s", "finagle:ttl=1.5s", "finagle:scope=both", "finagle:scope=Fleet", "aws:scope=1", "aws:scope=0", "aws:scope=1000001", "aws:scope=-2", "aws:scope=2.0", "finagle:min=1/s,min=1/s", "finagle:min=1/s,", "finagle:,min=1/s",
			"finagle: min=1/s", "finagle;min=1/s", "grcp", "aws-standard", "aws:", "aws:size=0", "aws:size=1000001", "aws:cost=0", "aws:cost=1.5", "aws:timeout=10", "aws:first=-1",
			"aws-legacy:throttled=5", "aws-legacy:timeout=0", "grpc:tokens=0", "grpc:tokens=1001", "grpc:ratio=10%", "grpc:ratio=0", "grpc:ratio=0.0001", "grpc:ratio=0.1001",
			"grpc:min=3", "aws-adaptive:timeout=3", "sre:retries=0%", "sre:retries=101%", "sre:retries=0.0001%", "sre:k=0.9", "sre:k=1.0001", "sre:k=1001", "sre:window=0s", "sre:window=61m", "sre:window=1500ms", "sre:ttl=10s", "sre:K=2"}},
	{name: "breaker", deflt: "none",
		good: [][]string{{"none"}, {"consecutive", "consecutive:failures=5,open=60s,jitter=0%,probes=1,successes=1,scope=client"},
			{"consecutive:scope=fleet,failures=1000000,open=24h,jitter=100%,probes=1000000,successes=3", "consecutive:failures=1000000,open=24h,jitter=100%,probes=1000000,successes=3,scope=fleet"},
			{"rate", "rate:share=50%,calls=20,window=10s,open=60s,jitter=0%,probes=1,successes=1,scope=client"},
			{"rate:calls=1,window=1000,share=0.00001%", "rate:share=0.00001%,calls=1,window=1000,open=60s,jitter=0%,probes=1,successes=1,scope=client"},
			{"rate:window=1h,open=1ms,jitter=12.34567%", "rate:share=50%,calls=20,window=1h,open=1ms,jitter=12.34567%,probes=1,successes=1,scope=client"},
			{"gobreaker", "gobreaker:failures=6,open=60s,jitter=0%,probes=1,successes=1,scope=client"},
			{"resilience4j", "resilience4j:share=50%,calls=100,window=100,open=60s,jitter=0%,probes=10,scope=client"},
			{"polly", "polly:share=10%,calls=100,window=30s,open=5s,jitter=0%,probes=1,successes=1,scope=client"}},
		bad: []string{"", "xyzzy", "consecutive:", "none:", "none:open=1s", "Consecutive", "consecutiv", "hystrix", "consecutive:failures=0", "consecutive:failures=1000001", "consecutive:failures=5%",
			"consecutive:share=50%", "consecutive:open=0s", "consecutive:open=999us", "consecutive:open=25h", "consecutive:open=60", "consecutive:jitter=101%", "consecutive:jitter=0.1",
			"consecutive:jitter=-1%", "consecutive:jitter=0.000001%", "consecutive:probes=0", "consecutive:successes=0", "consecutive:scope=both", "consecutive:open=1s,open=1s", "rate:failures=5", "rate:share=0%",
			"rate:share=101%", "rate:share=0.000001%", "rate:calls=0", "rate:window=0", "rate:window=1001", "rate:window=19", "rate:window=500ms", "rate:window=61m", "rate:window=1.5s", "rate:window=1.5",
			"rate:calls=200,window=100", "resilience4j:successes=3", "resilience4j:calls=101", "polly:failures=3"}},
	{name: "hedge", deflt: "off", good: [][]string{{"2s", "2s,1"}, {"100ms,4"}}, bad: []string{"", "0s", "2", "2s,0", "2s,5", "2s,", "off,1"}},
	{name: "propagate-deadline", deflt: "false", good: [][]string{{"true"}}, bad: []string{"", "yes"}},
	{name: "retry-after", deflt: "honour", good: [][]string{{"honour"}, {"ignore"}}, bad: []string{"", "honor", "true", "Ignore"}},
	{name: "retry-after-jitter", deflt: "strategy", good: [][]string{{"strategy"}, {"0s"}, {"2.5s"}, {"24h"}}, bad: append([]string{"none"}, badDurations...)},
	{name: "retry-on", deflt: "connect,timeout,408,429,502,503,504",
		good: [][]string{{"none"}, {"503"}, {"503,timeout", "timeout,503"}, {"5xx"}, {"+500,+reset", "connect,timeout,reset,408,429,500,502,503,504"}, {"reset, malformed", "reset,malformed"}},
		bad:  []string{"", "600", "99", "6xx", "everything", "timeout,", "timeout;503", "none,503"}},
	{name: "method", deflt: "GET", good: [][]string{{"GET"}, {"POST"}, {"M-SEARCH"}, {"VERSION2"}}, bad: []string{"", "get", "GET ", "G T", "-X", "GÉT", strings.Repeat("A", 33)}},
	{name: "retry-non-idempotent", deflt: "false", good: [][]string{{"true"}, {"false"}}, bad: []string{"", "1"}},
	{name: "idempotency-key", deflt: "true", good: [][]string{{"true"}, {"false"}}, bad: []string{"", "0"}},

	{name: "capacity", deflt: "1000/s", good: [][]string{{"0"}, {"0/s", "0"}, {"0.5/s"}, {"60/m", "1/s"}, {"10/ms", "10000/s"}, {"1/h"}, {"1000000000/s"}, {"7/h"}, {"63/h", "0.0175/s"}, {"59/h"}, {"31/m"}, {"0.5166666666666668/s"}, {"100/m"}, {"123456.789/s"}, {"1.23456789012345678/s", "1.2345678901234567/s"}},
		bad: append([]string{"1000000001/s", "unlimited"}, badRates...)},
	{name: "workers", deflt: "1", good: [][]string{{"1"}, {"1000000"}}, bad: []string{"", "0", "1000001"}},
	{name: "queue", deflt: "0", good: [][]string{{"0"}, {"10000000"}}, bad: []string{"", "10000001", "unlimited"}},
	{name: "model", deflt: "slots", good: [][]string{{"slots"}, {"token-bucket"}, {"reject-if-busy"}, {"occ"}}, bad: []string{"", "token_bucket", "tokenbucket", "bucket", "OCC", "reject-if-bussy"}},
	{name: "burst", deflt: "1", good: [][]string{{"1"}, {"10000000"}}, bad: []string{"", "0", "10000001"}},
	{name: "service", deflt: "fixed", good: [][]string{{"fixed"}, {"exp"}}, bad: []string{"", "exponential", "Fixed"}},
	{name: "status", deflt: "503", good: [][]string{{"400"}, {"429"}, {"599"}}, bad: []string{"", "399", "600", "5xx"}},
	{name: "send-retry-after", deflt: "none", good: [][]string{{"none"}, {"auto"}, {"1s"}, {"1000ms", "1s"}, {"24h"}, {"reset:5s"}, {"reset:60s"}, {"reset:60000ms", "reset:60s"}, {"reset:24h"}},
		bad: append([]string{"0s", "1500ms", "999ms", "off", "reset:", "reset:0s", "reset:1500ms", "reset:none", "reset:auto", "reset:-1s", "reset:25h", "reset"}, badDurations...)},
	{name: "abandoned", deflt: "process", good: [][]string{{"process"}, {"cancel"}}, bad: []string{"", "drop"}},
	{name: "outage", deflt: "none",
		good: [][]string{{"none"}, {"2s..4s", "2s..4s=status"}, {"0s..30s=hang"}, {"1s..2s=slow:3"}, {"1s..100s=capacity:12.5%", "1s..1m40s=capacity:12.5%"}, {"1s..2s=reset"}, {"1s..2s=refuse"}},
		bad:  []string{"", "2s", "2..4", "4s..2s", "2s..2s", "-1s..2s", "2s..4s=", "2s..4s=down", "2s..4s=slow", "2s..4s=slow:0.5", "2s..4s=capacity:101%", "2s..4s=slow:NaN", "2s...4s", "2s-4s"}},

	{name: "discipline", deflt: "fifo", good: [][]string{{"lifo"}, {"adaptive-lifo"}, {"codel"}, {"adaptive-lifo-codel"}}, bad: []string{"", "FIFO"}},
	{name: "expired", deflt: "process", good: [][]string{{"drop"}}, bad: []string{"", "cancel"}},
	{name: "contention", deflt: "0", good: [][]string{{"0.02"}, {"1"}}, bad: []string{"", "-1", "1.1", "2%"}},
	{name: "coherency", deflt: "0", good: [][]string{{"0.0001"}, {"1"}}, bad: []string{"", "-1", "1.1", "2%"}},
	{name: "shed-cost", deflt: "0%", good: [][]string{{"10%"}, {"100%"}}, bad: []string{"", "-1%", "101%", "0.1"}},
	{name: "layer", deflt: "none", good: [][]string{{"db;capacity=500/s;queue=100"}, {"db; queue=1", "db;queue=1"}, {"db"}, {"db;capacity=60/m", "db;capacity=1/s"}, {"db;outage=1s..2s=status;outage=3s..4s=hang"}, {"b-2; outage=1s..2s", "b-2;outage=1s..2s=status"}}, bad: []string{"", "db;", "db;queue", ";queue=1", "queue=1", "target", "1b", "db;queu=1", "db;clients=3", "db;queue=-1", "db;queue=1;queue=2", "db;strategy=all", "db;model=occ", "db;layer=c", "none;queue=1"}},
	{name: "latency", deflt: "0s",
		good: [][]string{{"0s"}, {"10ms"}, {"10ms~2ms"}, {"0.01s~2000us", "10ms~2ms"}, {"10ms~0s", "10ms"}, {"0s~1ns"}, {"24h~24h"}, {"1m30s~7µs", "90s~7us"}},
		bad:  append([]string{"auto", "~", "~2ms", "10ms~", "10ms~2", "10~2ms", "10ms~-2ms", "10ms~~2ms", "10ms~2ms~1ms", "10ms 2ms", "10ms ~ 2ms", "10ms+-2ms", "1ms~24h1ns"}, badDurations...)},
	{name: "loss", deflt: "0%", good: [][]string{{"0%"}, {"0.0%", "0%"}, {"0", "0%"}, {"100%"}, {"0.1%"}, {"33.3%"}, {"0.000001%"}},
		bad: slices.DeleteFunc(slices.Clone(badShares), func(text string) bool { return text == "0%" || text == "0" })},

	{name: "url", deflt: "none", good: [][]string{{"http://127.0.0.1:8080/a?b={client}"}, {"none"}}, bad: badLines},
	{name: "unix-socket", deflt: "none", good: [][]string{{"./s.sock"}, {"/run/with blank"}}, bad: badLines},
	{name: "allow-host", deflt: "none", good: [][]string{{"example.com"}, {"none"}}, bad: append([]string{"http://x/", "a b"}, badLines...)},
	{name: "header", deflt: "none", good: [][]string{{"none"}, {"X-A:b", "X-A: b"}, {"Host: a"}, {"x-empty:", "x-empty: "}, {"Authorization: Bearer {client}"}, {"A: b: c"}},
		bad: append([]string{"X", "X Y: a", "X: a\r\nZ: b", ": a", "content-length: 3", "Connection: close", "stormtest-client: 1", "Ü: a"}, badLines...)},
	{name: "body", deflt: "", good: [][]string{{"{\"a\":\n1}"}, {" "}, {"none"}}, bad: []string{"a\xffb", strings.Repeat("a", 16<<10+1)}},
	{name: "body-file", deflt: "none", good: [][]string{{"-"}, {"b.bin"}}, bad: badLines},
	{name: "http", deflt: "auto", good: [][]string{{"auto"}, {"1.1"}, {"2"}}, bad: []string{"", "1", "3", "h2", "2.0"}},
	{name: "keepalive", deflt: "true", good: [][]string{{"false"}}, bad: []string{"", "on"}},
	{name: "cacert", deflt: "none", good: [][]string{{"ca.pem"}}, bad: badLines},
	{name: "cert", deflt: "none", good: [][]string{{"c.pem"}}, bad: badLines},
	{name: "key", deflt: "none", good: [][]string{{"k.pem"}}, bad: badLines},
	{name: "insecure", deflt: "false", good: [][]string{{"true"}}, bad: []string{"", "yes"}},
	{name: "probe", deflt: "auto", good: [][]string{{"off"}, {"on"}, {"auto"}}, bad: []string{"", "false"}},

	{name: "bucket", deflt: "100ms", good: [][]string{{"1ms"}, {"10s"}, {"1.5ms", "1500us"}}, bad: append([]string{"0s", "999us", "10001ms"}, badDurations...)},
	{name: "label", deflt: "none", good: [][]string{{"nightly, real"}, {strings.Repeat("ü", 100)}, {"[x](y) <b>"}}, bad: append([]string{strings.Repeat("a", 101)}, badLines...)},

	{name: "gate", deflt: "none", good: [][]string{{"none"}, {"amplification < 3"}, {`p99 <= "1s" & more: #`}, {"{a: b}"}, {"[x]"}, {"- a"}, {"success_share>=99.9%"}, {"latency µs"}, {"null"}, {"x:"}, {"-"}},
		bad: []string{"", " a", "a ", "a\nb", "a\tb", "a\x00b", "a\xffb", strings.Repeat("a", 201)}},
}

// refused returns the texts that the field of c must refuse.
func (c fieldCase) refused() []string {
	switch c.name {
	case "gate", "label", "url", "unix-socket", "allow-host", "header", "body", "body-file", "cacert", "cert", "key": // take free text
		return c.bad
	case "layer": // takes words as names
		names := []string{"null", "ms"}
		return append(slices.Clone(c.bad), slices.DeleteFunc(slices.Clone(hostile), func(text string) bool { return slices.Contains(names, text) })...)
	case "seed": // takes 2^63
		return append(slices.Clone(c.bad), slices.DeleteFunc(slices.Clone(hostile), func(text string) bool { return text == "9223372036854775808" })...)
	}
	return append(slices.Clone(c.bad), hostile...)
}

// goodText is a text and the canonical form that the field makes of it.
func goodText(texts []string) (text, canonical string) { return texts[0], texts[len(texts)-1] }
