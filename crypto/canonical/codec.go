package canonical

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// Raw is one encoded item, carried as it is.
type Raw = cbor.RawMessage

// unbounded is what Marshal refuses to exceed: only the nesting, for which the decoder has
// no more patience either. The size is the caller's own.
var unbounded = Limits{MaxBytes: math.MaxInt, MaxDepth: deepest, MaxItems: math.MaxInt}

var encoder, decoder = modes()

func modes() (cbor.UserBufferEncMode, cbor.DecMode) {
	enc := cbor.CoreDetEncOptions()
	enc.NilContainers = cbor.NilContainerAsEmpty
	enc.ByteArray = cbor.ByteArrayToByteSlice
	enc.BinaryMarshaler = cbor.BinaryMarshalerNone
	enc.TextMarshaler = cbor.TextMarshalerNone
	enc.TagsMd = cbor.TagsForbidden
	encMode, err := enc.UserBufferEncMode()
	if err != nil {
		panic(err) // the options are constants: a test sees it first
	}
	decMode, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		MaxNestedLevels:   deepest,
		MaxArrayElements:  math.MaxInt32,
		MaxMapPairs:       math.MaxInt32,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		BinaryUnmarshaler: cbor.BinaryUnmarshalerNone,
		TextUnmarshaler:   cbor.TextUnmarshalerNone,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return encMode, decMode
}

// Marshal returns the deterministic encoding of v. A value with no such
// encoding here (a float, a tag, text that is not UTF-8, a bad Raw) is refused
// with ErrType or the reason that Check would give.
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append appends what Marshal returns to dst, or returns dst as it was and the
// error.
func Append(dst []byte, v any) ([]byte, error) { return AppendWithin(dst, v, unbounded) }

// AppendWithin is Append of a value whose encoding must pass Check within l.
func AppendWithin(dst []byte, v any, l Limits) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if err := encoder.MarshalToBuffer(v, buf); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrType, err)
	}
	if err := Check(buf.Bytes(), l); err != nil {
		return dst, err
	}
	return append(dst, buf.Bytes()...), nil
}

// buffers are for encodings that are copied or only compared.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Unmarshal decodes data into v, a pointer, if data passes Check within l and
// is the one encoding of the value it decodes to. Otherwise the error is one
// of Check's, ErrType when an item does not fit its Go field, or
// ErrNotCanonical, and *v holds nothing of use.
func Unmarshal(data []byte, v any, l Limits) error {
	if err := Check(data, l); err != nil {
		return err
	}
	if err := decoder.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrType, err)
	}
	again := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(again)
	again.Reset()
	if err := encoder.MarshalToBuffer(v, again); err != nil {
		return fmt.Errorf("%w: %w", ErrType, err)
	}
	if !bytes.Equal(again.Bytes(), data) {
		return ErrNotCanonical
	}
	return nil
}
