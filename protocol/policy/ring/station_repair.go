package ring

// What an Agent asks of a Station beyond the paper: what faults make necessary,
// and a token that waits for a moment although it is to move on.

// forget makes the processor send the next request message on even if one went
// before (D and E; M_p := 0). The one before is believed to be lost: if it is
// not, a message more is in transit and no harm is done.
func (s *Station) forget() { s.mark = false }

// keep puts a token back that was to leave with this baton. It stays until proceed,
// Need or Request.
func (s *Station) keep(b Baton) { s.here, s.baton = true, b }

// proceed passes the token on if it is here, nobody is in the section, and it has
// somewhere to go.
func (s *Station) proceed(n int) Output {
	if !s.here || s.phase == inside {
		return Output{}
	}
	return s.moveOn(rulesOf[s.alg].moves(s), n)
}

// leaves reports whether the token, under which the processor is inside its
// section, moves on at the exit whatever happens until then.
func (s *Station) leaves(n int) bool {
	return s.here && s.phase == inside && n > 1 && rulesOf[s.alg].leaves(s, s.held)
}

// reclaim is Return for a token that another processor did not take, that is here
// since before a restart, or that was made here. Requests that were sent on meanwhile
// follow a token that never left, or none: it absorbs one (D and E). If M_p stayed 1,
// the next request would be kept back behind one that is gone. Those of Q are on
// their way to it.
func (s *Station) reclaim(b Baton, n int) Output {
	if s.mark {
		s.mark = false
		b.merge(awake(s.alg, n))
	}
	return s.Return(b, n)
}

// merged is the baton of two tokens of which one is dropped.
func merged(a, b Baton) Baton {
	a.merge(b)
	return a
}
