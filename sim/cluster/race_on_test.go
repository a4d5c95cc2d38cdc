//go:build race

package cluster

// The simulator has no goroutines, and the race detector makes it ten times
// slower: a little is enough to see that this stays so.
const raceDetector = true
