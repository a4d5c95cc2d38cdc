package keeper

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// search is what this member does as the slot's keeper: it knows where the token was last, looks for it if a
// member waits, and replaces it if it is lost (P-57, P-58).
type search struct {
	whereabouts
	links searchLinks
	wants wants
	stage stage
	look  clock.Instant // when to look, if a member waits
	next  clock.Instant // when to look, to ask once more or to make a token

	target  ident.Member  // following: the member that is asked
	toward  ident.Member  // and the one that it is passing the token to
	askedAt clock.Instant // since when that one has not answered
	chain   int           // how many members were asked so

	poll  poll
	trail trail
	leaps leaps
	late  int // how many trails were followed although some members did not answer
	// doubtful: a custody that was told of in this search may have been invented. Members are asked for any custody of that token.
	doubtful bool
	other    custody // of another token, as a keeper before this one has told

	loss     loss
	behind   members       // the keepers before this one that the loss is left to
	deferred clock.Instant // since when it is left to all of them
	due      clock.Instant // lost: when one is made, as of the last look
	made     clock.Instant // when this member asked for a token last
	strayed  clock.Instant // when it last looked for a token because a member said so unasked
}

// searchLinks is what a search tells the other parts.
type searchLinks interface {
	// lost: no member says that it has the token that is looked for. This member had it last, from another one, and speaks.
	lost(of custody, holder, from ident.Member)
	// thaws lets a token that is withheld here take the place of the lost one, and reports whether there is one.
	thaws() bool
}

// stage is how far the search is.
type stage uint8

const (
	calm      stage = iota // the token is somewhere, as far as is known
	following              // a holder is asked
	everybody              // all are asked
	lost                   // no member has it: one is made as soon as no program can run any more
)

func newSearch(c *common, links searchLinks, h *holder, w *waiter) search {
	s := search{
		whereabouts: whereabouts{common: c, holder: h}, links: links, wants: newWants(c, w),
		look: longAgo, next: clock.Never,
		poll: poll{common: c, first: clock.Never}, loss: noLoss(),
		made: longAgo, strayed: longAgo,
	}
	s.last.at, s.claim.at = longAgo, longAgo
	return s
}

// rest ends the search, and begins it again at an instant.
func (s *search) rest(next clock.Instant) {
	s.stage, s.next, s.chain, s.late = calm, next, 0, 0
	s.target, s.toward = ident.Member{}, ident.Member{}
	s.leaps.reset()
	s.doubtful = false
	s.poll.end()
	s.loss = noLoss()
	s.behind = s.behind[:0]
}

// calm ends the search: a token is there. As long as a member waits it is looked for
// again after a pause.
func (s *search) calm(pause time.Duration) {
	next := clock.Never
	if s.look = s.Now.Add(pause); s.wants.some() {
		next = s.look
	}
	s.rest(next)
}

// wanted looks for the token that a member waits for, unless the search is in progress.
func (s *search) wanted() {
	if s.stage != calm {
		return
	}
	at := max(s.Now, s.look)
	if s.mayBeLost() {
		at = min(at, max(s.Now, s.last.at.Add(nextPause)))
	} else if s.next != clock.Never {
		return
	}
	if at < s.next {
		s.lookAt(at)
	}
}

// awaits reports whether a member waits for the last holder, between two questions to it. A program may run
// there: a later one may have begun that no member has told of. How long that may run counts from when the
// holder is known to have failed.
func (s *search) awaits() bool {
	return s.stage == calm && s.Now < s.wants.until && !s.holder.has() && s.isElsewhere() && !s.isAway()
}

// looksLater has this member look for a token that has left it while a member waits.
func (s *search) looksLater() {
	if s.stage == calm && s.next == clock.Never && s.wants.some() && s.holder.held.stays() == nil {
		s.next = s.Now.Add(s.silence + reportGrace)
	}
}

// lookAt looks at an instant whether the token is there, and now if that has come.
func (s *search) lookAt(at clock.Instant) {
	s.next = at
	if at <= s.Now {
		s.onTimer()
	}
}

// onTimer goes on with the search.
func (s *search) onTimer() {
	if s.next > s.Now {
		return
	}
	s.next = clock.Never
	switch s.stage {
	case calm:
		if s.wants.some() && !s.holder.has() {
			if t := s.holder.held.leaving(); t != nil && t.hop >= s.last.hop {
				s.last = s.observed(t.next(), t.keeper, s.self)
			}
			if s.awaitsReturn() {
				return
			}
			s.follow(s.last.holder)
		}
	case following:
		if s.Now >= s.askedAt.Add(s.timeout(s.silence)) {
			s.fellSilent(s.target)
			s.memberSilent(s.target)
			return
		}
		s.askTarget()
	case everybody:
		s.polls()
	case lost:
		s.lose()
	}
}

