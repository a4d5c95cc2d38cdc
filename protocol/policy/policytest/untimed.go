package policytest

import "github.com/wandertoken/wander/protocol/clock"

// Untimed is the Deadline of a test's policy that waits for nothing.
type Untimed struct{}

// Deadline implements policy.Policy.
func (Untimed) Deadline() clock.Instant { return clock.Never }
