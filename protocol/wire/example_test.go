package wire_test

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/protocol/wire"
)

// A message is framed, sent, and decoded within limits.
func ExampleDecode() {
	body, err := wire.Encode(&wire.Cancel{Hop: 7, Accept: 3})
	fmt.Println(len(body), err)
	stream := wire.AppendFrame(nil, body)

	body, err = wire.ReadFrame(bytes.NewReader(stream), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := wire.Decode(body)
	if m, ok := m.(*wire.Cancel); ok {
		fmt.Println(m.Type(), m.Hop, m.Accept, err)
	}

	_, err = wire.Decode(body[:len(body)-1])
	fmt.Println(err)
	_, err = wire.Encode(&wire.Cancel{}) // no token makes a hop 0
	fmt.Println(err)
	// Output:
	// 56 <nil>
	// CANCEL 7 3 <nil>
	// CANCEL: malformed message: cbor: truncated at byte 53
	// CANCEL: malformed message: handoff to hop 0, permitted are 1 to 281474976710656
}
