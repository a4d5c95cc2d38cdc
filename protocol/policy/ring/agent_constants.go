package ring

import (
	"math"
	"math/rand/v2"
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
	// base is for how long a member waits in any case before it makes a token:
	// 2·max(requestTimeout, round) + round. So two requests in a row may get
	// lost, and the token may need a round to come after the third.
	base time.Duration
	// window is for how long a token that was here keeps those of lower
	// precedence away: base less one round. A member makes a token no sooner
	// than base after it began to wait, and the token that was lost meanwhile
	// may have been at other members up to a round later. To them it must not
	// seem to live, or they would drop its replacement.
	window time.Duration
	// regenerationMean is the mean of the exponential delay after base. A round
	// by default: the message "alive" of the first member that makes a token
	// needs n passages of a link to reach all, so of n that wait about
	// n·n·(one passage)/round = n·(one passage)/operation_time others make one
	// before they have heard of it.
	regenerationMean time.Duration
	// vouchFirst and vouchAgain are after what time, and how often then, a member tells
	// the others that the token is in use with it: a round is made of operation_time, and
	// programs may take longer. So many programs of twice that time, of which nobody is
	// told, fit into base. Zero where programs take no longer.
	vouchFirst, vouchAgain time.Duration
	// alives is how often a member lets others talk it out of making a token while it
	// sees none: alivesMax, and as often as all others tell it if their programs take max_hold.
	alives int
}

// derive fills in what p leaves open.
func derive(p policy.Params) constants {
	round := Round(p.OperationTime, p.SkipDelay, p.MembersMax)
	c := constants{skip: p.SkipDelay, requestTimeout: p.RequestTimeout, regenerationMean: p.RegenerationMean}
	if c.requestTimeout == 0 {
		c.requestTimeout = round
	}
	if c.regenerationMean == 0 {
		c.regenerationMean = round
	}
	c.window = 2 * max(c.requestTimeout, round)
	c.base = c.window + round
	c.alives = alivesMax
	if p.MaxHold > p.OperationTime {
		c.vouchFirst, c.vouchAgain = 2*p.OperationTime, c.base/2
		c.alives += p.MembersMax * (1 + int(p.MaxHold/c.vouchAgain))
	}
	return c
}

// timeout draws after how long a member that waits makes a token.
func (c *constants) timeout(rng *rand.Rand) time.Duration {
	delay := rng.ExpFloat64() * float64(c.regenerationMean)
	return c.base + time.Duration(min(delay, math.MaxInt64/2))
}
