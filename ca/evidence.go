package ca

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxEvidencePerMember bounds the evidence against one member that an authority
// takes from members: one is enough to revoke it, and a member that signs what
// it likes can make any number. What an operator revokes by counts besides.
const MaxEvidencePerMember = 4

// Evidence is what an authority knows of evidence that it has taken in.
type Evidence struct {
	ID      ident.Hash // see evidence.Evidence.ID
	Kind    evidence.Kind
	Accused ident.Member
	Name    string       // of the accused
	From    ident.Member // who brought it; nobody: the operator
	Time    time.Time    // when it came
	File    string       // in the authority's folder
}

// TakeEvidence verifies evidence that a member has brought and keeps it, if it
// is new and there is not enough against the accused; news says whether it was
// kept. It revokes nobody: that is the operator's to decide. The accused has to
// be somebody whom this authority has certified. Nothing is signed, so the
// private key is not needed. Errors: ErrNoEvidence, which wraps those of
// evidence.Parse and Verify, ErrUnknown, ErrLocked, ErrBroken, and those of the disk.
func (a *Authority) TakeEvidence(raw []byte, from ident.Member) (e Evidence, news bool, err error) {
	p, err := prove(a.Group(), raw)
	if err != nil {
		return Evidence{}, false, err
	}
	err = a.locked(func(l *ledger) error {
		s := l.state
		switch known := s.evidence[p.ID]; {
		case known != nil:
			e = *known
			return nil
		case s.accusations[p.Accused] >= MaxEvidencePerMember:
			return nil
		}
		if _, ok := s.lastOf(p.Accused); !ok {
			return fmt.Errorf("%w: %v", ErrUnknown, p.Accused)
		}
		e, err = l.keepEvidence(p, raw, from)
		news = err == nil
		return err
	})
	return e, news, err
}

// RevokeBy revokes the member that evidence convicts, and keeps the evidence.
// The reason says what it was, and the log names the evidence. Errors:
// ErrNoEvidence, which wraps those of evidence.Parse and Verify, and those of Revoke.
func (a *Authority) RevokeBy(raw []byte) (evidence.Proof, certificate.SignedRevocation, error) {
	var signed certificate.SignedRevocation
	p, err := prove(a.Group(), raw)
	if err != nil {
		return evidence.Proof{}, signed, err
	}
	reason := fmt.Sprintf("evidence %v: %v", p.ID.Short(), p.Kind)
	err = a.signing(func(l *ledger, key *signature.PrivateKey) error {
		if l.state.evidence[p.ID] == nil {
			if _, err := l.keepEvidence(p, raw, ident.Member{}); err != nil {
				return err
			}
		}
		var err error
		signed, err = l.revoke(p.Accused, reason, &p.ID, key)
		return err
	})
	return p, signed, err
}

// prove verifies evidence in a group. Its errors match ErrNoEvidence.
func prove(g ident.Group, raw []byte) (evidence.Proof, error) {
	var p evidence.Proof
	e, err := evidence.Parse(raw)
	if err == nil {
		p, err = e.Verify(g)
	}
	if err != nil {
		return evidence.Proof{}, fmt.Errorf("%w: %w", ErrNoEvidence, err)
	}
	return p, nil
}

// keepEvidence takes in evidence that is new.
func (l *ledger) keepEvidence(p evidence.Proof, raw []byte, from ident.Member) (Evidence, error) {
	e := entry{
		Time: l.now(), Event: proved, Name: p.Name, Member: &p.Accused, Reason: p.Kind.String(),
		Evidence: &p.ID, Object: raw,
	}
	if !from.IsZero() {
		e.From = &from
	}
	if err := l.record(e); err != nil {
		return Evidence{}, err
	}
	return *l.state.evidence[p.ID], nil
}

func (s *state) takeEvidence(e entry) error {
	if e.Member == nil || e.Evidence == nil {
		return errLine
	}
	if s.evidence[*e.Evidence] != nil {
		return errSequence
	}
	parsed, err := evidence.Parse(e.Object)
	if err != nil {
		return err
	}
	kept := &Evidence{
		ID: *e.Evidence, Kind: parsed.Kind, Accused: *e.Member, Name: e.Name, Time: e.Time, File: evidenceFile(*e.Evidence),
	}
	if e.From != nil {
		kept.From = *e.From
		s.accusations[kept.Accused]++
	}
	s.evidence[kept.ID] = kept
	s.proofs = append(s.proofs, kept)
	return nil
}
