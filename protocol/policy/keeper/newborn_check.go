package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// check is the check of one token. At first it is frozen: neither the policy nor the holder has it. The zero
// value is none.
type check struct {
	event     policy.Event  // its arrival; Kind is 0 where none is checked
	frozen    bool          // the policy does not have it
	began     clock.Instant // to be so
	inquiries []inquiry     // the members that are asked about the other token
	asks      int           // how many were asked
	slowest   time.Duration // answer of those that have answered
	unheard   bool          // a member that was to be asked is silent
	evades    bool          // the way of the other token ends at the generator, which does not say where it went
	other     custody       // of another token, as a member says
	rival     ident.Member  // that member; zero: none has said so
	since     clock.Instant // when it said so
}

// inquiry is a question to one member about another token than the newborn one.
type inquiry struct {
	member ident.Member
	custody
	since clock.Instant // when it was asked first
	heard clock.Instant // when it answered last; longAgo: never
	next  clock.Instant // when it is asked again, or given up
	stuck bool          // it has been passing that token on for long: the receiver may have failed
}

func (c *check) isOn() bool { return c.event.Kind != 0 }

// inquiry is the question to a member whose answer is awaited, or nil.
func (c *check) inquiry(m ident.Member) *inquiry {
	for i := range c.inquiries {
		if c.inquiries[i].member == m {
			return &c.inquiries[i]
		}
	}
	return nil
}

// isAsked reports whether a member's answer is awaited.
func (c *check) isAsked(m ident.Member) bool { return c.inquiry(m) != nil }

func (c *check) settle(m ident.Member) {
	c.inquiries = slices.DeleteFunc(c.inquiries, func(q inquiry) bool { return q.member == m })
}

// clears notes that a member has no other token.
func (c *check) clears(m ident.Member) {
	c.settle(m)
	if c.rival == m {
		c.rival = ident.Member{}
	}
}

// end ends the check, and returns the arrival, and whether the token was frozen.
func (c *check) end() (e policy.Event, frozen bool) {
	e, frozen = c.event, c.frozen
	*c = check{inquiries: c.inquiries[:0]}
	return e, frozen
}

// takeCopy takes a copy of an arrival, whose field is only lent.
func (c *check) takeCopy(e *policy.Event) {
	c.event = *e
	c.event.Token.Field = keep(e.Token.Field)
}

// birth is a newborn token that the policy got, as all that were asked know of no other one.
type birth struct {
	origin
	generator ident.Member
	at        clock.Instant
}

// births are such tokens, the last one last.
type births []birth

// outlived removes and returns those that another token has outlived which comes now: one that was made before them, and they
// not before an instant.
func (l *births) outlived(came origin, since clock.Instant) (list births) {
	*l = slices.DeleteFunc(*l, func(b birth) bool {
		is := since < b.at && b.token != came.token && b.later(came)
		if is {
			list = append(list, b)
		}
		return is
	})
	return list
}