// follow asks a member whether it has the token, or everybody if none is known.
func (s *search) follow(m ident.Member) {
	if m.IsZero() || s.last.gone || s.Now >= s.last.at.Add(s.silence) {
		if first := s.before(); !first.IsZero() {
			m = first
		} else if s.last.gone {
			m = ident.Member{}
		}
	}
	if s.isSilent(m) {
		s.loss.suspects(m, s.Now)
	}
	s.doubtful = s.doubtful || s.chain >= maxChain
	if m.IsZero() || m == s.self || s.isSilent(m) || s.chain >= maxChain {
		s.inquire(s.silence)
		return
	}
	s.stage, s.target, s.toward, s.askedAt = following, m, ident.Member{}, s.Now
	s.chain++
	s.askTarget()
}

// before is the member that is the keeper rather than this one, if there is one, at the
// beginning of a search: holders tell it of their tokens.
func (s *search) before() ident.Member {
	if list := s.keepers(); len(list) > 0 && list[0] != s.self && s.chain == 0 && !s.claims(list[0]) {
		return list[0]
	}
	return ident.Member{}
}

// askMessage asks a member whether it has the token that is looked for.
func (s *search) askMessage() message {
	c := s.last.custody
	if s.doubtful {
		c.hop = anyHop
	}
	return message{kind: ask, custody: c, member: s.wants.by()}
}

func (s *search) askTarget() {
	s.next = s.Now.Add(s.retry)
	m := s.askMessage()
	s.send(s.target, &m)
}

// memberSilent goes on without a member that was asked, or is to be asked, and is silent.
func (s *search) memberSilent(m ident.Member) {
	switch {
	case s.stage == following && m == s.target:
		s.loss.suspects(m, s.askedAt)
		s.inquire(s.silence)
	case s.stage == following && m == s.toward: // it may have got the token before
		s.loss.suspects(m, s.Now)
		s.inquire(s.silence)
	case s.stage == everybody && s.poll.asked.has(m):
		s.allAnswered()
	case s.stage == calm && s.wants.some() && !s.holder.has() && (m == s.last.holder && s.isElsewhere() || s.receives(m)):
		s.lookAt(s.Now)
	}
}

// receives reports whether a token is being passed to a member.
func (s *search) receives(m ident.Member) bool {
	t := s.holder.held.leaving()
	return t != nil && t.keeper == m
}

// inquire asks all members whether they have a token.
func (s *search) inquire(wait time.Duration) {
	s.target, s.toward = ident.Member{}, ident.Member{}
	s.stage, s.trail = everybody, trail{}
	s.next = s.Now.Add(s.retry)
	m := s.askMessage()
	s.poll.begin(&m, wait)
	s.allAnswered()
}

// polls goes on with the question to all, or ends it.
func (s *search) polls() {
	switch {
	case s.poll.asking && s.pollsOn():
	case !s.poll.isOver():
		s.next = s.Now.Add(s.retry)
		m := s.askMessage()
		s.poll.repeat(&m)
		s.allAnswered()
	case s.leaps.count >= maxLeaps && s.leaps.moved(&s.trail):
		s.calm(s.silence)
	case s.trail.moving && s.late < maxLeaps && !s.endsAt(&s.trail):
		s.late++
		s.followTrail()
	default:
		s.lose()
	}
}

// pollsOn goes on asking, and reports whether some members are still to be asked.
func (s *search) pollsOn() bool {
	p := &s.poll
	switch {
	case p.queued:
		s.next = s.Now.Add(s.retry)
	case len(p.unsent) > 0:
		var list members
		for _, m := range p.unsent {
			if p.asked.has(m) {
				list = append(list, m)
			}
		}
		p.unsent = p.unsent[:0]
		s.allAsked()
		p.asking = true
		m := s.askMessage()
		s.question(list, &m)
	default:
		p.asking = false
	}
	return p.asking
}

func (s *search) allAsked() {
	s.poll.allAsked()
	s.next = s.Now.Add(s.retry)
}

// queued notes that some of all that are asked wait until they may be dialled, or none any
// more.
func (s *search) queued(some bool) {
	p := &s.poll
	if p.queued = some; !some && s.stage == everybody && p.asking && len(p.unsent) == 0 {
		s.allAsked()
	}
}

// unsent notes that a member was not asked.
func (s *search) unsent(m ident.Member) {
	if s.stage == everybody {
		s.poll.notSent(m)
	}
}

