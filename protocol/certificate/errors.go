package certificate

import "errors"

// Why bytes are not accepted as a signed object about a member, or a value
// cannot be signed as one.
var (
	// ErrMalformed says that the bytes are not the strict encoding of the
	// object. It wraps the reason from package envelope or canonical.
	ErrMalformed = errors.New("malformed object about a member")
	// ErrTooLarge says that the object's payload would be above MaxPayload.
	ErrTooLarge = errors.New("object about a member is too large")
	// ErrGroup says that the certificate is of another group.
	ErrGroup = errors.New("certificate of another group")
	// ErrUnknownCA says that the object names a CA key that is not known.
	ErrUnknownCA = errors.New("signed by an unknown authority")
	// ErrSignature says that the signature does not hold. It wraps the reason
	// from package envelope.
	ErrSignature = errors.New("signature does not hold")
	// ErrSigner says that an object is signed by another member than the one
	// that it says it is of.
	ErrSigner = errors.New("signed by another member than it says")
	// ErrSelf says that a failure statement is about its own witness.
	ErrSelf = errors.New("failure statement about oneself")
	// ErrName says that a name is not 1 to 64 of a-z, 0-9, '.' and '-',
	// beginning and ending with a letter or digit.
	ErrName = errors.New("invalid member name")
	// ErrSerial says that a serial number is 0.
	ErrSerial = errors.New("invalid serial number")
	// ErrKey says that the member's key is not an acceptable Ed25519 key.
	ErrKey = errors.New("invalid member key")
	// ErrRole says that the role in a certificate is not known, or not the one that is needed: the
	// certificate of a gate makes no member.
	ErrRole = errors.New("certificate of another role")
	// ErrOtherGate says that a certificate is of another gate.
	ErrOtherGate = errors.New("certificate of another gate")
	// ErrValidity says that the validity does not end after it begins, or that
	// a time is outside of 1970 to 9999.
	ErrValidity = errors.New("invalid validity")
	// ErrMode says that the mode of an endpoint record is unknown, or that
	// there are addresses or attachments that the mode does not have.
	ErrMode = errors.New("invalid endpoint mode")
	// ErrAddress says that an address is not host:port.
	ErrAddress = errors.New("invalid address")
	// ErrTooMany says that an endpoint record lists too many addresses or
	// attachments.
	ErrTooMany = errors.New("too many entries")
	// ErrAttached says that a list of attachments names nobody, the member
	// itself, or somebody twice.
	ErrAttached = errors.New("invalid attachment")
	// ErrReason says that the reason of a revocation is too long or is not
	// printable text.
	ErrReason = errors.New("invalid reason")
	// ErrVersion says that the version of a revocation list is 0.
	ErrVersion = errors.New("invalid revocation list version")

	// ErrExpired says that the validity of a certificate has ended.
	ErrExpired = errors.New("certificate has expired")
	// ErrNotYetValid says that the validity of a certificate has not begun.
	ErrNotYetValid = errors.New("certificate is not valid yet")
)
