package ring

import (
	"time"

	"github.com/wandertoken/wander/protocol/policy"
)

// Round is how long the token takes once around a ring of membersMax members
// that all run the operation: each keeps it for operationTime, and it travels no
// longer than it would rest there. It is an upper bound for who waits while
// nothing is lost, since the token goes once around after a request. For what
// policy.Params.Validate accepts it is exact up to policy.MaxInterval, where it
// saturates, far from where sums of a few overflow.
func Round(operationTime, skipDelay time.Duration, membersMax int) time.Duration {
	return min((operationTime+skipDelay)*time.Duration(membersMax), policy.MaxInterval)
}

// constants are the spans an agent computes with.
type constants struct {
	skip time.Duration
	// requestTimeout is after what time a request is repeated. A whole round by
	// default: whoever waits longer was not heard, so a ring without faults
	// repeats nothing.
	requestTimeout time.Duration
	// freshness is for how long a token that was here keeps away those that it precedes: two
	// rounds, or two repeated requests.
	freshness time.Duration
	// patience is for how long a token rests on here although somebody is said to wait: its request is on
	// its way, unless one of those between swallows it. No longer than a keeper waits before it looks for
	// the token.
	patience time.Duration
}

// longestPatience is the patience where p has no Silence.
const longestPatience = 4 * time.Second

// derive fills in what p leaves open.
func derive(p policy.Params) constants {
	round := Round(p.OperationTime, p.SkipDelay, p.MembersMax)
	c := constants{skip: p.SkipDelay, requestTimeout: p.RequestTimeout}
	if c.requestTimeout == 0 {
		c.requestTimeout = round
	}
	if c.patience = longestPatience; p.Silence > 0 {
		c.patience = p.Silence
	}
	c.freshness = 2 * max(c.requestTimeout, round)
	return c
}
