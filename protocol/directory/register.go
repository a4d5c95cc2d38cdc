package directory

import (
	"iter"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Register has the facts about each member, by id and in the order of ids.
type Register struct {
	group   ident.Group
	self    ident.Member
	members map[ident.Member]*facts
	order   order // those with a certificate
	keys    keys
	recent  recent
	classes classes
}

func newRegister(g Group, self ident.Member) *Register {
	return &Register{
		group: g.ID(), self: self, members: make(map[ident.Member]*facts),
		keys: keys{most: keysKept, cas: g}, recent: make(recent),
	}
}

// about is the place for what is known of m, made if need be.
func (reg *Register) about(m ident.Member) *facts {
	f := reg.members[m]
	if f == nil {
		f = &facts{id: m}
		reg.members[m] = f
	}
	return f
}

// tidy gives up the place of a member of whom nothing is known.
func (reg *Register) tidy(f *facts) {
	if !f.known() && f.revocation() == nil {
		delete(reg.members, f.id)
	}
}

// holder is the member of whom this very certificate is kept, or nil.
func (reg *Register) holder(raw []byte) *facts {
	if f := reg.recent.find(raw); f != nil && reg.members[f.id] == f {
		return f
	}
	claims, err := certificate.Peek(reg.group, raw)
	if err != nil {
		return nil
	}
	f := reg.members[ident.MemberOf(claims.Group, claims.Key[:])]
	if f == nil || !f.isCertificate(raw) {
		return nil
	}
	reg.recent.note(raw, f)
	return f
}

// Key returns the public key of m, departed or not, and nil when there is no
// certificate of m. With it a Directory implements token.Keys.
func (reg *Register) Key(m ident.Member) *signature.PublicKey {
	if f := reg.members[m]; f != nil && f.known() {
		return reg.keys.of(f)
	}
	return nil
}

// Certificate returns the certificate of m that expires last, whether or not it
// is valid now, and whether or not m has departed.
func (reg *Register) Certificate(m ident.Member) (c certificate.Certificate, ok bool) {
	if f := reg.members[m]; f != nil && f.known() {
		return f.certificate.Open(), true
	}
	return certificate.Certificate{}, false
}

// Class returns that of m, as its certificate has it: empty if it has none, or no certificate of m is known.
func (reg *Register) Class(m ident.Member) string {
	if f := reg.members[m]; f != nil {
		return reg.classes.name(f.class)
	}
	return ""
}

// RawCertificate returns, in encoded form, the certificate that Certificate
// returns, or "". It decodes nothing.
func (reg *Register) RawCertificate(m ident.Member) string {
	if f := reg.members[m]; f != nil {
		return f.certificate.Raw()
	}
	return ""
}

// Endpoint returns the encoded endpoint record of m.
func (reg *Register) Endpoint(m ident.Member) (raw []byte, ok bool) {
	if f := reg.members[m]; f != nil && !f.endpoint.IsZero() {
		return []byte(f.endpoint.Raw()), true
	}
	return nil, false
}

// EndpointBody returns the decoded endpoint record of m. ok is false where none
// is known.
func (reg *Register) EndpointBody(m ident.Member) (e certificate.Endpoint, ok bool) {
	if f := reg.members[m]; f != nil && !f.endpoint.IsZero() {
		return f.endpoint.Body(), true
	}
	return certificate.Endpoint{}, false
}

// Addresses returns where m can be dialled, as host:port. It is nil when no
// address is known, as of a member that only dials out.
func (reg *Register) Addresses(m ident.Member) []string {
	if f := reg.members[m]; f != nil {
		return f.addresses()
	}
	return nil
}

// Dialable reports whether m has addresses. It decodes nothing.
func (reg *Register) Dialable(m ident.Member) bool {
	f := reg.members[m]
	return f != nil && f.reachable()
}

// Eligible returns nil when m is an eligible member at the time now. Otherwise
// it returns the first that applies of ErrRevoked, ErrLeft, ErrFailed,
// ErrUnknown, ErrRetired, certificate.ErrNotYetValid and
// certificate.ErrExpired, possibly wrapped.
func (reg *Register) Eligible(m ident.Member, now time.Time) error {
	if f := reg.members[m]; f != nil {
		return f.status(now)
	}
	return ErrUnknown
}

// Left returns the encoded statement by which m has left.
func (reg *Register) Left(m ident.Member) (raw []byte, ok bool) {
	if f := reg.members[m]; f != nil && f.leave() != nil {
		return []byte(f.leave().raw), true
	}
	return nil, false
}

// Revocation returns the encoded revocation of m.
func (reg *Register) Revocation(m ident.Member) (raw []byte, ok bool) {
	if f := reg.members[m]; f != nil && f.revocation() != nil {
		return []byte(f.revocation().raw), true
	}
	return nil, false
}

// Revoked reports whether m is revoked.
func (reg *Register) Revoked(m ident.Member) bool {
	f := reg.members[m]
	return f != nil && f.revocation() != nil
}

// HasFailure reports whether exactly this failure statement about m is kept
// here.
func (reg *Register) HasFailure(m ident.Member, raw []byte) bool {
	f := reg.members[m]
	return f != nil && f.hasFailure(raw)
}

// Failed reports whether a quorum of witnesses has signed that m does not
// answer.
func (reg *Register) Failed(m ident.Member) bool {
	f := reg.members[m]
	return f != nil && f.failed
}

// Stated returns how many members have failed according to statements of m that
// are kept here. A member that says so of many members that answer others is a
// liar, or badly connected.
func (reg *Register) Stated(m ident.Member) int {
	if f := reg.members[m]; f != nil && f.rare != nil {
		return len(f.rare.against)
	}
	return 0
}

// Sequence returns the sequence number of the endpoint record of m, which a
// failure statement about m has to name.
func (reg *Register) Sequence(m ident.Member) (n uint64, ok bool) {
	if f := reg.members[m]; f != nil && f.mode != 0 {
		return f.sequence, true
	}
	return 0, false
}

// Len returns the number of members with a certificate here, departed ones
// included.
func (reg *Register) Len() int { return reg.order.length }

// Members iterates over all members with a certificate here, departed ones
// included, in the order of their ids. The directory must not be changed
// meanwhile.
func (reg *Register) Members() iter.Seq[ident.Member] {
	return func(yield func(ident.Member) bool) {
		for f := range reg.order.from(ident.Member{}) {
			if !yield(f.id) {
				return
			}
		}
	}
}

// States iterates over the members with a certificate here whose ids are from
// or above, departed ones included, in the order of their ids. With each it
// gives what Eligible returns at the time now. Starting in the middle costs no
// more than starting at the first, so a caller can look at a large directory in
// pieces. The directory must not be changed meanwhile.
func (reg *Register) States(from ident.Member, now time.Time) iter.Seq2[ident.Member, error] {
	return func(yield func(ident.Member, error) bool) {
		for f := range reg.order.from(from) {
			if !yield(f.id, f.status(now)) {
				return
			}
		}
	}
}
