package signature_test

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/crypto/signature"
)

// A batch gives each signature the verdict that it gets alone.
func ExampleBatch() {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{7}, signature.SeedSize))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(key)
	good := key.Sign([]byte("hop 1"))
	fmt.Println(key.Public().Verify([]byte("hop 2"), good))

	var batch signature.Batch
	batch.Add(key.Public(), []byte("hop 1"), good)
	batch.Add(key.Public(), []byte("hop 2"), good)
	batch.Add(key.Public(), []byte("hop 1"), good[1:])
	for _, verdict := range batch.Verify(nil) {
		fmt.Println(verdict)
	}
	// Output:
	// private key (not shown)
	// ed25519: signature does not match
	// <nil>
	// ed25519: signature does not match
	// ed25519: malformed signature
}
