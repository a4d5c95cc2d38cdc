package group

import (
	"errors"
	"fmt"
)

// Why a statement, a configuration or the file of a group is refused.
var (
	// ErrMalformed says that bytes are not the strict encoding of the object.
	// It wraps the reason from package envelope or canonical.
	ErrMalformed = errors.New("malformed object about a group")
	// ErrGroup says that a statement is about another group, or that the key
	// that signed it as the group's first is not the one that names the group.
	ErrGroup = errors.New("authority of another group")
	// ErrKey says that a CA's key is not an acceptable Ed25519 key.
	ErrKey = errors.New("invalid authority key")
	// ErrValidity says that the validity of a CA does not end after it begins,
	// or that a time is outside of 1970 to 9999.
	ErrValidity = errors.New("invalid authority validity")
	// ErrVersion says that the version of a configuration is 0, or that the
	// version in a statement does not fit its key.
	ErrVersion = errors.New("invalid configuration version")
	// ErrOlder says that a configuration is not newer than the one in force.
	// Versions only grow.
	ErrOlder = errors.New("configuration is not newer")
	// ErrSameVersion says that a configuration has the version of the one in
	// force. It wraps ErrOlder.
	ErrSameVersion = fmt.Errorf("%w: it has the same version", ErrOlder)

	// ErrName says that a name is not 1 to 64 of a-z, 0-9, '.', '_' and '-'.
	ErrName = errors.New("invalid name")
	// ErrOutOfRange says that a setting is outside of its range; the message
	// names the setting and the range. What a policy refuses is
	// policy.ErrOutOfRange.
	ErrOutOfRange = errors.New("setting out of range")
	// ErrFraction says that a time constant is not a whole number of
	// milliseconds.
	ErrFraction = errors.New("setting is not a whole number of milliseconds")
	// ErrParameter says that a resource has a parameter that this version does
	// not know, so it cannot run the resource's policy.
	ErrParameter = errors.New("unknown parameter of a policy")
	// ErrWindows says that the windows of a resource are too many, that one of them cannot be, or that one is
	// shorter than an operation.
	ErrWindows = errors.New("invalid windows of a resource")
	// ErrGate says that a resource cannot have the gate that is set for it, or that a setting of the
	// gate is not known.
	ErrGate = errors.New("invalid gate of a resource")
	// ErrResources says that there is no resource, that there are too many, or
	// that they are not in strictly ascending order of their names.
	ErrResources = errors.New("invalid list of resources")

	// ErrNoAuthority says that a group file has no CA certificate.
	ErrNoAuthority = errors.New("group file without a CA certificate")
	// ErrNoConfiguration says that a group file has no group configuration.
	ErrNoConfiguration = errors.New("group file without a group configuration")
	// ErrTwice says that a group file has a CA certificate or a configuration
	// twice.
	ErrTwice = errors.New("object is in the group file twice")
	// ErrTooManyAuthorities says that a group has more than MaxAuthorities.
	ErrTooManyAuthorities = errors.New("too many authorities")
	// ErrAuthorities says that the CA keys that a configuration lists are not 1 to
	// MaxAuthorities different ones with the signer's among them.
	ErrAuthorities = errors.New("invalid list of authorities")
	// ErrMissingAuthority says that a configuration lists a CA key about which
	// there is no statement: that has to come first.
	ErrMissingAuthority = errors.New("configuration lists an authority that is not known")
	// ErrRetired says that a statement is about a CA key that the configuration
	// has retired.
	ErrRetired = errors.New("authority has been retired")
	// ErrBlock says that a block has no place in a group file.
	ErrBlock = errors.New("block has no place in a group file")
)
