package circulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/window"
)

const (
	// abandonAfter is how long after a loss in transit the sender is told that
	// its pass was Abandoned: when a member stops asking (protocol/handoff).
	abandonAfter = 5 * time.Minute

	// defaultDetectAfter is Config.DetectAfter where that is zero: how long the papers'
	// failure detector takes, and about what a member's connections do.
	defaultDetectAfter = 10 * time.Second

	// defaultBegin is Config.Begin where that is zero, in seconds since 1970: the
	// year 2020. A clock that is wrong by decades still is after 1970.
	defaultBegin = 1_577_836_800

	// forever, as the time for which a member is down, is without a return.
	forever = time.Duration(1<<63 - 1)

	// nobodyPause is how much later than the latency a token comes back that
	// nobody can take (protocol/handoff).
	nobodyPause = time.Second

	// triesMax is after how many receivers that are down a token comes back:
	// whoever's Directory names nobody else has to wait for news.
	triesMax = 16
)

// Config is one simulated group.
type Config struct {
	// Policy and Params are what the group configuration says, see
	// protocol/policy/catalog.
	Policy string
	Params policy.Params
	// Members is how many there are at the start, 1 to policy.MaxMembers: the
	// indices 0 to Members-1. Their ids have the order of their indices.
	Members int
	// Seed makes the run: all randomness is drawn from it.
	Seed uint64
	// Classes are those of the members, in turn: that with index i has the class i mod their number. Nil is that
	// nobody has one.
	Classes []string
	// Found is how many tokens there are at the start, generated at different
	// members drawn at random. 0 is a cold start.
	Found int

	// Passing is how long a handoff takes, from Pass to Arrival; Telling is
	// the same for a message between policies. Operation is how long an
	// operation takes; its zero value is always Params.OperationTime.
	Passing, Telling, Operation Latency

	// Reserving is how long it takes until a receiver has accepted, before the
	// Passing of a handoff begins: OFFER and ACCEPT. A policy that Prepares a token
	// for its receiver lets both go on while the token is still in use
	// (pre-offer), so that a pass waits for the rest of them only. The zero value
	// reserves at once, and nothing depends on Prepare.
	Reserving Latency

	// IdleTimeout is how long a connection lives after the last pass or message
	// between two members, for Traffic.Connections; 0: connections are not
	// counted, which saves memory.
	IdleTimeout time.Duration

	// PassLoss and TellLoss are the probabilities that a pass loses its token
	// and that a message is lost, 0 to 1.
	PassLoss, TellLoss float64
	// LossEvery makes the next pass that begins lose its token, at each
	// multiple of it (how the papers inject losses); 0: never.
	LossEvery time.Duration
	// CrashEvery is the mean of the exponential time between two crashes of a
	// member drawn at random among those that are up; 0: never. With
	// CrashHolder it is drawn among those that hold a token then, and nothing
	// happens when there is none. The member returns after DownFor.
	CrashEvery  time.Duration
	CrashHolder bool
	DownFor     time.Duration
	// Down is the share of the members that fall for good, 0 to less than 1,
	// drawn at random; the number is rounded. Each falls at an instant drawn
	// uniformly up to DownBy; if DownBy is 0 it never begins. A token that it
	// holds is lost.
	Down   float64
	DownBy time.Duration
	// Unstated means that nobody declares a failure. A Roster goes on naming a
	// member that is down, except to a member that has sent or passed it
	// something DetectAfter ago or earlier. Timekeepers stay the same.
	Unstated bool
	// Forgetful members lose tokens and the policy's memory in a crash.
	Forgetful bool
	// Recall makes durable members remember their last visits, to be Recalled
	// after a Simulation.Crash. CrashEvery implies it.
	Recall bool
	// Begin is the wall clock at instant 0, from 1970 on. The zero value is the
	// year 2020.
	Begin time.Time
	// ClockOffset is by how much each member's wall clock is wrong at most,
	// either way, uniformly. It shows in policy.Token.Born only.
	ClockOffset time.Duration
	// Windows are when operations may run, by Begin and the time since: the same
	// for all members. None begins that would take longer than there is left of
	// Params.OperationTime, and what runs when they close ends (P-91, P-92).
	// Without any, operations always may run.
	Windows window.Windows

	// DetectAfter is how long after its fall a member counts as failed: the
	// policies that watch it are told Silent, and no Roster names it any more.
	// 0 means 10 s.
	DetectAfter time.Duration
	// FalseSuspicion is the probability, 0 to 1, that a watch is told Silent
	// although nothing is wrong with the watched member, at any instant of the
	// Operation that follows. For DetectAfter the messages between the two are
	// then lost, which is the cause of such a suspicion.
	FalseSuspicion float64

	// Demand is when members want to run the operation. The zero value is
	// always.
	Demand Demand
	// Known is how many others each member's policy.Roster draws from: a sample
	// of its own, in which another member replaces one that counts as failed.
	// The timekeepers of a member are then those selected when it joined. 0
	// means all members.
	Known int
	// Directory is what members know of each other. If it is nil, every member
	// knows all others.
	Directory Directory
}

