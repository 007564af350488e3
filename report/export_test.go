package report

import (
	"time"

	"stormtest/load/record"
)

// AnsweredInTime is the line of a picture whose axis ends with the run.
func AnsweredInTime(run *record.Run, length time.Duration) []float64 {
	return inTime(run, &timeline{bucket: run.Bucket, whole: length, end: length})
}
