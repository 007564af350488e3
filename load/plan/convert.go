package plan

import "strconv"

// allStrategies is what the word all stands for.
var allStrategies = []string{"none", "equal", "full", "decorrelated"}

func itoa(n int) string { return strconv.Itoa(n) }

func checkRetryOn(text string) (canonical, want string) { return text, "" }

func checkOutage(text string) (canonical, want string) { return text, "" }

func strategyNames() []string { return []string{"none", "equal", "full", "decorrelated"} }
