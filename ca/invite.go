package ca

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
)

// The sizes of what an invite consists of.
const (
	inviteIDSize     = 8
	inviteSecretSize = 16 // nobody guesses 128 bits over a network
)

// The permitted life of an invite.
const (
	minInviteLifetime = time.Minute
	// maxInviteLifetime bounds how long a secret that is lying about somewhere
	// lets somebody in.
	maxInviteLifetime = 30 * 24 * time.Hour
	// defaultInviteLifetime is that of an invite which is used at once.
	defaultInviteLifetime = time.Hour
)

// InviteID names an invite. It is no secret.
type InviteID [inviteIDSize]byte

func (i InviteID) String() string { return hex.EncodeToString(i[:]) }

// MarshalText is the form in the log and in listings.
func (i InviteID) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads that form and no other: no capitals.
func (i *InviteID) UnmarshalText(text []byte) error {
	if len(text) != 2*inviteIDSize {
		return errLine
	}
	if _, err := hex.Decode(i[:], text); err != nil || i.String() != string(text) {
		return errLine
	}
	return nil
}

// Invited is an invite as it is given away: whoever has it becomes a member.
type Invited struct {
	ID      [inviteIDSize]byte
	Secret  [inviteSecretSize]byte // here only: the authority keeps its hash
	Name    string                 // that the member will have
	Role    certificate.Role       // that it will have
	Class   string                 // that it will have; empty: none
	Expires time.Time
}

// Invite is what an authority remembers of an invite.
type Invite struct {
	ID        InviteID
	Name      string
	Role      certificate.Role
	Class     string
	Made      time.Time
	Expires   time.Time
	Member    ident.Member // who has used it, zero while nobody has
	Cancelled time.Time    // when it was taken back, zero if it was not

	hash [sha256.Size]byte // of the secret
}

// invites are all that were made, as the log says.
type invites struct {
	list []*Invite // in the order in which they were made
	byID map[InviteID]*Invite
}

// Invite makes an invite for a member with this name, good once, for a while; 0
// means an hour. It signs nothing, so the private key is not
// needed. Errors: certificate.ErrName, ErrLifetime, ErrNameInUse, ErrLocked,
// ErrBroken, and those of the disk.
func (a *Authority) Invite(name string, lifetime time.Duration) (Invited, error) {
	return a.inviteAs(certificate.MemberRole, "", name, lifetime)
}

// InviteClass is Invite for a member of a class. Error: also ident.ErrClass.
func (a *Authority) InviteClass(class, name string, lifetime time.Duration) (Invited, error) {
	if err := ident.CheckClass(class); err != nil {
		return Invited{}, err
	}
	return a.inviteAs(certificate.MemberRole, class, name, lifetime)
}

// InviteGate is Invite for a gate.
func (a *Authority) InviteGate(name string, lifetime time.Duration) (Invited, error) {
	return a.inviteAs(certificate.GateRole, "", name, lifetime)
}

func (a *Authority) inviteAs(role certificate.Role, class, name string, lifetime time.Duration) (Invited, error) {
	if lifetime == 0 {
		lifetime = defaultInviteLifetime
	}
	if err := certificate.CheckName(name); err != nil {
		return Invited{}, err
	}
	if lifetime < minInviteLifetime || lifetime > maxInviteLifetime {
		return Invited{}, fmt.Errorf("%w: %s, must be %s to %s for an invite", ErrLifetime,
			duration.Format(lifetime), duration.Format(minInviteLifetime), duration.Format(maxInviteLifetime))
	}
	made := Invited{Name: name, Role: role, Class: class}
	err := a.locked(func(l *ledger) error { return l.invite(&made, lifetime) })
	if err != nil {
		return Invited{}, err
	}
	return made, nil
}

// invite fills in an invite and records it.
func (l *ledger) invite(made *Invited, lifetime time.Duration) error {
	now := l.now()
	if err := l.state.nameIsFree(made.Name, ident.Member{}, now); err != nil {
		return err
	}
	for _, field := range [][]byte{made.ID[:], made.Secret[:]} {
		if _, err := io.ReadFull(l.options.Rand, field); err != nil {
			return err
		}
	}
	id, hash := InviteID(made.ID), sha256.Sum256(made.Secret[:])
	if l.state.invites.byID[id] != nil {
		return fmt.Errorf("%w: invite %v made twice", errSequence, id)
	}
	made.Expires = now.Add(lifetime)
	return l.record(entry{
		Time: now, Event: invited, Name: made.Name, Role: made.Role, Class: made.Class, NotAfter: &made.Expires, Invite: &id, Secret: hash[:],
	})
}

