package circulation

import "errors"

// The errors of New. Those of catalog.New come through as they are.
var (
	ErrMembers  = errors.New("number of members out of range")
	ErrFound    = errors.New("more tokens founded than members")
	ErrShare    = errors.New("probability out of range")
	ErrNegative = errors.New("negative time span")
	ErrLatency  = errors.New("latency is no distribution")
	ErrBegin    = errors.New("begin before 1970")
)

// ErrStandstill is what Simulation.Err returns when virtual time stood still:
// policies answered each other without end at one instant.
var ErrStandstill = errors.New("policies answer each other without end at one instant")

// ErrShape is returned when histograms with different bins are merged.
var ErrShape = errors.New("histograms with different bins")

// ErrAsked is returned by Replay when the policy asks its Roster another
// question than was recorded.
var ErrAsked = errors.New("policy asks other questions than were recorded")
