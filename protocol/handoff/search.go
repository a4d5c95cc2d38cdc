package handoff

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// search looks for the next holder of one token.
type search struct {
	target   ident.Member // the only one that may get it; zero: anybody
	field    []byte       // policy field of the transfer
	release  bool         // the policy has released the token
	alone    bool         // nobody was found when all had been asked that there were
	vain     bool         // the target was asked as often as a peer is, and has not answered since
	since    clock.Instant
	current  ident.Member // who is being asked; zero: nobody
	attempts int          // offers to current so far
	onWay    bool         // the last of them went on the connection in use, or waits for one
	tried    []ident.Member
	accepts  []accepted
	late     []ident.Member // targets that have not answered in time since custody came, the last one last: what they accept counts
	carry    bool           // offers carry the signers' certificates
}

// accepted is an ACCEPT in hand.
type accepted struct {
	from  ident.Member
	named ident.Reservation
	until clock.Instant // not used after (T_fresh, handoff rules §6)
	renew clock.Instant // asked for again from here on
}

func (s *search) wasTried(m ident.Member) bool {
	for _, t := range s.tried {
		if t == m {
			return true
		}
	}
	return false
}

// isLate reports whether a member was a target, and has not answered in time.
func (s *search) isLate(m ident.Member) bool { return slices.Contains(s.late, m) }

// leaves notes that a target has not answered in time. No more of them are remembered than accept for one token.
func (s *search) leaves(target ident.Member) {
	s.hasAnswered(target) // it is the last one now
	if len(s.late) == maxAccepts {
		s.late = slices.Delete(s.late, 0, 1)
	}
	s.late = append(s.late, target)
}

// hasAnswered notes that a member has refused, or is to be the last one of those.
func (s *search) hasAnswered(m ident.Member) {
	s.late = slices.DeleteFunc(s.late, func(l ident.Member) bool { return l == m })
}

// isFor reports whether the token may go to a member: to the target, or to one that was it.
func (s *search) isFor(m ident.Member) bool {
	return s.target.IsZero() || s.target == m || s.isLate(m)
}

// skip marks the current peer as tried and asks nobody.
func (s *search) skip() {
	if len(s.tried) < maxTried && !s.current.IsZero() {
		s.tried = append(s.tried, s.current)
	}
	s.current, s.attempts, s.onWay = ident.Member{}, 0, false
}

// remember keeps an ACCEPT: one for each peer, the newest maxAccepts.
func (s *search) remember(a accepted) {
	s.forget(func(b accepted) bool { return b.from == a.from })
	if len(s.accepts) == maxAccepts {
		s.accepts = append(s.accepts[:0], s.accepts[1:]...)
	}
	s.accepts = append(s.accepts, a)
}

// forget discards ACCEPTs in hand, and reports whether there were any.
func (s *search) forget(which func(accepted) bool) bool {
	kept := s.accepts[:0]
	for _, a := range s.accepts {
		if !which(a) {
			kept = append(kept, a)
		}
	}
	any := len(kept) < len(s.accepts)
	s.accepts = kept
	return any
}

// best is the newest ACCEPT that may still be used.
func (s *search) best(now clock.Instant, usable func(accepted) bool) (accepted, bool) {
	for i := len(s.accepts) - 1; i >= 0; i-- {
		if a := s.accepts[i]; now.Before(a.until) && usable(a) {
			return a, true
		}
	}
	return accepted{}, false
}
