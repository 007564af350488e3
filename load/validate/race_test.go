//go:build race

package validate_test

// quick are the groups that the tests run. The race detector makes draws ten times as slow, and those of one
// goroutine hold no race.
var quick = []string{"closed", "budgets", "published"}
