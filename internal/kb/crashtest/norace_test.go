//go:build !race

package crashtest

const withRaceDetector = false
