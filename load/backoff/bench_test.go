package backoff_test

import (
	"testing"
	"time"

	"stormtest/load/backoff"
)

// One delay at the seventh retry, the ladder's usual depth.
func BenchmarkDelay(b *testing.B) {
	for _, e := range backoff.Table {
		b.Run(e.Name, func(b *testing.B) {
			s, r, carry := e.New(backoff.Defaults()), client(1, 0), 0.0
			b.ReportAllocs()
			for b.Loop() {
				s.Delay(r, backoff.Attempt{Retry: 6, Prev: time.Second, Carry: &carry})
			}
		})
	}
}
