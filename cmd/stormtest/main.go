// Command stormtest says what retries do to a service that has just failed.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// version is the release; a build from a checkout says so too.
const version = "0.1.0"

func main() {
	// A closed pipe is an error of that write, which ends the program in its own way.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(onSignal(os.Exit), os.Args[1:], world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(),
	}))
}

// A world is what a command touches.
type world struct {
	in       io.Reader
	out, err io.Writer
	env      []string // "NAME=value", as os.Environ returns it
}

// A signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// signalEcho is how long after the first signal the same one is taken for its echo. timeout(1) signals its child and then
// the whole group, and a wrapper that forwards Ctrl-C sends what the terminal has sent already; a person who wants the
// program gone presses again later.
const signalEcho = 500 * time.Millisecond

// onSignal returns a context that the first SIGINT or SIGTERM cancels. The second calls exit at once.
func onSignal(exit func(code int)) context.Context {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	return obey(signals, exit)
}

// obey is onSignal of any signals, until there are no more.
func obey(signals <-chan os.Signal, exit func(code int)) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		first, more := <-signals
		if !more {
			return
		}
		at := time.Now()
		cancel(signalError{first.(syscall.Signal)})
		for s := range signals {
			if s == first && time.Since(at) < signalEcho {
				continue
			}
			exit(codeOfSignal(s.(syscall.Signal)))
		}
	}()
	return ctx
}
