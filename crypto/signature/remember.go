//go:build remember

package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"sync"
)

// This file is for fuzzing what is above this package and for simulating many members
// in one process, and for nothing else: who wants it builds with its tag. Reading a key,
// signing and verifying give always the same for the same. A fuzzer asks for the same a
// million times over, a simulated group as often as it has members: here it is computed
// once. Nobody can tell, but by the time it takes, and by a batch that draws no random
// numbers: with the tag a seed is another run of the simulator than without.

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

// Add is as in direct.go. The verdict is known at once.
func (b *Batch) Add(key *PublicKey, message, sig []byte) {
	b.items = append(b.items, item{key: key, err: key.Verify(message, sig)})
}

// Verify is as in direct.go.
func (b *Batch) Verify(io.Reader) []error {
	if b.wellFormed() {
		return nil
	}
	errs := make([]error, len(b.items))
	for i := range b.items {
		errs[i] = b.items[i].err
	}
	return errs
}

// verdict is what may be an error instead.
type verdict[T any] struct {
	of  T
	err error
}

var (
	keys       memory[verdict[*PublicKey]]
	verdicts   memory[error]
	signatures memory[[]byte]
)

// mostKnown bounds each of the two generations of a memory. A simulated day of 200
// members goes on with some ten thousand certificates; all that is in all memories
// takes 100 MB at most.
const mostKnown = 1 << 16

// memory is what was computed, by the hash of what it was computed of. The zero value
// is empty.
type memory[T any] struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]T
}

// of computes something of some bytes, unless it is known.
func (m *memory[T]) of(compute func() T, from ...[]byte) T {
	key := hashOf(from)
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.young[key]
	if ok {
		return x
	}
	if x, ok = m.old[key]; !ok {
		x = compute()
	}
	if m.young == nil || len(m.young) >= mostKnown {
		m.young, m.old = make(map[[sha256.Size]byte]T), m.young
	}
	m.young[key] = x
	return x
}

// hashOf is the hash of some slices, each of them with its length.
func hashOf(slices [][]byte) (key [sha256.Size]byte) {
	h := sha256.New()
	for _, b := range slices {
		var size [8]byte
		h.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(b))))
		h.Write(b)
	}
	h.Sum(key[:0])
	return key
}
