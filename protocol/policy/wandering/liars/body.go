package liars

import (
	"encoding/binary"
	"math"

	"github.com/wandertoken/wander/protocol/ident"
)

// The kinds of messages that are lied in (P-34), those of keepers last, and where in
// them.
const (
	look   = 1
	report = 2
	answer = 4
	demand = 5
	heard  = 6
	have   = 0x82
	ask    = 0x88
	went   = 0x89
	none   = 0x8a

	memberSize = 16
	waiterSize = memberSize + 4
	sightSize  = 32 + 8 + 8 + 4

	lookMember   = 1 + sightSize
	lookSize     = lookMember + memberSize + 4 + 4
	answerMember = 1
	answerAge    = answerMember + memberSize
	answerWhat   = answerAge + 4
	demandAge    = 2

	willing    = 1
	reportMost = 4
)

// The field of a token (P-33): what is before the candidates, and how many they are.
const (
	fieldHead      = 6
	candidatesMost = 16
)

// appendWaiter adds a member that has waited for weeks.
func appendWaiter(to []byte, m ident.Member) []byte {
	return binary.BigEndian.AppendUint32(append(to, m[:]...), math.MaxUint32/2)
}

// invented is a token that does not exist.
var invented = ident.Token{0xee}

// lookOf says that a member was served just now under the invented token, which was
// made then, in ms since 1970, and asks for no report.
func lookOf(m ident.Member, born uint64) []byte {
	to := append([]byte{look}, invented[:]...)
	to = binary.BigEndian.AppendUint64(to, born)
	to = binary.BigEndian.AppendUint64(to, 1) // hop
	to = binary.BigEndian.AppendUint32(to, 0) // age
	to = append(to, m[:]...)
	to = binary.BigEndian.AppendUint32(to, 0)
	return binary.BigEndian.AppendUint32(to, math.MaxUint32)
}

// demandOf wants the token, and has not had it for so many ms.
func demandOf(age uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{demand, willing}, age)
}
