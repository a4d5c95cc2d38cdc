package plan

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/uncoordinated"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
	"github.com/wandertoken/wander/protocol/window"
	"github.com/wandertoken/wander/sim/circulation"
)

const (
	// MaxSeeds is more runs than anybody needs: the cost is shared among them.
	MaxSeeds = 100

	// maxFirst bounds the first seed as in lab/experiment.
	maxFirst = 1_000_000_000

	// minCrash keeps the simulator busy with something else than crashes, of
	// each of which all members hear.
	minCrash = time.Second

	// MaxFair is how many members there may be under fair, where all speak to
	// others at the beginning: of a million the messages take minutes and many GB.
	MaxFair = 100_000

	// maxLatency bounds a way over the network: nobody waits longer for an answer.
	maxLatency = 20 * time.Minute

	// crowd is from how many members on runs take turns instead of running at
	// once: each needs the better part of a kilobyte for a member.
	crowd = 100_000
)

// Request is a group and what happens to it.
type Request struct {
	// Policy and Params are what the group configuration would say.
	Policy string
	Params policy.Params
	// Members is how many there are, 2 to policy.MaxMembers.
	Members int
	// Shares are the classes of the members in equal parts, each with its weight under the preset fair: nil is that all
	// have the same. Params have the same weights.
	Shares []policy.ClassWeight
	// Windows are when operations may run: without any they always may. All members' clocks show Begin at the beginning
	// of each run; its zero value is DefaultBegin, and without windows it makes no difference.
	Windows window.Windows
	Begin   time.Time
	// Every is how long after an operation a member wants to run again, on
	// average (exponentially distributed); 0: at once. Up to
	// policy.MaxInterval, as Crash and DownFor.
	Every time.Duration
	// Loss is the probability that a handoff loses its token, 0 to less than 1.
	Loss float64
	// Crash is the mean time between two crashes in the group, minCrash at
	// least and so that no more than half of the members are down on average;
	// 0: never. A member returns after DownFor. Volatile members lose their
	// tokens and what they remember, others keep both.
	Crash, DownFor time.Duration
	Volatile       bool
	// Latency is how long anything takes from one member to another, one way:
	// half of a round trip. What else takes time follows from it, see ways.
	Latency time.Duration
	// First is the seed of the first run, 1 to maxFirst; those of the others
	// follow it.
	First uint64
	// Seeds is how many runs there are at most, 1 to MaxSeeds. There are fewer
	// where they would become too short.
	Seeds int
	// Events is what all runs may cost together, in events of the simulator under the presets that cost least for each.
	// 0: as many as take some seconds of a processor. Fewer give the same report with figures that are less sure.
	Events uint64

	known *calendar // once it was looked at
}

// What goes from one member to another, in ways of Request.Latency each. A handoff
// is OFFER and ACCEPT, and then TRANSFER. The first two go while the operation
// runs, where the policy knows by then who is next (pre-offer); of an operation
// that is shorter, or a member that is found late, the rest of the two is waited
// for. So a handoff takes one way to three, from the end of the operation to the
// next holder. RECEIPT, which is the fourth message, holds nobody up.
const (
	waysOfMessage  = 1 // between policies
	WaysToReserve  = 2 // OFFER and ACCEPT
	WaysToTransfer = 1
)

// ways is how long so many ways take.
func (r *Request) ways(n time.Duration) circulation.Latency {
	return circulation.Constant(n * r.Latency)
}

// Validate checks all but what New of sim/circulation checks.
func (r *Request) Validate() error {
	switch {
	case r.Members < 2 || r.Members > policy.MaxMembers:
		return fmt.Errorf("%w: %d, permitted are 2 to %d", ErrMembers, r.Members, policy.MaxMembers)
	case r.isFair() && r.Members > MaxFair:
		return fmt.Errorf("%w: %d, permitted under preset %s are 2 to %d", ErrMembers, r.Members, wandering.Fair, MaxFair)
	case r.Seeds < 1 || r.Seeds > MaxSeeds:
		return fmt.Errorf("%w: %d, permitted are 1 to %d", ErrSeeds, r.Seeds, MaxSeeds)
	case r.First < 1 || r.First > maxFirst:
		return fmt.Errorf("%w: the first is %d, permitted are 1 to %d", ErrSeeds, r.First, maxFirst)
	case !(r.Loss >= 0 && r.Loss < 1):
		return fmt.Errorf("%w: %v, permitted are 0 to less than 1", ErrLoss, r.Loss)
	case r.Policy == catalog.Multitoken && r.Params.TargetInterval == 0:
		return fmt.Errorf("%w: how often a token is to visit each member", ErrTarget)
	}
	for _, s := range []struct {
		name    string
		is, max time.Duration
	}{
		{"every", r.Every, policy.MaxInterval}, {"crash", r.Crash, policy.MaxInterval},
		{"down-for", r.DownFor, policy.MaxInterval}, {"latency", r.Latency, maxLatency},
	} {
		if s.is < 0 || s.is > s.max {
			return fmt.Errorf("%w: %s is %v, permitted are 0 to %v", ErrSpan, s.name, s.is, s.max)
		}
	}
	if least := r.leastCrash(); r.Crash > 0 && r.Crash < least {
		return fmt.Errorf("%w: crash is %v, permitted are %v and more (at most half of the members are down for %v)",
			ErrSpan, r.Crash, least, r.DownFor)
	}
	if r.begin().Unix() < 0 {
		return fmt.Errorf("%w: %v, permitted are 1970 and later", ErrBegin, r.Begin)
	}
	if err := catalog.Check(r.Policy, r.Params); err != nil {
		return err
	}
	if err := group.CheckWindows(r.Windows, r.Params.OperationTime); err != nil {
		return err
	}
	if longest := policy.MaxInterval / time.Duration(r.Members); r.Params.OperationTime+r.Latency > longest {
		return fmt.Errorf("%w: operation and latency of this many members take longer than %v", ErrSpan, policy.MaxInterval)
	}
	return nil
}

