package canonical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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
// unknown even key refuses the object. The zero value is the empty map.
//
// Extensions stay encoded, because each object that is signed or received has some,
// and hardly any is ever asked for. They are immutable: copies share the bytes.
//
// Marshal and Unmarshal validate them, so no caller can forget to.
type Extensions struct{ encoded []byte } // nil if empty

// maxExtensionItems follows from the two constants; nesting inside a value is
// for a later version to define.
const maxExtensionItems = MaxExtensions * MaxExtensionBytes

// emptyMap is the encoding of no extensions at all, and null that of nothing.
var (
	emptyMap = []byte{0xa0}
	null     = []byte{0xf6}
)

// Len returns how many extensions there are.
func (e Extensions) Len() int { return int(e.bytes()[0] - emptyMap[0]) }

// bytes returns the encoded map.
func (e Extensions) bytes() []byte {
	if e.encoded == nil {
		return emptyMap
	}
	return e.encoded
}

// Get returns the encoded value of an extension, or nil if e has none with this key.
// The caller must not change it.
func (e Extensions) Get(key uint64) Raw {
	all := e.bytes()
	start, value, end := find(all, key)
	if start == end {
		return nil
	}
	return Raw(all[value:end:end])
}

// With returns e with one more extension, or with another value for one that it has.
// It checks nothing: Validate does.
func (e Extensions) With(key uint64, value Raw) Extensions {
	all := e.bytes()
	start, _, end := find(all, key)
	count := all[0]
	if start == end {
		count++
	}
	b := make([]byte, 0, len(all)+maxHead+len(value))
	b = append(append(b, count), all[1:start]...)
	b = append(AppendUint(b, key), value...)
	return Extensions{append(b, all[end:]...)}
}

// find returns where an extension starts in an encoded map, where its value starts, and
// where it ends. Without one with this key all three are where it belongs.
func find(all []byte, key uint64) (start, value, end int) {
	s := scanner{data: all, off: 1, items: maxExtensionItems}
	for s.off < len(all) {
		start = s.off
		_, k, err := s.head()
		value = s.off
		if err == nil {
			err = s.item(deepest - 1)
		}
		switch {
		case err != nil || k > key:
			return start, start, start
		case k == key:
			return start, value, s.off
		}
	}
	return s.off, s.off, s.off
}

// Validate refuses more than MaxExtensions entries (ErrTooMany), a value above
// MaxExtensionBytes (ErrTooLarge), a value that is not canonical, and an even
// key (ErrExtension).
func (e Extensions) Validate() error { return validate(e.bytes()) }

func validate(data []byte) error {
	s := scanner{data: data, items: maxExtensionItems}
	major, n, err := s.head()
	switch {
	case err != nil:
		return err
	case major != majorMap:
		return fmt.Errorf("%w: extensions are a map", ErrType)
	case n > MaxExtensions:
		return fmt.Errorf("%w: %d extensions, at most %d", ErrTooMany, n, MaxExtensions)
	}
	last := uint64(0)
	for range n {
		major, key, err := s.head()
		switch {
		case err != nil:
			return err
		case major != majorUint:
			return fmt.Errorf("%w: the key of an extension is an unsigned integer", ErrType)
		case key%2 == 0:
			return fmt.Errorf("%w: %d", ErrExtension, key)
		case key <= last:
			return ErrUnsorted
		}
		last = key
		start := s.off
		if err := s.item(deepest - 1); err != nil {
			return fmt.Errorf("extension %d: %w", key, err)
		}
		if size := s.off - start; size > MaxExtensionBytes {
			return fmt.Errorf("%w: extension %d has %d, at most %d", ErrTooLarge, key, size, MaxExtensionBytes)
		}
	}
	if s.off != len(data) {
		return ErrTrailing
	}
	return nil
}

// MarshalCBOR encodes e after Validate.
func (e Extensions) MarshalCBOR() ([]byte, error) { return e.bytes(), e.Validate() }

// UnmarshalCBOR decodes and validates e.
func (e *Extensions) UnmarshalCBOR(data []byte) error {
	if bytes.Equal(data, emptyMap) || bytes.Equal(data, null) { // Unmarshal refuses the latter: it is not how nothing is written
		*e = Extensions{}
		return nil
	}
	if err := validate(data); err != nil {
		return err
	}
	e.encoded = bytes.Clone(data)
	return nil
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
