package cddl

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Major says what an Item is: the major types of RFC 8949 §3.1.
type Major byte

// The major types.
const (
	Uint Major = iota
	Negative
	Bytes
	Text
	Array
	Map
	Tag
	Simple
)

// The simple values that may occur.
const (
	simpleFalse = 20
	simpleTrue  = 21
	simpleNull  = 22
)

// Item is one decoded data item.
type Item struct {
	Major Major
	// Arg is the value of a Uint, -1 less the value of a Negative, the number
	// of a Tag or of a Simple.
	Arg uint64
	// Data is the content of Bytes and Text.
	Data []byte
	// Items are the elements of an Array, key and value in turn of a Map, and
	// the one content of a Tag.
	Items []Item
}

// ErrEncoding says that bytes are not one item in deterministic encoding.
var ErrEncoding = errors.New("not deterministic CBOR")

// maxDepth bounds the nesting that Decode follows.
const maxDepth = 40

// Decode reads exactly one item in deterministic encoding (RFC 8949 §4.2.1),
// or returns ErrEncoding.
func Decode(data []byte) (Item, error) {
	item, rest, err := decode(data, maxDepth)
	if err == nil && len(rest) > 0 {
		err = malformed("%d bytes behind the item", len(rest))
	}
	return item, err
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEncoding, fmt.Sprintf(format, args...))
}

// decode reads the item that data begins with.
func decode(data []byte, depth int) (item Item, rest []byte, err error) {
	if depth == 0 {
		return item, nil, malformed("nested too deeply")
	}
	item.Major, item.Arg, rest, err = head(data)
	if err != nil {
		return item, nil, err
	}
	n := item.Arg
	switch item.Major {
	case Simple:
		if n < simpleFalse || n > simpleNull {
			err = malformed("simple value %d", n)
		}
	case Bytes, Text:
		item, rest, err = content(item, rest)
	case Array:
		item.Items, rest, err = elements(rest, n, depth)
	case Tag:
		item.Items, rest, err = elements(rest, 1, depth)
	case Map:
		if n > uint64(len(rest)) {
			return item, nil, malformed("map of %d", n)
		}
		item.Items, rest, err = elements(rest, 2*n, depth)
		if err == nil {
			err = ascending(item.Items)
		}
	}
	return item, rest, err
}

// head reads an initial byte and its argument in the shortest form.
func head(data []byte) (m Major, arg uint64, rest []byte, err error) {
	if len(data) == 0 {
		return 0, 0, nil, malformed("ends too early")
	}
	m, info, rest := Major(data[0]>>5), data[0]&31, data[1:]
	if info < 24 {
		return m, uint64(info), rest, nil
	}
	if info > 27 || m == Simple {
		return 0, 0, nil, malformed("initial byte %#x", data[0])
	}
	size := 1 << (info - 24)
	if len(rest) < size {
		return 0, 0, nil, malformed("ends within a head")
	}
	for _, b := range rest[:size] {
		arg = arg<<8 | uint64(b)
	}
	if size == 1 && arg < 24 || size > 1 && arg>>(4*size) == 0 {
		return 0, 0, nil, malformed("head longer than needed")
	}
	return m, arg, rest[size:], nil
}

// content takes the content of a byte string or text.
func content(item Item, rest []byte) (Item, []byte, error) {
	if item.Arg > uint64(len(rest)) {
		return item, nil, malformed("ends within a string")
	}
	item.Data, rest = rest[:item.Arg], rest[item.Arg:]
	item.Arg = 0
	if item.Major == Text && !utf8.Valid(item.Data) {
		return item, nil, malformed("text is not UTF-8")
	}
	return item, rest, nil
}

func elements(data []byte, n uint64, depth int) (list []Item, rest []byte, err error) {
	if n > uint64(len(data)) {
		return nil, nil, malformed("ends within an array or map")
	}
	rest = data
	for range n {
		var item Item
		if item, rest, err = decode(rest, depth-1); err != nil {
			return nil, nil, err
		}
		list = append(list, item)
	}
	return list, rest, nil
}

// ascending checks the keys of a map.
func ascending(pairs []Item) error {
	for i := 2; i < len(pairs); i += 2 {
		if bytes.Compare(pairs[i-2].Append(nil), pairs[i].Append(nil)) >= 0 {
			return malformed("map keys not ascending")
		}
	}
	return nil
}

// Append appends the deterministic encoding of the item; the order of a map is
// that of Items.
func (i Item) Append(dst []byte) []byte {
	arg := i.Arg
	switch i.Major {
	case Bytes, Text:
		arg = uint64(len(i.Data))
	case Array:
		arg = uint64(len(i.Items))
	case Map:
		arg = uint64(len(i.Items) / 2)
	}
	dst = appendHead(dst, i.Major, arg)
	dst = append(dst, i.Data...)
	for _, item := range i.Items {
		dst = item.Append(dst)
	}
	return dst
}

func appendHead(dst []byte, m Major, arg uint64) []byte {
	first := byte(m) << 5
	if arg < 24 {
		return append(dst, first|byte(arg))
	}
	size, info := 1, byte(24)
	for ; size < 8 && arg>>(8*size) != 0; size *= 2 {
		info++
	}
	dst = append(dst, first|info)
	for shift := 8 * (size - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(arg>>shift))
	}
	return dst
}

// String is the item in diagnostic notation (RFC 8949 §8).
func (i Item) String() string {
	var b bytes.Buffer
	i.diagnose(&b)
	return b.String()
}

func (i Item) diagnose(b *bytes.Buffer) {
	switch i.Major {
	case Uint:
		fmt.Fprint(b, i.Arg)
	case Negative:
		if i.Arg == ^uint64(0) {
			b.WriteString("-18446744073709551616")
			return
		}
		fmt.Fprintf(b, "-%d", i.Arg+1)
	case Bytes:
		fmt.Fprintf(b, "h'%x'", i.Data)
	case Text:
		fmt.Fprintf(b, "%q", i.Data)
	case Array:
		diagnoseList(b, "[]", i.Items, ", ", ", ")
	case Map:
		diagnoseList(b, "{}", i.Items, ": ", ", ")
	case Tag:
		fmt.Fprintf(b, "%d", i.Arg)
		diagnoseList(b, "()", i.Items, ", ", ", ")
	case Simple:
		b.WriteString(map[uint64]string{simpleFalse: "false", simpleTrue: "true", simpleNull: "null"}[i.Arg])
	}
}

// diagnoseList writes items between brackets: odd and even ones are followed by
// separators of their own.
func diagnoseList(b *bytes.Buffer, brackets string, items []Item, first, second string) {
	b.WriteByte(brackets[0])
	for n, item := range items {
		switch {
		case n == 0:
		case n%2 == 1:
			b.WriteString(first)
		default:
			b.WriteString(second)
		}
		item.diagnose(b)
	}
	b.WriteByte(brackets[1])
}
