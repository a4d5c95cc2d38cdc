package wandering

import "errors"

// Why bytes are not what walkers say to each other, or write on a token.
var (
	// ErrBody is a body of a POLICY that is ignored (P-34).
	ErrBody = errors.New("malformed body of a walk's message")
	// ErrField is a field of a token that is as none (P-33).
	ErrField = errors.New("malformed field of a walking token")
)

// CheckBody reports whether these bytes are the body of a POLICY between walkers, of
// any kind that the preset fair has (P-33). Error: ErrBody. The walkers
// need no such report; it is for test vectors and those who look at messages.
func CheckBody(b []byte) error {
	if !parseBody(b, new(body)) {
		return ErrBody
	}
	return nil
}

// CheckField does the same for the field of a token (P-33). An empty one is good: the
// token has just been made. Error: ErrField.
func CheckField(field []byte) error {
	if _, ok := readBaggage(field); !ok && len(field) > 0 {
		return ErrField
	}
	return nil
}
