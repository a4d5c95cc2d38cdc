package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// whereabouts is what this member, as the slot's keeper, knows of the token: where it was last, and which member
// asks its promise back while another token is looked for.
type whereabouts struct {
	*common
	holder    *holder
	last      observation
	claim     observation // by the holder of another token than the one that is looked for
	generated ident.Token // that this member made last
	absence   absence
}

// observed is what is heard now of a token under which no program runs, as far as is known.
func (w *whereabouts) observed(c custody, holder, from ident.Member) observation {
	since := w.Now
	if w.last.custody == c && w.last.holder == holder {
		since = w.last.since
	}
	return observation{custody: c, holder: holder, from: from, at: w.Now, ends: longAgo, since: since}
}

// mayBeLost reports whether the last holder has no reason to keep the token, as far as is
// known, or is not waited for in any case: if it does not pass the token on, it may have failed.
func (w *whereabouts) mayBeLost() bool {
	return (w.last.ends == longAgo || w.atOnce) && w.isElsewhere()
}

// isElsewhere reports whether another member has the token, as far as is known.
func (w *whereabouts) isElsewhere() bool {
	l := &w.last
	return !l.gone && !l.holder.IsZero() && l.holder != w.self
}

// claims reports whether a member asks for a token while another one is looked for.
func (w *whereabouts) claims(m ident.Member) bool {
	return m == w.claim.holder && w.isClaimOpen()
}

// isClaimed reports whether a message tells of the token that is asked back while another one is looked for.
func (w *whereabouts) isClaimed(m *message) bool {
	return w.claim.token == m.token && w.isClaimOpen()
}

// otherThan is the member that has a token other than one, and whether that is sure. What others say
// of theirs is not enough for one that was promised: only a token that is here or has just
// left, or that was made here in place of a lost one, which may be this one.
func (w *whereabouts) otherThan(m *message) (to ident.Member, sure bool) {
	if to = w.holder.otherThan(m); !to.IsZero() {
		return to, true
	}
	l := &w.last
	if l.token == m.token || l.token != w.generated && m.kind != returned || l.holder == w.self || l.gone {
		return ident.Member{}, false
	}
	return l.holder, false
}

// tellsWay says, as the keeper, which member had a token last, and reports whether this member knows. A member
// that has just begun says nothing. None repeats what others have said of a token of which any custody is asked for: one of
// them may lie.
func (w *whereabouts) tellsWay(from ident.Member, m *message) bool {
	l := &w.last
	if l.token == m.token && m.hop == anyHop || l.hop == 0 || l.gone || l.holder == w.self || l.holder == from || w.Now < w.start.Add(w.hold) {
		return false
	}
	w.send(from, &message{kind: went, custody: custody{l.token, l.hop - 1}, member: l.holder})
	return true
}

// delivered notes that a token of this member's has arrived, unless its receiver was faster.
func (w *whereabouts) delivered(c custody, to ident.Member) {
	if l := &w.last; l.token != c.token || l.hop < c.hop {
		*l = w.observed(c, to, w.self)
	}
}

// isClaimOpen reports whether the member that asks its promise back has done so lately, so that it still waits.
func (w *whereabouts) isClaimOpen() bool { return w.Now < w.claim.at.Add(w.silence) }

// observation is the last that the keeper has heard of a token.
type observation struct {
	custody
	promise
	holder   ident.Member
	from     ident.Member // the member that passed it there; zero: unknown
	teller   ident.Member // the member that has said so unasked, if that is not the holder
	at       clock.Instant
	ends     clock.Instant // until then the program runs under it at most; longAgo: none does
	since    clock.Instant // for people: when this custody was heard of first
	runs     clock.Instant // for people: when it was heard first that the program runs; of ends
	members  int           // that there were to ask, when that was heard
	promised bool
	sought   bool // another member has looked for the token since: it may have made another one
	gone     bool // the holder has let it go, or lost it
}

// isSought notes that a member looks for the token.
func (o *observation) isSought(by ident.Member) { o.sought = o.sought || by != o.holder }

// isAfter reports whether a message is about an earlier custody of the same token.
func (o *observation) isAfter(m *message) bool { return o.token == m.token && o.hop > m.hop }

// isPromise reports whether a member says again of a custody what it has promised.
func (o *observation) isPromise(from ident.Member, m *message) bool {
	return o.promised && o.holder == from && o.custody == m.custody
}

// isNews reports whether a went, of one of all members, tells of a custody that may be followed. The hop of one that may have been invented
// says nothing of how far the token has come.
func (o *observation) isNews(m *message, doubtful bool) bool {
	return o.holder.IsZero() || m.token == o.token && (doubtful || m.hop >= o.hop)
}

// othersLeft reports whether others than the last holder have left the directory since it
// was heard of, or are suspected since.
func (o *observation) othersLeft(p *poll) bool {
	left := o.members - p.roster.Size()
	if !p.asked.has(o.holder) && !p.answers.has(o.holder) {
		left--
	}
	return left > 0
}
