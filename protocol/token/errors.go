package token

import "errors"

// Why a signed object of a token was not accepted.
var (
	ErrMalformed     = errors.New("malformed token object")
	ErrSignature     = errors.New("token object signature does not verify")
	ErrUnknownSigner = errors.New("certificate of the signer is not known")
	ErrSigner        = errors.New("object is signed by somebody it does not name")
	ErrField         = errors.New("policy field is too large")
	ErrChain         = errors.New("transfer does not follow from what it names")
)
