package validate

// Where expected numbers come from, for whoever reads the report. The comments of the tables name the
// sections of the domain reference.
const (
	sourceFormula   = "formulas, worked out on paper"
	sourceModel     = "the guides' model, by an independent program"
	sourceGuides    = "the guides' own text, and what can be of it"
	sourceDraws     = "formulas, and independent draws at a constant rate"
	sourceSimulator = "AWS's backoff simulator: its own output (original), and an independent program's"
	sourceAWS       = "the AWS SDKs' retry quota"
	sourceFinagle   = "Finagle's retry budget"
	sourceSRE       = "the SRE book's client throttling"
	sourceVirtual   = "40 seeds of the same plan in virtual time, on a network as slow as each run's was"
)
