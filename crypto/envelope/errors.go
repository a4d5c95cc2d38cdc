package envelope

import "errors"

// Reasons for which bytes are not an envelope, or not a good one.
var (
	// ErrTag says that the bytes do not begin as a tagged COSE_Sign1.
	ErrTag = errors.New("envelope: not a COSE_Sign1")
	// ErrHeader says that the headers are not exactly algorithm EdDSA and a
	// key id of KeyIDSize bytes, protected.
	ErrHeader = errors.New("envelope: unexpected header")
	// ErrPayload says that the payload is not a byte string with a definite
	// length in shortest form.
	ErrPayload = errors.New("envelope: malformed payload")
	// ErrTooLarge says that the payload is above MaxPayload.
	ErrTooLarge = errors.New("envelope: payload too large")
	// ErrTruncated says that the bytes end too early.
	ErrTruncated = errors.New("envelope: truncated")
	// ErrTrailing says that bytes follow the signature.
	ErrTrailing = errors.New("envelope: trailing bytes")
	// ErrSignatureSize says that the signature is not a byte string of 64.
	ErrSignatureSize = errors.New("envelope: malformed signature field")
	// ErrSignature says that the signature does not hold for the key and the
	// domain. It wraps the reason from package signature.
	ErrSignature = errors.New("envelope: bad signature")
	// ErrKind says that the domain names no known kind.
	ErrKind = errors.New("envelope: unknown kind")
)
