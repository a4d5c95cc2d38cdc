package ring

// rulesQ is algorithm Q of section 3. The counter on the token is the number of
// pending requests whose message has reached it; the token moves while it is
// positive.
//
// It departs from the paper in this:
//
//   - Correction 1 (rule 2): a request that arrives during a critical section
//     is counted at once, but the token leaves at the exit. To the letter,
//     r0 r1 d1 d0 puts both of two processors inside.
//   - Correction 2 (rule 1): a section that was entered because the token was
//     there was not counted, so nothing is taken from the counter; at its exit,
//     too, the token moves if the counter is positive. Else r0 r1 d1 x0 leaves
//     the second of two processors waiting without end.
//   - A processor whose request was withdrawn takes it from the counter when
//     the token comes, and does not ask twice until then.
//   - The token stops after n hops without a request served or registered.
//     Only faults lead there: of every counted request somebody waits less
//     than n hops ahead.
var rulesQ = rules{
	ask:   askOnce,
	relay: func(*Station) bool { return true },
	absorb: func(s *Station, n int) {
		s.baton.Count, s.baton.Idle = min(s.baton.Count+1, others(n)), 0
	},
	hop: func(s *Station, n int) {
		s.baton.Idle++
		if s.asked && s.phase != waiting { // withdrawn
			answer(s, n)
		}
		if s.baton.Idle > others(n) {
			s.baton.Count = 0
		}
	},
	serve:  answer,
	moves:  counting,
	leaves: func(s *Station, _ bool) bool { return counting(s) },
}

// rulesQPublished is section 3 to the letter, with correction 1 until hasty is
// set: a section entered by rule 1 neither changes the counter nor says what
// follows it, so the token stays.
var rulesQPublished = rules{
	ask:    askOnce,
	relay:  rulesQ.relay,
	absorb: func(s *Station, _ int) { s.baton.Count++ },
	hop:    nothing,
	serve:  answer,
	moves:  counting,
	leaves: func(s *Station, held bool) bool { return !held && counting(s) },
}

// askOnce sends a request if none of this processor is in transit or registered.
func askOnce(s *Station) bool {
	send := !s.asked
	s.asked = true
	return send
}

// answer takes this processor's request from the counter.
func answer(s *Station, _ int) {
	s.asked = false
	s.baton.Count, s.baton.Idle = less(s.baton.Count), 0
}

// counting reports whether something is left to count down.
func counting(s *Station) bool { return s.baton.Count > 0 }
