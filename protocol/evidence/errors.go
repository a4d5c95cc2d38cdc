package evidence

import "errors"

// Why something is no evidence.
var (
	// ErrMalformed says that the bytes are not the strict encoding of evidence.
	// It wraps the reason from package canonical.
	ErrMalformed = errors.New("malformed evidence")
	// ErrTooLarge says that the encoding would be above MaxSize.
	ErrTooLarge = errors.New("evidence is too large")
	// ErrText says that a text is not exactly one block of evidence.
	ErrText = errors.New("not one block of evidence")
	// ErrKind says that the evidence is of a kind that this version does not know.
	ErrKind = errors.New("unknown kind of evidence")
	// ErrGroup says that the evidence is about a member of another group.
	ErrGroup = errors.New("evidence of another group")
	// ErrAuthority says that the CA keys in the evidence are not those of the
	// group. It wraps the reason from package group or certificate.
	ErrAuthority = errors.New("authorities in the evidence do not hold")
	// ErrCertificate says that the certificate in the evidence does not hold. It
	// wraps the reason from package certificate.
	ErrCertificate = errors.New("certificate in the evidence does not hold")
	// ErrAccused says that the certificate is another member's than the accused's.
	ErrAccused = errors.New("certificate is not of the accused")
	// ErrObject says that an object is not one that the accused has signed. It
	// wraps the reason from package token.
	ErrObject = errors.New("object in the evidence does not hold")
	// ErrOrder says that two objects of one kind are not in the order of
	// their hashes.
	ErrOrder = errors.New("objects in the evidence are out of order")
	// ErrNoProof says that the objects do not contradict each other: an honest
	// member may have signed both.
	ErrNoProof = errors.New("objects do not contradict each other")
)