// Directory is what members know of each other, if they do not know everything.
// The Simulation calls its methods on its own goroutine.
type Directory interface {
	// Choose draws the member to which from passes a token, with randomness of
	// rng alone. It may return a member that is down: then the Simulation asks
	// again, Config.Passing later. ok is false if from knows nobody.
	Choose(from int, rng *rand.Rand) (to int, ok bool)
	// Joined says that a member has joined, which knows only the contact.
	Joined(member, contact int)
	// Left says that a member has left for good.
	Left(member int)
	// Passed says that a token arrives at the member to; the policy of to is
	// told later.
	Passed(token ident.Token, from, to int)
}

// Demand says when members want to run the operation.
type Demand struct {
	kind demandKind
	mean time.Duration
}

type demandKind uint8

const (
	always demandKind = iota
	every
	scripted
)

// Always returns the demand of members that always want to run again.
func Always() Demand { return Demand{} }

// Every returns the demand of members that want to run again an exponential
// time of this mean after their operation has ended, and for the first time as
// long after their start. With a mean of 0 or less it returns Always.
func Every(mean time.Duration) Demand {
	if mean <= 0 {
		return Always()
	}
	return Demand{every, mean}
}

// Scripted returns the demand of members that want to run when Simulation.Want
// says so.
func Scripted() Demand { return Demand{kind: scripted} }

// classAt is that of the member with this index.
func (c *Config) classAt(member int) string {
	if len(c.Classes) == 0 {
		return ""
	}
	return c.Classes[member%len(c.Classes)]
}

// classOf is the class of a member as all others know it: none of an id that is nobody's.
func (c *Config) classOf(m ident.Member) string {
	if i := memberIndex(m); i >= 0 {
		return c.classAt(i)
	}
	return ""
}

// Validate returns the error that New would return, without making a group. It
// takes no time.
func (c *Config) Validate() error {
	if err := c.validate(); err != nil {
		return err
	}
	return catalog.Check(c.Policy, c.Params)
}

// Living returns how many members are left once the share Config.Down of them
// has fallen.
func (c *Config) Living() int { return c.Members - c.falling() }

// falling is how many members fall for good.
func (c *Config) falling() int { return int(math.Round(c.Down * float64(c.Members))) }

func (c *Config) validate() error {
	switch {
	case c.Members < 1 || c.Members > policy.MaxMembers:
		return fmt.Errorf("%w: %d, permitted are 1 to %d", ErrMembers, c.Members, policy.MaxMembers)
	case c.Known < 0:
		return fmt.Errorf("%w: %d known", ErrMembers, c.Known)
	case c.Found < 0 || c.Found > c.Members:
		return fmt.Errorf("%w: %d tokens, %d members", ErrFound, c.Found, c.Members)
	}
	if !(c.Down >= 0 && c.Down < 1) || c.Living() < 1 {
		return fmt.Errorf("%w: down is %v, permitted are 0 to less than 1, and somebody has to be left of %d", ErrShare, c.Down, c.Members)
	}
	for _, p := range []struct {
		name  string
		share float64
	}{{"pass_loss", c.PassLoss}, {"tell_loss", c.TellLoss}, {"false_suspicion", c.FalseSuspicion}} {
		if !(p.share >= 0 && p.share <= 1) {
			return fmt.Errorf("%w: %s is %v, permitted are 0 to 1", ErrShare, p.name, p.share)
		}
	}
	for _, d := range []struct {
		name string
		span time.Duration
	}{{"loss_every", c.LossEvery}, {"crash_every", c.CrashEvery}, {"down_for", c.DownFor}, {"down_by", c.DownBy}, {"clock_offset", c.ClockOffset}, {"detect_after", c.DetectAfter}, {"idle_timeout", c.IdleTimeout}} {
		if d.span < 0 {
			return fmt.Errorf("%w: %s is %v", ErrNegative, d.name, d.span)
		}
	}
	if !c.Begin.IsZero() && c.Begin.Unix() < 0 {
		return fmt.Errorf("%w: begin is %v, permitted are 1970 and later", ErrBegin, c.Begin)
	}
	if err := wandergroup.CheckWindows(c.Windows, c.Params.OperationTime); err != nil {
		return err
	}
	for _, l := range []Latency{c.Passing, c.Telling, c.Operation, c.Reserving} {
		if err := l.validate(); err != nil {
			return err
		}
	}
	return nil
}
