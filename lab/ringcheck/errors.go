package ringcheck

import "errors"

// The reasons why nothing is explored or played.
var (
	// ErrProcessors: too few processors for a ring, or too many to explore.
	ErrProcessors = errors.New("wrong number of processors")
	// ErrMemory: the states do not fit into the memory that was permitted.
	ErrMemory = errors.New("too many states for the memory permitted")
	// ErrVariety: more different states of one processor than a state of the
	// ring has room for. No algorithm here comes near.
	ErrVariety = errors.New("too many different states of one processor")
	// ErrSchedule: text is not a schedule.
	ErrSchedule = errors.New("malformed schedule")
	// ErrImpossible: a step of a schedule cannot happen there.
	ErrImpossible = errors.New("impossible step")
)
