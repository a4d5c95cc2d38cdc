package update

import "errors"

// Why an update was not accepted.
var (
	ErrMalformed = errors.New("malformed update")
	ErrKind      = errors.New("unknown kind of update")
	ErrTooLarge  = errors.New("update too large")
)
