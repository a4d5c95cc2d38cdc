package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// search is what the keeper of a slot knows of its token, and its search for it.
type search struct {
	again  clock.Instant // when the last of those that wait is to say so again
	wanted clock.Instant // until then somebody waits
	waits  ident.Member  // who has said so last
	ending clock.Instant // and until then the end of a program is awaited

	last      sight
	stage     stage
	look      clock.Instant  // when to look, if somebody waits
	next      clock.Instant  // when to look, to ask once more or to make a token
	due       clock.Instant  // when to make one, of a token that is lost
	behind    []ident.Member // the keepers before this one to whom that is left
	deferred  clock.Instant  // since when it is left to all of them
	since     clock.Instant  // since when those asked now have not answered
	suspect   ident.Member   // the holder that did not answer
	suspected clock.Instant  // when it was asked first
	struckHas custody        // the latest custody of a struck member; zero: none
	struckAt  clock.Instant  // when this member first heard of it
	inquired  clock.Instant  // when all were asked first of whom some do not answer
	loss      clock.Instant  // when it was first found that no living member has it; clock.Never: one has
	asker     sight          // who asks for a promise back while the other token is looked for

	target   ident.Member // who is asked whether it has the token
	toward   ident.Member // to whom that one is passing it
	chain    int
	asked    []ident.Member // who is asked, of all, and has not answered
	queued   bool           // questions wait until their receivers may be dialled
	asking   bool           // not all have been asked once
	unsent   []ident.Member // whose question did not go
	patience time.Duration  // how long an answer is awaited
	answers  []ident.Member // who has
	heard    []ident.Member // who has said anything since
	before   []ident.Member // who was alive since the search began
	other    custody        // of another token, of which a keeper before this one has told
	trail    trail          // what those who answered say of a token's way
	leaps    leaps          // the trails that were followed
	late     int            // how often although somebody did not answer
	young    clock.Instant  // programs of those that have begun lately may run until then
	made     clock.Instant  // when this member asked for a token last
	own      ident.Token    // that it made last
	strayed  clock.Instant  // when it last looked for a token of which a member said so unasked
}

// stage is how far the search is.
type stage uint8

const (
	calm      stage = iota // the token is somewhere, as far as is known
	following              // a holder is asked
	everybody              // all are asked
	lost                   // nobody has it: as soon as no program can run any more, one is made
)

// sight is the last that the keeper has heard of a token.
type sight struct {
	custody
	promise
	holder   ident.Member
	from     ident.Member // who passed it there; zero: unknown
	at       clock.Instant
	ends     clock.Instant // until then the program runs under it at most; longAgo: none does
	members  int           // that there were to ask, when that was heard
	promised bool
	gone     bool // the holder has let it go, or lost it
}

// trail is where a token went.
type trail struct {
	custody
	holder ident.Member
	from   ident.Member // who passed it there, if it is not on its way
	moving bool         // it is on its way from there
	to     ident.Member // and to this member
}

// by is the member that has told of the trail.
func (t *trail) by() ident.Member {
	if t.moving {
		return t.holder
	}
	return t.from
}

// leaps are the trails that a search has followed.
type leaps struct {
	count    int
	first    trail
	believed []ident.Member // members that said that a token was on its way: each is believed once
}

func (l *leaps) reset() { *l = leaps{believed: l.believed[:0]} }

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

// endsAt reports whether the trail leads to a member that cannot be asked, or to nobody.
func (k *Keeper) endsAt(t *trail) bool {
	return t.holder.IsZero() || t.holder == k.self || k.isSilent(t.holder) || t.moving && k.isSilent(t.to)
}

func (s *search) reset() {
	*s = search{look: longAgo, again: longAgo, wanted: longAgo, ending: longAgo, next: clock.Never, young: longAgo, made: longAgo, strayed: longAgo, inquired: clock.Never, loss: clock.Never}
	s.last.at, s.asker.at = longAgo, longAgo
}

func (s *search) deadline() clock.Instant { return s.next }

// here notes that this member has a token itself.
func (k *Keeper) here() { k.rest(clock.Never) }

