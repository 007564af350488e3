package backoff_test

import (
	"fmt"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/seed"
)

// One operation of one client that fails again and again. The caller keeps the state.
func ExampleStrategy() {
	entry, _ := backoff.Lookup("decorrelated")
	strategy := entry.New(backoff.Params{Base: 100 * time.Millisecond, Cap: time.Second, Multiplier: 2})
	r := seed.Stream(42, seed.Backoff, 7)

	var carry float64
	var prev time.Duration
	for k := range 4 {
		prev = strategy.Delay(r, backoff.Attempt{Retry: k, Prev: prev, Carry: &carry})
		fmt.Println(prev)
	}
	// Output:
	// 257.92125ms
	// 272.176318ms
	// 777.176321ms
	// 954.564907ms
}

// What a tool says about a schedule before it runs it.
func ExampleFirstCeiling() {
	p := backoff.Defaults()
	fmt.Println(backoff.FirstCeiling(p), "first, cap reached after", p.CapReachedAt())
	p.FirstExponent = 1
	fmt.Println(backoff.FirstCeiling(p), "first, cap reached after", p.CapReachedAt())
	// Output:
	// 100ms first, cap reached after 25.5s
	// 200ms first, cap reached after 25.4s
}
