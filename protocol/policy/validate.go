package policy

import (
	"cmp"
	"fmt"
	"time"
)

// The permitted ranges of Params.
const (
	// MinDuration is the shortest time constant: the group configuration
	// carries them in milliseconds.
	MinDuration = time.Millisecond

	// MaxOperationTime bounds one operation. Whoever crashes with the token
	// may keep it from all others that long.
	MaxOperationTime = 7 * 24 * time.Hour

	// MaxMembers is the largest group that the simulator is built to measure;
	// nobody has seen a larger one behave.
	MaxMembers = 1_000_000

	// MaxSkipDelay bounds how long a token rests with a member that does not
	// need it. Members with demand wait meanwhile, so it is far below what
	// anybody should choose.
	MaxSkipDelay = time.Hour

	// MaxInterval bounds every longer span: one round of operations, the time
	// between two of one member, the mean of the regeneration delay. It is the
	// life of a certificate authority: what takes longer does not happen in
	// its group. Sums of a few such spans are also far from where a Duration
	// overflows.
	MaxInterval = 10 * 365 * 24 * time.Hour
)

// Validate checks every field against its range. The error wraps
// ErrOutOfRange and names the first field that is wrong. A round of
// operations, operation_time·members_max, is checked too, because the papers'
// formulae start from it.
func (p Params) Validate() error {
	roundMax := MaxInterval / time.Duration(max(p.MembersMax, 1))
	return cmp.Or(
		within("operation_time", p.OperationTime, MinDuration, MaxOperationTime),
		within("members_max", p.MembersMax, 1, MaxMembers),
		within("operation_time with these members_max", p.OperationTime, MinDuration, roundMax),
		within("skip_delay", p.SkipDelay, MinDuration, MaxSkipDelay),
		withinOrDerived("min_interval", p.MinInterval, MinDuration, MaxInterval),
		withinOrDerived("regeneration_mean", p.RegenerationMean, MinDuration, MaxInterval),
	)
}

func within[T cmp.Ordered](field string, value, low, high T) error {
	if value < low || value > high {
		return fmt.Errorf("%w: %s is %v, permitted are %v to %v", ErrOutOfRange, field, value, low, high)
	}
	return nil
}

// withinOrDerived permits zero too, which asks for the paper's formula.
func withinOrDerived(field string, value, low, high time.Duration) error {
	if value != 0 && (value < low || value > high) {
		return fmt.Errorf("%w: %s is %v, permitted are 0 (derived) and %v to %v", ErrOutOfRange, field, value, low, high)
	}
	return nil
}