// rest ends the search, and begins it again at an instant.
func (k *Keeper) rest(next clock.Instant) {
	s := &k.search
	s.stage, s.next, s.chain, s.late = calm, next, 0, 0
	s.leaps.reset()
	s.target, s.toward = ident.Member{}, ident.Member{}
	s.asked, s.answers, s.young, s.suspect, s.struckHas, s.inquired, s.loss = s.asked[:0], s.answers[:0], longAgo, ident.Member{}, custody{}, clock.Never, clock.Never
	s.before, s.behind, s.heard = s.before[:0], s.behind[:0], s.heard[:0]
	s.asking, s.unsent = false, s.unsent[:0]
}

// wanted is a member's word that it waits for a token. Those that wait say so again one
// after the other, so that their number costs nothing.
func (k *Keeper) wanted(from ident.Member, m *message) {
	s := &k.search
	if s.waits = m.member; m.member.IsZero() {
		s.waits = from
	}
	turn, all := k.turns()
	s.again = min(max(k.now.Add(k.half), s.again.Add(turn)), k.now.Add(max(all, k.half)))
	s.wanted = max(s.wanted, s.again.Add(k.half))
	k.send(from, &message{kind: noted, span: millis(s.again.Sub(k.now))})
	k.wakes(s.waits)
	if s.stage != calm {
		return
	}
	at := max(k.now, s.look)
	if k.mayBeLost() {
		at = min(at, max(k.now, s.last.at.Add(nextPause)))
	} else if s.next != clock.Never {
		return
	}
	if at < s.next {
		k.lookAt(at)
	}
}

// mayBeLost reports whether the last holder has no reason to keep the token, as far as is
// known, or is not waited for in any case: if it does not pass it on, it may have died.
func (k *Keeper) mayBeLost() bool {
	return (k.search.last.ends == longAgo || k.atOnce) && k.isElsewhere()
}

// isElsewhere reports whether another member has the token, as far as is known.
func (k *Keeper) isElsewhere() bool {
	l := &k.search.last
	return !l.gone && !l.holder.IsZero() && l.holder != k.self
}

// awaits reports whether somebody waits for the last holder, between two questions to it: also
// while a program runs there, as a later one may have begun that nobody has told of. How long
// that may run counts from when the holder is known to be dead.
func (k *Keeper) awaits() bool {
	s := &k.search
	return s.stage == calm && k.now < s.wanted && !k.has() && k.isElsewhere()
}

// isWanted reports whether somebody waits, as far as is known: while a program runs it may
// have told the holder alone.
func (k *Keeper) isWanted() bool { return max(k.search.wanted, k.search.ending) > k.now }

// looksLater has this member look for a token that has left it while somebody waits.
func (k *Keeper) looksLater() {
	s := &k.search
	if s.stage == calm && s.next == clock.Never && k.isWanted() && !k.isHere() {
		s.next = k.now.Add(k.silence + reportGrace)
	}
}

// lookAt looks at an instant whether the token is there, and now if that has come.
func (k *Keeper) lookAt(at clock.Instant) {
	k.search.next = at
	if at <= k.now {
		k.searchDue()
	}
}

// searchDue goes on with the search.
func (k *Keeper) searchDue() {
	s := &k.search
	if s.next > k.now {
		return
	}
	s.next = clock.Never
	switch s.stage {
	case calm:
		if k.isWanted() && !k.has() {
			if h := k.underWay(); h != nil && h.hop >= s.last.hop {
				s.last = sight{custody: custody{h.token, h.hop + 1}, holder: h.keeper, from: k.self, at: k.now, ends: longAgo}
			}
			k.follow(s.last.holder)
		}
	case following:
		if k.now >= s.since.Add(k.timeout(k.silence)) {
			k.fellSilent(s.target)
			k.silent(s.target)
			return
		}
		k.askTarget()
	case everybody:
		if s.asking && k.asksOn() {
			return
		}
		switch over := k.now >= s.since.Add(k.timeout(k.silence)) || k.now >= s.since.Add(k.timeout(s.patience)) && !k.oneHasDied(); {
		case over && s.leaps.count >= maxLeaps && s.leaps.moved(&s.trail):
			k.calm(k.silence)
		case over && s.trail.moving && s.late < maxLeaps && !k.endsAt(&s.trail):
			s.late++
			k.followTrail()
		case over:
			k.lose()
		default:
			k.askAll()
		}
	case lost:
		k.lose()
	}
}

