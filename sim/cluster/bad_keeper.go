package cluster

import (
	"encoding/binary"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// The first bytes of what keepers say to each other (package keeper), of which a bad member
// suppresses or forges some.
const (
	keeperWant = policy.KeeperKind + iota
	keeperNoted
	keeperHave
	keeperRest
	keeperRelease
	keeperReturned
	keeperReleased
	keeperOther
	keeperAsk
	keeperWent
	keeperNone
	keeperLasts
	keeperLasting
)

// The first bytes of what they say in inquests, and the length of a custody there.
const (
	keeperAccount = policy.KeeperKind + 0x20
	keeperStill   = policy.KeeperKind + 0x21
	keeperSent    = policy.KeeperKind + 0x22
	keeperProof   = policy.KeeperKind + 0x23
	keeperInstead = policy.KeeperKind + 0x24
	keeperNever   = policy.KeeperKind + 0x25
	keeperBlame   = policy.KeeperKind + 0x26
	custodyLength = 40
)

// keeperKind is the first byte of what a keeper says; 0: it is something else.
func keeperKind(m wire.Message) byte {
	if p, ok := m.(*wire.Policy); ok && len(p.Body) > 0 && p.Body[0] >= policy.KeeperKind {
		return p.Body[0]
	}
	return 0
}

// keeperSays is a keeper's message that says have of a token, with a program that runs for
// so many ms.
func keeperSays(like *wire.Policy, t ident.Token, hop uint64, span uint32) *wire.Policy {
	m := *like
	m.Body = binary.BigEndian.AppendUint64(append([]byte{keeperHave}, t[:]...), hop)
	m.Body = binary.BigEndian.AppendUint32(m.Body, span)
	return &m
}
