package main

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/wandertoken/wander/spec/vector"
)

// The clock of the vectors: noon of a day, in milliseconds and seconds.
const (
	noonMillis  uint64 = 1772366400000
	noonSeconds uint64 = noonMillis / 1000
	day         uint64 = 24 * 3600
)

// party is somebody who signs. The private key is 32 equal bytes.
type party struct {
	name      string
	authority bool
	known     bool
	seed      []byte
	private   ed25519.PrivateKey
	public    []byte
	id        []byte
}

// groupID is SHA-256("wander group" 00 || the first CA's key).
var groupID = digest("wander group\x00", keyOf(1).Public().(ed25519.PublicKey))

// otherGroup is a group that the reader is not in.
var otherGroup = digest("wander group\x00", keyOf(8).Public().(ed25519.PublicKey))

// The parties. The numbers are those of the examples in protocol.md.
var (
	firstCA   = newAuthority("first-authority", 1, true)
	secondCA  = newAuthority("second-authority", 2, true)
	unknownCA = newAuthority("unknown-authority", 8, false)
	ada       = newMember("ada", 3, true)
	ben       = newMember("ben", 4, true)
	cleo      = newMember("cleo", 5, true)
	dora      = newMember("dora", 6, false)
	everybody = []*party{firstCA, secondCA, unknownCA, ada, ben, cleo, dora}
)

func keyOf(seed byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(repeat(seed, 32)) }

func digest(parts ...any) []byte {
	h := sha256.New()
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			h.Write([]byte(p))
		case ed25519.PublicKey:
			h.Write(p)
		case []byte:
			h.Write(p)
		}
	}
	return h.Sum(nil)
}

func newParty(name string, seed byte, known bool) *party {
	key := keyOf(seed)
	return &party{name: name, known: known, seed: repeat(seed, 32), private: key, public: key.Public().(ed25519.PublicKey)}
}

func newMember(name string, seed byte, known bool) *party {
	p := newParty(name, seed, known)
	p.id = digest("wander member\x00", groupID, p.public)[:16]
	return p
}

func newAuthority(name string, seed byte, known bool) *party {
	p := newParty(name, seed, known)
	p.authority = true
	p.id = digest(p.public)[:16]
	return p
}

// partiesFile is keys.json.
func partiesFile() *vector.Parties {
	f := &vector.Parties{
		V: vector.Version, Group: groupID, Configuration: sign(scenarioConfiguration(), "configuration", firstCA).raw,
		About: "The keys of the test vectors. They are published: never use them for anything else.",
	}
	for _, p := range everybody {
		certificate := sign(certificatePayload(p), "certificate", firstCA).raw
		if p.authority {
			certificate = statementOf(p).raw
		}
		f.Parties = append(f.Parties, vector.Party{
			Name: p.name, Authority: p.authority, Known: p.known, Seed: p.seed, Public: p.public, ID: p.id, Certificate: certificate,
		})
	}
	return f
}

// statementOf is the statement about a CA key: the first one proves itself, and
// vouches for the others.
func statementOf(p *party) envelope {
	return sign(authorityPayload(p), "authority", firstCA)
}
