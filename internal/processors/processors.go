// Package processors has a process use one processor while it has little to do. With
// several, each packet wakes a second thread that looks for work and finds none: an idle
// daemon switches threads twice as often.
package processors

import (
	"os"
	"runtime"
)

// Quiet has Go code run on one processor at a time while quiet, and otherwise on as many
// as the system permits. It does nothing where the environment sets GOMAXPROCS.
func Quiet(quiet bool) {
	switch {
	case os.Getenv("GOMAXPROCS") != "":
	case quiet:
		runtime.GOMAXPROCS(1)
	default:
		runtime.SetDefaultGOMAXPROCS()
	}
}
