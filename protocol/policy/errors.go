package policy

import "errors"

// ErrOutOfRange is why a policy refuses its Params: the error that wraps it
// names the field, as the group configuration spells it, and the permitted
// range.
var ErrOutOfRange = errors.New("parameter out of range")
