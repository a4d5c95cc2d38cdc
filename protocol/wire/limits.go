package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// MaxObject bounds one signed object inside a message, in bytes: the
	// largest, a transfer with a full policy field and extensions, stays
	// below 4 kB.
	MaxObject = 4 << 10

	// MaxSigners bounds the signers of a token's title (its proof of custody):
	// its generator, the previous holder, the member that declined the token,
	// and the holder.
	MaxSigners = 4

	// MaxUpdates bounds the membership updates in a TRANSFER or RECEIPT; the
	// group's own update_capacity is at most that.
	MaxUpdates = 32

	// MaxPage bounds the entries of one page of a directory, or of a
	// revocation list, so that a page fits a frame.
	MaxPage = 64
)

func object(name string, raw []byte) error {
	if len(raw) == 0 || len(raw) > MaxObject {
		return fmt.Errorf("%w: %s of %d bytes, permitted are 1 to %d", ErrLimit, name, len(raw), MaxObject)
	}
	return nil
}

// optional is object for a byte string that may be empty.
func optional(name string, raw []byte) error {
	if len(raw) > MaxObject {
		return fmt.Errorf("%w: %s of %d bytes, permitted are 0 to %d", ErrLimit, name, len(raw), MaxObject)
	}
	return nil
}

// objects checks a list that may be empty.
func objects(name string, list [][]byte, most int) error {
	if len(list) > most {
		return fmt.Errorf("%w: %d of %s, permitted are 0 to %d", ErrLimit, len(list), name, most)
	}
	for _, raw := range list {
		if err := object(name, raw); err != nil {
			return err
		}
	}
	return nil
}

// signers checks a list of members that have signed a title.
func signers(name string, list []ident.Member) error {
	if n := len(list); n == 0 || n > MaxSigners {
		return fmt.Errorf("%w: %d %s, permitted are 1 to %d", ErrLimit, n, name, MaxSigners)
	}
	return nil
}

// hop checks the number of a hop that a token is to make.
func hop(k uint64) error {
	if k == 0 || k > ident.MaxHop {
		return fmt.Errorf("%w: handoff to hop %d, permitted are 1 to %d", ErrMalformed, k, uint64(ident.MaxHop))
	}
	return nil
}
