package envelope

import (
	"encoding/binary"
	"strconv"
)

// Kind is what an envelope contains. Its text, not its number, is signed.
type Kind uint8

// The kinds. The zero Kind is none of them.
const (
	Certificate   Kind = iota + 1 // the CA about a member
	Authority                     // a CA about its own key
	Configuration                 // the CA about the group
	Revocation                    // the CA about a member that is no more
	Endpoint                      // a member about its addresses
	Genesis                       // a generator about a new token
	Transfer                      // a sender about a hop
	Receipt                       // a receiver: taken
	Void                          // a receiver: will never be taken
	Unknown                       // a receiver: cannot tell
	Leave                         // a member about its own end
	Failure                       // a witness about a member that does not answer
	Request                       // who wants to become a member, about its key
	Complaint                     // a member about one that it begins to act against
	Statement                     // a holder about the session that it asks a gate for
	GateAnswer                    // a gate about a session, or why there is none
	kindEnd
)

var kindNames = [kindEnd]string{
	Certificate: "certificate", Authority: "authority", Configuration: "configuration",
	Revocation: "revocation", Endpoint: "endpoint", Genesis: "genesis", Transfer: "transfer",
	Receipt: "receipt", Void: "void", Unknown: "unknown",
	Leave: "leave", Failure: "failure", Request: "request", Complaint: "complaint", Statement: "statement", GateAnswer: "gate-answer",
}

// String is the name that is signed.
func (k Kind) String() string {
	if !k.valid() {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// maxPayload bounds the content of an envelope of this kind, in bytes.
func (k Kind) maxPayload() int {
	if k == Configuration {
		return MaxConfiguration
	}
	return MaxPayload
}

func (k Kind) valid() bool { return k > 0 && k < kindEnd }

// Domain is what a signature is bound to besides its payload. It is not in the
// envelope: who parses one has to know what to expect.
type Domain struct {
	Version uint64   // of the protocol; a token keeps that of its genesis
	Group   [32]byte // the group id
	Kind    Kind
}

// context is the first string of external_aad: no other protocol begins so.
const context = "wander"

// maxAAD is the size of the longest external_aad: array, context, version,
// group, kind.
const maxAAD = 1 + (1 + len(context)) + 9 + (2 + 32) + (1 + 23)

// appendAAD appends external_aad (RFC 9052 §4.3), the deterministic encoding of
// ["wander", version, group, kind].
func (d Domain) appendAAD(dst []byte) []byte {
	name := kindNames[d.Kind]
	dst = append(dst, 0x84, 0x60|byte(len(context)))
	dst = append(dst, context...)
	dst = appendHead(dst, 0x00, d.Version)
	dst = append(dst, 0x58, byte(len(d.Group)))
	dst = append(dst, d.Group[:]...)
	dst = append(dst, 0x60|byte(len(name)))
	return append(dst, name...)
}

// appendHead appends the shortest head for an argument (RFC 8949 §4.2.1).
func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}
