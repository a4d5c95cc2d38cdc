package handoff

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
)

// macLabel separates the keys of the MACs from others that a member's key gives.
const macLabel = "wander accept"

// macs makes the MACs of one incarnation of a receiver (rule H-5). Their key follows from
// the member's key and the incarnation. So a durable receiver knows after a
// restart what it has accepted, and remembers nothing for it; and an
// incarnation does not take what another one has accepted.
type macs struct {
	hmac hash.Hash
	buf  []byte // of input and sum, so that a handoff allocates nothing for them
}

func newMACs(secret *signature.PrivateKey, incarnation ident.Incarnation) macs {
	derived := secret.Derive(macLabel, incarnation[:])
	return macs{hmac: hmac.New(sha256.New, derived[:])}
}

// of is the MAC of one ACCEPT: HMAC-SHA256 over offerer, token, hop and number, truncated.
func (m *macs) of(offerer ident.Member, k key, number uint64) ident.MAC {
	m.buf = append(append(m.buf[:0], offerer[:]...), k.token[:]...)
	m.buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(m.buf, k.hop), number)
	m.hmac.Reset()
	m.hmac.Write(m.buf)
	m.buf = m.hmac.Sum(m.buf[:0])
	return ident.MAC(m.buf[:ident.MACSize])
}

// AcceptMAC returns the MAC of an ACCEPT. By it the member with this key
// recognises, within one incarnation, that it has accepted this hop of a token
// from this offerer under this number.
func AcceptMAC(secret *signature.PrivateKey, incarnation ident.Incarnation, offerer ident.Member, t ident.Token, hop, number uint64) ident.MAC {
	m := newMACs(secret, incarnation)
	return m.of(offerer, key{t, hop}, number)
}
