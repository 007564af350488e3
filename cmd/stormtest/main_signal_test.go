package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The first signal ends the run, which still writes every report; the second exits at once. timeout(1) sends one signal
// twice, to the child and to its group, and that is one signal.
func TestEchoesOfSignals(t *testing.T) {
	type sent struct {
		after  time.Duration // the signal before it
		signal syscall.Signal
	}
	tests := []struct {
		name  string
		sent  []sent
		cause syscall.Signal // of the end of the context; 0: it goes on
		exits []int
	}{
		{name: "none"},
		{name: "one", sent: []sent{{0, syscall.SIGINT}}, cause: syscall.SIGINT},
		{name: "an echo", sent: []sent{{0, syscall.SIGTERM}, {0, syscall.SIGTERM}}, cause: syscall.SIGTERM},
		{name: "echoes, the last one late", sent: []sent{{0, syscall.SIGINT}, {time.Millisecond, syscall.SIGINT}, {signalEcho - 2*time.Millisecond, syscall.SIGINT}}, cause: syscall.SIGINT},
		{name: "a second one", sent: []sent{{0, syscall.SIGINT}, {signalEcho, syscall.SIGINT}}, cause: syscall.SIGINT, exits: []int{130}},
		{name: "a second one behind an echo", sent: []sent{{0, syscall.SIGTERM}, {0, syscall.SIGTERM}, {time.Second, syscall.SIGTERM}}, cause: syscall.SIGTERM, exits: []int{143}},
		{name: "another kind is no echo", sent: []sent{{0, syscall.SIGINT}, {0, syscall.SIGTERM}}, cause: syscall.SIGINT, exits: []int{143}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var exits []int
				signals := make(chan os.Signal, 16)
				ctx := obey(signals, func(code int) { exits = append(exits, code) })
				for _, s := range tc.sent {
					time.Sleep(s.after) // of the bubble's clock
					signals <- s.signal
					synctest.Wait()
				}
				close(signals)
				synctest.Wait()
				var cause signalError
				_ = errors.As(context.Cause(ctx), &cause)
				if cause.signal != tc.cause || !slices.Equal(exits, tc.exits) {
					t.Errorf("cause %v, exits %v; want %v, %v", cause.signal, exits, tc.cause, tc.exits)
				}
			})
		})
	}
}
