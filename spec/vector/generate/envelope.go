package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec/vector"
)

// signing is everything that goes into a signature: what an honest signer
// chooses rightly, and a vector changes.
type signing struct {
	payload []byte
	kind    string
	version uint64
	group   []byte
	keyID   []byte
	by      *party // whose key signs
	// signature, if given, makes the signature in place of RFC 8032.
	signature func(tbs []byte) []byte
}

// envelope is a signed object with all that it was made of.
type envelope struct {
	signing
	tbs []byte
	sig []byte
	raw []byte
}

// as is the signing of a payload by a party as it should be.
func as(payload []byte, kind string, by *party) signing {
	return signing{payload: payload, kind: kind, version: 1, group: groupID, keyID: by.id, by: by}
}

// sign is the object of a payload.
func sign(payload item, kind string, by *party) envelope { return as(encode(payload), kind, by).seal() }

// protectedHeader is {1: -8, 4: key id}, encoded.
func protectedHeader(keyID []byte) []byte {
	return encode(dict(uintOf(1), negative(8), uintOf(4), bstr(keyID)))
}

// seal makes the envelope (protocol.md, chapter 5).
func (s signing) seal() envelope {
	protected := bstr(protectedHeader(s.keyID))
	aad := encode(array(text("wander"), uintOf(s.version), bstr(s.group), text(s.kind)))
	e := envelope{signing: s, tbs: encode(array(text("Signature1"), protected, bstr(aad), bstr(s.payload)))}
	if s.signature != nil {
		e.sig = s.signature(e.tbs)
	} else {
		e.sig = ed25519.Sign(s.by.private, e.tbs)
	}
	e.raw = encode(tag(18, array(protected, dict(), bstr(s.payload), bstr(e.sig))))
	return e
}

// hash is H of the object.
func (e envelope) hash() []byte {
	sum := sha256.Sum256(e.tbs)
	return sum[:]
}

// explained is the object taken apart.
func (e envelope) explained() *vector.Signed {
	return &vector.Signed{
		Kind: e.kind, Signer: e.by.name, KeyID: e.keyID, Payload: e.payload,
		SigStructure: e.tbs, Hash: e.hash(), Signature: e.sig,
	}
}

// diagnostic is an encoded item in diagnostic notation, or "". Long runs of
// equal bytes would make it unreadable.
func diagnostic(data []byte) string {
	decoded, err := cddl.Decode(data)
	if err != nil || len(data) > maxDiagnostic {
		return ""
	}
	return decoded.String()
}

// maxDiagnostic is up to which size something is shown in diagnostic notation,
// in bytes.
const maxDiagnostic = 1 << 10

// flip changes one bit.
func flip(data []byte, index int, bit byte) []byte {
	c := bytes.Clone(data)
	c[index] ^= 1 << bit
	return c
}
