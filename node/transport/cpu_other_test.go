//go:build !unix

package transport

import (
	"testing"
	"time"
)

// cpuTime is not measured here.
func cpuTime(testing.TB) time.Duration { return 0 }
