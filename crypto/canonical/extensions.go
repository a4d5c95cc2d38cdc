package canonical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
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

// emptyMap is the encoding of no extensions at all, and null that of nothing.
var (
	emptyMap = []byte{0xa0}
	null     = []byte{0xf6}
)

// MarshalCBOR encodes e after Validate.
func (e Extensions) MarshalCBOR() ([]byte, error) {
	if len(e) == 0 {
		return emptyMap, nil
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	keys := make([]uint64, 0, MaxExtensions)
	size := 1
	for key, value := range e {
		keys = append(keys, key)
		size += maxHead + len(value)
	}
	slices.Sort(keys) // as their encodings are sorted
	b := append(make([]byte, 0, size), emptyMap[0]|byte(len(keys)))
	for _, key := range keys {
		b = append(AppendUint(b, key), e[key]...)
	}
	return b, nil
}

// maxHead is the size of the longest initial byte and its argument.
const maxHead = 9

// AppendUint appends an unsigned integer in the shortest form (RFC 8949 §4.2.1), as
// Marshal writes it.
func AppendUint(b []byte, v uint64) []byte {
	switch {
	case v < 24:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, 24, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 25), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 26), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 27), v)
}

// UnmarshalCBOR decodes and validates e. It is written out because each object that is
// received has a map: what a library does for any map costs three times as much.
func (e *Extensions) UnmarshalCBOR(data []byte) error {
	if bytes.Equal(data, emptyMap) || bytes.Equal(data, null) { // Unmarshal refuses the latter: it is not how nothing is written
		*e = nil
		return nil
	}
	s := scanner{data: bytes.Clone(data), items: extensionLimits.MaxItems}
	major, n, err := s.head()
	switch {
	case err != nil:
		return err
	case major != majorMap:
		return fmt.Errorf("%w: extensions are a map", ErrType)
	case n > MaxExtensions:
		return fmt.Errorf("%w: %d extensions, at most %d", ErrTooMany, n, MaxExtensions)
	}
	list, last := make(Extensions, n), uint64(0)
	for range n {
		major, key, err := s.head()
		switch {
		case err != nil:
			return err
		case major != majorUint:
			return fmt.Errorf("%w: the key of an extension is an unsigned integer", ErrType)
		case len(list) > 0 && key <= last:
			return ErrUnsorted
		case key%2 == 0:
			return fmt.Errorf("%w: %d", ErrExtension, key)
		}
		start := s.off
		if err := s.item(deepest - 1); err != nil {
			return err
		}
		if size := s.off - start; size > MaxExtensionBytes {
			return fmt.Errorf("%w: extension %d has %d, at most %d", ErrTooLarge, key, size, MaxExtensionBytes)
		}
		list[key], last = Raw(s.data[start:s.off:s.off]), key
	}
	if s.off != len(data) {
		return ErrTrailing
	}
	*e = list
	return nil
}
