package client

// versions are those of a configuration and of a revocation list.
type versions struct{ configuration, revocations uint64 }

// told is what the gate has, or was sent.
type told struct {
	has   versions
	again versions // up to which it was sent what it had been sent before
}

// asks takes in a HELLO, by which the gate asks for what is newer than it has. What it was sent before it is sent once again: it may have been
// too busy to take it. A gate that lies could ask for it without end, and a configuration has up to 257 KiB.
func (t *told) asks(has versions) {
	ask(&t.has.configuration, &t.again.configuration, has.configuration)
	ask(&t.has.revocations, &t.again.revocations, has.revocations)
}

func ask(has, again *uint64, says uint64) {
	switch {
	case says >= *has:
	case *again >= *has:
		return
	default:
		*again = *has
	}
	*has = says
}
