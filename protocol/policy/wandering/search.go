package wandering

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// readsAtOnce is how many members at random are asked for reports in one look. Where a member
// has fewer than fewTimekeepers it is one: messages are to be few there.
const readsAtOnce, fewTimekeepers = 2, 4

// nothingOlder in a look says that no report is asked for.
const nothingOlder = ^uint32(0)

// refusedKept is how many members that were not taken as candidates are remembered:
// as many as two liars together can keep the turns of.
const refusedKept = 2 * storeMost

// search looks for the member that has waited longest for the token here, and has it be passed to that one.
type search struct {
	*common
	keeper     *timekeeper
	bearer     bearer
	candidates candidates
	choice     choice

	gathers clock.Instant // until then reports are awaited
	looks   clock.Instant // when to look again while no member is due
	looked  clock.Instant // when it did so last, or at a second operation
	lookBy  clock.Instant // when it would have done so, had a member not said that it wants the token
	pause   time.Duration
	idle    clock.Instant // since when no member is due; clock.Never while one is

	// unreached: members that may want the token do not answer, or none has passed it
	// here. Others may wait whose timekeepers have failed, or report failed members in their place.
	unreached bool
	canvass   canvass

	// refused are the last candidates that were not taken since the search began, or
	// the last look: a member that reports them again and again does not keep the token here.
	refused [refusedKept]ident.Member
	refuse  int
	// heeded is when one of them was heard last that says that it wants the token, and ended when they were forgotten last at the end of an
	// operation.
	heeded, ended clock.Instant
	vain          time.Duration // until the former may be the case again

	// silent are the last candidates of this search that did not answer in time, and present
	// those that have said since that they want the token: they are not asked again.
	silent, present []ident.Member
}

// bearer is what a search has done with the token here.
type bearer interface {
	run()
	pass(to ident.Member)
	wander(to ident.Member)
	// onTimer does what is due.
	onTimer()
}

func newSearch(c *common, k *timekeeper, b bearer) search {
	return search{
		common: c, keeper: k, bearer: b,
		gathers: clock.Never, looks: clock.Never, lookBy: clock.Never, looked: host.LongAgo, heeded: host.LongAgo, ended: host.LongAgo, idle: clock.Never, canvass: canvass{again: host.LongAgo},
	}
}

// serves tells the timekeepers of a member that has taken the token that it is served now. They
// report to it which members have waited longer than those that came with the token.
func (s *search) serves(m ident.Member, t *sight) {
	l := body{kind: look, sight: *t, member: m, older: s.candidates.threshold(s.Now)}
	for _, keeper := range s.timekeepersOf(m) {
		if keeper == s.self {
			s.keeper.testify(s.self, m, s.Now)
		}
		s.tell(keeper, &l)
	}
}

// seek begins to look for the next member, with the candidates that came with the
// token. The timekeepers of this member report more of them. If no member has
// passed the token here, members at random do.
func (s *search) seek(alone bool) {
	s.choice = choice{deadline: clock.Never}
	s.idle, s.pause, s.vain, s.unreached = clock.Never, readPauseLeast, readPauseLeast, alone
	s.canvass.asked = s.canvass.asked[:0]
	s.refused, s.silent, s.present = [refusedKept]ident.Member{}, s.silent[:0], s.present[:0]
	s.candidates.remove(s.self)
	s.readOwn()
	s.gathers, s.looks, s.lookBy = s.Now.Add(s.gather), clock.Never, clock.Never
	if alone {
		s.read()
	}
}

// gatherAnew asks once more which members are due, while the operation runs here a second time. Short
// operations would otherwise spend all that a member hears of another one.
func (s *search) gatherAnew() {
	s.gathers = s.Now.Add(s.gather)
	s.readOwn()
	if s.Now >= s.looked.Add(readPauseLeast) {
		s.looked = s.Now
		s.read()
	}
}

// read asks members at random for reports.
func (s *search) read() {
	m := body{kind: look, sight: s.sight(), older: s.candidates.threshold(s.Now)}
	n := readsAtOnce
	if s.timekeepers < fewTimekeepers {
		n = 1
	}
	s.members = s.roster.Draw(n, s.members[:0])
	for _, to := range s.members {
		s.tell(to, &m)
	}
}

// readOwn takes candidates from what this member knows as a timekeeper.
func (s *search) readOwn() { s.readOwnBut(nil) }

// readOwnBut does so but for some members.
func (s *search) readOwnBut(some []ident.Member) {
	var found [reportMost]*turnRecord
	for _, t := range found[:s.keeper.longest(s.candidates.threshold(s.Now), &found)] {
		if !contains(some, t.member) {
			s.insert(candidate{member: t.member, served: t.served})
		}
	}
}

// insert adds a candidate, with the weight that it has here.
func (s *search) insert(e candidate) {
	e.weight = s.weightOf(e.member)
	s.candidates.insert(s.Now, e)
}

// readCandidates takes in those that a token carries.
func (s *search) readCandidates(records []byte) {
	for r := reader(records); len(r) > 0; {
		member, age := r.member(), r.u32()
		s.insert(candidate{member: member, served: before(s.Now, age)})
	}
}

// reported takes candidates from a report: only members whose turns the sender
// keeps, so no member can report itself or those that it likes.
func (s *search) reported(from ident.Member, m *body) {
	if !s.have || !s.keeper.store.reports.may(from, s.Now, s.reply) {
		return
	}
	for _, r := range m.records[:m.n] {
		if r.member != s.self && r.member != from && !contains(s.refused[:], r.member) && s.isTimekeeper(r.member, from) {
			s.insert(candidate{member: r.member, served: before(s.Now, r.age), source: from})
		}
	}
	if s.gathers == clock.Never {
		s.proceed()
	}
}

// wander passes the token to a member at random. That is no turn: no timekeepers
// are told.
func (s *search) wander() {
	to, untaken := ident.Member{}, s.untakenBy()
	if s.drawn = s.roster.Draw(1+len(untaken), s.drawn[:0]); len(s.drawn) > 0 {
		i := slices.IndexFunc(s.drawn, func(m ident.Member) bool { return !contains(untaken, m) })
		to = s.drawn[max(0, i)]
	}
	s.candidates.remove(to)
	s.bearer.wander(to)
}

// isOn reports whether this member looks for the next member after the operation
// has run under this token here: others may wait, so it does not run once more.
func (s *search) isOn() bool {
	return s.ran && (s.gathers != clock.Never || !s.choice.member.IsZero() || s.unreached)
}

// owesPass reports whether a member is known that waits, and was not offered the token since it came back: or none may be
// known yet.
func (s *search) owesPass() bool {
	return s.untaken > 0 && (s.idle == clock.Never || s.candidates.n > 0)
}

// passesOver removes the candidates that have not taken the token since the operation last ran here, if it is to
// run here again when no other one is left.
func (s *search) passesOver() {
	if s.Demand {
		for _, m := range s.untakenBy() {
			s.candidates.remove(m)
		}
	}
}