// take takes in an invite that was made.
func (v *invites) take(e entry) error {
	if e.Invite == nil || e.NotAfter == nil || len(e.Secret) != sha256.Size {
		return errLine
	}
	if v.byID[*e.Invite] != nil {
		return errSequence
	}
	i := &Invite{ID: *e.Invite, Name: e.Name, Role: e.Role, Class: e.Class, Made: e.Time, Expires: *e.NotAfter, hash: [sha256.Size]byte(e.Secret)}
	v.byID[i.ID] = i
	v.list = append(v.list, i)
	return nil
}

// takeUse takes in that a certificate was issued for an invite.
func (v *invites) takeUse(id InviteID, by ident.Member) error {
	i := v.byID[id]
	if i == nil || !i.unused() {
		return errSequence
	}
	i.Member = by
	return nil
}

// Redeem issues a certificate to a key for an invite, which is used up by it in
// the same instant: one line of the log is both. The same key gets its
// certificate again when it asks again, so that an answer that was lost does no
// harm.
//
// Errors: ErrRefused for all that an outsider must not learn: there is no such
// invite, it has been used or taken back, it has expired, the secret is wrong. What the error
// wraps says which, for the operator's log and nobody else; the time that it
// takes does not. To those with the right secret: ErrOtherName, ErrRevoked,
// ErrLeft, and the errors of Issue.
func (a *Authority) Redeem(id [inviteIDSize]byte, secret [inviteSecretSize]byte, name string, key *signature.PublicKey) (certificate.Certificate, error) {
	var cert certificate.Certificate
	err := a.signing(func(l *ledger, by *signature.PrivateKey) error {
		public := key.Bytes()
		member := ident.MemberOf(l.state.group(), public[:])
		i, err := l.state.invites.admit(id, secret, member, l.now())
		if err != nil {
			return err
		}
		switch {
		case name != i.Name:
			return fmt.Errorf("%w: %q, the invite is for %q", ErrOtherName, name, i.Name)
		case i.Member == member:
			cert, err = l.state.newestOf(member)
		default:
			cert, err = l.issue(Request{Name: name, Key: key, Role: i.Role, Class: i.classOf()}, by, &i.ID)
		}
		return err
	})
	if err != nil {
		return certificate.Certificate{}, err
	}
	return cert, nil
}

// classOf is what a certificate for the invite is to have. A member that joins once more with an invite that names
// none keeps its own.
func (i *Invite) classOf() *string {
	if i.Class == "" {
		return nil
	}
	return &i.Class
}

// admit is the invite with this secret if it is good for a member. It does the
// same whatever is wrong.
func (v *invites) admit(id InviteID, secret [inviteSecretSize]byte, by ident.Member, now time.Time) (*Invite, error) {
	i, known := v.byID[id]
	if !known {
		i = &Invite{} // nothing has this hash
	}
	hash := sha256.Sum256(secret[:])
	right := subtle.ConstantTimeCompare(hash[:], i.hash[:]) == 1
	switch {
	case !known:
		return nil, fmt.Errorf("%w: no invite %v", ErrRefused, id)
	case !right:
		return nil, fmt.Errorf("%w: wrong secret for invite %v (%s)", ErrRefused, id, i.Name)
	case i.Member == by:
		return i, nil
	case !i.Member.IsZero():
		return nil, fmt.Errorf("%w: invite %v (%s) was used by member %v", ErrRefused, id, i.Name, i.Member)
	case !i.Cancelled.IsZero():
		return nil, fmt.Errorf("%w: invite %v (%s) was revoked at %s", ErrRefused, id, i.Name, i.Cancelled.Format(time.RFC3339))
	case !now.Before(i.Expires):
		return nil, fmt.Errorf("%w: invite %v (%s) expired at %s", ErrRefused, id, i.Name, i.Expires.Format(time.RFC3339))
	}
	return i, nil
}
