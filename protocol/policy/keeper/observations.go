package keeper

import (
	"cmp"
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// What others tell the slot's keeper of tokens, and what it answers.

// sees takes in that a member has a token, and reports whether that is news. What a member says unasked may be old.
func (s *search) sees(from ident.Member, m *message, asked bool) bool {
	l := &s.last
	if s.stage == everybody && s.claims(from) && m.token == s.claim.token && m.span == 0 {
		if s.poll.asked.has(from) {
			s.ticks(from)
		}
		return false
	}
	asked = asked || s.stage == following && from == s.target || s.stage == everybody && s.poll.asked.has(from)
	s.wants.served(from)
	if !asked && l.isAfter(m) && !l.gone {
		return false
	}
	if l.isPromise(from, m) && m.span == 0 {
		l.at = s.Now // the promise stands
	} else {
		before, then := *l, l.promise // what is promised since has a higher serial
		if l.holder != from || l.token != m.token {
			then = promise{}
		}
		*l = s.observed(m.custody, from, ident.Member{})
		l.promise, l.runs = then, s.Now
		if before.custody == m.custody && before.holder == from && before.ends > s.Now {
			l.runs = before.runs
		}
	}
	if m.span > 0 {
		l.ends, l.members = s.Now.Add(min(span(m.span), s.hold)), s.roster.Size()
		if !asked { // the keeper of a busy token looks for its end, also if no member has told it that it waits
			s.wants.ending = max(s.wants.ending, l.ends.Add(s.silence))
		}
	}
	return true
}

// stays ends the search: a member has the token.
func (s *search) stays(at ident.Member, m *message) {
	s.calm(s.pause())
	if c := &s.claim; s.isClaimOpen() && c.token != m.token {
		s.send(c.holder, &message{kind: other, custody: c.custody, promise: c.promise, member: at})
		c.at = longAgo
	}
}

// pause is until a holder is asked again that has the token. If it is silent, that is known
// when a long program ends at the latest. While tokens go round quickly their holders tell
// the keeper, and it need not ask.
func (s *search) pause() time.Duration {
	ends := s.last.ends
	if ends == longAgo || s.atOnce {
		return s.retry
	}
	left := ends.Sub(s.Now)
	if early := left - s.silence; early >= s.half {
		return min(early, s.silence+reportGrace)
	}
	return min(left, s.silence) + reportGrace
}

// promised: a member promises that its token rests.
func (s *search) promised(from ident.Member, m *message) {
	l := &s.last
	if l.token == m.token && l.holder == from && l.life == m.life && l.serial >= m.serial {
		return
	}
	pause := restAfter // a member that has it is told that others wait
	if l.isPromise(from, m) {
		pause = 0 // said once more
	}
	*l = s.observed(m.custody, from, ident.Member{})
	l.promise, l.promised = m.promise, true
	s.wants.ending = longAgo
	s.calm(pause)
}

// releases gives a promise back, unless another token circulates.
func (s *search) releases(from ident.Member, m *message) {
	asks := s.observed(m.custody, from, ident.Member{})
	asks.promise = m.promise
	to, sure := s.otherThan(m)
	switch {
	case to.IsZero() && m.kind == returned && s.isYoung() && from != s.self && len(s.holder.held) == 0 && !s.forgets(from):
		if s.stage != calm { // and does not replace it
			s.claim = asks
		}
		s.send(from, &message{kind: none, span: millis(s.Now.Sub(s.start))})
	case to.IsZero() && !(m.kind == returned && s.forgets(from)):
		if s.stage >= everybody && from != s.self && !s.poll.counts(from) {
			return // it has ended the search for a token so often that nobody else has heard of: no more does it
		}
		s.gives(asks)
		s.holder.joins(m.token, from)
	case sure:
		s.send(from, &message{kind: other, custody: m.custody, promise: m.promise, member: to})
	default:
		s.claim = asks
		s.wants.until = max(s.wants.until, s.Now.Add(s.silence))
		if s.stage == calm {
			s.follow(to)
		}
	}
}

// gives gives a promise back. That ends a search, but not what is counted in it: the next one is the same if nobody
// else hears of that token.
func (s *search) gives(to observation) {
	s.last = to
	s.claim.at = longAgo
	counted := maps.Clone(s.poll.failures)
	s.calm(s.retry)
	s.poll.failures = counted
	s.send(to.holder, &message{kind: released, custody: to.custody, promise: to.promise})
}

// answered: a member that was asked has no token.
func (s *search) answered(from ident.Member, m *message) {
	l := &s.last
	switch {
	case s.stage == following && from == s.target:
		s.followOn(from, m)
	case s.stage == everybody && s.poll.asked.has(from):
		if m.kind == none {
			s.loss.notesYoung(from, span(m.span), &s.poll)
		} else {
			if m.token != l.token && m.custody != s.other && s.earlier().has(from) && s.poll.counts(from) { // it has made one since
				s.other, s.loss.found, s.poll.first = m.custody, clock.Never, s.poll.since
			}
			s.wentOn(from, m)
		}
		s.ticks(from)
	case m.kind == went:
		s.wentAstray(from, m)
	}
}

// ticks takes a member off the list of those that are to answer.
func (s *search) ticks(from ident.Member) {
	s.poll.answered(from)
	s.allAnswered()
}

// wentOn takes in where a token went, as one of all members that were asked says.
func (s *search) wentOn(from ident.Member, m *message) {
	l := &s.last
	same := m.token == l.token && m.hop >= l.hop
	if same {
		l.promised, l.ends = false, longAgo
	}
	moving := s.mayMove(m.span)
	if s.leaps.isRefuted(from, m, moving) { // following its word led nowhere
		if !s.leaps.refuted.has(from) && m.member == l.holder && (custody{m.token, m.hop + 1}) == l.custody {
			l.from = cmp.Or(l.from, from) // but it passed the token there
		}
		return
	}
	if !s.isClaimed(m) {
		s.trail.take(from, m, moving, l.isNews(m, s.doubtful))
	}
}

// wentAstray: a member says, unasked, that it passes a token to one that has fallen silent. A member that
// lies costs at most one question to all in L.
func (s *search) wentAstray(from ident.Member, m *message) {
	l := &s.last
	if s.stage != calm || !s.wants.some() || s.holder.has() || m.token != l.token || m.hop < l.hop || s.Now < s.strayed.Add(s.silence) {
		return
	}
	s.strayed = s.Now
	*l = s.observed(custody{m.token, m.hop + 1}, m.member, ident.Member{})
	l.teller = from
	s.lookAt(s.Now)
}

// followOn goes on to the member that the token was passed to.
func (s *search) followOn(from ident.Member, m *message) {
	l := &s.last
	switch {
	case m.kind == none, s.isClaimed(m), l.isAfter(m), m.member == from:
		// It has lost the token in a restart, unless it lies, or knows only the one for
		// which another one is looked for.
		if !s.isClaimed(m) {
			s.disowns(from)
		}
		s.inquire(s.silence)
	case s.mayMove(m.span):
		// The pass has not ended yet.
		if s.toward = m.member; s.isSilent(m.member) {
			s.loss.suspects(m.member, s.Now)
			s.inquire(s.silence)
			return
		}
		if s.Now >= s.askedAt.Add(s.timeout(s.silence)) {
			s.inquire(s.silence)
		}
	default:
		*l = s.observed(custody{m.token, m.hop + 1}, m.member, from)
		s.stage = calm
		s.follow(m.member)
	}
}

// disowns: a member that was asked alone says that it has no token, tells of an earlier custody, or names itself. If it is the
// last holder, there may never have been the custody that was told of it. Whoever told of it is believed no more, but when all are first asked for
// any custody: until then members say what they have only heard.
func (s *search) disowns(by ident.Member) {
	l := &s.last
	if l.holder != by {
		return
	}
	if teller := cmp.Or(l.teller, l.from, by); s.doubtful || teller == by {
		s.leaps.refuted.add(teller)
	}
	s.doubtful, l.promised = true, false
}

// without goes on without a member that keeps a token, under which no program can run any more.
func (s *search) without(m ident.Member, c custody) {
	if l := &s.last; l.holder == m && l.token == c.token {
		s.absence.ends()
		l.promised, l.ends = true, longAgo
	}
	s.memberSilent(m)
}

// appendAwaited appends the members whose answers a search awaits and which may answer, the holder of a
// token that a member waits for, and the one that has been getting a token for a while.
func (s *search) appendAwaited(to members) members {
	switch {
	case s.stage == following:
		to = append(to, s.target, s.toward)
	case s.stage == everybody:
		to = s.poll.appendLast(to)
	case s.awaits():
		to = append(to, s.last.holder)
	}
	if t := s.holder.held.leaving(); t != nil && s.Now >= t.since.Add(nextPause) {
		to = append(to, t.keeper)
	}
	return to
}
