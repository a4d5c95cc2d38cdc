package token

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Keys knows the public keys of members, dead ones included: what somebody
// signed while alive is settled after its death.
type Keys interface {
	// Key is the key of member m, or nil when its certificate is not known.
	Key(m ident.Member) *signature.PublicKey
}

// verifiedKept is how many verified objects a Memory has at most. A
// handoff shows the same genesis and the same previous transfer several times
// (offer, transfer, retransmission), and a token that comes back shows its
// genesis again; so do the permits of one token after another at a gate. An entry costs about 1 kB.
const verifiedKept = 1024

// Memory has the objects of one group that were verified last, by a hash over all their bytes, so that an object that is shown again
// costs one hash instead of a signature check. With whose Keys it was verified does not matter: a
// signer's id is the hash of its key. So what has verified does so again for Keys that do not know its signer. It is safe for concurrent use.
type Memory struct {
	group ident.Group
	mu    sync.Mutex
	// What was shown lately is in young. When half of verifiedKept is there,
	// it becomes old, and what was old and not shown again is forgotten.
	young, old objects
}

// objects are verified objects by their fingerprints.
type objects map[[sha256.Size]byte]any

// NewMemory returns a Memory for the objects of a group.
func NewMemory(group ident.Group) *Memory {
	return &Memory{group: group, young: make(objects), old: make(objects)}
}

// Verifier turns bytes into verified objects of one group, and remembers them. It is as safe for concurrent use as its keys.
type Verifier struct {
	memory *Memory
	keys   Keys
}

// NewVerifier returns a Verifier for the objects of a group, with a Memory of its own.
func NewVerifier(group ident.Group, keys Keys) *Verifier { return NewMemory(group).Verifier(keys) }

// Verifier returns one that shares the Memory with others.
func (m *Memory) Verifier(keys Keys) *Verifier { return &Verifier{memory: m, keys: keys} }

// Genesis verifies an encoded genesis. Errors: ErrMalformed, ErrSigner,
// ErrUnknownSigner, ErrSignature.
func (v *Verifier) Genesis(raw []byte) (Genesis, error) {
	o, err := verified[GenesisBody](v, raw, envelope.Genesis)
	return Genesis{o}, err
}

// Transfer verifies an encoded transfer. Errors as for Genesis, and ErrField.
func (v *Verifier) Transfer(raw []byte) (Transfer, error) {
	o, err := verified[TransferBody](v, raw, envelope.Transfer)
	return Transfer{o}, err
}

// Answer verifies an encoded receipt, void or unknown. Errors as for Genesis.
func (v *Verifier) Answer(verdict Verdict, raw []byte) (Answer, error) {
	o, err := verified[AnswerBody](v, raw, verdict.kind())
	if err != nil {
		return Answer{}, err
	}
	return Answer{o, verdict}, nil
}

// Trust remembers an object that this member signed itself: a Genesis,
// Transfer or Answer. It ignores one that is zero.
func (v *Verifier) Trust(object any) {
	switch o := object.(type) {
	case Genesis:
		trust(v, envelope.Genesis, o.Object)
	case Transfer:
		trust(v, envelope.Transfer, o.Object)
	case Answer:
		trust(v, o.verdict.kind(), o.Object)
	}
}

func trust[B body](v *Verifier, kind envelope.Kind, o signed.Object[B]) {
	if !o.IsZero() {
		v.memory.remember(fingerprint(kind, o.Raw()), o)
	}
}

// fingerprint names an encoded object together with what it was verified as:
// a receipt that has verified must not pass as a void.
func fingerprint(kind envelope.Kind, raw []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{byte(kind)})
	h.Write(raw)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// verified is the one path from bytes to a verified object: strict envelope,
// strict payload, the signer that the payload names, its signature.
func verified[B body](v *Verifier, raw []byte, kind envelope.Kind) (signed.Object[B], error) {
	var none signed.Object[B]
	key := fingerprint(kind, raw)
	if o, ok := v.memory.recall(key).(signed.Object[B]); ok {
		return o, nil
	}
	u, err := Open(v.memory.group, kind, raw)
	if err != nil {
		return none, err
	}
	b, err := read[B](u)
	if err != nil {
		return none, err
	}
	public := v.keys.Key(b.signer())
	if public == nil {
		return none, &UnknownSignerError{Member: b.signer()}
	}
	form, err := u.Verify(public)
	if err != nil {
		return none, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	o := signed.Of(b, form)
	v.memory.remember(key, o)
	return o, nil
}

// recall returns the object with this fingerprint, or nil.
func (m *Memory) recall(key [sha256.Size]byte) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.young[key]; ok {
		return o
	}
	o, ok := m.old[key]
	if ok {
		m.keep(key, o)
	}
	return o
}

func (m *Memory) remember(key [sha256.Size]byte, object any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(key, object)
}

// keep needs mu.
func (m *Memory) keep(key [sha256.Size]byte, object any) {
	if len(m.young) >= verifiedKept/2 {
		m.young, m.old = m.old, m.young
		clear(m.young)
	}
	m.young[key] = object
}

// UnknownSignerError names the member whose certificate is missing. It matches
// ErrUnknownSigner.
type UnknownSignerError struct{ Member ident.Member }

func (e *UnknownSignerError) Error() string {
	return fmt.Sprintf("%v: %v", ErrUnknownSigner, e.Member)
}

// Unwrap makes errors.Is find ErrUnknownSigner.
func (e *UnknownSignerError) Unwrap() error { return ErrUnknownSigner }

// PeekGenesis decodes a genesis without verifying its signature, and H of it.
// It is for a member's own journal, where most objects only serve to find the
// few that still matter.
func PeekGenesis(group ident.Group, raw []byte) (GenesisBody, ident.Hash, error) {
	return peek[GenesisBody](group, envelope.Genesis, raw)
}

// PeekTransfer is PeekGenesis for a transfer.
func PeekTransfer(group ident.Group, raw []byte) (TransferBody, ident.Hash, error) {
	return peek[TransferBody](group, envelope.Transfer, raw)
}

// PeekAnswer is PeekGenesis for a receipt, void or unknown.
func PeekAnswer(group ident.Group, v Verdict, raw []byte) (AnswerBody, ident.Hash, error) {
	return peek[AnswerBody](group, v.kind(), raw)
}

func peek[B body](group ident.Group, kind envelope.Kind, raw []byte) (b B, h ident.Hash, err error) {
	u, err := Open(group, kind, raw)
	if err != nil {
		return b, h, err
	}
	if err := canonical.Unmarshal(u.Payload(), &b, payloadLimits); err != nil {
		return b, h, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return b, u.Hash(), nil
}
