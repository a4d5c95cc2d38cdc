package wire_test

import (
	"bytes"

	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
)

// object is a byte string in the place of a signed object of n bytes.
func object(n int) []byte { return bytes.Repeat([]byte{0xc5}, n) }

func repeat[T any](n int, x T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// shapes are those of all messages in the CDDL, in the order of types.
var shapes = form.Messages()

// drawn is a message of each type. Every call makes new ones, so that a test can spoil
// them.
func drawn(from func() *form.Stream) []wire.Message {
	list := make([]wire.Message, len(shapes))
	for i, o := range shapes {
		list[i] = decoded(o.Sample(from()))
	}
	return list
}

func decoded(body []byte) wire.Message {
	m, err := wire.Decode(body)
	if err != nil {
		panic(err) // what the CDDL permits is a message
	}
	return m
}

// samples has one good message of each type.
func samples() []wire.Message { return drawn(form.Full) }

// smallest has the same messages with everything left out that may be.
func smallest() []wire.Message { return drawn(form.Least) }

// sample is the good message of type T.
func sample[T wire.Message]() T {
	for _, m := range samples() {
		if m, ok := m.(T); ok {
			return m
		}
	}
	panic("no sample of this type")
}

// anyMessage draws a good message of any type.
var anyMessage = rapid.Custom(func(t *rapid.T) wire.Message {
	return decoded(rapid.SampledFrom(shapes).Draw(t, "type").Seeded(rapid.Uint32().Draw(t, "case")))
})
