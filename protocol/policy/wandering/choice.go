package wandering

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// confirmations is how many of a candidate's timekeepers are asked, beside the
	// one that reported it: fewer, and a few liars that report each other gain.
	confirmations = 2
	// probes is how often a candidate is asked itself before it is passed over.
	probes = 2
	// choicesMost bounds how many candidates are inquired about without a pause.
	choicesMost = 16
)

// choice is the member that is to be next, and the questions about it that are open.
type choice struct {
	member   ident.Member // zero: none yet
	weight   int
	claimed  clock.Instant
	served   clock.Instant // as far as is known now
	source   ident.Member
	asked    [confirmations]ident.Member
	n        int // of asked
	answers  int
	tries    int
	present  bool
	sure     bool
	made     int // choices since the last pause
	deadline clock.Instant
}

// proceed brings the token nearer to the next member: it finds one, or passes it.
func (s *search) proceed() {
	c := &s.choice
	switch {
	case !s.have:
	case c.sure && !s.running && s.Now >= s.dueAt(c.served, c.weight):
		s.passTo(c.member)
	case c.member.IsZero() && s.gathers == clock.Never:
		s.choose()
	}
}

// choose inquires about the candidate that has waited longest, of those that are due when the operation ends.
func (s *search) choose() {
	horizon := s.Now
	if s.running {
		horizon = s.Now.Add(s.operation)
	}
	s.chooseBy(horizon)
}

// chooseBy inquires about the candidate that has waited longest, of those that are due then.
func (s *search) chooseBy(horizon clock.Instant) {
	s.gathers = clock.Never
	s.passesOver()
	if s.candidates.n == 0 {
		s.standBy()
		return
	}
	s.candidates.order(horizon)
	e := s.candidates.list[0]
	if s.dueAt(e.served, e.weight) > horizon {
		s.standBy()
		return
	}
	s.looks = clock.Never
	s.choice = choice{
		member: e.member, weight: e.weight, claimed: e.served, served: e.served, source: e.source, made: s.choice.made + 1,
		present: contains(s.present, e.member),
	}
	s.inquireAbout()
}

// inquireAbout asks two timekeepers of the candidate, and itself. What is known here
// counts as an answer. A candidate that lacks timekeepers is passed over.
func (s *search) inquireAbout() {
	c := &s.choice
	var keepers []ident.Member
	if c.answers == 0 {
		keepers = s.timekeepersOf(c.member)
		if len(keepers) == 0 && s.othersThan(c.member) {
			s.unreached = true
			s.reject()
			return
		}
	}
	c.deadline, c.tries = s.Now.Add(s.reply), c.tries+1
	if t := s.keeper.store.find(c.member); t != nil && t.sure {
		c.served = max(c.served, t.served)
	}
	m := body{kind: inquire, sight: s.sight(), member: c.member}
	if !c.present {
		s.tell(c.member, &m)
	}
	if c.answers == 0 {
		c.n = 0
		for k := len(keepers); k > 0 && c.n < confirmations; k-- {
			i := s.rng.IntN(k)
			keeper := keepers[i]
			keepers[i] = keepers[k-1]
			if keeper != s.self && keeper != c.source {
				c.asked[c.n] = keeper
				c.n++
				s.tell(keeper, &m)
			}
		}
	}
}

// answered is an answer about the candidate, of one of its timekeepers or itself. The
// latest of all times at which it is said to have been served counts.
func (s *search) answered(from ident.Member, m *body) {
	if s.have {
		s.canvassed(from, m)
		s.late(from, m)
	}
	c := &s.choice
	if !s.have || c.sure || c.member.IsZero() || m.member != c.member {
		return
	}
	switch {
	case from == c.member:
		if m.what != willing {
			s.reject()
			return
		}
		c.present = true
		c.served = max(c.served, before(s.Now, m.age))
	case contains(c.asked[:c.n], from):
		c.answers++
		if m.what != unserved {
			c.served = max(c.served, before(s.Now, m.age))
		}
		for i := range c.asked[:c.n] {
			if c.asked[i] == from {
				c.asked[i] = ident.Member{}
			}
		}
	default:
		return
	}
	if c.present && c.answers >= c.n {
		s.settle()
	}
}

// settle takes the candidate, or the next one when this one has not waited as long
// as was said.
func (s *search) settle() {
	c := &s.choice
	c.deadline = clock.Never
	if c.served > c.claimed.Add(s.operation) {
		s.insert(candidate{member: c.member, served: c.served})
		if !c.source.IsZero() {
			m := body{kind: look, sight: s.sight(), member: c.member, age: millis(s.Now.Sub(c.served)), older: nothingOlder}
			s.tell(c.source, &m)
		}
		s.chooseAgain()
		return
	}
	c.sure, s.idle = true, clock.Never
	s.Prepare(s.token.ID, c.member)
	s.proceed()
}

// reject goes on to the next candidate.
func (s *search) reject() {
	s.candidates.remove(s.choice.member)
	s.chooseAgain()
}

// chooseAgain goes on to the next candidate, after a pause if there were many.
func (s *search) chooseAgain() {
	s.refused[s.refuse] = s.choice.member
	s.refuse = (s.refuse + 1) % refusedKept
	s.choice = choice{made: s.choice.made, deadline: clock.Never}
	if s.choice.made == choicesMost {
		s.choice.made, s.gathers = 0, s.Now.Add(s.reply)
		return
	}
	s.choose()
}

// unanswered is the end of the wait for answers.
func (s *search) unanswered() {
	c := &s.choice
	if c.tries == probes {
		s.unreached = true
	}
	switch {
	case c.present && (c.answers > 0 || c.tries == probes):
		s.settle()
	case c.tries < probes:
		s.inquireAbout()
	default:
		s.silent = keepLast(s.silent, c.member)
		s.reject()
	}
}

