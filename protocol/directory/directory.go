package directory

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxMembers bounds the members that a directory knows, and the revocations,
// whose bound no group can lower. The CA signed every one of them, so only a
// group that has had a million members comes near. A member with an endpoint
// record costs 640 bytes, of which the two objects as they travel are 380: a
// million members need 0.64 GB. Failure statements come on top, 250 bytes each
// and at most MaxFailureQuorum for a member; only a group full of liars has so
// many.
const MaxMembers = 1 << 20

// Group is what a directory asks of its group: a *group.Group.
type Group interface {
	// ID is the group's identifier.
	ID() ident.Group
	certificate.Authorities
}

// Directory is what one member knows of the members of its group: a Register of
// the objects that it has verified, and three views derived from them. Its
// Learn methods take objects in, in any order, and update the views (see
// Merging in the package documentation). Create one with New. It is not safe
// for concurrent use.
type Directory struct {
	*Register
	*Pages
	*Selector
	*Ring

	group       Group
	limit       int // of living
	living      int // members with a certificate that have not departed
	expected    versions
	failures    failures
	revoked     revocations
	authorities authorities
}

// versions are those that the CA had published when it issued a certificate.
type versions struct {
	configuration uint64
	revocations   uint64
}

// New returns an empty directory of the member self of group g.
func New(g Group, self ident.Member) *Directory {
	known := newRegister(g, self)
	return &Directory{
		Register: known, Pages: &Pages{known: known}, Selector: &Selector{known: known, links: newLinks()}, Ring: &Ring{known: known},
		group: g, limit: MaxMembers,
		failures: failures{known: known, quorum: minFailureQuorum},
		revoked:  revocations{limit: MaxMembers},
	}
}

// Learn takes in an encoded certificate and returns it verified, even if the
// directory keeps a later one of the same member in its place. It takes expired
// certificates too: Eligible tells them apart. news says that the directory
// changed. Errors are those of certificate.Parse, ErrForgotten and ErrFull.
func (d *Directory) Learn(raw []byte) (c certificate.Certificate, news bool, err error) {
	return d.learn(raw, d.fresh)
}

// LearnSigner is Learn for a certificate that is needed to check a signature.
// It takes the certificate even if that ended so long ago that it has been
// forgotten, because a token may live longer than the member that made it. Such
// a member is on no page, and Forget drops it once it is not needed.
func (d *Directory) LearnSigner(raw []byte) (c certificate.Certificate, news bool, err error) {
	return d.learn(raw, func(certificate.Claims) error { return nil })
}

func (d *Directory) learn(raw []byte, check func(certificate.Claims) error) (c certificate.Certificate, news bool, err error) {
	claims, err := certificate.Peek(d.group.ID(), raw)
	if err != nil {
		return certificate.Certificate{}, false, err
	}
	m := ident.MemberOf(claims.Group, claims.Key[:])
	defer d.mentioned(m)
	f := d.members[m]
	if f != nil && f.isCertificate(raw) {
		return f.certificate.Open(), false, nil
	}
	if err := check(claims); err != nil {
		return certificate.Certificate{}, false, err
	}
	c, err = certificate.Parse(d.group.ID(), raw, d.group)
	if err != nil {
		return certificate.Certificate{}, false, err
	}
	news, err = d.admit(c)
	return c, news, err
}

// Admit takes in a certificate of this group that the TLS handshake has
// verified, unless it is a gate's. news says that the directory changed; a full directory does not.
func (d *Directory) Admit(c certificate.Certificate) (news bool) {
	news, _ = d.admit(c)
	return news
}

func (d *Directory) admit(c certificate.Certificate) (news bool, err error) {
	if c.Role() != certificate.MemberRole {
		return false, fmt.Errorf("%w: %v", certificate.ErrRole, c.Role())
	}
	d.expect(c.Body())
	if f := d.members[c.Member()]; d.living >= d.limit && (f == nil || !f.known() && !f.gone()) {
		return false, fmt.Errorf("%w: %d members", ErrFull, d.limit)
	}
	return d.keep(c), nil
}

// keep is admit whether or not there is room.
func (d *Directory) keep(c certificate.Certificate) (news bool) {
	d.expect(c.Body())
	f := d.about(c.Member())
	if authority, retired := d.authorities.signed(c, d.group); !f.takeCertificate(c, authority, retired) {
		return false
	}
	f.class = d.classes.number(c.Class())
	d.changed(f)
	return true
}

func (d *Directory) expect(c certificate.Claims) {
	d.expected.configuration = max(d.expected.configuration, c.ConfigVersion)
	d.expected.revocations = max(d.expected.revocations, c.RevocationVersion)
}

// Expected returns the highest versions of the group configuration and of the
// revocation list that any certificate states. The CA had published those when
// it issued the certificate, so a member that does not know them lags behind.
func (d *Directory) Expected() (configuration, revocations uint64) {
	return d.expected.configuration, d.expected.revocations
}

// changed draws the conclusions from facts that have changed. Nothing happens
// when they have not.
func (d *Directory) changed(f *facts) {
	was := f.shown
	f.failed = d.failures.isFailed(f)
	switch living := f.known() && !f.gone(); {
	case living && !f.living:
		d.living++
		f.living = true
	case !living && f.living:
		d.living--
		f.living = false
	}
	d.list(f)
	d.updateFailed(f)
	d.update(f)
	d.enroll(f)
	if f.shown != was {
		d.heard(f)
	}
}

// heard draws the conclusions for those against whom a member has spoken, when
// its word does not mean any more what it did.
func (d *Directory) heard(f *facts) {
	for _, subject := range f.subjects() {
		d.changed(subject)
	}
}

// SetLimit bounds the members that are taken in from now on, revoked ones not
// counted. n is members_max of the group configuration; it is kept within 1 and
// MaxMembers, and MaxMembers is the limit before the first call. Members that
// are known already stay.
func (d *Directory) SetLimit(n int) { d.limit = min(max(n, 1), MaxMembers) }

// LearnEndpoint takes in an encoded endpoint record. news says that the
// directory changed. Errors are ErrUnknown when there is no certificate of the
// member yet, and those of certificate.ParseEndpoint.
func (d *Directory) LearnEndpoint(raw []byte) (news bool, err error) {
	m, err := certificate.EndpointSigner(d.group.ID(), raw)
	if err != nil {
		return false, err
	}
	f := d.members[m]
	if f == nil || !f.known() {
		return false, fmt.Errorf("%w: %v", ErrUnknown, m)
	}
	if same(raw, f.endpoint.Raw()) {
		return false, nil
	}
	e, err := certificate.ParseEndpoint(d.group.ID(), raw, d.Key(m))
	if err != nil {
		return false, err
	}
	return d.acceptEndpoint(f, e), nil
}

func (d *Directory) acceptEndpoint(f *facts, e certificate.SignedEndpoint) (news bool) {
	if !f.takeEndpoint(e) {
		return false
	}
	d.failures.set(f, f.failures())
	d.changed(f)
	return true
}

// Connected says whether there is a live connection to m. A live connection
// makes m eligible as a receiver even when m cannot be dialled. For a member
// without a certificate here Connected does nothing, so call Admit first.
func (d *Directory) Connected(m ident.Member, live bool) {
	if f := d.members[m]; f != nil && f.known() {
		f.connected = live
		d.update(f)
		d.enroll(f)
		if live {
			d.mentioned(m)
		}
	}
}