// follow asks a member whether it has the token, or everybody if none is known.
func (k *Keeper) follow(m ident.Member) {
	s := &k.search
	if m.IsZero() || s.last.gone || k.now >= s.last.at.Add(k.silence) {
		if first := k.before(); !first.IsZero() {
			m = first
		} else if s.last.gone {
			m = ident.Member{}
		}
	}
	if k.isSilent(m) {
		k.suspects(m, k.now)
	}
	if m.IsZero() || m == k.self || k.isSilent(m) || s.chain >= maxChain {
		k.inquire()
		return
	}
	s.stage, s.target, s.toward, s.since = following, m, ident.Member{}, k.now
	s.chain++
	k.askTarget()
}

// before is the member that is the keeper rather than this one, if there is one, at the
// beginning of a search: holders tell it of their tokens.
func (k *Keeper) before() ident.Member {
	s := &k.search
	if list := k.keepers(); len(list) > 0 && list[0] != k.self && s.chain == 0 && !k.asksBack(list[0]) {
		return list[0]
	}
	return ident.Member{}
}

// asksBack reports whether a member asks for a token while another one is looked for.
func (k *Keeper) asksBack(m ident.Member) bool {
	a := &k.search.asker
	return m == a.holder && k.now < a.at.Add(k.silence)
}

func (k *Keeper) askTarget() {
	s := &k.search
	s.next = k.now.Add(k.retry)
	k.send(s.target, &message{kind: ask, custody: s.last.custody, member: k.whoWaits()})
}

// served notes that a member has a token: it does not wait for one.
func (k *Keeper) served(m ident.Member) {
	if k.search.waits == m {
		k.search.waits = ident.Member{}
	}
}

// whoWaits is a member that waits, as far as is known.
func (k *Keeper) whoWaits() ident.Member {
	if w := k.search.waits; k.isWanted() && (w != k.self || k.waiter.waits) {
		return w
	}
	return ident.Member{}
}

// silent: a member that was asked, or is to be asked, does not answer, or is dead.
func (k *Keeper) silent(m ident.Member) {
	switch s := &k.search; {
	case s.stage == following && m == s.target:
		k.suspects(m, s.since)
		k.inquire()
	case s.stage == following && m == s.toward: // it may have got the token before
		k.suspects(m, k.now)
		k.inquire()
	case s.stage == everybody && slices.Contains(s.asked, m):
		k.allAnswered()
	case s.stage == calm && k.isWanted() && !k.has() && (m == s.last.holder && k.isElsewhere() || k.receives(m)):
		k.lookAt(k.now)
	}
}

// receives reports whether a token is being passed to a member.
func (k *Keeper) receives(m ident.Member) bool {
	h := k.underWay()
	return h != nil && h.keeper == m
}

// appendLastAsked appends those of all that are asked which have not answered, if they are
// few.
func (k *Keeper) appendLastAsked(to []ident.Member) []ident.Member {
	before := len(to)
	for _, m := range k.search.asked {
		if k.isSilent(m) {
			continue
		}
		if to = append(to, m); len(to) > before+maxLastAsked {
			return to[:before]
		}
	}
	return to
}

// isAsker reports whether a message tells of the token that is asked back while another
// one is looked for.
func (k *Keeper) isAsker(m *message) bool {
	a := &k.search.asker
	return a.token == m.token && k.now < a.at.Add(k.silence)
}

// suspects notes the first holder that does not answer.
func (k *Keeper) suspects(m ident.Member, since clock.Instant) {
	if s := &k.search; s.suspect.IsZero() {
		s.suspect, s.suspected = m, since
	}
}

// inquire asks all members whether they have a token.
func (k *Keeper) inquire() {
	s := &k.search
	s.target, s.toward = ident.Member{}, ident.Member{}
	s.inquired = min(s.inquired, k.now)
	for _, m := range slices.Concat(s.heard, s.behind) {
		if !slices.Contains(s.before, m) {
			s.before = append(s.before, m)
		}
	}
	s.stage, s.since, s.answers = everybody, k.now, s.answers[:0]
	s.heard = s.heard[:0]
	s.trail, s.patience = trail{}, k.silence
	s.asked = k.everyone(s.asked[:0])
	s.asking, s.unsent, s.next = true, s.unsent[:0], k.now.Add(k.retry)
	k.askAbout(s.asked)
	k.allAnswered()
}

