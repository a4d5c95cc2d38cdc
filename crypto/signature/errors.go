package signature

import "errors"

// Reasons for which a key or a signature is refused.
var (
	// ErrKeyEncoding says that bytes are not the canonical encoding of a point.
	ErrKeyEncoding = errors.New("ed25519: malformed public key")
	// ErrSmallOrder says that a public key is one of the eight points for which
	// signatures bind nobody.
	ErrSmallOrder = errors.New("ed25519: public key of small order")
	// ErrSeed says that a private key's seed has not SeedSize bytes.
	ErrSeed = errors.New("ed25519: malformed seed")
	// ErrEncoding says that a signature has a wrong length, an R that is not
	// canonical or not on the curve, or an S not below the group order.
	ErrEncoding = errors.New("ed25519: malformed signature")
	// ErrMismatch says that a well-formed signature is not of this message by
	// this key.
	ErrMismatch = errors.New("ed25519: signature does not match")
)
