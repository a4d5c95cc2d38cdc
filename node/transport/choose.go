package transport

// Link is a connection with one peer, as one side sees it.
type Link struct {
	Dialled   bool     // by this side
	Confirmed bool     // the peer's preamble has been read on it
	Process   [16]byte // of that preamble
	Ordinal   uint64   // of that preamble
}

// Confirm takes in the body of the peer's preamble, or returns ErrProtocol.
func (l *Link) Confirm(body []byte) error {
	p, err := parsePreamble(body)
	if err == nil {
		l.confirm(p)
	}
	return err
}

func (l *Link) confirm(p preamble) {
	l.Confirmed, l.Process, l.Ordinal = true, p.Process, p.Ordinal
}

// Choice is what becomes of two connections with one peer.
type Choice uint8

// The choices.
const (
	// KeepOld keeps the connection in use and closes the new one.
	KeepOld Choice = iota
	// TakeNew uses the new connection and closes the old one.
	TakeNew
	// TakeNewHoldOld uses the new connection and holds the old one, without using
	// it, until the peer answers there too or PreambleTimeout has passed.
	TakeNewHoldOld
)

func (c Choice) String() string {
	return [...]string{"the old one", "the new one", "the new one; the old one is held"}[c]
}

// Choose decides between the connection in use and another one on which the peer's
// preamble has just been read: one that the peer has dialled, or one that this side
// has held. smaller says that this side's member id is below the peer's.
//
// A member writes a preamble on a connection only when it means to use that one. So a
// preamble that has been read is the peer's word, and of two words of one process
// the later counts. Without a word the old connection may be dead: the new one is
// used. But the peer may be alive and choose the old one at the same time. The member
// with the greater id then keeps to its choice, so the other one has to be able to
// come back to it: it holds the old connection.
func Choose(smaller bool, old, new Link) Choice {
	switch {
	case !old.Confirmed && smaller:
		return TakeNewHoldOld
	case !old.Confirmed:
		return TakeNew
	case old.Process != new.Process, new.Ordinal > old.Ordinal:
		return TakeNew
	default:
		return KeepOld
	}
}
