package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Selector draws members at random: the next holder, several, one to stay connected to,
// or a failed one. It keeps the members that can be drawn in pools by their role.
type Selector struct {
	known  *Register
	pools  pools
	links  links
	failed failedPool
	sample *sample // nil: candidates are all members
}

// update gives a member whose facts have changed its role anew, and those who
// come into the sample or go from it because of that.
func (s *Selector) update(f *facts) {
	s.links.set(f.id, f.attachments(), s.isPeer)
	s.updateRoles(s.resample(f))
	s.updateRole(f)
}

// updateRole recomputes a member's role, and moves it to the pool of that.
func (s *Selector) updateRole(f *facts) {
	old := f.role
	f.role = s.roleOf(f)
	if f.role == old {
		return
	}
	s.pools.move(f, old)
	switch peer {
	case old:
		s.links.leave(f.id)
	case f.role:
		s.links.enter(f.id)
	}
}

func (s *Selector) roleOf(f *facts) role {
	switch {
	case f.id == s.known.self || !f.alive() || !f.connected && !f.reachable():
		return nobody
	case f.dialsOut() && s.links.attachedTo(f.id, s.known.self):
		return client
	case f.dialsOut():
		return spare
	case s.sample == nil || s.sample.holds(f.id):
		return peer
	case f.connected:
		return spare
	}
	return nobody
}

func (s *Selector) isPeer(m ident.Member) bool {
	f := s.known.members[m]
	return f != nil && f.role == peer
}

// updateFailed puts a member among those who have failed and can be dialled, or
// takes it out.
func (s *Selector) updateFailed(f *facts) {
	if f.rare == nil {
		return
	}
	switch wanted := s.mayDialFailed(f); {
	case wanted && f.rare.place == absent:
		s.failed.add(f)
	case !wanted && f.rare.place != absent:
		s.failed.remove(f)
	}
}

func (s *Selector) mayDialFailed(f *facts) bool {
	return f.failed && f.known() && !f.gone() && f.reachable() && f.id != s.known.self
}

// DrawFailed draws a member uniformly among those that have failed, can be
// dialled and are otherwise eligible at the time now; ok is false when there is
// none. A member dials one now and then, so that the halves of a partition find
// each other when it has healed.
func (s *Selector) DrawFailed(rng rand.Source, now time.Time) (m ident.Member, ok bool) {
	return s.failed.draw(rand.New(rng), now)
}

// Sampled reports whether the directory keeps a sample of the members only.
func (s *Selector) Sampled() bool { return s.sample != nil }

// AttachedTo reports whether the member m only dials out and says that it keeps
// a connection to the member to.
func (s *Selector) AttachedTo(m, to ident.Member) bool { return s.links.attachedTo(m, to) }
