package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report/check"
	"stormtest/target"
)

// serveFlags are the flags that only serve has.
type serveFlags struct {
	listen      string
	addressFile string
	start       string
	keyHeader   string
}

// The words of --start.
const (
	startFirstRequest = "first-request"
	startNow          = "now"
)

// listenDefault is for this machine alone.
const listenDefault = "127.0.0.1:8080"

// A service that nobody gave a duration ends after serveLongest, or after as many buckets as a run may
// have.
const (
	serveLongest = 24 * time.Hour
	serveBuckets = 1_000_000
)

const serveLong = `Serves the built-in target alone, for clients that are not ours: curl, k6, a service
of your own. Any HTTP/1.0 or 1.1 request, on any path, is one attempt; the target answers
200, or what its capacity and its outages say. A signal (Ctrl-C), or the end of
--duration, writes the same reports as a storm, of what arrived.

The outage script and the report count from the first request, so a client may be
started by hand; --start now counts from the moment the address is printed.

Which arrivals are retries, the requests must tell. Looked at are the headers
Stormtest-Attempt, X-Retry-Count, X-Stainless-Retry-Count, grpc-previous-rpc-attempts
(0 is the first attempt), amz-sdk-request (attempt=1 is the first) and
x-envoy-attempt-count (1 says nothing: a sidecar sends it with every retry of the client
behind it), and a key seen before: Idempotency-Key, or what --key-header names. The
largest of these counts. Where a request carries none, it is taken for a first attempt
before the run's first failure (an outage, a refusal, a client that left before its answer
or a known retry), and for a retry from then on; the report says how many were so.

The whole run is held in memory until its end: some 16 kB for a second in which anything
arrived and up to 10 kB for a bucket, so a busy day takes 1.4 to 10 GB.

What only the clients know (operations, latencies, amplification) has no value: null in
JSON, and a gate on it is refused.`

const serveExample = `  stormtest serve
  stormtest serve --capacity 200/s --workers 4 --queue 50 --outage 5s..8s --send-retry-after auto
  stormtest serve --listen 127.0.0.1:0 --address-file addr --duration 60s --gate 'convoy_index<0.1' --json r.json`

// newServe returns the command that serves the target alone.
func newServe(w world) *cobra.Command {
	plans := planFlags{engines: []plan.Engine{plan.Real}}
	var serve serveFlags
	var outs outputs
	cmd := &cobra.Command{
		Use:     "serve [flags]",
		Short:   "the target alone, for clients that are not ours, and a report of what arrived",
		Long:    serveLong,
		Example: serveExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := outs.fill(cmd, w.env); err != nil {
				return err
			}
			return runService(cmd.Context(), w, &plans, &serve, &outs)
		},
	}
	serve.add(cmd)
	plans.addFields(cmd, load.ServiceFields())
	for name, text := range map[string]struct{ usage, fallback string }{
		"base":     {"Base delay of the clients: they are judged from 10 to 100 times it after the first failure", ""},
		"duration": {"End of the run, counted as --start says", "a signal, 24h at most"},
		"seed":     {"Seed of the service times with --service exp", ""},
	} {
		flag := cmd.Flags().Lookup(name)
		flag.Usage = text.usage
		flag.Annotations[groupAnnotation] = []string{groupServe}
		if text.fallback != "" {
			flag.DefValue = text.fallback
		}
	}
	outs.add(cmd, true)
	outs.addMetricsFlag(cmd)
	cmd.Flags().BoolP("help", "h", false, "this help")
	return cmd
}

// add defines the flags.
func (s *serveFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	set.Var(newWord(&s.listen, listenDefault, "ADDRESS:PORT"), "listen", "Where to listen; port 0 is a free one. Name an address that is not loopback to let other machines in")
	set.Var(fileName{&s.addressFile}, "address-file", "Takes the address, once connections are taken")
	set.Var(newWord(&s.start, startFirstRequest, startFirstRequest+"|"+startNow), "start", "What the run and its outages count from")
	set.Var(newWord(&s.keyHeader, target.KeyHeader, "HEADER"), "key-header", "Header that stays the same in every attempt of an operation")
	for _, name := range serveFlagNames {
		set.Lookup(name).Annotations = map[string][]string{groupAnnotation: {groupServe}}
	}
	complete(cmd, "start", []string{startFirstRequest, startNow})
}

// serveFlagNames are the flags of serve that are no fields of a plan.
var serveFlagNames = []string{"listen", "address-file", "start", "key-header"}

// A word is a pflag.Value of a text with a name for the help.
type word struct {
	text *string
	kind string
}

func newWord(text *string, fallback, kind string) word {
	*text = fallback
	return word{text, kind}
}

func (v word) Set(text string) error {
	if text == "" {
		return errors.New("want " + v.kind)
	}
	*v.text = text
	return nil
}
func (v word) String() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}
func (v word) Type() string { return v.kind }

