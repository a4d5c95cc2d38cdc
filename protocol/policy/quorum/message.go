package quorum

import (
	"encoding/binary"
	"errors"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// ErrBody is a body of a POLICY that is ignored (P-68).
var ErrBody = errors.New("malformed body about a vote")

// CheckBody reports whether these bytes are the body of a POLICY about votes (P-61).
// Error: ErrBody. The policies need no such report; it is for test vectors and those who
// look at messages.
func CheckBody(b []byte) error {
	if !parse(b, new(message)) {
		return ErrBody
	}
	return nil
}

// kind says what a message about votes is. Neither a policy's own messages nor a keeper's
// begin with such a byte.
type kind uint8

const (
	// ask, to a voter: give me your vote for a program under this token.
	ask kind = 0x90 + iota
	// vote answers an ask: you have it.
	vote
	// free, to who has the vote: does your program still need it?
	free
	// ended, to a voter: the vote is yours again.
	ended
)

const (
	askSize   = 32 + 8 + 8 + 4 // token, hop, life, serial
	memberCnt = 4
)

// sizes are those of the bodies, behind the kind.
var sizes = map[kind]int{ask: askSize + 8 + 4, vote: askSize + memberCnt, free: askSize + 8 + 32, ended: askSize}

// custody is a token at a hop.
type custody struct {
	token ident.Token
	hop   uint64
}

// request tells one ask for votes from all others of the same member.
type request struct {
	custody
	life   uint64 // of who asks: when its policy began, on its own clock
	serial uint32 // grows with each
}

// message is what two members say to each other about votes. Which fields it has depends
// on its kind:
//
//	ask    token 32 | hop 8 | life 8 | serial 4 | born 8 | span 4
//	vote   token 32 | hop 8 | life 8 | serial 4 | members 4
//	free   token 32 | hop 8 | life 8 | serial 4 | born 8 | other 32
//	ended  token 32 | hop 8 | life 8 | serial 4
//
// behind one byte of kind, numbers big-endian, and spans in milliseconds.
type message struct {
	kind kind
	request
	born    uint64      // of ask and free: when the token was made for which the vote is wanted
	span    uint32      // of ask: after what time the program is dead
	members uint32      // of vote: how many members the voter knows
	other   ident.Token // of free: the token for which the vote is wanted
}

func (m *message) append(to []byte) []byte {
	to = append(append(to, byte(m.kind)), m.token[:]...)
	to = binary.BigEndian.AppendUint64(to, m.hop)
	to = binary.BigEndian.AppendUint64(to, m.life)
	to = binary.BigEndian.AppendUint32(to, m.serial)
	switch m.kind {
	case ask:
		to = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(to, m.born), m.span)
	case vote:
		to = binary.BigEndian.AppendUint32(to, m.members)
	case free:
		to = append(binary.BigEndian.AppendUint64(to, m.born), m.other[:]...)
	}
	return to
}

// parse reads what append writes. Anything else is not ok, and ignored.
func parse(b []byte, m *message) bool {
	if len(b) == 0 || len(b) > policy.MaxField {
		return false
	}
	m.kind = kind(b[0])
	size, known := sizes[m.kind]
	if b = b[1:]; !known || len(b) != size {
		return false
	}
	m.token, m.hop = ident.Token(b[:32]), binary.BigEndian.Uint64(b[32:])
	m.life, m.serial = binary.BigEndian.Uint64(b[40:]), binary.BigEndian.Uint32(b[48:])
	switch b = b[askSize:]; m.kind {
	case ask:
		m.born, m.span = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	case vote:
		m.members = binary.BigEndian.Uint32(b)
	case free:
		m.born, m.other = binary.BigEndian.Uint64(b), ident.Token(b[8:])
	}
	return true
}

// isMessage reports whether a body is about votes, well-formed or not. Beyond these 16 kinds are
// more of a keeper's.
func isMessage(b []byte) bool { return len(b) > 0 && b[0]&0xf0 == byte(ask) }

// precedes reports whether one token stays where it meets another one (P-5): the later one
// does.
func precedes(id ident.Token, born uint64, other ident.Token, otherBorn uint64) bool {
	if born != otherBorn {
		return born > otherBorn
	}
	return id.Compare(other) < 0
}
