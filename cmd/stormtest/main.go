// Command stormtest says what retries do to a service that has just failed.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
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

// onSignal returns a context that the first SIGINT or SIGTERM cancels. The second calls exit
// at once.
func onSignal(exit func(code int)) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s := (<-signals).(syscall.Signal)
		cancel(signalError{s})
		s = (<-signals).(syscall.Signal)
		exit(codeOfSignal(s))
	}()
	return ctx
}