// standBy waits while no member is due, and looks again now and then.
func (s *search) standBy() {
	if s.running {
		return
	}
	if s.idle == clock.Never {
		s.idle, s.pause = s.Now, readPauseLeast
	}
	if s.looks == clock.Never {
		s.looks = min(s.Now.Add(s.pause), max(s.Now+1, s.lookBy))
		if s.outstayed() {
			s.looks = s.Now + 1
		}
		s.lookBy = clock.Never
	}
}

// looksFor asks a member at once that is said to wait, while none is due: it counts as one
// that may operate, and has waited less than all others that may. Once in a look is enough.
func (s *search) looksFor(m ident.Member) {
	if m.IsZero() || m == s.self || !s.have || s.running || s.idle == clock.Never || !s.choice.member.IsZero() || contains(s.refused[:], m) {
		s.lookSoon()
		return
	}
	s.insert(candidate{member: m, served: s.Now - clock.Instant(s.minOf(s.weightOf(m)))})
	s.choose()
}

// waits is that a member whose turns this one keeps wants the token. It need not be found by a look: while no
// other one is to be next it is asked at once if it is due, also while the operation runs here, and
// the token goes there at its end. One that was asked in vain may have changed its mind; in one search it is believed that
// after a pause that doubles as that between looks. Nothing of that puts the next look off, or has others asked again.
func (s *search) waits(m ident.Member) {
	t := s.keeper.store.find(m)
	if t == nil || !s.have || !s.isTold() {
		return
	}
	if i := slices.Index(s.refused[:], m); i >= 0 {
		if s.Now < s.heeded.Add(s.vain) {
			return
		}
		s.heeded, s.vain, s.refused[i] = s.Now, min(2*s.vain, readPauseMost), ident.Member{}
	}
	s.insert(candidate{member: m, served: t.served})
	if s.gathers != clock.Never || !s.choice.member.IsZero() {
		return
	}
	s.lookBy = s.looks
	if s.chooseBy(s.Now); s.choice.member.IsZero() {
		s.lookBy = clock.Never
	}
}

// isTold reports whether this member knows which ones have waited longest: it keeps the turns of all, or the reports that
// were asked for as the token came are here. Until then those that report to others may have waited longer.
func (s *search) isTold() bool {
	return s.Now >= s.came.Add(replyMost) || s.roster.Size() <= s.timekeepers
}

// ends is the end of the operation here: the token goes to the member that was chosen meanwhile, or to one that this
// member knows to wait. Those that were asked in vain may have changed their minds, but for those that did not answer.
func (s *search) ends() {
	s.gathers = clock.Never
	if s.choice.member.IsZero() && s.isTold() && s.Now >= s.ended.Add(readPauseLeast) {
		s.ended = s.Now
		for i, m := range s.refused {
			if !contains(s.silent, m) {
				s.refused[i] = ident.Member{}
			}
		}
		s.readOwnBut(s.refused[:])
	}
	s.proceed()
}

// lookSoon ends the pause in which no member was due, as one is said to wait: but the
// pause is never shorter than it is at first, whatever others say.
func (s *search) lookSoon() {
	if !s.have || s.running || s.looks == clock.Never {
		return
	}
	if s.looks = min(s.looks, max(s.Now, s.looked.Add(readPauseLeast))); s.looks == s.Now {
		s.bearer.onTimer()
	}
}

// lookAgain is the end of a pause in which no member was due. After a long time the
// token wanders on: what is known here may be wrong.
func (s *search) lookAgain() {
	s.pause = min(2*s.pause, readPauseMost)
	s.looks, s.looked = s.Now.Add(s.pause), s.Now
	if !s.running && (s.Now >= s.came.Add(s.spans.rest) || s.isPressed() || s.outstayed() && s.Demand) {
		s.wander()
		return
	}
	s.refused = [refusedKept]ident.Member{}
	s.readOwn()
	s.read()
	s.choose()
}

func (s *search) passTo(m ident.Member) {
	s.candidates.remove(m)
	s.bearer.pass(m)
}

// onTimer does what is due.
func (s *search) onTimer() {
	if !s.have {
		return
	}
	s.passesOver()
	if s.mayRun() && s.idle != clock.Never && s.choice.member.IsZero() && s.Now >= s.rests && !s.owesPass() {
		if s.ran && s.asksAll() {
			return // others may be due
		}
		s.bearer.run() // no other member is due
	}
	if s.gathers <= s.Now {
		s.gathers = clock.Never
	}
	switch {
	case s.choice.deadline <= s.Now:
		s.unanswered()
	case s.looks <= s.Now:
		s.lookAgain()
	}
	s.proceed()
}

// deadline is when to act next if nothing happens.
func (s *search) deadline() clock.Instant {
	if !s.have {
		return clock.Never
	}
	next := min(s.gathers, s.choice.deadline)
	if s.running {
		return next
	}
	next = min(next, s.looks)
	if s.choice.sure {
		next = min(next, max(s.dueAt(s.choice.served, s.choice.weight), s.Now+1))
	}
	if s.idle != clock.Never && s.choice.member.IsZero() && s.gathers == clock.Never {
		for i := range s.candidates.list[:s.candidates.n] {
			e := &s.candidates.list[i]
			next = min(next, max(s.dueAt(e.served, e.weight), s.Now+1))
		}
		if s.Demand && !s.outstayed() && !s.owesPass() {
			next = min(next, max(s.early, s.rests, s.Now+1))
		}
	}
	return next
}
