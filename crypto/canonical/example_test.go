package canonical_test

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
)

// A value has one encoding, and another spelling of it is refused.
func ExampleUnmarshal() {
	type place struct {
		_    struct{} `cbor:",toarray"`
		Name string
		Hop  uint64
	}
	limits := canonical.Limits{MaxBytes: 64, MaxDepth: 1, MaxItems: 3}
	raw, err := canonical.Marshal(place{Name: "a", Hop: 7})
	fmt.Printf("%x %v\n", raw, err)

	var p place
	fmt.Println(canonical.Unmarshal(raw, &p, limits), p.Name, p.Hop)
	longer := []byte{0x82, 0x61, 'a', 0x18, 7} // the 7 in two bytes
	fmt.Println(canonical.Unmarshal(longer, &p, limits))
	fmt.Println(canonical.Unmarshal([]byte{0x82, 0x61, 'a', 0xf6}, &p, limits)) // null for the 7
	// Output:
	// 82616107 <nil>
	// <nil> a 7
	// cbor: head not in shortest form at byte 3
	// cbor: not the canonical encoding of its value
}
