package circulation

import (
	"math/bits"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// group is what all parts of a Simulation share: the clock and the agenda, the
// members, the counts, and the randomness of streamGroup.
type group struct {
	agenda
	cfg       Config
	sites     []site
	up        []int32 // the members that are up, in no particular order
	observers []Observer
	stats     Stats

	pcg *rand.PCG // streamGroup
	rng *rand.Rand
}

// visitsKept is how many visits of tokens a durable member remembers over a
// crash (protocol/member).
const visitsKept = 16

// site is one member.
type site struct {
	policy policy.Policy

	due      clock.Instant // the policy's Deadline
	timer    clock.Instant // the same, in the past no more; clock.Never when it has come
	timerSeq uint64
	entry    int32 // in queue.timers

	fell    clock.Instant // when it did last
	offset  int64         // of the wall clock, ms
	visits  *[]visit      // nil where they are not remembered
	next    int32         // who follows, as last told; itself when alone
	members int32         // how many there are, as last told
	place   int32         // in group.up, -1 when not up
	epoch   uint32        // how often it crashed
	holds   int32         // tokens that rest or run here
	gone    bool          // it does not return
	left    bool          // and told everybody
	wants   bool          // to run the operation
	heard   bool          // its policy was told so
}

// visit is what a durable member remembers of a token that was here.
type visit struct {
	token    policy.Token
	at       clock.Instant
	operated bool
}

// remember notes a visit for after a crash.
func (g *group) remember(s *site, t *token, operated bool) {
	if s.visits == nil {
		return
	}
	v := *s.visits
	if len(v) == visitsKept {
		v = append(v[:0], v[1:]...)
	}
	known := t.Token
	known.Field, known.Hop = nil, 0
	*s.visits = append(v, visit{known, g.now, operated})
}

// present reports whether a member is up and has not crashed since this epoch.
func (g *group) present(m int32, epoch uint32) bool {
	return g.sites[m].place >= 0 && g.sites[m].epoch == epoch
}

// below is a number from 0 to n-1. For a million its distribution is uniform
// but for 2⁻⁴⁴.
func (g *group) below(n int) int {
	hi, _ := bits.Mul64(g.pcg.Uint64(), uint64(n))
	return int(hi)
}

// setTimer has a member's policy told at an instant.
func (g *group) setTimer(m int32, at clock.Instant) {
	s := &g.sites[m]
	g.seq++
	s.timer, s.timerSeq = at, g.seq
	if at == clock.Never {
		return
	}
	if at < g.now {
		at, s.timer = g.now, g.now
	}
	h := &g.queue.timers
	if s.entry == noEntry {
		h.add(timer{at, g.seq, m})
		return
	}
	first := h.entries[s.entry].at
	switch {
	case first <= at:
	case first.Sub(g.now)/farAway > at.Sub(g.now):
		g.queue.push(event{at, g.seq, subject{member: m}, purpose{kind: timerNear}})
	default:
		h.up(int(s.entry), timer{at, g.seq, m})
	}
}
