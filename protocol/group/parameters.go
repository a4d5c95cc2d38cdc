package group

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy"
)

// parametersForm are the parameters of a resource's policy by the keys of
// policy.Parameters, each in its unit. One that is zero is absent, so that
// there is one encoding only.
type parametersForm map[uint64]uint64

func formOf(params *policy.Params) parametersForm {
	f := make(parametersForm)
	for _, p := range policy.Parameters {
		if n := p.Wire(params); n != 0 {
			f[p.Key] = n
		}
	}
	return f
}

// params are what the form says, within the ranges of their types only. Errors:
// ErrParameter for a key that is nobody's, because who does not know a parameter
// cannot run the policy; ErrMalformed for a zero; policy.ErrOutOfRange for what
// a parameter cannot be.
func (f parametersForm) params() (policy.Params, error) {
	var params policy.Params
	known := 0
	for _, p := range policy.Parameters {
		n, there := f[p.Key]
		if !there {
			continue
		}
		known++
		if n == 0 {
			return params, fmt.Errorf("%w: %s is there and 0", ErrMalformed, p.Name)
		}
		if p.SetWire(&params, n); p.Wire(&params) != n {
			return params, fmt.Errorf("%w: %s is %d", policy.ErrOutOfRange, p.Name, n)
		}
	}
	if known < len(f) {
		return params, ErrParameter
	}
	return params, nil
}
