package ca

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// minMemberLifetime is the shortest life of a certificate: a validity is in
// whole seconds.
const minMemberLifetime = time.Second

// gateLifetime is that of a gate's certificate if nobody asks for another one: a gate renews each few
// days, and a stolen key of a gate is worth nothing soon.
const gateLifetime = 7 * 24 * time.Hour

// Request asks for a certificate.
type Request struct {
	Name string // see certificate.CheckName
	Key  *signature.PublicKey
	// Role is what the certificate makes of the key. No key has two.
	Role certificate.Role
	// Class is that of a member, by which resources may weigh it; empty is none. Nil keeps the one that its newest
	// certificate has.
	Class *string
	// Lifetime from now on; 0 means the longest that the configuration permits,
	// or group.DefaultCertificateLifetime before there is one, but for a gate at most
	// gateLifetime. It ends with the CA certificate at the latest.
	Lifetime time.Duration
}

// Issue issues a certificate. For a key that has one already this is a
// renewal: the member stays the same. Errors: certificate.ErrName, ErrOwnKey, ErrRole for a
// key that has another role, ident.ErrClass, ErrRevoked, ErrLeft, ErrNameInUse, ErrLifetime, ErrExpired, ErrLocked, ErrBroken,
// those of opening the key, and those of the disk. Opening the key: ErrNoKey,
// ErrKeyMismatch, and those of keyfile.DecodePrivateKey and keyfile.CheckMode.
func (a *Authority) Issue(r Request) (certificate.Certificate, error) {
	if err := certificate.CheckName(r.Name); err != nil {
		return certificate.Certificate{}, err
	}
	var signed certificate.Certificate
	err := a.signing(func(l *ledger, key *signature.PrivateKey) error {
		var err error
		signed, err = l.issue(r, key, nil)
		return err
	})
	if err != nil {
		return certificate.Certificate{}, err
	}
	return signed, nil
}

// issue issues a certificate, and with it uses up an invite unless that is nil.
func (l *ledger) issue(r Request, key *signature.PrivateKey, invite *InviteID) (certificate.Certificate, error) {
	now := l.now()
	c, err := l.state.claims(r, now)
	if err != nil {
		return certificate.Certificate{}, err
	}
	if c.Serial, err = l.drawSerial(); err != nil {
		return certificate.Certificate{}, err
	}
	signed, err := c.Sign(key)
	if err != nil {
		return certificate.Certificate{}, err
	}
	c, member := signed.Body(), signed.Member()
	err = l.record(entry{
		Time: now, Event: issued, Serial: c.Serial, Name: c.Name, Member: &member, Role: c.Role, Class: c.Class,
		NotBefore: &c.NotBefore, NotAfter: &c.NotAfter, Invite: invite, Object: signed.Raw(),
	})
	return signed, err
}

// claims are those of a certificate that may be issued, but for the serial.
func (s *state) claims(r Request, now time.Time) (certificate.Claims, error) {
	ca := s.signer().Body()
	if s.numberOf(certificate.AuthorityID(r.Key)) != 0 {
		return certificate.Claims{}, ErrOwnKey
	}
	public := r.Key.Bytes()
	member := ident.MemberOf(s.group(), public[:])
	if err := s.final(member); err != nil {
		return certificate.Claims{}, err
	}
	newest, known := s.lastOf(member)
	if known && newest.Role != r.Role {
		return certificate.Claims{}, fmt.Errorf("%w: %v is a %v", ErrRole, member, newest.Role)
	}
	class := newest.Class
	if r.Class != nil {
		class = *r.Class
	}
	if err := s.nameIsFree(r.Name, member, now); err != nil {
		return certificate.Claims{}, err
	}
	lifetime, err := s.lifetime(r.Lifetime, r.Role)
	if err != nil {
		return certificate.Claims{}, err
	}
	if !now.Before(ca.NotAfter) {
		return certificate.Claims{}, fmt.Errorf("%w on %s", ErrExpired, ca.NotAfter.Format(time.DateOnly))
	}
	return certificate.Claims{
		Name: r.Name, Key: public, Role: r.Role, Class: class, Group: s.group(), IssuedAt: now,
		NotBefore:     later(now.Add(-backdate), ca.NotBefore),
		NotAfter:      earlier(now.Add(lifetime), ca.NotAfter),
		ConfigVersion: s.config.Version(), RevocationVersion: s.revocationVersion(),
	}, nil
}

// nameIsFree returns ErrNameInUse when another living member has a certificate
// with the name.
func (s *state) nameIsFree(name string, member ident.Member, now time.Time) error {
	for _, other := range s.named(name, now) {
		if other != member {
			return fmt.Errorf("%w: %s is member %v", ErrNameInUse, name, other)
		}
	}
	return nil
}

func (s *state) lifetime(wanted time.Duration, role certificate.Role) (time.Duration, error) {
	longest := group.DefaultCertificateLifetime
	if !s.config.IsZero() {
		longest = s.config.Settings().CertificateLifetime
	}
	if wanted == 0 && role == certificate.GateRole {
		return min(gateLifetime, longest), nil
	}
	if wanted == 0 {
		return longest, nil
	}
	if wanted < minMemberLifetime || wanted > longest {
		return 0, fmt.Errorf("%w: %s, must be %s to %s", ErrLifetime,
			duration.Format(wanted), duration.Format(minMemberLifetime), duration.Format(longest))
	}
	return wanted, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