// inquireAgain asks all members once more, also those that did not answer before: they may
// be back.
func (k *Keeper) inquireAgain() {
	s := &k.search
	s.leaps.reset()
	k.peers.silent = k.peers.silent[:0]
	k.inquire()
	s.patience = k.retry
}

// fresh is how long answers count.
func (k *Keeper) fresh() time.Duration { return k.retry + restAfter }

// askAll asks those that have not answered yet. Nobody waits for those that have fallen
// silent. Who is still to be dialled since the last time is not asked once more.
func (k *Keeper) askAll() {
	s := &k.search
	if s.next = k.now.Add(k.retry); !s.queued {
		k.askAbout(s.asked)
	}
	k.allAnswered()
}

func (k *Keeper) askAbout(list []ident.Member) {
	k.question(list, &message{kind: ask, custody: k.search.last.custody, member: k.whoWaits()})
}

// queued notes that some of all that are asked wait until they may be dialled, or none any
// more.
func (k *Keeper) queued(some bool) {
	s := &k.search
	if s.queued = some; !some && s.stage == everybody && s.asking && len(s.unsent) == 0 {
		k.allAsked()
	}
}

// unsent notes that a member was not asked.
func (k *Keeper) unsent(m ident.Member) {
	if s := &k.search; s.stage == everybody && slices.Contains(s.asked, m) {
		s.asking, s.unsent = true, append(s.unsent, m)
	}
}

// asksOn goes on asking, and reports whether all have been asked since.
func (k *Keeper) asksOn() bool {
	s := &k.search
	switch {
	case s.queued:
		s.next = k.now.Add(k.retry)
	case len(s.unsent) > 0:
		list := slices.DeleteFunc(slices.Clone(s.unsent), func(m ident.Member) bool { return !slices.Contains(s.asked, m) })
		s.unsent = s.unsent[:0]
		k.allAsked()
		s.asking = true
		k.askAbout(list)
	default:
		s.asking = false
	}
	return s.asking
}

// allAsked begins to wait for answers: who is asked late has as long to answer as the
// others.
func (k *Keeper) allAsked() {
	s := &k.search
	if s.inquired == s.since {
		s.inquired = k.now
	}
	s.since, s.asking, s.next = k.now, false, k.now.Add(k.retry)
}

// allAnswered ends the questions when nobody is waited for any more. A token that went
// on meanwhile is followed.
func (k *Keeper) allAnswered() {
	s := &k.search
	switch {
	case slices.ContainsFunc(s.asked, func(m ident.Member) bool { return !k.isSilent(m) }):
	case s.leaps.count == maxLeaps && s.leaps.moved(&s.trail):
		k.calm(k.silence)
	case k.endsAt(&s.trail) || s.leaps.count == maxLeaps:
		k.lose()
	default:
		k.followTrail()
	}
}

// followTrail asks the member that is the last one on the token's way.
func (k *Keeper) followTrail() {
	s := &k.search
	s.last = sight{custody: s.trail.custody, holder: s.trail.holder, from: s.trail.from, at: k.now, ends: longAgo}
	s.leaps.note(&s.trail)
	s.chain = 1
	k.follow(s.last.holder)
}

// found: a member has a token. What it says unasked may be old.
func (k *Keeper) found(from ident.Member, m *message) {
	s := &k.search
	l := &s.last
	if s.stage == everybody && k.asksBack(from) && m.token == s.asker.token && m.span == 0 {
		if slices.Contains(s.asked, from) {
			k.ticks(from)
		}
		return
	}
	asked := s.stage == following && from == s.target || s.stage == everybody && slices.Contains(s.asked, from) || k.newborn.isAsked(from)
	k.served(from)
	if !asked && l.token == m.token && l.hop > m.hop && !l.gone {
		return
	}
	if l.promised && l.holder == from && l.custody == m.custody && m.span == 0 {
		l.at = k.now // the promise stands
	} else {
		then := l.promise // what is promised since has a higher serial
		if l.holder != from || l.token != m.token {
			then = promise{}
		}
		*l = sight{custody: m.custody, promise: then, holder: from, at: k.now, ends: longAgo}
	}
	if m.span > 0 {
		s.last.ends, s.last.members = k.now.Add(min(span(m.span), k.hold)), k.roster.Size()
		if !asked { // who keeps a busy token looks for its end, also if nobody has told it that he waits
			s.ending = max(s.ending, s.last.ends.Add(k.silence))
		}
	}
	k.holds(from, m)
	k.calm(k.pause())
	if a := &s.asker; k.now < a.at.Add(k.silence) && a.token != m.token {
		k.send(a.holder, &message{kind: other, custody: a.custody, promise: a.promise, member: from})
		a.at = longAgo
	}
}

