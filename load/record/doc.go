// Package record keeps what a run measured and computes every figure of its report.
//
// A [Recorder] takes one call for each thing that happened (an arrival at the target, a send,
// an outcome, a delay, an operation) from both engines, in memory that grows with the length of
// the run and not with the number of attempts. [Recorder.Summarise] turns it into a [Run], and
// [Recorder.Interim] tells while the run goes on what that would be now.
//
// The measures are pure functions over plain numbers ([ConvoyIndexExact], [Fano],
// [Autocorrelation], [Judge], ...), so that each is tested against figures that were derived
// elsewhere. The package reads no clock, starts no goroutine and draws no random number: every
// moment is an argument, a [time.Duration] since the run began (t0).
package record
