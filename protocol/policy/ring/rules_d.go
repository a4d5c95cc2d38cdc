package ring

// rulesD is algorithm D of section 4. A request wakes the token, which searches
// ("active"); having served somebody it makes a tour to see whether it knows of
// all requests ("check"). A processor stops request messages that follow another
// one (M_p).
//
// It departs from the paper in this:
//
//   - Correction 1 (rule 2): a request that arrives during a critical section
//     changes the state at once, but the token leaves at the exit. To the
//     letter, r0 r1 d1 d0 puts both of two processors inside.
//   - Correction 3 (rules 2 and 4): the counter bounds the search, too. A request
//     sets it to n-1, each hop of an active token decrements it, and at 0 the
//     token rests. To the letter a token that was woken by a request that is
//     already served circulates without end:
//     r1 d1 r0 d0 x1 d0 d1 x0 d1 d0.
//   - Correction 4 (rules 1, 4 and 5): whichever rule led into the section, at
//     its exit the token moves while the counter is positive. A request that
//     was absorbed during the section has made it so. Else r0 r1 d1 x0 leaves
//     the second of two processors waiting without end.
//
// So corrected it serves everybody, but does not quite keep theorem 4.1: two
// requests may cost 5n-4 messages, as one that is served while its message is
// still in transit starts a search for nobody, and who it finds a check tour.
// That check tour is the paper's (rule 4); without it D is E.
var rulesD = rules{
	ask:   markOnce,
	relay: markOnce,
	absorb: func(s *Station, n int) {
		s.mark = false
		s.baton = Baton{Active: true, Count: others(n)}
	},
	hop: func(s *Station, n int) {
		tour(s, n)
		if s.baton.Count == 0 && s.phase != waiting {
			s.baton.Active = false // found nobody
		}
	},
	serve: func(s *Station, n int) {
		if s.baton.Active {
			s.baton = Baton{Count: others(n)}
		}
	},
	moves:  counting,
	leaves: func(s *Station, _ bool) bool { return counting(s) },
	active: true,
}

// rulesDPublished is section 4 to the letter, with correction 1 until hasty is
// set. Nothing bounds the search, and rule 1 does not say what follows its
// section, so the token stays.
var rulesDPublished = rules{
	ask:   markOnce,
	relay: markOnce,
	absorb: func(s *Station, _ int) {
		s.mark = false
		s.baton.Active = true
	},
	hop: func(s *Station, _ int) {
		s.mark = false
		if !s.baton.Active {
			s.baton.Count = less(s.baton.Count)
		}
	},
	serve:  rulesD.serve,
	moves:  func(s *Station) bool { return s.baton.Active || counting(s) },
	leaves: func(s *Station, held bool) bool { return !held && counting(s) },
	active: true,
}

// markOnce lets a request message leave if none did since the token.
func markOnce(s *Station) bool {
	send := !s.mark
	s.mark = true
	return send
}

// tour counts a hop down: requests that left here are behind the token now.
func tour(s *Station, _ int) {
	s.mark = false
	s.baton.Count = less(s.baton.Count)
}
