package policy

import (
	"cmp"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Observant is a policy that hears of the slot's token while that is elsewhere.
type Observant interface {
	// Observed is what it knows, of so many other members as its Roster has. It is for people, and decides nothing: members may lie.
	// It asks the Roster nothing, so that a recorded policy can be replayed whoever has looked at it.
	Observed(others int) Observation
}

// Observation is what one member knows of a token that is elsewhere. The zero value is nothing.
type Observation struct {
	Holder ident.Member // has the token, as far as is known; zero: no member is known to
	By     ident.Member // has said so: the holder itself, or another member
	Token  ident.Token
	Born   uint64 // ms since 1970; 0: not known
	Hop    uint64
	At     clock.Instant // when that was heard
	Ends   clock.Instant // until then a program runs there, as the holder said; 0: it said of none
	Since  clock.Instant // when it was heard first that the holder has the token by this hop; 0: as At
	Runs   clock.Instant // of Ends: when it was heard first that this program runs

	Away clock.Instant // until then the holder may say nothing, as it said: its machine restarts; 0: it did not say so

	Search Search
	Due    clock.Instant // of Lost: when the token is replaced, as far as is known now

	// Ahead members wait that had their turn longer ago than this one, of those whose turns are
	// known here: Known is which share of all members that is. It is 0 under a policy without turns.
	Ahead int
	Known float64
}

// hopsCountFor is how far apart two observations of a token may be for the higher hop to be the later one. News of honest
// members is late by seconds, so only a lie is contradicted for longer; it is then forgotten.
const hopsCountFor = time.Minute

// First is when it was heard first that the holder has the token by this hop.
func (o Observation) First() clock.Instant { return cmp.Or(o.Since, o.At) }

// Later is the later one of two observations of a token. What is about this member stays. Of two of the same stay that one counts
// which knows of a program.
func (o Observation) Later(p Observation) Observation {
	near := p.Token == o.Token && p.At.Sub(o.At).Abs() <= hopsCountFor
	if p.Holder == o.Holder && p.Token == o.Token && p.Hop == o.Hop {
		first := min(o.First(), p.First())
		o.Since, p.Since = first, first
		switch {
		case o.Ends > 0 && p.Ends == 0:
			o.Born = cmp.Or(o.Born, p.Born)
			return o
		case p.Ends > 0 && o.Ends == 0:
			o.At = min(o.At, p.At)
		}
	}
	switch {
	case p.Holder.IsZero():
		return o
	case o.Holder.IsZero():
	case near && p.Hop < o.Hop, (!near || p.Hop == o.Hop) && p.At < o.At:
		return o
	}
	if p.Born == 0 && p.Token == o.Token {
		p.Born = o.Born
	}
	p.Search, p.Due, p.Ahead, p.Known = o.Search, o.Due, o.Ahead, o.Known
	return p
}

// Search is how far a member is that looks for a token on behalf of those that wait.
type Search uint8

// Where a search stands.
const (
	Calm   Search = iota // the token is somewhere, as far as is known
	Asking               // it asks for the token
	Lost                 // no member has it, and a replacement is due
)
