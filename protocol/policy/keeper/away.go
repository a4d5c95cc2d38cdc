package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// A holder whose program goes on across a restart of its machine says so before it falls silent (P-99), and those that it has
// told leave the token to it until then (P-100 to P-102).

// isAway reports whether this member has said, or is to say, that it may fall silent under the token.
func (t *held) isAway() bool { return t.state == running && t.away > 0 }

// leavesFor notes that the program under a token goes on across a restart of the machine, and tells all keepers:
// the first one may fail meanwhile, and the holder could tell no other one then.
func (h *holder) leavesFor(token *policy.Token, until clock.Instant) {
	t := h.held.find(&token.ID)
	if t == nil || t.state != running || until <= h.Now {
		return
	}
	t.away = until
	before := append(append(members{h.firstOther(), t.asker}, t.informed...), t.answered...)
	h.reporter.reports(t) // to these at least
	m := h.reporter.statement(t)
	for _, to := range h.others() {
		if t.informed.addUpTo(ranks, to); !before.has(to) {
			h.send(to, &m)
		}
	}
}

// isBackFrom tells those that count on an absence that it is over: the program has ended.
func (h *holder) isBackFrom(t *held) {
	if t.away == 0 {
		return
	}
	t.away = 0
	m := h.reporter.statement(t)
	told := members{}
	for _, list := range []members{{t.keeper, t.asker}, t.informed, t.answered} {
		for _, to := range list {
			if !to.IsZero() && told.add(to) {
				h.send(to, &m)
			}
		}
	}
}

// absence is what a keeper has been told of a holder that may say nothing for a while. The zero value is none.
type absence struct {
	custody
	holder ident.Member
	until  clock.Instant
	limit  clock.Instant // no further word of the holder lengthens it beyond this, as long as a member waits
	during bool          // it began while a member waited
}

// hears ends an absence: its holder says anything of that token or of a later custody of it. A have of a program is from before the
// absence, and was overtaken.
func (a *absence) hears(from ident.Member, m *message) {
	if from != a.holder || m.token != a.token || m.hop < a.hop || m.kind == have && m.span > 0 {
		return
	}
	switch m.kind {
	case have, rest, release, returned, went:
		a.ends()
	}
}

// ends ends an absence. The custody is remembered: it has had one.
func (a *absence) ends() { a.until = longAgo }

// notesAbsence takes in that the holder of the token may say nothing until its program ends. In one custody that counts only once while
// a member waits: a holder that says it again and again keeps the token from others for two programs at most.
func (s *search) notesAbsence(from ident.Member, m *message) {
	a := &s.absence
	waits := s.Now < s.wants.until
	isAgain := a.holder == from && a.custody == m.custody && a.during
	if !m.away || m.span == 0 {
		return
	}
	until := s.Now.Add(min(span(m.span), s.hold))
	if isAgain && waits {
		a.until = min(until, a.limit)
		return
	}
	*a = absence{m.custody, from, until, until, waits}
}

// isAway reports whether the last holder has said that it may say nothing yet.
func (w *whereabouts) isAway() bool {
	a, l := &w.absence, &w.last
	return !l.gone && l.holder == a.holder && l.custody == a.custody && a.until != 0 && w.Now < w.returns()
}

// returns is when the last holder says something again, or has failed.
func (w *whereabouts) returns() clock.Instant { return w.absence.until.Add(reportGrace) }

// awaitsReturn has the search wait for the return of the last holder if that is away, and reports whether it is.
func (s *search) awaitsReturn() bool {
	if !s.isAway() {
		return false
	}
	s.next = s.returns()
	return true
}
