//go:build !race

package validate_test

// quick are the groups that the tests run: those that take under a second of one core.
var quick = []string{"analytic", "closed", "budgets", "published", "index"}
