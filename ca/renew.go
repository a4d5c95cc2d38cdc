package ca

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
)

// Renew gives a member its newest certificate: a new one for the same name and
// key, or the one that it has when more than two thirds of its life are left
// and the key that signs now has signed it, so that an answer that was lost, or
// a member that asks too often, costs no serial number. The caller has made
// sure that it is the member who asks. A certificate that has expired is
// renewed too. Errors: those of Eligible and Issue.
func (a *Authority) Renew(m ident.Member) (certificate.Certificate, error) {
	return a.renew(m, func(*state, certificate.Certificate, time.Time) error { return nil })
}

// RenewExpired is Renew for a member that has shown a certificate that has expired. The group's renew_grace
// counts from the end of the newest certificate of the member. Errors: ErrGraceOver, and those of Renew.
func (a *Authority) RenewExpired(m ident.Member) (certificate.Certificate, error) {
	return a.renew(m, (*state).inGrace)
}

func (a *Authority) renew(m ident.Member, may func(*state, certificate.Certificate, time.Time) error) (certificate.Certificate, error) {
	var cert certificate.Certificate
	err := a.signing(func(l *ledger, key *signature.PrivateKey) error {
		newest, err := l.state.newestOf(m)
		if err != nil {
			return err
		}
		if err := may(l.state, newest, l.now()); err != nil {
			return err
		}
		if l.state.isFresh(newest, l.now()) {
			cert = newest
			return nil
		}
		cert, err = l.issue(Request{Name: newest.Name(), Key: newest.Key(), Role: newest.Role()}, key, nil)
		return err
	})
	if err != nil {
		return certificate.Certificate{}, err
	}
	return cert, nil
}

// inGrace is ErrGraceOver unless a member's newest certificate is valid at a time, or ended less than renew_grace before.
func (s *state) inGrace(newest certificate.Certificate, now time.Time) error {
	grace, end := s.config.Settings().RenewGrace, newest.Body().NotAfter
	if now.Before(end.Add(grace)) {
		return nil
	}
	return fmt.Errorf("%w: it ended on %s, and renew_grace is %s", ErrGraceOver, end.UTC().Format(time.RFC3339), duration.Format(grace))
}

// isFresh reports whether a certificate need not be renewed yet.
func (s *state) isFresh(c certificate.Certificate, now time.Time) bool {
	claims := c.Body()
	life := claims.NotAfter.Sub(claims.IssuedAt)
	return c.Authority() == s.signer().ID() && claims.NotAfter.Sub(now) > life-life/3
}

// newestOf is the newest certificate of a living member. Errors: those of
// Eligible.
func (s *state) newestOf(m ident.Member) (certificate.Certificate, error) {
	if err := s.eligible(m); err != nil {
		return certificate.Certificate{}, err
	}
	newest, _ := s.lastOf(m)
	return certificate.ParseAny(s.group(), newest.raw, s)
}

// Eligible is nil for a member that lives, with or without a certificate that
// is valid today; otherwise ErrRevoked, ErrLeft or ErrUnknown, or those of
// List.
func (a *Authority) Eligible(m ident.Member) error {
	return a.locked(func(l *ledger) error { return l.state.eligible(m) })
}

// eligible is why a member is not, the first reason that applies.
func (s *state) eligible(m ident.Member) error {
	if err := s.final(m); err != nil {
		return err
	}
	if _, known := s.byMember[m]; !known {
		return fmt.Errorf("%w: %v", ErrUnknown, m)
	}
	return nil
}

// final is why a member can never be one again, nil when it can.
func (s *state) final(m ident.Member) error {
	if dead := s.dead[m]; dead != nil {
		return fmt.Errorf("%w: %v on %s", ErrRevoked, m, dead.Time.Format(time.DateOnly))
	}
	if gone := s.left[m]; gone != nil {
		return fmt.Errorf("%w: %v on %s", ErrLeft, m, gone.Time.Format(time.DateOnly))
	}
	return nil
}
