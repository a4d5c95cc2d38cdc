package keeper

import (
	"encoding/binary"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// kind says what a message between two keepers is. No policy's own messages begin with
// such a byte.
type kind uint8

const (
	// want, to the keeper: I want a token and have none, or this member does.
	want kind = policy.KeeperKind + iota
	// noted answers a want: say so again in this time, if you still do.
	noted
	// have, to the keeper, and in answer to an ask: this token is here.
	have
	// rest, to the keeper: this token is here, and I promise that it rests.
	rest
	// release, to who has the promise: give it back.
	release
	// returned, to all that can be the keeper: this token is here since before a restart,
	// and rests until you say otherwise.
	returned
	// released answers a release or a returned: the promise is yours again.
	released
	// other answers them: another token circulates, and this member had it last.
	other
	// ask, by the keeper: have you a token of the slot, or had you this one? This member
	// waits for one.
	ask
	// went answers an ask: I have none, and passed this one on.
	went
	// none answers an ask: I have none, and know of none. I began so long ago.
	none
)

// inquestKind is the first byte of what is about inquests: the bytes from 0x90 to 0x9f are those of
// votes (package quorum), which may be around a Keeper.
const inquestKind = policy.KeeperKind + 0x20

const (
	// account asks a member what became of this custody of its: still, sent, proof, instead or
	// never. Its sender waits for a token.
	account kind = inquestKind + iota
	// still answers it: that token is here, by that custody.
	still
	// sent answers it: that token was passed on to that member, without a receipt so far.
	sent
	// proof answers it: this receipt shows that the token went on.
	proof
	// instead answers it: I have dropped that token for this other one, which I had from that member.
	instead
	// never answers it: I have not had it, as far as I know, and have known of all that I had for so long.
	never
	// blame: this custody of that member was the last one of a token that is lost, as far as I
	// know, and it had the token from this one.
	blame
)

// sizes are those of the bodies, behind the kind.
var sizes = map[kind]int{
	want: memberSize, noted: 4, have: custodySize + 4, rest: custodySize + 12, release: custodySize + 20, returned: custodySize + 20, released: custodySize + 12,
	other: custodySize + 12 + memberSize, ask: custodySize + memberSize, went: custodySize + memberSize + 4, none: 4,
	account: custodySize, still: custodySize, sent: custodySize + memberSize + 4, never: custodySize + 20, instead: 2*custodySize + memberSize, blame: custodySize + 2*memberSize,
}

const (
	memberSize  = 16
	custodySize = 32 + 8
)

// custody is a token at a hop.
type custody struct {
	token ident.Token
	hop   uint64
}

// promise tells one statement about a promise from all others of the same member.
type promise struct {
	life   uint64 // of who promises: when its policy began, on its own clock
	serial uint32 // grows with each
}

// message is what one keeper tells another one. Which fields it has depends on its
// kind:
//
//	want      member 16
//	noted     span 4
//	have      token 32 | hop 8 | span 4
//	rest      token 32 | hop 8 | life 8 | serial 4
//	release   token 32 | hop 8 | born 8 | life 8 | serial 4
//	returned  token 32 | hop 8 | born 8 | life 8 | serial 4
//	released  token 32 | hop 8 | life 8 | serial 4
//	other     token 32 | hop 8 | life 8 | serial 4 | member 16
//	ask       token 32 | hop 8 | member 16
//	went      token 32 | hop 8 | member 16 | span 4
//	none      span 4
//	account   token 32 | hop 8
//	still     token 32 | hop 8
//	sent      token 32 | hop 8 | member 16 | span 4
//	proof     span 4 | receipt, up to the end
//	instead   token 32 | hop 8 | member 16 | other token 32 | its hop 8
//	never     token 32 | hop 8 | span 4 | from 8 | next 8
//	blame     token 32 | hop 8 | member 16 | from 16
//
// behind one byte of kind, numbers big-endian, and spans in milliseconds. None carries
// any authority.
type message struct {
	kind kind
	custody
	born uint64 // of release and returned: when the token was made
	promise
	// span is, of noted, when to say so again; of have, when its program ends at the
	// latest, or 0 where none runs; of went, since when the token has been on its way,
	// or 0 where it has arrived; of none, since when its sender has been at work; of proof, since
	// when it has let the token go; of never,
	// since when it knows of all its custodies. from and next are of never: it knows of all from
	// this serial of custody on (H-70), and that one is the next.
	span uint32
	// member is, of want and ask, who waits, or zero: of want its sender, of ask nobody
	// that is known; of other and went, who has the token; of instead, from whom the other
	// one came; of blame, who had the token last, and second who passed it to that member.
	member, second ident.Member
	other          custody // of instead
	receipt        []byte  // of proof, as it was signed
	from, next     uint64  // of never
}

func (m *message) append(to []byte) []byte {
	to = append(to, byte(m.kind))
	switch m.kind {
	case have, rest, release, returned, released, other, ask, went, account, still, sent, instead, never, blame:
		to = binary.BigEndian.AppendUint64(append(to, m.token[:]...), m.hop)
	}
	if m.kind == release || m.kind == returned {
		to = binary.BigEndian.AppendUint64(to, m.born)
	}
	switch m.kind {
	case noted, have, none, never:
		to = binary.BigEndian.AppendUint32(to, m.span)
	case rest, release, returned, released, other:
		to = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(to, m.life), m.serial)
	}
	if m.kind == never {
		to = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(to, m.from), m.next)
	}
	switch m.kind {
	case want, ask, other:
		to = append(to, m.member[:]...)
	case went, sent:
		to = binary.BigEndian.AppendUint32(append(to, m.member[:]...), m.span)
	case instead:
		to = append(append(to, m.member[:]...), m.other.token[:]...)
		to = binary.BigEndian.AppendUint64(to, m.other.hop)
	case blame:
		to = append(append(to, m.member[:]...), m.second[:]...)
	case proof:
		to = append(binary.BigEndian.AppendUint32(to, m.span), m.receipt...)
	}
	return to
}

