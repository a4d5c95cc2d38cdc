package canonical

import "errors"

// Reasons for which bytes, or a Go value, are refused.
var (
	// ErrTooLarge says that the input, or one extension, has too many bytes.
	ErrTooLarge = errors.New("cbor: too many bytes")
	// ErrTooDeep says that arrays and maps nest too deeply.
	ErrTooDeep = errors.New("cbor: nested too deeply")
	// ErrTooMany says that there are more data items, or more extensions,
	// than permitted.
	ErrTooMany = errors.New("cbor: too many items")
	// ErrTruncated says that the input ends inside an item.
	ErrTruncated = errors.New("cbor: truncated")
	// ErrTrailing says that bytes follow the one permitted item.
	ErrTrailing = errors.New("cbor: trailing bytes")
	// ErrIndefinite says that a length is indefinite.
	ErrIndefinite = errors.New("cbor: indefinite length")
	// ErrNotShortest says that an integer or a length is spelled with more
	// bytes than it needs.
	ErrNotShortest = errors.New("cbor: head not in shortest form")
	// ErrUnsorted says that map keys are not strictly ascending by their
	// encoded bytes: out of order, or one twice.
	ErrUnsorted = errors.New("cbor: map keys not strictly ascending")
	// ErrUTF8 says that a text string is not valid UTF-8.
	ErrUTF8 = errors.New("cbor: text is not UTF-8")
	// ErrTag says that there is a tag where none may be.
	ErrTag = errors.New("cbor: unexpected tag")
	// ErrType says that an item is of a kind that is never permitted (floating
	// point, undefined, unassigned simple values, reserved heads) or that does
	// not fit the Go value it is decoded into.
	ErrType = errors.New("cbor: unexpected type")
	// ErrNotCanonical says that the input is well-formed but not the encoding
	// of the value it decodes to: a byte string of another length than its
	// field, null where a value belongs, an array in place of a byte string.
	ErrNotCanonical = errors.New("cbor: not the canonical encoding of its value")
	// ErrExtension says that an extensions map holds an even key, which means
	// "refuse me unless you understand me", and this version knows none.
	ErrExtension = errors.New("cbor: unknown critical extension")
)