// calm ends the search: a token is there. As long as somebody waits it is looked for
// again after a pause.
func (k *Keeper) calm(pause time.Duration) {
	next := clock.Never
	if k.search.look = k.now.Add(pause); k.isWanted() {
		next = k.search.look
	}
	k.rest(next)
}

// pause is until a holder is asked again that has the token. If it is silent, that is known
// when a long program ends at the latest. While tokens go round quickly their holders tell
// the keeper, and it asks nobody.
func (k *Keeper) pause() time.Duration {
	ends := k.search.last.ends
	if ends == longAgo || k.atOnce {
		return k.retry
	}
	left := ends.Sub(k.now)
	if early := left - k.silence; early >= k.half {
		return min(early, k.silence+reportGrace)
	}
	return min(left, k.silence) + reportGrace
}

// promised: a member promises that its token rests.
func (k *Keeper) promised(from ident.Member, m *message) {
	s := &k.search
	l := &s.last
	k.served(from)
	if l.token == m.token && l.hop > m.hop {
		return
	}
	k.holds(from, m)
	if l.token == m.token && l.holder == from && l.life == m.life && l.serial >= m.serial {
		return
	}
	pause := restAfter // who has it is told that somebody waits
	if l.promised && l.holder == from && l.custody == m.custody {
		pause = 0 // said once more
	}
	*l = sight{custody: m.custody, promise: m.promise, holder: from, at: k.now, ends: longAgo, promised: true}
	s.ending = longAgo
	k.calm(pause)
}

// releases gives a promise back, unless another token circulates.
func (k *Keeper) releases(from ident.Member, m *message) {
	s := &k.search
	asks := sight{custody: m.custody, promise: m.promise, holder: from, at: k.now, ends: longAgo}
	to, sure := k.otherThan(m)
	switch {
	case to.IsZero() && m.kind == returned && k.isYoung() && from != k.self && len(k.holder.held) == 0 && !k.forgets(from):
		if s.stage != calm { // and does not replace it
			s.asker = asks
		}
		k.send(from, &message{kind: none, span: millis(k.now.Sub(k.start))})
	case to.IsZero() && !(m.kind == returned && k.forgets(from)):
		k.gives(asks)
		for i := range k.holder.held { // of two that are asked back one goes to the other
			if h := &k.holder.held[i]; h.state < passing && h.token != m.token {
				k.leaves(h, from)
				return
			}
		}
	case sure:
		k.send(from, &message{kind: other, custody: m.custody, promise: m.promise, member: to})
	default:
		s.asker = asks
		s.wanted = max(s.wanted, k.now.Add(k.silence))
		if s.stage == calm {
			k.follow(to)
		}
	}
}

// gives gives a promise back.
func (k *Keeper) gives(to sight) {
	k.search.last = to
	k.search.asker.at = longAgo
	k.calm(k.retry)
	k.send(to.holder, &message{kind: released, custody: to.custody, promise: to.promise})
}

// otherThan is who has a token other than one, and whether that is sure. What others say
// of theirs is not enough for one that was promised: only a token that is here or just
// left, or that was made here in place of a lost one, which may be this one.
func (k *Keeper) otherThan(t *message) (m ident.Member, sure bool) {
	for i := range k.holder.held {
		h := &k.holder.held[i]
		switch {
		case h.token == t.token || !h.later(t) && h.state != running:
		case h.state < passing:
			return k.self, true
		case k.now < h.since.Add(k.silence) && !h.keeper.IsZero():
			return h.keeper, true
		}
	}
	l := &k.search.last
	if l.token == t.token || l.token != k.search.own && t.kind != returned || l.holder == k.self || l.gone {
		return ident.Member{}, false
	}
	return l.holder, false
}

