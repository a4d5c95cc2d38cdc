package policy

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
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

	// MinRatio is 1 as a Ratio: a factor below would turn growth into decay.
	MinRatio = 1000

	// MaxRatio is 1000 as a Ratio: what is to be a factor is no more.
	MaxRatio = 1_000_000

	// MaxTimekeepers is how many timekeepers a member has under fair (P-41) if the group does not
	// ask for fewer: more have not been seen to bring turns nearer to a round robin (docs/beyond.md).
	MaxTimekeepers = 12
	// MaxQueue bounds the tokens that wait at one member. Each is in custody
	// there, and of those the handoff permits a few hundred.
	MaxQueue = 64
)

// Validate checks every field against its range. The error wraps
// ErrOutOfRange and names the first field that is wrong. A round of
// operations, operation_time·members_max, is checked too, because the papers'
// formulae start from it. Which presets there are is the policy's to say.
func (p Params) Validate() error {
	for i := range Parameters {
		if err := Parameters[i].Check(&p, ErrOutOfRange); err != nil {
			return err
		}
	}
	if longest := MaxInterval / time.Duration(p.MembersMax); p.OperationTime > longest {
		return fmt.Errorf("%w: operation_time with these members_max is %s, permitted are %s to %s",
			ErrOutOfRange, duration.Format(p.OperationTime), duration.Format(MinDuration), duration.Format(longest))
	}
	return nil
}
