package token_test

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// A token is born with its generator and passed on once. The new title admits no second transfer of that hop.
func ExampleTitle() {
	var group ident.Group
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{7}, signature.SeedSize))
	if err != nil {
		fmt.Println(err)
		return
	}
	public := key.Public().Bytes()
	generator, receiver := ident.MemberOf(group, public[:]), ident.Member{1}

	genesis, err := token.GenesisBody{Resource: "ftp", Generator: generator}.Sign(group, key)
	title := token.Title{Genesis: genesis}
	fmt.Println(title.Hop(), title.Holder() == generator, err)

	transfer, err := title.Next(receiver, ident.Reservation{Number: 3}).Sign(group, key)
	fmt.Println(title.Admits(transfer), err)

	title = token.Title{Genesis: genesis, Transfer: transfer}
	fmt.Println(title.Hop(), title.Holder() == receiver, title.Check())
	fmt.Println(title.Admits(transfer))
	// Output:
	// 0 true <nil>
	// <nil> <nil>
	// 1 true <nil>
	// transfer does not follow from what it names: hop 1 after hop 1
}