// answered: a member that was asked has no token.
func (k *Keeper) answered(from ident.Member, m *message) {
	s, l := &k.search, &k.search.last
	switch {
	case s.stage == following && from == s.target:
		k.followOn(from, m)
	case s.stage == everybody && slices.Contains(s.asked, from):
		if m.kind == none {
			s.young = max(s.young, k.now.Add(k.hold-min(span(m.span), k.hold)))
		} else {
			if m.token != l.token && m.custody != s.other && slices.Contains(k.earlier(), from) {
				s.other, s.loss, s.inquired = m.custody, clock.Never, s.since // it has made one since
			}
			k.trails(from, m)
		}
		k.ticks(from)
	case m.kind == went:
		k.strayed(m)
	}
}

// strayed: a member says, unasked, that it passes a token to one that has fallen silent. Who
// lies costs at most one question to all in L.
func (k *Keeper) strayed(m *message) {
	s, l := &k.search, &k.search.last
	if s.stage != calm || !k.isWanted() || k.has() || m.token != l.token || m.hop < l.hop || k.now < s.strayed.Add(k.silence) {
		return
	}
	s.strayed = k.now
	*l = sight{custody: custody{m.token, m.hop + 1}, holder: m.member, at: k.now, ends: longAgo}
	k.lookAt(k.now)
}

// ticks takes a member off the list of those that are to answer.
func (k *Keeper) ticks(from ident.Member) {
	s := &k.search
	s.asked, s.answers = without(s.asked, from), append(s.answers, from)
	k.allAnswered()
}

// trails takes in where a token went, of all that was asked: the latest custody of the
// one that is looked for, or one that is on its way at this moment.
func (k *Keeper) trails(from ident.Member, m *message) {
	s := &k.search
	same := m.token == s.last.token && m.hop >= s.last.hop
	if same {
		s.last.promised, s.last.ends = false, longAgo // it went on
	}
	moving := m.span > 0 && span(m.span) < k.silence
	if moving && slices.Contains(s.leaps.believed, from) {
		return // following its word led nowhere
	}
	t := &s.trail
	switch {
	case k.isAsker(m), !moving && (m.span > 0 || !same && !s.last.holder.IsZero()):
	case !moving && t.moving, t.moving == moving && m.hop+1 < t.hop:
	default:
		if *t = (trail{custody: custody{m.token, m.hop + 1}, holder: m.member, from: from}); moving {
			*t = trail{custody: m.custody, holder: from, moving: true, to: m.member} // it knows first where the token comes to be
		}
	}
}

// followOn goes on to whom the token was passed.
func (k *Keeper) followOn(from ident.Member, m *message) {
	s := &k.search
	l := &s.last
	switch {
	case m.kind == none, k.isAsker(m):
		// It has lost the token in a restart, unless it lies, or knows only the one for
		// which another one is looked for.
		k.inquire()
	case m.token == l.token && m.hop < l.hop:
		k.inquire()
	case m.span > 0 && (m.member.IsZero() || span(m.span) < k.silence):
		// It has not settled yet with whom the token is.
		if s.toward = m.member; k.isSilent(m.member) {
			k.suspects(m.member, k.now)
			k.inquire()
			return
		}
		if k.now >= s.since.Add(k.timeout(k.silence)) {
			k.inquire()
			return
		}
	default:
		*l = sight{custody: custody{m.token, m.hop + 1}, holder: m.member, from: from, at: k.now, ends: longAgo}
		s.stage = calm
		k.follow(m.member)
	}
}

// oneHasDied reports whether one of those that do not answer was alive since the search
// began.
func (k *Keeper) oneHasDied() bool {
	return slices.ContainsFunc(k.search.asked, func(m ident.Member) bool { return slices.Contains(k.search.before, m) })
}

