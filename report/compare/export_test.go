package compare

import "stormtest/load/record"

// HasDirection reports whether a metric stands in the table of directions.
func HasDirection(m record.Metric) bool {
	_, ok := directionOf(m)
	return ok
}
