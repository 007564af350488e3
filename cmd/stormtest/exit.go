package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"stormtest/load/record"
	"stormtest/report/check"
)

// The exit codes.
const (
	codePassed  = 0
	codeFailed  = 1 // could not run, or could not write what was measured
	codeUsage   = 2 // a bad flag, plan or file; nothing was sent
	codeGate    = 3 // a gate failed
	codeInvalid = 4 // the generator was the bottleneck, and gates were asked for
	codeSignal  = 128
)

func codeOfSignal(s syscall.Signal) int { return codeSignal + int(s) }

// A usageError is the user's to mend. Nothing has been sent.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// An outcomeError carries an exit code of a run that went as it should but did not pass. It
// has been told already.
type outcomeError struct{ code int }

func (e outcomeError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// codeOf returns the exit code of an error of a command, such as "stormtest serve", after saying on w what
// it was.
func codeOf(command string, err error, w io.Writer) int {
	var outcome outcomeError
	var user usageError
	if err == nil {
		return codePassed
	}
	for _, e := range leaves(err) {
		if errors.As(e, new(outcomeError)) || errors.Is(e, syscall.EPIPE) {
			continue // told already; or whoever read has gone, and needs no word
		}
		for line := range strings.Lines(e.Error()) {
			fmt.Fprintf(w, "stormtest: %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if errors.As(err, &outcome) {
		return outcome.code
	}
	if errors.As(err, &user) {
		fmt.Fprint(w, hint(command, err))
		return codeUsage
	}
	return codeFailed
}

// hint says where to read on about what the user has to mend: of gates alone, their grammar and figures.
func hint(command string, err error) string {
	faults := leaves(err)
	if one := (usageError{}); errors.As(err, &one) && len(faults) == 1 {
		faults = leaves(one.err)
	}
	for _, e := range faults {
		if errors.As(e, new(*check.Error)) {
			continue
		}
		if strings.HasSuffix(command, " gates") {
			break
		}
		return fmt.Sprintf("Run '%s --help' for the flags.\n", command)
	}
	return "Run 'stormtest gates' for what a gate may be on, and how it is written.\n"
}

// leaves returns the errors that were joined into err.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, leaves(e)...)
	}
	return list
}

// outcomeOf returns the error that stands for a finished run's exit code.
//
// A signal comes first, because the run is not the one that was asked for. An invalid run
// comes before a failed gate: its figures are the machine's, so that no gate on them means
// anything.
func outcomeOf(ctx context.Context, r *record.Result) error {
	var s signalError
	switch {
	case errors.As(context.Cause(ctx), &s):
		return outcomeError{codeOfSignal(s.signal)}
	case r.Interrupted: // not by a signal: whoever read the trace has gone
		return outcomeError{codeFailed}
	}
	return outcomeOfGates(r)
}

// outcomeOfGates returns the error that stands for what the gates of a result came to.
//
// A log does not say whether its run is valid. What arrived did arrive, so a gate can fail on it; but none passes.
func outcomeOfGates(r *record.Result) error {
	log := slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.FromLog != nil })
	switch {
	case log && !check.Passed(r.Gates):
		return outcomeError{codeGate}
	case len(r.Gates) > 0 && !r.Valid:
		return outcomeError{codeInvalid}
	case !check.Passed(r.Gates):
		return outcomeError{codeGate}
	}
	return nil
}