// runService serves until a signal or the end of the duration, and reports what arrived.
func runService(ctx context.Context, w world, plans *planFlags, flags *serveFlags, outs *outputs) error {
	p, gates, openEnd, err := plans.resolveService(w)
	addr, faults := flags.check()
	if err := errors.Join(err, faults); err != nil {
		return usageError{err}
	}
	if !p.Seed.Set {
		p.Seed = newSeed()
	}
	how, err := outs.manner(w)
	if err != nil {
		return err
	}
	how.outages, how.openEnd = windows(p), openEnd
	sinks, err := outs.open(w, plans.inputs(p)...)
	if err != nil {
		return err
	}
	defer sinks.discard()
	if err := sinks.taken("address-file", flags.addressFile); flags.addressFile != "" && err != nil {
		return usageError{err}
	}
	port, err := target.OpenPort(addr)
	if err != nil {
		return listenFault(flags.listen, err)
	}
	defer func() { _ = port.Close() }()
	meter, err := startMeter(ctx, w, outs, head(p))
	if err != nil {
		return err
	}
	defer meter.close()
	progress := startProgress(w, how)
	result, err := load.Serve(ctx, p, load.Service{
		Opener:    announcer{Port: port, w: w, flags: flags, openEnd: openEnd, told: new(bool)},
		AtOnce:    flags.start == startNow,
		OpenEnd:   openEnd,
		KeyHeader: flags.keyHeader,
		Kernel:    true,
	}, load.Env{Version: version, HLog: sinks.stream(hlogFlag), Trace: sinks.stream(traceFlag), Progress: telling(progress.stage, meter.stage), Finished: meter.finished})
	progress.stop()
	if result == nil {
		return listenFault(flags.listen, err)
	}
	result.Gates = evaluate(gates, result)
	meter.live.Over(result)
	return errors.Join(err, sinks.write(result), outcomeOfService(ctx, result))
}

// outcomeOfService is outcomeOf with failed gates first: here a signal is the usual end.
func outcomeOfService(ctx context.Context, r *record.Result) error {
	if !check.Passed(r.Gates) {
		return outcomeError{codeGate}
	}
	return outcomeOf(ctx, r)
}

// An announcer tells the address when the port is listened on for the first time.
type announcer struct {
	*target.Port
	w       world
	flags   *serveFlags
	openEnd bool
	told    *bool
}

// Open is target.Opener.
func (a announcer) Open() (net.Listener, error) {
	ln, err := a.Port.Open()
	if err != nil || *a.told {
		return ln, err
	}
	*a.told = true
	if err := a.announce(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

func (a announcer) announce() error {
	addr := a.Addr()
	if file := a.flags.addressFile; file != "" {
		if err := writeWhole(file, addr.String()+"\n"); err != nil {
			return fmt.Errorf("--address-file: %w", err)
		}
	}
	if !addr.Addr().IsLoopback() {
		fmt.Fprintf(a.w.err, "stormtest: WARNING: %v is not loopback: whoever reaches this machine's network can use this target\n", addr)
	}
	from := "the run and its outages count from the first request"
	if a.flags.start == startNow {
		from = "the run and its outages count from now"
	}
	until := "the end of --duration"
	if a.openEnd {
		until = "Ctrl-C"
	}
	fmt.Fprintf(a.w.err, "stormtest: serving http://%v/ until %s; %s\n", addr, until, from)
	return nil
}

// writeWhole writes a file that nobody sees in part.
func writeWhole(path, text string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, []byte(text), 0o644) // a pipe
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o666&^umask()), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// check returns the address of --listen, and every fault of the flags.
func (s *serveFlags) check() (netip.AddrPort, error) {
	var faults []error
	addr, want := listenAddress(s.listen)
	if want != "" {
		faults = append(faults, fmt.Errorf("--listen: %q: want %s", s.listen, want))
	}
	if s.start != startFirstRequest && s.start != startNow {
		faults = append(faults, fmt.Errorf("--start: %q: want %s or %s", s.start, startFirstRequest, startNow))
	}
	if !validToken(s.keyHeader) {
		faults = append(faults, fmt.Errorf("--key-header: %q: want the name of a header", s.keyHeader))
	}
	return addr, errors.Join(faults...)
}

// validToken says whether text can be the name of a header.
func validToken(text string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return text != "" && strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(others, r)
	}) < 0
}

// listenAddress reads ADDRESS:PORT, where localhost is an address too and a port alone is of
// loopback; or says what it wants. It asks no resolver.
func listenAddress(text string) (addr netip.AddrPort, want string) {
	const form = "ADDRESS:PORT, such as " + listenDefault
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		host, portText = "localhost", text
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return addr, form
	}
	switch host {
	case "localhost":
		host = "127.0.0.1"
	case "":
		return addr, fmt.Sprintf("an address: 127.0.0.1:%d for this machine alone, 0.0.0.0:%d to let others in", port, port)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return addr, form + ": an IP address or localhost"
	}
	if ip.Zone() != "" {
		return addr, "an address without a zone"
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), ""
}

// listenFault names the flag that mends the error of a listener.
func listenFault(listen string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--listen %s: the address is in use; name another one, or port 0 for a free one", listen)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	return err
}

// resolveService is resolve for a service: without a duration from anywhere it lasts until a signal,
// the cap of delays is at least their base, and of the strategies there is only one.
func (f *planFlags) resolveService(w world) (p plan.Plan, gates []check.Gate, openEnd bool, err error) {
	in, err := f.input(w)
	if err != nil {
		return p, nil, false, err
	}
	first, sources, _ := plan.Resolve(in)
	if sources["duration"] == "" {
		openEnd = true
		in.Flags = append(slices.Clip(in.Flags), plan.Setting{Name: "duration", Text: min(serveLongest, serveBuckets*first.Bucket).String()})
	}
	if first.Cap < first.Base { // which serve has no flag for, and does not read
		in.Flags = append(slices.Clip(in.Flags), plan.Setting{Name: "cap", Text: first.Base.String()})
	}
	if p, sources, err = plan.Resolve(in); err == nil {
		err = sources.Locate(load.CheckService(p))
	}
	gates, faults := judgedRuns{strategies: []string{load.Outside}, serve: true}.gates(p.Gates, sources[gateField])
	return p, gates, openEnd, errors.Join(err, faults)
}

// sentenceOutside is a line of progress of a service.
func sentenceOutside(s load.Stage, elapsed time.Duration) string {
	t := s.Totals()
	return fmt.Sprintf("serving: %.0f s, %d attempts arrived, %d served", elapsed.Seconds(), t.Arrivals, t.Served)
}
