//go:build remember

package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// This file is for fuzzing what is above this package, and for nothing else: fuzz/run
// alone builds with its tag. Reading a key, signing and verifying give always the same
// for the same, and a fuzzer asks for the same a million times over: here it is
// computed once. Batches are computed each time.

// ParsePublicKey is as in direct.go.
func ParsePublicKey(b []byte) (*PublicKey, error) {
	k := keys.of(func() verdict[*PublicKey] {
		key, err := parsePublicKey(b)
		return verdict[*PublicKey]{key, err}
	}, b)
	return k.of, k.err
}

// Verify is as in direct.go.
func (k *PublicKey) Verify(message, sig []byte) error {
	return verdicts.of(func() error { return k.compute(message, sig) }, k.bytes[:], sig, message)
}

// Sign is as in direct.go.
func (k *PrivateKey) Sign(message []byte) []byte {
	return bytes.Clone(signatures.of(func() []byte { return ed25519.Sign(k.std, message) }, k.std, message))
}

// verdict is what may be an error instead.
type verdict[T any] struct {
	of  T
	err error
}

var (
	keys       = memory[verdict[*PublicKey]]{known: make(map[[sha256.Size]byte]verdict[*PublicKey])}
	verdicts   = memory[error]{known: make(map[[sha256.Size]byte]error)}
	signatures = memory[[]byte]{known: make(map[[sha256.Size]byte][]byte)}
)

// mostKnown bounds a memory, which is emptied when it is full: some 10 MB.
const mostKnown = 1 << 15

// memory is what was computed, by the hash of what it was computed of.
type memory[T any] struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]T
}

// of computes something of some bytes, unless it is known.
func (m *memory[T]) of(compute func() T, from ...[]byte) T {
	h := sha256.New()
	for _, b := range from {
		var size [8]byte
		h.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(b))))
		h.Write(b)
	}
	var key [sha256.Size]byte
	h.Sum(key[:0])
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.known[key]
	if !ok {
		if len(m.known) >= mostKnown {
			clear(m.known)
		}
		x = compute()
		m.known[key] = x
	}
	return x
}
