package plan

// EnvPrefix begins the name of every environment variable of ours.
const EnvPrefix = "STORMTEST_"
