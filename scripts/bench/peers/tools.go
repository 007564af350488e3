package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A job is what a tool is asked to do.
type job struct {
	clients  int // connections; in a release also the requests
	duration time.Duration
	url      string
	scratch  string // a folder for what a tool wants to write
}

func (j job) n() string { return strconv.Itoa(j.clients) }

// A burst says which of the arrivals are those of the release.
type burst int

const (
	all    burst = iota // every one: the tool sends one request a client and ends
	first               // the first of each connection: the tool goes on until its time is over
	second              // the second of each: the first one warms the connections up
)

// A tool is one load generator in one setting.
type tool struct {
	name    string
	program string
	peer    string // go, c, or "" for stormtest
	burst   burst
	// release and rate return the arguments; nil where the setting is not for that bench.
	release, rate func(j job) []string
	stdin         func(j job) string
}

// momentScript lets wrk, which connects and sends as fast as it can, open its connections first.
const momentScript = "one-moment.lua"

//go:embed one-moment.lua
var momentText []byte

// tools are the load generators, each in what its documentation offers for the job; where more
// than one setting is reasonable, each is a row of its own.
func tools() []tool {
	// vegeta knows no number of requests; with -lazy it ends where its targets end.
	vegetaTargets := func(j job) string {
		if j.duration > 0 {
			return "GET " + j.url + "\n"
		}
		return strings.Repeat("GET "+j.url+"\n", j.clients)
	}
	return []tool{
		{
			name: "stormtest", program: "stormtest",
			release: func(j job) []string {
				return []string{"--clients", j.n(), "--max-retries", "0", "--duration", "5s", "--probe", "off", "--quiet", j.url}
			},
			rate: func(j job) []string {
				return []string{
					"--clients", j.n(), "-n", "1000000000", "--max-retries", "0", "--duration", j.duration.String(),
					"--probe", "off", "--idempotency-key=false", "--quiet", "--json", j.scratch + "/result.json", j.url,
				}
			},
		},
		{
			name: "hey", program: "hey", peer: "go",
			release: func(j job) []string { return []string{"-n", j.n(), "-c", j.n(), j.url} },
			rate:    func(j job) []string { return []string{"-z", j.duration.String(), "-c", j.n(), j.url} },
		},
		{
			name: "vegeta", program: "vegeta", peer: "go", stdin: vegetaTargets,
			release: func(j job) []string { return append(vegeta(j), "-lazy") },
			rate:    func(j job) []string { return append(vegeta(j), "-duration", j.duration.String()) },
		},
		{
			name: "bombardier", program: "bombardier", peer: "go",
			release: func(j job) []string { return []string{"-q", "-t", "10s", "-n", j.n(), "-c", j.n(), j.url} },
			rate: func(j job) []string {
				return []string{"-q", "-t", "10s", "-d", j.duration.String(), "-c", j.n(), j.url}
			},
		},
		{
			name: "fortio", program: "fortio", peer: "go",
			release: func(j job) []string { return append(fortio(j), "-n", j.n(), j.url) },
			rate:    func(j job) []string { return append(fortio(j), "-t", j.duration.String(), j.url) },
		},
		{
			name: "fortio, warmed up", program: "fortio", peer: "go", burst: second,
			release: func(j job) []string { return append(fortio(j), "-t", "3s", j.url) },
		},
		{
			name: "wrk", program: "wrk", peer: "c", burst: first,
			release: func(j job) []string { return append(wrk(j), "-d", "2s", j.url) },
			rate:    func(j job) []string { return append(wrk(j), "-d", seconds(j.duration), j.url) },
		},
		{
			name: "wrk, one moment", program: "wrk", peer: "c",
			release: func(j job) []string {
				return append(wrk(j), "-d", "4s", "-s", j.scratch+"/"+momentScript, j.url, "--", strconv.Itoa(j.clients/wrkThreads(j)))
			},
		},
		{
			name: "h2load", program: "h2load", peer: "c",
			release: func(j job) []string { return []string{"--h1", "-t", "2", "-c", j.n(), "-n", j.n(), j.url} },
			rate: func(j job) []string {
				return []string{"--h1", "-t", "2", "-c", j.n(), "-D", seconds(j.duration), j.url}
			},
		},
	}
}

// seconds is d for the tools that know whole seconds only.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }

// wrkThreads is how many threads wrk gets: it drops the connections that do not share out evenly.
func wrkThreads(j job) int {
	if j.clients%2 != 0 {
		return 1
	}
	return 2
}

func wrk(j job) []string { return []string{"-t", strconv.Itoa(wrkThreads(j)), "-c", j.n()} }

func vegeta(j job) []string {
	return []string{
		"attack", "-rate", "0", "-workers", j.n(), "-max-workers", j.n(), "-connections", j.n(), "-output", "/dev/null",
	}
}

// fortio's buffer of 128 kB a connection is made small, which makes it faster.
func fortio(j job) []string {
	return []string{"load", "-quiet", "-httpbufferkb", "4", "-timeout", "10s", "-qps", "0", "-c", j.n()}
}
