//go:build !unix

package circulation_test

import "time"

var began = time.Now()

// processorTime is the wall clock's, where nothing better is at hand.
func processorTime() time.Duration { return time.Since(began) }

// mostResident is not known here.
func mostResident() float64 { return 0 }
