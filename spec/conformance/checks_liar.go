package conformance

// liarChecks do what only a liar does. It is evidence against this identity.
var liarChecks = []Check{
	{"second-transfer", []string{"H-44", "H-65"}, "A second transfer of a hop that was taken, with another payload, gets no answer, and the first one still its receipt.", secondTransfer},
}

func secondTransfer(t *trial) {
	s, title := t.greet(), t.mint()
	b := s.transferBody(title, s.reserve(title))
	x, m := s.transfer(title, b)
	receipt := s.gives(title, x, m)
	b.Field = []byte("another")
	_, second := s.transfer(title, b)
	s.ignored(second, "a second transfer of one hop")
	_, again := s.verdict(x, m)
	t.check(t.sameReceipt(receipt, again), "the first transfer gets another answer than before")
	s.retrieve(title.Token())
}
