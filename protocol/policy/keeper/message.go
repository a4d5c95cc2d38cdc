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
	// release, to the member that has the promise: give it back.
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
	// lasts, by the keeper to a member that waits: do you still want a token?
	lasts
	// lasting answers it: I have wanted one, and had none, without a break for so long.
	lasting
	// away is a have of a program that goes on across a restart of its member's machine: that member may say nothing
	// until the program's end. It is a have everywhere, but for message.away.
	away
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

// part is one part of a message's body.
type part uint8

const (
	theCustody part = iota
	theBorn
	thePromise
	theMember
	theSecond
	theOther
	theSpan
	theSerials
	theReceipt // up to the end: its size here is the least
)

var partSizes = [...]int{
	theCustody: custodySize, theBorn: 8, thePromise: 12, theMember: memberSize, theSecond: memberSize,
	theOther: custodySize, theSpan: 4, theSerials: 16, theReceipt: 1,
}

// layouts are the bodies of all kinds, behind the kind. Numbers are big-endian, and spans in milliseconds.
var layouts = [256][]part{
	want:     {theMember},
	noted:    {theSpan},
	have:     {theCustody, theSpan},
	rest:     {theCustody, thePromise},
	release:  {theCustody, theBorn, thePromise},
	returned: {theCustody, theBorn, thePromise},
	released: {theCustody, thePromise},
	other:    {theCustody, thePromise, theMember},
	ask:      {theCustody, theMember},
	went:     {theCustody, theMember, theSpan},
	none:     {theSpan},
	lasts:    {},
	lasting:  {theSpan},
	away:     {theCustody, theSpan},
	account:  {theCustody},
	still:    {theCustody},
	sent:     {theCustody, theMember, theSpan},
	proof:    {theSpan, theReceipt},
	instead:  {theCustody, theMember, theOther},
	never:    {theCustody, theSpan, theSerials},
	blame:    {theCustody, theMember, theSecond},
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
	life   uint64 // of the member that promises: when its policy began, on its own clock
	serial uint32 // grows with each
}

// message is what one keeper tells another one. Its kind says which fields it has (layouts). None of them
// carries any authority.
type message struct {
	kind kind
	custody
	born uint64 // of release and returned: when the token was made
	promise
	// span is, of noted, when to say so again; of have, when its program ends at the
	// latest, or 0 where none runs; of went and sent, since when the token has been in transit,
	// or 0 where it has arrived; of none, since when its sender has been at work; of lasting, since when
	// it waits, or 0 where it does not; of proof, since
	// when it has let the token go; of never, since when it knows of all its custodies.
	span uint32
	// member is, of want and ask, the member that waits, or zero: of want its sender, of ask none
	// that is known; of other, went and sent, the one that has the token; of instead, the one from which the other
	// token came; of blame, the one that had the token last, and second the one that passed it to that member.
	member, second ident.Member
	other          custody // of instead
	receipt        []byte  // of proof, as it was signed
	away           bool    // of have: its sender may say nothing until the program's end
	from, next     uint64  // of never: it knows of all from this serial of custody on (H-70), and which is its next one
}

func (m *message) append(to []byte) []byte {
	num64, num32 := binary.BigEndian.AppendUint64, binary.BigEndian.AppendUint32
	first := m.kind
	if m.away {
		first = away
	}
	to = append(to, byte(first))
	for _, p := range layouts[m.kind] {
		switch p {
		case theCustody:
			to = num64(append(to, m.token[:]...), m.hop)
		case theBorn:
			to = num64(to, m.born)
		case thePromise:
			to = num32(num64(to, m.life), m.serial)
		case theMember:
			to = append(to, m.member[:]...)
		case theSecond:
			to = append(to, m.second[:]...)
		case theOther:
			to = num64(append(to, m.other.token[:]...), m.other.hop)
		case theSpan:
			to = num32(to, m.span)
		case theSerials:
			to = num64(num64(to, m.from), m.next)
		case theReceipt:
			to = append(to, m.receipt...)
		}
	}
	return to
}

// parse reads what append writes. Anything else is not ok, and ignored.
func parse(b []byte, m *message) bool {
	if len(b) == 0 || len(b) > policy.MaxField {
		return false
	}
	m.kind, b = kind(b[0]), b[1:]
	for _, p := range layouts[m.kind] {
		size := partSizes[p]
		if len(b) < size {
			return false
		}
		switch p {
		case theCustody:
			m.custody = readCustody(b)
		case theBorn:
			m.born = binary.BigEndian.Uint64(b)
		case thePromise:
			m.promise = promise{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])}
		case theMember:
			m.member = ident.Member(b[:size])
		case theSecond:
			m.second = ident.Member(b[:size])
		case theOther:
			m.other = readCustody(b)
		case theSpan:
			m.span = binary.BigEndian.Uint32(b)
		case theSerials:
			m.from, m.next = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		case theReceipt:
			m.receipt, size = b, len(b)
		}
		b = b[size:]
	}
	known := layouts[m.kind] != nil
	if m.kind == away {
		m.kind, m.away = have, true
	}
	return len(b) == 0 && known
}

func readCustody(b []byte) custody {
	return custody{ident.Token(b[:32]), binary.BigEndian.Uint64(b[32:])}
}

// isMessage reports whether a body is one of a keeper, well-formed or not.
func isMessage(b []byte) bool { return len(b) > 0 && b[0] >= byte(want) }

// origin is the token of a release or a returned.
func (m *message) origin() origin { return origin{m.token, m.born} }

// claimsToken reports whether its sender says that it has a token, by its custody.
func (m *message) claimsToken() bool {
	return m.kind == have || m.kind == rest || m.kind == returned
}
