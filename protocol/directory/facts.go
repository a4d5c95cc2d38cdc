package directory

import (
	"bytes"
	"cmp"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// facts is all that is known about one member. Each part is nil until
// something is known, and has its own take method: a join that keeps the
// greater of two in a total order.
type facts struct {
	id          ident.Member
	certificate *certificate.Certificate
	endpoint    *certificate.SignedEndpoint
	revocation  *certificate.SignedRevocation

	connected bool // has a live connection to this member now
	role      role // when the next holder is chosen
	place     int  // in the pool of its role
}

// takeCertificate keeps the certificate that expires later, and reports whether
// that is the given one. Two that expire in the same second are ordered by
// serial number and then by their bytes, so that all members keep the same one.
func (f *facts) takeCertificate(c certificate.Certificate) bool {
	if f.certificate != nil && compareCertificates(c, *f.certificate) <= 0 {
		return false
	}
	f.certificate = &c
	return true
}

func compareCertificates(a, b certificate.Certificate) int {
	x, y := a.Claims(), b.Claims()
	return cmp.Or(
		x.NotAfter.Compare(y.NotAfter),
		cmp.Compare(x.Serial, y.Serial),
		bytes.Compare(a.Raw(), b.Raw()),
	)
}

// takeEndpoint keeps the record with the higher sequence number, and reports
// whether that is the given one. A member that signs two records with one
// number is broken; their bytes decide.
func (f *facts) takeEndpoint(e certificate.SignedEndpoint) bool {
	if f.endpoint != nil && compareEndpoints(e, *f.endpoint) <= 0 {
		return false
	}
	f.endpoint = &e
	return true
}

func compareEndpoints(a, b certificate.SignedEndpoint) int {
	return cmp.Or(
		cmp.Compare(a.Body().Sequence, b.Body().Sequence),
		bytes.Compare(a.Raw(), b.Raw()),
	)
}

// takeRevocation keeps the revocation of the lowest version: the one by which
// the member died.
func (f *facts) takeRevocation(r certificate.SignedRevocation) {
	if f.revocation == nil || compareRevocations(r, *f.revocation) < 0 {
		f.revocation = &r
	}
}

func compareRevocations(a, b certificate.SignedRevocation) int {
	return cmp.Or(
		cmp.Compare(a.Body().Version, b.Body().Version),
		bytes.Compare(a.Raw(), b.Raw()),
	)
}

// status is why the member may not be given a token at the time now, or nil.
func (f *facts) status(now time.Time) error {
	switch {
	case f.revocation != nil:
		return ErrRevoked
	case f.certificate == nil:
		return ErrUnknown
	}
	return f.certificate.ValidAt(now)
}

// addresses is where the member can be dialled.
func (f *facts) addresses() []string {
	if f.endpoint == nil || f.endpoint.Body().Mode != certificate.Reachable {
		return nil
	}
	return f.endpoint.Body().Addresses
}

// alive reports whether the member is known and not dead for ever.
func (f *facts) alive() bool { return f.certificate != nil && f.revocation == nil }

// dialsOut reports whether the member says that nobody can dial it.
func (f *facts) dialsOut() bool {
	return f.endpoint != nil && f.endpoint.Body().Mode == certificate.DialsOut
}

// attachments is to whom the member is attached, if it is alive.
func (f *facts) attachments() []ident.Member {
	if !f.alive() || !f.dialsOut() {
		return nil
	}
	return f.endpoint.Body().Attached
}
