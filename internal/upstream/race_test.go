//go:build race

package upstream

// raceDetector keeps several bytes of its own for each of ours, so what a
// process has in memory says little.
const raceDetector = true