// allAnswered ends the questions when no member is waited for any more. A token that went
// on meanwhile is followed.
func (s *search) allAnswered() {
	switch {
	case !s.poll.isAnswered():
	case s.leaps.count == maxLeaps && s.leaps.moved(&s.trail):
		s.calm(s.silence)
	case s.endsAt(&s.trail) || s.leaps.count == maxLeaps:
		s.lose()
	default:
		s.followTrail()
	}
}

// endsAt reports whether the trail leads to a member that cannot be asked, or to none.
func (s *search) endsAt(t *trail) bool {
	return t.holder.IsZero() || t.holder == s.self || s.isSilent(t.holder) || t.moving && s.isSilent(t.to)
}

// followTrail asks the last member on the token's way.
func (s *search) followTrail() {
	t := &s.trail
	s.last = s.observed(t.custody, t.holder, t.from)
	s.leaps.note(t)
	s.chain = 1
	s.follow(t.holder)
}

// lose is the end of the questions: no living member has a token. A keeper before this
// one that answers is to make one; and if it does not, this member does.
func (s *search) lose() {
	s.stage, s.next = lost, clock.Never
	s.loss.found = min(s.loss.found, s.Now)
	s.poll.countFailures()
	s.notesStruck()
	s.asksMute()
	at := s.loss.found
	if s.exclusive && (!s.last.promised || s.last.sought) {
		at = max(at, s.loss.programsEnd(&s.poll, &s.last))
	}
	wait := s.leavesToEarlier()
	if wait > 0 {
		at = max(at, s.deferred)
	}
	due := max(at.Add(wait), s.made.Add(s.silence))
	s.due = due
	stale := s.Now >= s.poll.since.Add(s.retry+restAfter)
	switch again := due.Add(-s.retry); {
	case wait > 0 && s.Now < again:
		s.next = min(again, s.Now.Add(s.silence))
		for _, m := range s.behind {
			s.poll.heard.remove(m)
		}
	case s.Now < again:
		s.next = again
	case stale: // what was answered: also those are asked that did not answer before
		s.leaps.reset()
		s.peers.silent = s.peers.silent[:0]
		s.inquire(s.retry)
	case due <= s.Now:
		s.replaces()
	default:
		s.next = due
	}
}

// leavesToEarlier asks the keepers before this one that have said something to make a token, and returns how
// long this member waits for that.
func (s *search) leavesToEarlier() (wait time.Duration) {
	for _, m := range s.earlier() {
		if !s.poll.heard.has(m) {
			continue
		}
		if s.behind.add(m) {
			s.deferred = s.Now
		}
		s.send(m, &message{kind: want, member: s.wants.by()})
		wait += s.hold + 4*s.silence + foundingTime
	}
	return wait
}

// notesStruck notes whether a struck member had the token last.
func (s *search) notesStruck() {
	c, holder, _ := s.lastKnown()
	if s.last.holder.IsZero() {
		c, holder, _ = s.trail.end()
	}
	s.loss.notesStruck(&s.peers, holder, c)
}

// lastKnown is the last custody of the token that is looked for, as the answers of all members say.
func (s *search) lastKnown() (c custody, holder, from ident.Member) {
	if l, t := &s.last, &s.trail; t.token != l.token || t.hop < l.hop {
		return l.custody, l.holder, l.from
	}
	return s.trail.end()
}

// asksMute has a member give account, once in a search, that had the token last, says something, and does not answer
// whether it still has it.
func (s *search) asksMute() {
	c, holder, from := s.lastKnown()
	if c.hop > 0 && c != s.loss.asked && s.poll.asked.has(holder) && s.poll.spoke.has(holder) {
		s.loss.asked = c
		s.links.lost(c, holder, from)
	}
}

// replaces lets a member go on with a token that was replaced by the lost one, or makes
// another one.
func (s *search) replaces() {
	if s.isClaimOpen() {
		s.gives(s.claim)
		return
	}
	s.make()
}

// make makes a token. Its holders do not turn to those again that did not answer.
func (s *search) make() {
	for _, m := range s.poll.asked {
		s.fellSilent(m)
	}
	if c, holder, from := s.lastKnown(); c.hop > 0 && s.poll.answers.has(holder) {
		s.links.lost(c, holder, from)
	}
	s.rest(clock.Never)
	if s.holder.has() || s.links.thaws() {
		return
	}
	s.made, s.last.gone = s.Now, true
	s.next = s.Now.Add(s.silence) // the answer may stay out
	s.Generate()
}
