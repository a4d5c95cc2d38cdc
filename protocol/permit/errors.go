package permit

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Why a permit is not accepted. Besides there are those of its objects, which say more: those of package token,
// and those of package certificate.
var (
	ErrMalformed    = errors.New("malformed permit")
	ErrText         = errors.New("not the file of a permit")
	ErrGroup        = errors.New("permit of another group")
	ErrCertificates = errors.New("certificates of a permit are not those of its signers")
	ErrResource     = errors.New("permit for a resource that the group does not have")
	ErrSlot         = errors.New("permit for a slot that the resource does not have")
	ErrHolder       = errors.New("holder of the permit was revoked")
	ErrSigner       = errors.New("signer of the permit was revoked")
)

// Why a statement is not accepted.
var (
	ErrStatement = errors.New("malformed statement")
	ErrSignature = errors.New("signature of a statement does not verify")
	ErrPresenter = errors.New("statement is not by the holder of the permit")
	ErrTitle     = errors.New("statement is about another title")
	ErrGate      = errors.New("statement is for another gate")
	ErrExporter  = errors.New("statement is from another connection")
	ErrNumber    = errors.New("statement has another number")
)

// RevokedError names the member that was revoked. It matches ErrHolder or ErrSigner.
type RevokedError struct {
	Member ident.Member
	Holder bool // it is the holder: otherwise one whose signature led to it
}

func (e *RevokedError) Error() string { return fmt.Sprintf("%v: %v", e.Unwrap(), e.Member) }

// Unwrap makes errors.Is find ErrHolder or ErrSigner.
func (e *RevokedError) Unwrap() error {
	if e.Holder {
		return ErrHolder
	}
	return ErrSigner
}
