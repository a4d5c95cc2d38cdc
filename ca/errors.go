package ca

import (
	"errors"
	"fmt"
)

// Why an authority does not do what it is asked to.
var (
	// ErrExists says that there is an authority in the directory, or the
	// remains of one.
	ErrExists = errors.New("an authority already exists")
	// ErrNoAuthority says that there is none in the directory.
	ErrNoAuthority = errors.New("no authority in this folder")
	// ErrDamaged says that a file of the authority is not what was written.
	ErrDamaged = errors.New("damaged")
	// ErrKeyMismatch says that the private key is not the one of the CA
	// certificate.
	ErrKeyMismatch = errors.New("private key does not belong to the CA certificate")
	// ErrNoKey says that the private key which is needed is not in the directory.
	ErrNoKey = errors.New("private key is missing")
	// ErrLocked says that another process keeps the authority locked.
	ErrLocked = errors.New("another process is using the authority")
	// ErrBroken says that an earlier operation failed half-way, so that what is
	// on disk has to be read anew: open the authority again.
	ErrBroken = errors.New("authority must be reopened after an error")

	// ErrUnchanged says that the configuration to be signed is the one that
	// holds.
	ErrUnchanged = errors.New("configuration is unchanged")
	// ErrRevoked says that the member has been revoked. That is final.
	ErrRevoked = errors.New("member has been revoked")
	// ErrLeft says that the member has left, by a statement of its own. That is
	// final.
	ErrLeft = errors.New("member has left")
	// ErrNoEvidence says that what was given proves nothing against anybody of
	// this group. It wraps the reason from package evidence.
	ErrNoEvidence = errors.New("not valid evidence in this group")
	// ErrRefused says that an invite does not let anybody in. The reason is for
	// the operator only.
	ErrRefused = errors.New("invite refused")
	// ErrNoInvite says that no invite was made with this id or for this name.
	ErrNoInvite = errors.New("no such invite")
	// ErrInviteUsed says that an invite cannot be taken back: somebody has become
	// a member with it.
	ErrInviteUsed = errors.New("invite was used")
	// ErrOtherName says that an invite is for another name.
	ErrOtherName = errors.New("invite for another name")
	// ErrNoConfiguration says that the first configuration has to be signed
	// before.
	ErrNoConfiguration = errors.New("the group has no configuration yet")
	// ErrRotating says that a rotation is in progress and has to be ended before
	// the next one.
	ErrRotating = errors.New("a rotation of the CA key is in progress")
	// ErrNotRotating says that the rotation is not where this step belongs.
	ErrNotRotating = errors.New("the rotation of the CA key is not at this step")
	// ErrPending says that members still have certificates that only the CA key
	// which is to be retired has signed.
	ErrPending = errors.New("members still have certificates signed by the old CA key")
	// ErrNameInUse says that another member has a valid certificate with the
	// name.
	ErrNameInUse = errors.New("name is in use")
	// ErrLifetime says that a lifetime is out of range.
	ErrLifetime = errors.New("lifetime out of range")
	// ErrGraceOver says that a member's newest certificate ended longer ago than the group's renew_grace.
	ErrGraceOver = errors.New("certificate has expired, and may not be renewed any more")
	// ErrExpired says that the statement about the CA key that signs has expired.
	ErrExpired = errors.New("CA certificate has expired")
	// ErrOwnKey says that the key to be certified is the CA's own.
	ErrOwnKey = errors.New("the CA key cannot be a member's key")
	// ErrRole says that the key has a certificate of another role: no key is both a member and a gate.
	ErrRole = errors.New("key has another role")
	// ErrNotGate says that the configuration to be signed names a gate that is none: this authority has
	// not issued a gate's certificate to it, or has revoked it.
	ErrNotGate = errors.New("not a gate of this group")
	// ErrUnknown says that no certificate was issued to such a member.
	ErrUnknown = errors.New("no such member")
	// ErrAmbiguous says that several members have the name.
	ErrAmbiguous = errors.New("several members have this name")
)

// damageError says where a file of the authority is not what was written. It
// matches ErrDamaged.
type damageError struct {
	file   string
	line   int // from 1 on, or 0 for the file as a whole
	reason error
}

func (e *damageError) Error() string {
	if e.line == 0 {
		return fmt.Sprintf("%s is damaged: %v", e.file, e.reason)
	}
	return fmt.Sprintf("%s is damaged at line %d: %v", e.file, e.line, e.reason)
}

// Unwrap makes errors.Is find ErrDamaged and the reason.
func (e *damageError) Unwrap() []error { return []error{ErrDamaged, e.reason} }
