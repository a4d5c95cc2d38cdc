package keyfile

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/signature"
)

// publicKey is a public key as the COSE_Key {1: 1, 3: -8, -1: 6, -2: x}.
type publicKey struct {
	Type      int                           `cbor:"1,keyasint"`
	Algorithm int                           `cbor:"3,keyasint"`
	Curve     int                           `cbor:"-1,keyasint"`
	X         [signature.PublicKeySize]byte `cbor:"-2,keyasint"`
}

// EncodePublicKey is the block of a public key, such as a machine sends to be
// certified when its private key stays where it is.
func EncodePublicKey(key *signature.PublicKey) (Block, error) {
	plain, err := canonical.Marshal(publicKey{Type: typeOKP, Algorithm: algEdDSA, Curve: curveEd25519, X: key.Bytes()})
	return Block{Type: PublicKey, Bytes: plain}, err
}

// DecodePublicKey reads the block of a public key. Errors: ErrType, ErrKey.
func DecodePublicKey(b Block) (*signature.PublicKey, error) {
	if b.Type != PublicKey {
		return nil, fmt.Errorf("%w: %s is not a public key", ErrType, b.Type)
	}
	var k publicKey
	limits := canonical.Limits{MaxBytes: maxPlain, MaxDepth: 1, MaxItems: 9}
	if err := canonical.Unmarshal(b.Bytes, &k, limits); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if k.Type != typeOKP || k.Algorithm != algEdDSA || k.Curve != curveEd25519 {
		return nil, fmt.Errorf("%w: not an Ed25519 key", ErrKey)
	}
	key, err := signature.ParsePublicKey(k.X[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}
