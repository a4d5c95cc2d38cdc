package directory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxMembers bounds the members that a directory knows, and the revocations,
// whose bound no group can lower. Every one was signed by the CA, so only a
// group that has had a million members comes near. A member with an endpoint
// record costs about 1.2 kB.
const MaxMembers = 1 << 20

// Group is what a directory asks of its group: a *group.Group.
type Group interface {
	// ID is the group's identifier.
	ID() ident.Group
	certificate.Authorities
}

// Directory is what one member knows of the members of its group. The zero
// value is of no use. It is not safe for concurrent use.
type Directory struct {
	group Group
	self  ident.Member
	limit int // of living

	living  int // members with a certificate that are not revoked
	members map[ident.Member]*facts
	seen    map[digest]*facts // whose certificate or revocation this is
	order   order
	pools   [roles]pool
	links   links
	sample  *sample // nil: candidates are all members
	revoked revocations
}

// digest stands for the bytes of an object that has verified as of some kind,
// so that repetitions, which are most of what peers say, cost a hash and no
// signature check. On a match the object at hand is used and the given bytes
// are not, so half a hash is enough.
type digest [16]byte

func digestOf(kind envelope.Kind, raw []byte) digest {
	h := sha256.New()
	h.Write([]byte{byte(kind)})
	h.Write(raw)
	var sum [sha256.Size]byte
	return digest(h.Sum(sum[:0])[:16])
}

// New returns an empty directory of the member self of group g.
func New(g Group, self ident.Member) *Directory {
	return &Directory{
		group: g, self: self, limit: MaxMembers,
		members: make(map[ident.Member]*facts),
		seen:    make(map[digest]*facts),
		links:   newLinks(),
		revoked: revocations{limit: MaxMembers},
	}
}

// Learn takes in an encoded certificate and returns it verified, also when a
// later one of the same member is kept in its place. Expired certificates are
// taken, too: see Status. news says that the directory changed. Errors are
// those of certificate.Parse, and ErrFull.
func (d *Directory) Learn(raw []byte) (c certificate.Certificate, news bool, err error) {
	if f := d.seen[digestOf(envelope.Certificate, raw)]; f != nil {
		return *f.certificate, false, nil
	}
	c, err = certificate.Parse(d.group.ID(), raw, d.group)
	if err != nil {
		return certificate.Certificate{}, false, err
	}
	news, err = d.admit(c)
	return c, news, err
}

// Admit takes in a certificate of this group that has been verified elsewhere:
// in a TLS handshake. news says that the directory changed, which it does not
// when it is full.
func (d *Directory) Admit(c certificate.Certificate) (news bool) {
	news, _ = d.admit(c)
	return news
}

func (d *Directory) admit(c certificate.Certificate) (news bool, err error) {
	f := d.about(c.Member())
	before := f.certificate
	if before == nil && f.revocation == nil && d.living >= d.limit {
		d.tidy(f)
		return false, fmt.Errorf("%w: %d members", ErrFull, d.limit)
	}
	if !f.takeCertificate(c) {
		return false, nil
	}
	if before != nil {
		delete(d.seen, digestOf(envelope.Certificate, before.Raw()))
	} else {
		d.order.add(f.id)
		if f.revocation == nil {
			d.living++
		}
	}
	d.seen[digestOf(envelope.Certificate, c.Raw())] = f
	d.settle(f)
	return true, nil
}

// about is the place for what is known of m, made if need be.
func (d *Directory) about(m ident.Member) *facts {
	f := d.members[m]
	if f == nil {
		f = &facts{id: m}
		d.members[m] = f
	}
	return f
}

// tidy gives up the place of a member of whom nothing is known.
func (d *Directory) tidy(f *facts) {
	if f.certificate == nil && f.revocation == nil {
		delete(d.members, f.id)
	}
}

