package ring

// Station is one processor of the ring: what it knows, and whether it has the
// token. It is a plain comparable value, so a copy of it is a branch of its
// history. Not safe for concurrent use. The zero value is of no use: see
// NewStation.
//
// In all methods n is the number of processors in the ring, at least 1. It may
// change between two calls; bounds that depend on it then hold for the new one
// from the next tour on.
type Station struct {
	alg   Algorithm
	phase phase
	here  bool // it has the token
	held  bool // it entered its section because it had the token (rule 1)
	asked bool // Q: a request message of its own is not answered yet
	mark  bool // D, E: M_p, a request message left since the token last did
	baton Baton
}

// phase is what a processor is about.
type phase uint8

const (
	idle    phase = iota // it does not need the token
	waiting              // it needs the token and has not got it
	inside               // it is in the critical section
)

// Output is what a processor does at one event. The zero value is nothing.
// Enter excludes the others; Request and Pass go to the next processor over one
// FIFO link, and no event makes both.
type Output struct {
	Enter   bool  // enter the critical section; Exit tells that it was left
	Request bool  // send one request message
	Pass    bool  // send the token, which is no longer here
	Baton   Baton // travels with the token where Pass is true
}

// NewStation is a processor that does not need the token and has not got it.
// The algorithm has to be one of those of this package.
func NewStation(alg Algorithm) Station { return Station{alg: alg} }

// holds reports whether the token is here.
func (s *Station) holds() bool { return s.here }

// Inside reports whether the processor is in its critical section.
func (s *Station) Inside() bool { return s.phase == inside }

// Waits reports whether the processor needs the token and has not got it.
func (s *Station) Waits() bool { return s.phase == waiting }

// Need tells that the processor needs the token (rule 1). It changes nothing
// while it already waits or is inside: a processor asks again only after it was
// served (section 2).
func (s *Station) Need(n int) Output {
	switch {
	case s.phase != idle:
		return Output{}
	case s.here:
		s.phase, s.held = inside, true
		return Output{Enter: true}
	}
	s.phase = waiting
	return Output{Request: rulesOf[s.alg].ask(s)}
}

// Withdraw tells that the processor no longer needs the token. Inside its
// section it changes nothing. The paper knows no withdrawal. The token may come
// in vain; the bounds on messages hold all the same, if a request that was
// withdrawn counts as one.
func (s *Station) Withdraw(int) Output {
	if s.phase == waiting {
		s.phase = idle
	}
	return Output{}
}

// repeat sends the request of a waiting processor again, for a link or a
// processor between may have lost it. Without faults it is of no use, and the
// bounds on messages do not hold with it.
func (s *Station) repeat(int) Output {
	if s.phase != waiting || s.alg == S {
		return Output{}
	}
	s.asked, s.mark = true, true
	return Output{Request: true}
}

// Request tells that a request message arrived (rule 2; D's rules 2 and 3).
func (s *Station) Request(n int) Output {
	r := &rulesOf[s.alg]
	if !s.here {
		return Output{Request: r.relay(s)}
	}
	r.absorb(s, n)
	if s.phase == inside && !r.hasty { // correction 1: only at the exit
		return Output{}
	}
	return s.moveOn(r.moves(s), n)
}

// Arrive tells that the token came from the previous processor (rule 3; D's
// rules 4 and 5). Where a token is here already, both become one.
func (s *Station) Arrive(b Baton, n int) Output {
	b = b.clip(n)
	if s.here {
		s.baton.merge(b)
		return Output{}
	}
	s.here, s.baton = true, b
	rulesOf[s.alg].hop(s, n)
	return s.settle(n)
}

// Return tells that a token which this processor had passed is here again, or
// still, as it left; or that the processor has made one, with the baton that
// awake gives. What arrived or changed meanwhile is decided now.
func (s *Station) Return(b Baton, n int) Output {
	b = b.clip(n)
	if s.here {
		s.baton.merge(b)
		return Output{}
	}
	s.here, s.baton = true, b
	return s.settle(n)
}

// settle decides about a token that has just come here.
func (s *Station) settle(n int) Output {
	r := &rulesOf[s.alg]
	if s.phase == waiting {
		r.serve(s, n)
		s.phase, s.held = inside, false
		return Output{Enter: true}
	}
	return s.moveOn(r.moves(s), n)
}

// Exit tells that the critical section was left. It changes nothing where the
// processor is not inside.
func (s *Station) Exit(n int) Output {
	if s.phase != inside {
		return Output{}
	}
	held := s.held
	s.phase, s.held = idle, false
	return s.moveOn(s.here && rulesOf[s.alg].leaves(s, held), n)
}

// lose tells that the token is no longer here and will not be: it was dropped
// or its custody ended in some other way. A processor inside stays there until
// Exit.
func (s *Station) lose() { s.here, s.baton = false, Baton{} }

// moveOn passes the token on, or lets it rest here. There has to be somebody to
// pass it to.
func (s *Station) moveOn(moves bool, n int) Output {
	if !moves || n < 2 {
		return Output{}
	}
	b := s.baton
	s.here, s.baton = false, Baton{}
	return Output{Pass: true, Baton: b}
}
