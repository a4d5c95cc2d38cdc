package ca

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Revoke revokes a member, permanently, with all the certificates it has. It need
// not be one that this authority knows: its key is refused from then on. The open
// invites for the names that it has had are taken back before, because whoever has
// the machine may have one of them too; also when the member has been revoked
// already, so that a second try ends what a crash has left. Errors: certificate.ErrReason, ErrRevoked if it has been already, ErrLocked,
// ErrBroken, those of opening the key (see Issue), and those of the disk.
func (a *Authority) Revoke(m ident.Member, reason string) (certificate.SignedRevocation, error) {
	if err := certificate.CheckReason(reason); err != nil {
		return certificate.SignedRevocation{}, err
	}
	var signed certificate.SignedRevocation
	err := a.signing(func(l *ledger, key *signature.PrivateKey) error {
		var err error
		signed, err = l.revoke(m, reason, nil, key)
		return err
	})
	if err != nil {
		return certificate.SignedRevocation{}, err
	}
	return signed, nil
}

// revoke revokes a member, by evidence unless that is nil.
func (l *ledger) revoke(m ident.Member, reason string, by *ident.Hash, key *signature.PrivateKey) (certificate.SignedRevocation, error) {
	if _, err := l.cancel(l.state.invites.named(l.state.namesOf(m)...)); err != nil {
		return certificate.SignedRevocation{}, err
	}
	if dead := l.state.dead[m]; dead != nil {
		return certificate.SignedRevocation{}, fmt.Errorf("%w: %v on %s", ErrRevoked, m, dead.Time.Format(time.DateOnly))
	}
	now := clock.Reading{Wall: l.now()}
	newest, _ := l.state.lastOf(m)
	body := certificate.Revocation{
		Version: l.state.revocationVersion() + 1, Member: m, Serial: newest.Serial, Reason: reason, Time: now.Millis(),
	}
	signed, err := body.Sign(l.state.group(), key)
	if err != nil {
		return certificate.SignedRevocation{}, err
	}
	err = l.record(entry{
		Time: clock.FromMillis(body.Time), Event: revoked, Number: body.Version, Serial: body.Serial,
		Name: newest.Name, Member: &m, Reason: reason, Evidence: by, Object: signed.Raw(),
	})
	return signed, err
}
