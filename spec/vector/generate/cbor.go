package main

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/wandertoken/wander/internal/cddl"
)

// The vectors are built from items of the independent CBOR implementation, so
// that an encoder of the project that is wrong does not make wrong vectors.

type item = cddl.Item

func uintOf(n uint64) item      { return item{Major: cddl.Uint, Arg: n} }
func negative(n uint64) item    { return item{Major: cddl.Negative, Arg: n - 1} } // -n
func bstr(b []byte) item        { return item{Major: cddl.Bytes, Data: b} }
func text(s string) item        { return item{Major: cddl.Text, Data: []byte(s)} }
func array(list ...item) item   { return item{Major: cddl.Array, Items: list} }
func dict(pairs ...item) item   { return item{Major: cddl.Map, Items: pairs} }
func tag(n uint64, i item) item { return item{Major: cddl.Tag, Arg: n, Items: []item{i}} }

func boolean(b bool) item {
	if b {
		return item{Major: cddl.Simple, Arg: 21}
	}
	return item{Major: cddl.Simple, Arg: 20}
}

var null = item{Major: cddl.Simple, Arg: 22}

func encode(i item) []byte { return i.Append(nil) }

// repeat is a byte string of n equal bytes.
func repeat(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }

// clone is a copy that can be changed.
func clone(i item) item {
	i.Data = bytes.Clone(i.Data)
	i.Items = slices.Clone(i.Items)
	for n := range i.Items {
		i.Items[n] = clone(i.Items[n])
	}
	return i
}

// at is the item at a path of indexes.
func at(i *item, path ...int) *item {
	for _, n := range path {
		i = &i.Items[n]
	}
	return i
}

// changed is a copy of an item with one place changed.
func changed(i item, change func(*item), path ...int) item {
	c := clone(i)
	change(at(&c, path...))
	return c
}

// with is a copy with one place replaced.
func with(i, replacement item, path ...int) item {
	return changed(i, func(p *item) { *p = replacement }, path...)
}

// spelled is the encoding of an item in which the one at path is spelled
// otherwise than it should.
func spelled(i item, spelling []byte, path ...int) []byte {
	if len(path) == 0 {
		return spelling
	}
	out := head(i, countOf(i))
	for n, inner := range i.Items {
		if n == path[0] {
			out = append(out, spelled(inner, spelling, path[1:]...)...)
		} else {
			out = inner.Append(out)
		}
	}
	return out
}

// countOf is the argument of an item's head.
func countOf(i item) uint64 {
	switch i.Major {
	case cddl.Bytes, cddl.Text:
		return uint64(len(i.Data))
	case cddl.Array:
		return uint64(len(i.Items))
	case cddl.Map:
		return uint64(len(i.Items) / 2)
	}
	return i.Arg
}

// head is the shortest head of an item's major type with an argument.
func head(i item, arg uint64) []byte {
	out := encode(uintOf(arg))
	out[0] |= byte(i.Major) << 5
	return out
}

// content is what stands behind an item's head.
func content(i item) []byte { return encode(i)[len(head(i, countOf(i))):] }

// longHead is a head that is longer than the argument needs.
func longHead(i item) []byte {
	arg, major := countOf(i), byte(i.Major)<<5
	switch {
	case arg < 24:
		return []byte{major | 24, byte(arg)}
	case arg < 1<<8:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(arg))
	case arg < 1<<16:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(arg))
	}
	return binary.BigEndian.AppendUint64([]byte{major | 27}, arg)
}
