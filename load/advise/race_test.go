//go:build race

package advise_test

// raceDetector makes heavy tests lighter: under the race detector a call costs ten times as much.
const raceDetector = true
