package signature

import (
	"crypto/sha256"
	"sync"
)

// maxVerdicts bounds each of the two generations of a Memory: 8 MB both together. A simulated day of 200
// members needs about ten thousand certificates.
const maxVerdicts = 1 << 16

// Memory keeps verdicts on signatures, so that a verification costs a hash when its
// outcome is known. It is for a simulation, in which many members verify the same, and
// for a fuzzer, which verifies the same a million times: a daemon has none, because the
// packages that verify keep what they have verified (token.Verifier, directory).
//
// A key has a Memory or none, see Memory.PrivateKey and PublicKey.With. Nobody can tell
// which, except by the time that it takes: verdicts are the same, and a batch draws the
// same random numbers.
//
// A Memory keeps the verdicts that were asked for last. It is safe for concurrent use,
// and the zero value is empty.
type Memory struct {
	mu         sync.Mutex
	young, old map[digest]bool
	scratch    []byte
}

// digest names a key, a signature and a message.
type digest [sha256.Size]byte

// PrivateKey returns NewPrivateKey(seed) with this memory, which remembers that the key's own signatures
// are good.
func (m *Memory) PrivateKey(seed []byte) (*PrivateKey, error) {
	key, err := NewPrivateKey(seed)
	if err == nil {
		key.public = key.public.With(m)
	}
	return key, err
}

// Memory is the one of k, or nil. A nil key has none.
func (k *PublicKey) Memory() *Memory {
	if k == nil {
		return nil
	}
	return k.memory
}

// With returns k with this memory. Code that reads a key which another key vouches for passes on the
// other's memory, so a simulation gives a memory to its CA only.
func (k *PublicKey) With(m *Memory) *PublicKey {
	if k.memory == m {
		return k
	}
	return &PublicKey{bytes: k.bytes, minus: k.minus, memory: m}
}

// of names a signature that a key may have made.
func (m *Memory) of(key *PublicKey, message, sig []byte) digest {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The parts have one size each, but for the last one.
	m.scratch = append(append(append(m.scratch[:0], key.bytes[:]...), sig...), message...)
	return sha256.Sum256(m.scratch)
}

// verdict is whether a signature is good, if that is known.
func (m *Memory) verdict(of digest) (good, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if good, known = m.young[of]; known {
		return good, true
	}
	if good, known = m.old[of]; known {
		m.keep(of, good)
	}
	return good, known
}

// note keeps a verdict.
func (m *Memory) note(of digest, good bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(of, good)
}

// keep is note with mu held.
func (m *Memory) keep(of digest, good bool) {
	if m.young == nil || len(m.young) >= maxVerdicts {
		m.young, m.old = make(map[digest]bool), m.young
	}
	m.young[of] = good
}

// recall is the verdict on a signature if it is known, and the name to note it under if
// not. Without a memory neither is of use.
func (k *PublicKey) recall(message, sig []byte) (of digest, good, known bool) {
	if k.memory == nil || len(sig) != SignatureSize {
		return digest{}, false, false
	}
	of = k.memory.of(k, message, sig)
	good, known = k.memory.verdict(of)
	return of, good, known
}

// note keeps a verdict for recall.
func (k *PublicKey) note(of digest, good bool) {
	if k.memory != nil {
		k.memory.note(of, good)
	}
}
