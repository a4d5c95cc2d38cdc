package policy

import "errors"

// ErrOutOfRange is why a policy refuses its Params: the error that wraps it
// names the field, as the group configuration spells it, and the permitted
// range.
var ErrOutOfRange = errors.New("parameter out of range")

// ErrPreset is why a policy refuses a Params.Preset that it does not have; the
// error that wraps it lists those that it has.
var ErrPreset = errors.New("unknown preset")

// ErrUnused is why a policy refuses a parameter that it does not use: whoever
// set it expects something that will not happen. The error that wraps it names
// the parameter.
var ErrUnused = errors.New("parameter without effect")
