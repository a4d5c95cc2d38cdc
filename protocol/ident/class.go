package ident

import (
	"errors"
	"fmt"
)

// MaxClass bounds a class of members, in bytes: it is in certificates, tables and settings.
const MaxClass = 16

// ErrClass says that a class of members is not 1 to 16 of a-z, 0-9 and '-', or that a certificate has one that
// can have none.
var ErrClass = errors.New("invalid class of members")

// CheckClass returns ErrClass unless a text can be a class of members. A member that has none has the class "", which is
// never written.
func CheckClass(class string) error {
	if len(class) == 0 || len(class) > MaxClass {
		return fmt.Errorf("%w: %d characters, permitted are 1 to %d", ErrClass, len(class), MaxClass)
	}
	for i := range len(class) {
		if b := class[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return fmt.Errorf("%w: %q, permitted are a-z, 0-9 and '-'", ErrClass, class)
		}
	}
	return nil
}
