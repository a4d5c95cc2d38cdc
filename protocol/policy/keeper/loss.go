package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// loss is how long a program may still run under a token that no living member has.
type loss struct {
	found     clock.Instant // when it was found first that no living member has it; clock.Never: one has
	suspect   ident.Member  // the holder that did not answer
	suspected clock.Instant // when that one was asked first
	struckHas custody       // the latest custody of a struck member; zero: none
	struckAt  clock.Instant // when this member first heard of it
	asked     custody       // whose holder is to give account, as it speaks and does not answer; zero: none
	young     clock.Instant // programs of members that have begun lately may run until then
}

func noLoss() loss { return loss{found: clock.Never, young: longAgo} }

// suspects notes the first holder that does not answer.
func (l *loss) suspects(m ident.Member, since clock.Instant) {
	if l.suspect.IsZero() {
		l.suspect, l.suspected = m, since
	}
}

// notesYoung notes that a member has known of all tokens for so long: an earlier process of it may have begun a program
// before. One that has known of them for longer than programs take changes nothing, however often it is asked. One that
// says each time that it has just begun does so maxFailures times.
func (l *loss) notesYoung(from ident.Member, since time.Duration, p *poll) {
	if since < p.hold && p.begins(from, p.Now.Add(-since)) {
		l.young = max(l.young, p.Now.Add(p.hold-since))
	}
}

// programsEnd is when no program can run any more of a member that has failed, or has lost its memory. A member
// that does not answer may have begun one until it was asked first.
func (l *loss) programsEnd(p *poll, last *observation) clock.Instant {
	if p.atOnce { // speed goes before exclusion
		if last.at == longAgo {
			return p.start.Add(foundingTime)
		}
		return longAgo
	}
	at := l.young
	if p.forgetful { // an earlier process may have begun one
		at = max(at, p.start.Add(p.hold))
	}
	if slices.ContainsFunc(p.asked, func(m ident.Member) bool { return m != l.suspect }) {
		at = max(at, p.first.Add(p.hold))
	}
	switch {
	case last.at == longAgo: // a member that is not asked any more may have had it
		at = max(at, p.first.Add(p.hold), p.start.Add(foundingTime))
	case last.ends != longAgo:
		at = max(at, last.ends.Add(reportGrace))
		if last.othersLeft(p) { // one of them may have had the token since
			at = max(at, p.first.Add(p.hold))
		}
	case last.holder != l.suspect && !p.answers.has(last.holder):
		at = max(at, p.first.Add(p.hold))
	}
	if !l.suspect.IsZero() && (l.suspect != last.holder || last.ends == longAgo) {
		at = max(at, l.suspected.Add(p.hold))
	}
	if l.struckHas != (custody{}) {
		at = max(at, l.struckAt.Add(p.overdue()+p.silence))
	}
	return at
}

// notesStruck notes when this member first hears that a struck member got the token. That member may live, and
// pass the token on as others do: others may not have struck it.
func (l *loss) notesStruck(p *peers, holder ident.Member, c custody) {
	if p.isStruck(holder) && c != l.struckHas {
		l.struckHas, l.struckAt = c, p.Now
	}
}
