package client

// versions are those of a configuration and of a revocation list.
type versions struct{ configuration, revocations uint64 }

// told is what the gate has, or was sent.
type told struct {
	has   versions
	again versions // up to which it was sent what it had been sent before
}

// asks takes in a HELLO: the gate asks for what is newer than it has. The member sends it once again what it has sent before, as the gate may have
// been too busy to take it. It does so no third time: a gate that lies could ask without end, and a configuration has up to 257 KiB.
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
