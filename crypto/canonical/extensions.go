package canonical

import (
	"bytes"
	"fmt"
)

const (
	// MaxExtensions is how many entries an extensions map may have: room for
	// several later versions, while an object stays a small multiple of its
	// known size.
	MaxExtensions = 8
	// MaxExtensionBytes bounds one extension's encoded value: a hash, a key
	// and a signature fit in it together.
	MaxExtensionBytes = 256
)

// Extensions is the map that ends every signed array, so that later versions
// can add to it (handoff rules §8). An unknown odd key is kept and ignored; an
// unknown even key refuses the object. This version knows no key.
//
// Marshal and Unmarshal validate it, so no caller can forget to. A nil map
// encodes as the empty one, and the empty one decodes as nil.
type Extensions map[uint64]Raw

// plain is Extensions without its methods.
type plain map[uint64]Raw

// extensionLimits follows from the two constants; nesting inside a value is
// for a later version to define.
var extensionLimits = Limits{
	MaxBytes: 9 + MaxExtensions*(9+MaxExtensionBytes),
	MaxDepth: deepest,
	MaxItems: 1 + MaxExtensions*(1+MaxExtensionBytes),
}

// Validate refuses more than MaxExtensions entries (ErrTooMany), a value above
// MaxExtensionBytes (ErrTooLarge), a value that is not canonical, and an even
// key (ErrExtension).
func (e Extensions) Validate() error {
	if len(e) > MaxExtensions {
		return fmt.Errorf("%w: %d extensions, at most %d", ErrTooMany, len(e), MaxExtensions)
	}
	for key, value := range e {
		if key%2 == 0 {
			return fmt.Errorf("%w: %d", ErrExtension, key)
		}
		if len(value) > MaxExtensionBytes {
			return fmt.Errorf("%w: extension %d has %d, at most %d", ErrTooLarge, key, len(value), MaxExtensionBytes)
		}
		if err := Check(value, extensionLimits); err != nil {
			return fmt.Errorf("extension %d: %w", key, err)
		}
	}
	return nil
}

// emptyMap is the encoding of no extensions at all.
var emptyMap = []byte{0xa0}

// MarshalCBOR encodes e after Validate.
func (e Extensions) MarshalCBOR() ([]byte, error) {
	if len(e) == 0 {
		return emptyMap, nil
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return Marshal(plain(e))
}

// UnmarshalCBOR decodes and validates e.
func (e *Extensions) UnmarshalCBOR(data []byte) error {
	if bytes.Equal(data, emptyMap) {
		*e = nil
		return nil
	}
	var p plain
	if err := Unmarshal(data, &p, extensionLimits); err != nil {
		return err
	}
	*e = Extensions(p)
	return e.Validate()
}
