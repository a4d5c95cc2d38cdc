package signature

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a private key shows of itself, wherever it is printed.
const redacted = "private key (not shown)"

// PrivateKey signs. It is immutable and safe for concurrent use. Printing,
// logging or marshalling it shows no secret.
type PrivateKey struct {
	std    ed25519.PrivateKey
	public *PublicKey
}

// NewPrivateKey makes the key of a seed of SeedSize bytes, or returns ErrSeed.
func NewPrivateKey(seed []byte) (*PrivateKey, error) {
	if len(seed) != SeedSize {
		return nil, ErrSeed
	}
	std := ed25519.NewKeyFromSeed(seed)
	public, err := ParsePublicKey(std[SeedSize:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSeed, err)
	}
	return &PrivateKey{std: std, public: public}, nil
}

// Generate makes a key of SeedSize bytes from random, whose errors it returns.
func Generate(random io.Reader) (*PrivateKey, error) {
	var seed [SeedSize]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return NewPrivateKey(seed[:])
}

// Sign is the RFC 8032 signature of message: SignatureSize bytes, always the
// same for the same message.
func (k *PrivateKey) Sign(message []byte) []byte {
	sig := ed25519.Sign(k.std, message)
	if m := k.public.memory; m != nil {
		m.note(m.of(k.public, message, sig), true)
	}
	return sig
}

// Public is the key that verifies what k signs.
func (k *PrivateKey) Public() *PublicKey { return k.public }

// derivedSize is the size of a derived key in bytes.
const derivedSize = 32

// Derive makes a secret key for another purpose: HKDF-SHA256 (RFC 5869) of the
// seed, without salt, with label, a zero byte and context as its info. It is the
// same each time, and says nothing about k or about what other labels and
// contexts give.
func (k *PrivateKey) Derive(label string, context []byte) (key [derivedSize]byte) {
	info := label + "\x00" + string(context)
	derived, err := hkdf.Key(sha256.New, k.std.Seed(), nil, info, derivedSize)
	if err != nil { // only for a key of more than 255 hashes
		panic(err)
	}
	return [derivedSize]byte(derived)
}

// Seed is a copy of the secret, for the key file only.
func (k *PrivateKey) Seed() []byte { return k.std.Seed() }

// StdKey is the secret as crypto/tls wants it. The caller must not change it.
func (k *PrivateKey) StdKey() ed25519.PrivateKey { return k.std }

// String does not show the secret.
func (k PrivateKey) String() string { return redacted }

// GoString does not show the secret.
func (k PrivateKey) GoString() string { return redacted }

// Format does not show the secret, whatever the verb.
func (k PrivateKey) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue does not show the secret.
func (k PrivateKey) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText does not show the secret.
func (k PrivateKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }
