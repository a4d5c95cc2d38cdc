package directory

import (
	"cmp"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// facts is all that is known about one member. Each part is empty until
// something is known, and has its own take method: a join that keeps the
// greater of two in a total order. There may be a million of these, so objects
// are kept as the bytes that travel, with what is asked for often beside them,
// and what few members have stands apart.
type facts struct {
	id          ident.Member
	certificate certificate.Packed
	notBefore   int64 // of the certificate, seconds since 1970
	notAfter    int64
	endpoint    certificate.PackedEndpoint
	sequence    uint64 // of the endpoint record
	rare        *rare  // nil for most

	// What follows from all this. Directory.changed keeps it up.

	fingerprint Fingerprint // while it is shown
	place       int         // in the pool of its role
	role        role
	ring        ringRole
	mode        uint8 // of the endpoint record; 0 without one
	listed      bool  // in the order of ids: there is a certificate
	shown       bool  // to peers: see Directory.shows
	living      bool  // counted for the limit
	failed      bool  // a quorum says so

	connected bool // has a live connection to this member now

	authority uint8 // which of the directory's has signed the certificate
	retired   bool  // that one is not in force any more

	class uint16 // that the certificate has, by its number among the directory's classes
}

// rare is what is known of few members.
type rare struct {
	revocation *revocation
	leave      *leave
	failures   []statement         // against this member, in the order of their rank
	against    map[*facts]struct{} // whose failures have a statement by this member
	place      int                 // among the failed who can be dialled, or absent
}

// leave is a verified notice of leave.
type leave struct {
	time uint64
	raw  string
}

// absent is the place of a member that is in no pool.
const absent = -1

// rarely is the place for what few have, made if need be.
func (f *facts) rarely() *rare {
	if f.rare == nil {
		f.rare = &rare{place: absent}
	}
	return f.rare
}

// takeCertificate keeps the certificate that expires later, and reports whether
// that is the given one. One of a CA key that has been retired stands behind any
// other: whoever has such a key can have it last as long as it likes. Two that
// expire in the same second are ordered by serial number and then by their
// bytes, so that all members keep the same one.
func (f *facts) takeCertificate(c certificate.Certificate, authority uint8, retired bool) bool {
	if !f.certificate.IsZero() {
		if retired && !f.retired || retired == f.retired && f.compareCertificate(c) <= 0 {
			return false
		}
	}
	f.authority, f.retired = authority, retired
	f.certificate = c.Pack()
	f.notBefore, f.notAfter = c.Body().NotBefore.Unix(), c.Body().NotAfter.Unix()
	return true
}

// compareCertificate orders a certificate and the one that is kept.
func (f *facts) compareCertificate(c certificate.Certificate) int {
	x := c.Body()
	if order := cmp.Compare(x.NotAfter.Unix(), f.notAfter); order != 0 {
		return order
	}
	return cmp.Or(
		cmp.Compare(x.Serial, f.certificate.Open().Body().Serial),
		cmp.Compare(string(c.Raw()), f.certificate.Raw()),
	)
}

// takeEndpoint keeps the record with the higher sequence number, and reports
// whether that is the given one. A member that signs two records with one
// number is broken; their bytes decide.
func (f *facts) takeEndpoint(e certificate.SignedEndpoint) bool {
	sequence := e.Body().Sequence
	if !f.endpoint.IsZero() && cmp.Or(
		cmp.Compare(sequence, f.sequence),
		cmp.Compare(string(e.Raw()), f.endpoint.Raw()),
	) <= 0 {
		return false
	}
	f.endpoint, f.sequence, f.mode = certificate.PackEndpoint(e), sequence, uint8(e.Body().Mode)
	return true
}

// takeLeave keeps the first notice of leave, by time and then by their bytes,
// and reports whether that is the given one.
func (f *facts) takeLeave(l certificate.SignedLeave) bool {
	n := &leave{time: l.Body().Time, raw: string(l.Raw())}
	if old := f.leave(); old != nil && cmp.Or(cmp.Compare(n.time, old.time), cmp.Compare(n.raw, old.raw)) >= 0 {
		return false
	}
	f.rarely().leave = n
	return true
}

// takeRevocation keeps the revocation of the lowest version: the one by which
// the member died.
func (f *facts) takeRevocation(r *revocation) {
	if old := f.revocation(); old == nil || compareRevocations(r, old) < 0 {
		f.rarely().revocation = r
	}
}

func (f *facts) revocation() *revocation {
	if f.rare == nil {
		return nil
	}
	return f.rare.revocation
}

func (f *facts) leave() *leave {
	if f.rare == nil {
		return nil
	}
	return f.rare.leave
}

// failures are the statements against the member that are kept.
func (f *facts) failures() []statement {
	if f.rare == nil {
		return nil
	}
	return f.rare.failures
}

// known reports whether there is a certificate.
func (f *facts) known() bool { return !f.certificate.IsZero() }

// gone reports whether the member is dead permanently.
func (f *facts) gone() bool { return f.revocation() != nil || f.leave() != nil }

// alive reports whether the member is one, whatever the time: it is known, by a
// CA key in force, not departed, and no quorum says that it does not answer.
func (f *facts) alive() bool { return f.known() && !f.retired && !f.gone() && !f.failed }

// valid reports whether the certificate is valid at the time now.
func (f *facts) valid(now time.Time) bool {
	s := now.Unix()
	return f.known() && !f.retired && f.notBefore <= s && s < f.notAfter
}

// status is why the member may not be given a token at the time now, or nil.
func (f *facts) status(now time.Time) error {
	s := now.Unix()
	switch {
	case f.revocation() != nil:
		return ErrRevoked
	case f.leave() != nil:
		return ErrLeft
	case f.failed:
		return ErrFailed
	case !f.known():
		return ErrUnknown
	case f.retired:
		return ErrRetired
	case s < f.notBefore:
		return fmt.Errorf("%w: it will be at %s", certificate.ErrNotYetValid, rfc3339(f.notBefore))
	case s >= f.notAfter:
		return fmt.Errorf("%w at %s", certificate.ErrExpired, rfc3339(f.notAfter))
	}
	return nil
}

func rfc3339(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// reachable reports whether the member has addresses.
func (f *facts) reachable() bool { return certificate.Mode(f.mode) == certificate.Reachable }

// dialsOut reports whether the member says that it cannot be dialled.
func (f *facts) dialsOut() bool { return certificate.Mode(f.mode) == certificate.DialsOut }

// addresses is where the member can be dialled.
func (f *facts) addresses() []string {
	if !f.reachable() {
		return nil
	}
	return f.endpoint.Body().Addresses
}

// attachments is to whom the member is attached, if it is alive.
func (f *facts) attachments() []ident.Member {
	if !f.alive() || !f.dialsOut() {
		return nil
	}
	return f.endpoint.Body().Attached
}

// isCertificate reports whether these are the bytes of the one that is kept.
func (f *facts) isCertificate(raw []byte) bool { return same(raw, f.certificate.Raw()) }

func same(raw []byte, kept string) bool { return len(raw) > 0 && string(raw) == kept }

// bytesOf is kept bytes for a caller, or nil.
func bytesOf(kept string) []byte {
	if kept == "" {
		return nil
	}
	return []byte(kept)
}
