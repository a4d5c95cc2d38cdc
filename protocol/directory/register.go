package directory

import (
	"iter"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Register is what is known of each member, by id and in the order of ids. It says
// what that is, and draws no conclusions.
type Register struct {
	group   ident.Group
	self    ident.Member
	members map[ident.Member]*facts
	order   order // those with a certificate
	keys    keys
	recent  recent
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

// Key is the public key of m, dead or alive; nil when there is no certificate
// of it. It makes a Directory what token.Keys asks for.
func (reg *Register) Key(m ident.Member) *signature.PublicKey {
	if f := reg.members[m]; f != nil && f.known() {
		return reg.keys.of(f)
	}
	return nil
}

// Certificate is the certificate of m that expires last, whether or not it is
// valid now and m alive.
func (reg *Register) Certificate(m ident.Member) (c certificate.Certificate, ok bool) {
	if f := reg.members[m]; f != nil && f.known() {
		return f.certificate.Open(), true
	}
	return certificate.Certificate{}, false
}

// RawCertificate is the encoded certificate that Certificate returns, or "". It
// decodes nothing.
func (reg *Register) RawCertificate(m ident.Member) string {
	if f := reg.members[m]; f != nil {
		return f.certificate.Raw()
	}
	return ""
}

// Endpoint is the encoded endpoint record of m.
func (reg *Register) Endpoint(m ident.Member) (raw []byte, ok bool) {
	if f := reg.members[m]; f != nil && !f.endpoint.IsZero() {
		return []byte(f.endpoint.Raw()), true
	}
	return nil, false
}

// EndpointBody is what the endpoint record of m says. ok is false where none is known.
func (reg *Register) EndpointBody(m ident.Member) (e certificate.Endpoint, ok bool) {
	if f := reg.members[m]; f != nil && !f.endpoint.IsZero() {
		return f.endpoint.Body(), true
	}
	return certificate.Endpoint{}, false
}

// Addresses is where m can be dialled, as host:port: nil when that is not
// known, or m only dials out.
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

// Eligible is nil when m is an eligible member at the time now. Otherwise
// it is, or wraps, the first that applies of ErrRevoked, ErrLeft, ErrFailed,
// ErrUnknown, ErrRetired, certificate.ErrNotYetValid and certificate.ErrExpired.
func (reg *Register) Eligible(m ident.Member, now time.Time) error {
	if f := reg.members[m]; f != nil {
		return f.status(now)
	}
	return ErrUnknown
}

// Left is the encoded notice by which m has left.
func (reg *Register) Left(m ident.Member) (raw []byte, ok bool) {
	if f := reg.members[m]; f != nil && f.leave() != nil {
		return []byte(f.leave().raw), true
	}
	return nil, false
}

// Revocation is the encoded revocation by which m died.
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

// HasFailure reports whether this very statement about m is kept here.
func (reg *Register) HasFailure(m ident.Member, raw []byte) bool {
	f := reg.members[m]
	return f != nil && f.hasFailure(raw)
}

// Failed reports whether a quorum of witnesses says that m does not answer.
func (reg *Register) Failed(m ident.Member) bool {
	f := reg.members[m]
	return f != nil && f.failed
}

// Stated is of how many members m says, in statements that are kept here, that
// they do not answer. One who says so of many who do is a liar, or badly
// connected.
func (reg *Register) Stated(m ident.Member) int {
	if f := reg.members[m]; f != nil && f.rare != nil {
		return len(f.rare.against)
	}
	return 0
}

// Sequence is the sequence number of the endpoint record of m: the number that
// a failure statement has to name.
func (reg *Register) Sequence(m ident.Member) (n uint64, ok bool) {
	if f := reg.members[m]; f != nil && f.mode != 0 {
		return f.sequence, true
	}
	return 0, false
}

// Len is the number of members with a certificate here, dead ones included.
func (reg *Register) Len() int { return reg.order.length }

// Members goes through all members with a certificate here, dead ones
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

// States goes through the members with a certificate here, dead ones included,
// whose ids are from or above, in their order, with what Status says of each at
// the time now. To begin anywhere costs no more than to begin with the first, so
// that a large directory can be looked at in pieces. It must not be changed while
// one is.
func (reg *Register) States(from ident.Member, now time.Time) iter.Seq2[ident.Member, error] {
	return func(yield func(ident.Member, error) bool) {
		for f := range reg.order.from(from) {
			if !yield(f.id, f.status(now)) {
				return
			}
		}
	}
}
