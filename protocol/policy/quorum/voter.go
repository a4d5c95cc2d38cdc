package quorum

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// voter is what a member does with its vote of a slot. It has one, and gives it to one
// custody at a time.
type voter struct {
	from  clock.Instant // no vote is given before
	first bool          // it is this member that is asked, where one is
	given ballot        // zero: none
	next  ballot        // who waits for the vote; zero: nobody
}

// ballot is a vote that is given, or wanted.
type ballot struct {
	request
	holder ident.Member
	born   uint64
	until  clock.Instant // when the program is dead at the latest
	heard  clock.Instant // when it was asked for last
}

func (v *voter) reset() { v.from = clock.Never }

func (v *voter) deadline() clock.Instant {
	if v.next.holder.IsZero() || v.given.holder.IsZero() {
		return clock.Never
	}
	return v.given.until
}

// is reports whether a ballot is the one that a message of a member is about.
func (b *ballot) is(from ident.Member, m *message) bool {
	return b.holder == from && b.custody == m.custody && b.life == m.life
}

// isVoter reports whether this member's vote counts. Where one vote does, who becomes the
// first gives none at first: the one before it may have given its own.
func (q *Quorum) isVoter() bool {
	if q.majority {
		return true
	}
	list, _ := q.electorate.Voters(1, q.order[:0])
	q.order = list
	first := len(list) > 0 && list[0] == q.self
	if first && !q.voter.first {
		q.voter.from = max(q.voter.from, q.Now.Add(q.quiet))
	}
	q.voter.first = first
	return first
}

// requested is a holder's ask for this member's vote.
func (q *Quorum) requested(from ident.Member, m *message) {
	v := &q.voter
	if !q.isVoter() || q.Now < v.from {
		return
	}
	b := ballot{request: m.request, holder: from, born: m.born, heard: q.Now}
	b.until = q.Now.Add(bound(min(span(m.span), q.hold+killTime)))
	switch {
	case v.given.is(from, m):
		b.until, b.serial = max(b.until, v.given.until), max(b.serial, v.given.serial)
		v.given = b
		q.tell(from, message{kind: vote, request: m.request, members: q.members()})
	case v.given.holder.IsZero() || v.given.until <= q.Now:
		q.gives(b)
	default:
		if n := &v.next; n.holder.IsZero() || n.holder == from || n.heard.Add(q.patience) <= q.Now || precedes(b.token, b.born, n.token, n.born) {
			v.next = b
		}
		q.tell(v.given.holder, message{kind: free, request: v.given.request, born: b.born, other: b.token})
	}
}

// gives gives the vote.
func (q *Quorum) gives(b ballot) {
	v := &q.voter
	v.given = b
	if v.next.holder == b.holder {
		v.next = ballot{}
	}
	q.tell(b.holder, message{kind: vote, request: b.request, members: q.members()})
}

// members is how many members this one knows.
func (q *Quorum) members() uint32 {
	list, all := q.electorate.Voters(1, q.order[:0])
	q.order = list
	return uint32(all)
}

// released: a holder needs the vote no more, or not yet.
func (q *Quorum) released(from ident.Member, m *message) {
	v := &q.voter
	if v.next.is(from, m) && m.serial >= v.next.serial {
		v.next = ballot{}
	}
	if v.given.is(from, m) && m.serial >= v.given.serial {
		v.given = ballot{}
		q.voterDue()
	}
}

// voterDue gives the vote to who waits for it when nobody has it any more. Who has not
// asked for long does not wait.
func (q *Quorum) voterDue() {
	v := &q.voter
	if !v.given.holder.IsZero() && v.given.until > q.Now {
		return
	}
	v.given = ballot{}
	next := v.next
	v.next = ballot{}
	if !next.holder.IsZero() && q.Now < next.heard.Add(2*q.retry) {
		q.gives(next)
	}
}
