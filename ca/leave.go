package ca

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Left is what an authority knows of a member that has left by itself.
type Left struct {
	Member ident.Member
	Time   time.Time // when the authority heard of it

	raw []byte
}

// Left takes in a member's signed notice that it leaves: its key is dead from
// then on, and its name free. Once more, it does nothing. Nothing is signed, so
// the private key is not needed. Errors: certificate.ErrMalformed, ErrSigner
// and ErrSignature, ErrUnknown, ErrRevoked, ErrLocked, ErrBroken, and those of
// the disk.
func (a *Authority) Left(raw []byte) error {
	m, err := certificate.LeaveSigner(a.Group(), raw)
	if err != nil {
		return err
	}
	return a.locked(func(l *ledger) error { return l.leave(m, raw) })
}

// leave takes in the notice of a member that has not left yet.
func (l *ledger) leave(m ident.Member, raw []byte) error {
	s := l.state
	if s.left[m] != nil {
		return nil
	}
	newest, err := s.newestOf(m)
	if err != nil {
		return err
	}
	if _, err := certificate.ParseLeave(s.group(), raw, newest.Key()); err != nil {
		return err
	}
	return l.record(entry{Time: l.now(), Event: left, Name: newest.Name(), Member: &m, Object: raw})
}

func (s *state) takeLeave(e entry) error {
	if e.Member == nil {
		return errLine
	}
	if s.left[*e.Member] != nil {
		return errSequence
	}
	gone := &Left{Member: *e.Member, Time: e.Time, raw: e.Object}
	s.leaves = append(s.leaves, gone)
	s.left[gone.Member] = gone
	return nil
}