// SetLimit bounds the members that are taken in from now on, revoked ones not
// counted: members_max of the group configuration. It is 1 to MaxMembers,
// which it is at first. Nobody who is known already is forgotten.
func (d *Directory) SetLimit(n int) { d.limit = min(max(n, 1), MaxMembers) }

// Forget drops the members whose last certificate ended before the given time,
// so that a directory does not fill up with those who left without a word. To
// be called now and then, with a time so far back that nothing they signed can
// still be under way. Revocations, this member itself, those with a live
// connection and those who are needed stay. It costs a look at every member.
func (d *Directory) Forget(before time.Time, needed func(ident.Member) bool) {
	d.order.keep(func(m ident.Member) bool {
		f := d.members[m]
		if m == d.self || f.connected || needed(m) || !f.certificate.Claims().NotAfter.Before(before) {
			return true
		}
		d.forget(f)
		return false
	})
}

func (d *Directory) forget(f *facts) {
	delete(d.seen, digestOf(envelope.Certificate, f.certificate.Raw()))
	f.certificate, f.endpoint = nil, nil
	d.settle(f)
	if f.revocation == nil {
		d.living--
	}
	d.tidy(f)
}

// LearnEndpoint takes in an encoded endpoint record. news says that the
// directory changed. Errors are ErrUnknown when there is no certificate of the
// member yet, and those of certificate.ParseEndpoint.
func (d *Directory) LearnEndpoint(raw []byte) (news bool, err error) {
	m, err := certificate.EndpointSigner(d.group.ID(), raw)
	if err != nil {
		return false, err
	}
	f := d.members[m]
	if f == nil || f.certificate == nil {
		return false, fmt.Errorf("%w: %v", ErrUnknown, m)
	}
	if f.endpoint != nil && bytes.Equal(raw, f.endpoint.Raw()) {
		return false, nil
	}
	e, err := certificate.ParseEndpoint(d.group.ID(), raw, f.certificate.Key())
	if err != nil || !f.takeEndpoint(e) {
		return false, err
	}
	d.settle(f)
	return true, nil
}

// Connected says whether there is a live connection to m, which makes it
// eligible even when it cannot be dialled. For a member without a certificate
// here it does nothing: Admit comes first.
func (d *Directory) Connected(m ident.Member, live bool) {
	if f := d.members[m]; f != nil && f.certificate != nil {
		f.connected = live
		d.settle(f)
	}
}

// Key is the public key of m, dead or alive; nil when there is no certificate
// of it. It makes a Directory what token.Keys asks for.
func (d *Directory) Key(m ident.Member) *signature.PublicKey {
	if f := d.members[m]; f != nil && f.certificate != nil {
		return f.certificate.Key()
	}
	return nil
}

// Certificate is the certificate of m that expires last, whether or not it is
// valid now and m alive.
func (d *Directory) Certificate(m ident.Member) (c certificate.Certificate, ok bool) {
	if f := d.members[m]; f != nil && f.certificate != nil {
		return *f.certificate, true
	}
	return certificate.Certificate{}, false
}

// Endpoint is the encoded endpoint record of m.
func (d *Directory) Endpoint(m ident.Member) (raw []byte, ok bool) {
	if f := d.members[m]; f != nil && f.endpoint != nil {
		return f.endpoint.Raw(), true
	}
	return nil, false
}

// Addresses is where m can be dialled, as host:port: nil when that is not
// known, or m only dials out. The caller must not change it.
func (d *Directory) Addresses(m ident.Member) []string {
	if f := d.members[m]; f != nil {
		return f.addresses()
	}
	return nil
}

// Status is nil when m is a member in good standing at the time now. Otherwise
// it is, or wraps, ErrRevoked, ErrUnknown, certificate.ErrExpired or
// certificate.ErrNotYetValid.
func (d *Directory) Status(m ident.Member, now time.Time) error {
	if f := d.members[m]; f != nil {
		return f.status(now)
	}
	return ErrUnknown
}