// leastCrash is the shortest mean time between crashes.
func (r *Request) leastCrash() time.Duration {
	return max(minCrash, (r.DownFor / time.Duration(r.Members) * 2).Round(time.Millisecond))
}

func (r *Request) isFair() bool {
	return r.Policy == catalog.Wandering && r.preset() == wandering.Fair
}

// singleToken reports whether one token at a time is what the policy aims at.
func (r *Request) singleToken() bool {
	return !catalog.Several(r.Policy)
}

// recovers reports whether losses of the only token can be simulated: it has
// to visit everybody between two, at three events a visit and with as many
// visits too early.
func (r *Request) recovers(e effort) bool {
	return r.singleToken() && uint64(6*r.Members) < r.share(e.recovery)
}

// round is the least time in which all members can run one after the other.
func (r *Request) round() time.Duration {
	return max(time.Millisecond, (r.Params.OperationTime+r.Latency)*time.Duration(r.Members))
}

// minInterval is the time that the policy lets pass between two operations of a
// member, where it has one.
func (r *Request) minInterval() time.Duration {
	p := r.Params
	switch {
	case p.MinInterval > 0:
		return p.MinInterval
	case r.Policy == catalog.Wandering && r.preset() == wandering.Report:
		return papers.ReportMinInterval(p.OperationTime, p.MembersMax)
	case r.Policy == catalog.Wandering:
		return papers.MinInterval(p.OperationTime, p.MembersMax)
	}
	return 0
}

// spacing is about how long it is at least between two operations of a member
// that always wants to run, if the windows never close.
func (r *Request) spacing() time.Duration {
	switch r.Policy {
	case catalog.Multitoken:
		return max(time.Millisecond, r.Params.OperationTime+r.Latency, r.Params.TargetInterval)
	case catalog.Uncoordinated:
		if shortest, longest, err := uncoordinated.Between(r.Params); err == nil {
			return max(time.Millisecond, (shortest+longest)/2)
		}
	}
	return min(max(time.Duration(float64(r.round())*r.slowest()), r.minInterval()), policy.MaxInterval)
}

// expected is about how long it is at least between two operations of a member.
func (r *Request) expected() time.Duration {
	return min(max(r.calendar().stretch(r.spacing()), r.Every+r.Params.OperationTime), 2*policy.MaxInterval)
}

// least is how long a run is at least, unless it costs too much.
func (r *Request) least() time.Duration { return minIntervals * r.expected() }

// length is the same in whole cycles of the windows: in a part of one they may be open for a larger share, or for none.
func (r *Request) length() time.Duration {
	c := r.calendar()
	return c.whole(max(r.least(), minCycles*c.cycle))
}

// settleTargets is how many target intervals it takes until the number of tokens
// is what it stays: the slowest preset waits for a silence of eight at most.
const settleTargets = 12

// warmUp is how long a run is not measured at its beginning.
func (r *Request) warmUp() time.Duration {
	return r.calendar().whole(max(warmRounds*r.round(), r.expected()) + settleTargets*r.Params.TargetInterval)
}

// config is the group to simulate, without faults and windows.
func (r *Request) config(seed uint64) circulation.Config {
	c := circulation.Config{
		Policy: r.Policy, Params: r.Params, Members: r.Members, Seed: seed,
		Reserving: r.ways(WaysToReserve), Passing: r.ways(WaysToTransfer), Telling: r.ways(waysOfMessage),
		IdleTimeout: connectionIdle, Demand: circulation.Every(r.Every),
	}
	for _, s := range r.Shares {
		c.Classes = append(c.Classes, s.Class)
	}
	if r.singleToken() {
		c.Found = 1
	}
	if r.Policy == catalog.Multitoken {
		needed := float64(r.round()) / float64(r.Params.TargetInterval)
		c.Found = int(min(max(1, needed), float64(r.Members)))
	}
	return c
}

// faulty is the group to simulate.
func (r *Request) faulty(seed uint64) circulation.Config {
	c := r.config(seed)
	c.PassLoss, c.CrashEvery, c.DownFor, c.Forgetful = r.Loss, r.Crash, r.DownFor, r.Volatile
	c.Windows, c.Begin = r.Windows, r.begin()
	return c
}
