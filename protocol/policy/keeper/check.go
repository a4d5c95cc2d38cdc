package keeper

import "errors"

// ErrBody is a body of a POLICY that is ignored (P-59).
var ErrBody = errors.New("malformed body of a keeper's message")

// CheckBody reports whether these bytes are the body of a POLICY between keepers (P-50).
// Error: ErrBody. The keepers need no such report; it is for test vectors and programs that
// show messages.
func CheckBody(b []byte) error {
	if !parse(b, new(message)) {
		return ErrBody
	}
	return nil
}
