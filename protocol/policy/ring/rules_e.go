package ring

// rulesE is algorithm E: D without its two states. A request that reaches the
// token sends it once round the others, whoever waits there; a request served
// on the way starts no tour of its own. Who asked after the token had passed
// has sent a message after it, which reaches it where it rests. It keeps what
// theorem 4.1 promises for D: at most 2n-2 messages a request, and 3n-3 sent
// before it is served.
//
// It is not in the paper.
var rulesE = rules{
	ask:   markOnce,
	relay: markOnce,
	absorb: func(s *Station, n int) {
		s.mark = false
		s.baton = Baton{Count: others(n)}
	},
	hop:    tour,
	serve:  nothing,
	moves:  counting,
	leaves: func(s *Station, _ bool) bool { return counting(s) },
}
