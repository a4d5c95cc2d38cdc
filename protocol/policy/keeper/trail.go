package keeper

import (
	"github.com/wandertoken/wander/protocol/ident"
)

// trail is where a token went, as the answers of all members say.
type trail struct {
	custody
	holder ident.Member
	from   ident.Member // the member that passed it there, if it is not in transit
	moving bool         // it is in transit from there
	to     ident.Member // and to this member
}

// by is the member that has told of the trail.
func (t *trail) by() ident.Member {
	if t.moving {
		return t.holder
	}
	return t.from
}

// end is where the token comes to be, by which custody, and from which member.
func (t *trail) end() (c custody, holder, from ident.Member) {
	if t.moving {
		return custody{t.token, t.hop + 1}, t.to, t.holder
	}
	return t.custody, t.holder, t.from
}

// take takes in an answer: the latest custody of the token that is looked for, or one that is in
// transit at this moment. known reports whether it is about that token, or no other one is known.
func (t *trail) take(from ident.Member, m *message, moving, known bool) {
	switch {
	case !moving && (m.span > 0 || !known):
	case !moving && t.moving, t.moving == moving && m.hop+1 < t.hop:
	case moving: // its sender knows first where the token comes to be
		*t = trail{custody: m.custody, holder: from, moving: true, to: m.member}
	default:
		*t = trail{custody: custody{m.token, m.hop + 1}, holder: m.member, from: from}
	}
}

// leaps are the trails that a search has followed.
type leaps struct {
	count    int
	first    trail
	believed members // members that said that a token was in transit: each is believed once
	refuted  members // those that told of a custody that its holder disowned: they are believed no more
}

func (l *leaps) reset() { *l = leaps{believed: l.believed[:0], refuted: l.refuted[:0]} }

// isRefuted reports whether a went counts for nothing: following it can only lead to what was disowned.
func (l *leaps) isRefuted(from ident.Member, m *message, moving bool) bool {
	return l.refuted.has(from) || moving && l.believed.has(from) || !moving && l.refuted.has(m.member)
}

// note notes that a trail is followed.
func (l *leaps) note(t *trail) {
	if l.count == 0 {
		l.first = *t
	}
	if t.moving {
		l.believed = append(l.believed, t.holder)
	}
	l.count++
}

// moved reports whether a token goes on its way while it is followed: it is faster than the questions, and not
// lost. Two members have to tell of it: one alone may lie.
func (l *leaps) moved(t *trail) bool {
	return t.token == l.first.token && t.hop > l.first.hop && t.by() != l.first.by()
}