// lose is the end of the questions: no living member has a token. A keeper before this
// one that answers is to make one; and if it does not, this member does.
func (k *Keeper) lose() {
	s := &k.search
	s.stage, s.loss, s.next = lost, min(s.loss, k.now), clock.Never
	if k.oneHasDied() {
		s.inquired = s.since
	}
	k.notesStruckHolder()
	at := s.loss
	if k.exclusive && !s.last.promised {
		at = max(at, k.programsEnd())
	}
	patience := time.Duration(0)
	for _, m := range k.earlier() {
		if !slices.Contains(s.heard, m) {
			continue
		}
		if !slices.Contains(s.behind, m) {
			s.behind, s.deferred = append(s.behind, m), k.now
		}
		k.send(m, &message{kind: want, member: k.whoWaits()})
		patience += k.hold + 4*k.silence + foundingTime
	}
	if patience > 0 {
		at = max(at, s.deferred)
	}
	s.due = max(at.Add(patience), s.made.Add(k.silence))
	stale := k.now >= s.since.Add(k.fresh())
	switch again := s.due.Add(-k.retry); {
	case patience > 0 && k.now < again:
		s.next = min(again, k.now.Add(k.silence))
		s.heard = slices.DeleteFunc(s.heard, func(m ident.Member) bool { return slices.Contains(s.behind, m) })
	case k.now < again:
		s.next = again
	case stale: // what was answered
		k.inquireAgain()
	case s.due <= k.now:
		k.replaces()
	default:
		s.next = s.due
	}
}

// replaces lets a member go on with a token that was replaced by the lost one, or makes
// another one.
func (k *Keeper) replaces() {
	if s := &k.search; k.now < s.asker.at.Add(k.silence) {
		k.gives(s.asker)
		return
	}
	k.make()
}

// programsEnd is when no program can run any more of a member that has died, or has
// lost its memory. Who does not answer may have begun one until it was asked first.
func (k *Keeper) programsEnd() clock.Instant {
	s := &k.search
	l, at := &s.last, s.young
	if k.atOnce { // speed goes before exclusion
		if l.at == longAgo {
			return k.start.Add(foundingTime)
		}
		return longAgo
	}
	if k.forgetful { // an earlier life may have begun one
		at = max(at, k.start.Add(k.hold))
	}
	if slices.ContainsFunc(s.asked, func(m ident.Member) bool { return m != s.suspect }) {
		at = max(at, s.inquired.Add(k.hold))
	}
	switch {
	case l.at == longAgo: // a member that nobody asks any more may have had it
		at = max(at, s.inquired.Add(k.hold), k.start.Add(foundingTime))
	case l.ends != longAgo:
		at = max(at, l.ends.Add(reportGrace))
		if k.othersLeft() { // one of them may have had the token since
			at = max(at, s.inquired.Add(k.hold))
		}
	case l.holder != s.suspect && !slices.Contains(s.answers, l.holder):
		at = max(at, s.inquired.Add(k.hold))
	}
	if !s.suspect.IsZero() && (s.suspect != l.holder || l.ends == longAgo) {
		at = max(at, s.suspected.Add(k.hold))
	}
	if s.struckHas != (custody{}) {
		at = max(at, s.struckAt.Add(k.overdue()+k.silence))
	}
	return at
}

// notesStruckHolder notes when this member first hears that a struck member got the token. That member may live, and pass
// the token on as others do: others may not have struck it.
func (k *Keeper) notesStruckHolder() {
	s := &k.search
	holder, c := s.last.holder, s.last.custody
	switch t := &s.trail; {
	case t.moving:
		holder, c = t.to, custody{t.token, t.hop + 1}
	case !t.holder.IsZero():
		holder, c = t.holder, t.custody
	}
	if k.isStruck(holder) && c != s.struckHas {
		s.struckHas, s.struckAt = c, k.now
	}
}

// othersLeft reports whether others than the last holder have left the directory since it
// was heard of, or are suspected since.
func (k *Keeper) othersLeft() bool {
	s := &k.search
	left := s.last.members - k.roster.Size()
	if !slices.Contains(s.asked, s.last.holder) && !slices.Contains(s.answers, s.last.holder) {
		left--
	}
	return left > 0
}

// make makes a token. Its holders do not turn to those again that did not answer.
func (k *Keeper) make() {
	for _, m := range k.search.asked {
		k.fellSilent(m)
	}
	k.accuses()
	k.rest(clock.Never)
	if k.has() {
		return
	}
	if k.newborn.frozen { // it takes the place of the lost one
		k.freesNewborn()
		return
	}
	s := &k.search
	s.made, s.last.gone = k.now, true
	s.next = k.now.Add(k.silence) // the answer may stay out
	k.do(policy.Action{Kind: policy.Generate})
}
