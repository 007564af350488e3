package plan

// allStrategies is what the word all stands for.
var allStrategies = []string{"none", "equal", "full", "decorrelated"}

func checkRetryOn(text string) (canonical, want string) { return text, "" }

func strategyNames() []string { return []string{"none", "equal", "full", "decorrelated"} }