// parse reads what append writes. Anything else is not ok, and ignored.
func parse(b []byte, m *message) bool {
	if len(b) == 0 || len(b) > policy.MaxField {
		return false
	}
	m.kind = kind(b[0])
	b = b[1:]
	if m.kind == proof {
		if len(b) <= 4 {
			return false
		}
		m.span, m.receipt = binary.BigEndian.Uint32(b), b[4:]
		return true
	}
	if size, known := sizes[m.kind]; !known || len(b) != size {
		return false
	}
	take := func(n int) []byte {
		part := b[:n]
		b = b[n:]
		return part
	}
	switch m.kind {
	case have, rest, release, returned, released, other, ask, went, account, still, sent, instead, never, blame:
		m.token, m.hop = ident.Token(take(32)), binary.BigEndian.Uint64(take(8))
	}
	if m.kind == release || m.kind == returned {
		m.born = binary.BigEndian.Uint64(take(8))
	}
	switch m.kind {
	case noted, have, none, never:
		m.span = binary.BigEndian.Uint32(take(4))
	case rest, release, returned, released, other:
		m.life, m.serial = binary.BigEndian.Uint64(take(8)), binary.BigEndian.Uint32(take(4))
	}
	if m.kind == never {
		m.from, m.next = binary.BigEndian.Uint64(take(8)), binary.BigEndian.Uint64(take(8))
	}
	switch m.kind {
	case want, ask, other:
		m.member = ident.Member(take(memberSize))
	case went, sent:
		m.member, m.span = ident.Member(take(memberSize)), binary.BigEndian.Uint32(take(4))
	case instead:
		m.member, m.other.token, m.other.hop = ident.Member(take(memberSize)), ident.Token(take(32)), binary.BigEndian.Uint64(take(8))
	case blame:
		m.member, m.second = ident.Member(take(memberSize)), ident.Member(take(memberSize))
	}
	return true
}

// isMessage reports whether a body is one of a keeper, well-formed or not.
func isMessage(b []byte) bool { return len(b) > 0 && b[0] >= byte(want) }

// origin is the token of a release or a returned.
func (m *message) origin() origin { return origin{m.token, m.born} }

// claimsToken reports whether its sender says that it has a token, by its custody.
func (m *message) claimsToken() bool {
	return m.kind == have || m.kind == rest || m.kind == returned
}
