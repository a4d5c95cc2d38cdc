package invite

import "errors"

// Why a text is not an invite, or an invite cannot be written.
var (
	// ErrNotInvite says that the text does not begin as an invite does.
	ErrNotInvite = errors.New("not an invite")
	// ErrVersion says that the invite is of a later version of the program.
	ErrVersion = errors.New("invite of an unknown version")
	// ErrMangled says that the text is not what was written: a character is
	// missing, added or changed.
	ErrMangled = errors.New("invite is damaged")
	// ErrTooLong says that the text is longer than an invite can be.
	ErrTooLong = errors.New("invite is too long")
	// ErrMalformed says that the text is whole and does not hold an invite. It
	// wraps the reason.
	ErrMalformed = errors.New("malformed invite")
)
