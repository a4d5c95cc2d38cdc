package gate_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// The gate reads titles and moves as the signed objects have them.
func TestPermitOf_Titles_MovesOfTheirSigners(t *testing.T) {
	group := ident.Group{1}
	var members []ident.Member
	key := func(n byte) (*signature.PrivateKey, ident.Member) {
		k, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
		require.NoError(t, err)
		raw := k.Public().Bytes()
		members = append(members, ident.MemberOf(group, raw[:]))
		return k, members[n-1]
	}
	// The certificate of a member ends at its key's number.
	expires := func(m ident.Member) uint64 { return uint64(slices.Index(members, m)) + 1 }
	a, ada := key(1)
	bk, ben := key(2)
	g, err := token.GenesisBody{Resource: "r", Generator: ada, Time: 77}.Sign(group, a)
	require.NoError(t, err)
	born := token.Title{Genesis: g}
	p := gate.PermitOf(born, token.Title{}, expires)
	assert.Equal(t, gate.Permit{
		Title: gate.Title{Token: g.ID(), Holder: ada, Hash: g.Hash()}, Generator: ada, Born: 77, Expires: 1,
	}, p)

	tr, err := born.Next(ben, ident.Reservation{Number: 1}).Sign(group, a)
	require.NoError(t, err)
	first := token.Title{Genesis: g, Transfer: tr}
	p = gate.PermitOf(first, born, expires)
	assert.Equal(t, gate.Title{Token: g.ID(), Hop: 1, Holder: ben, Hash: tr.Hash()}, p.Title)
	assert.Equal(t, []gate.Move{{By: ada, Title: g.Hash(), Expires: 1}}, p.Moves)

	void, err := token.AnswerTo(tr, ben, ident.Incarnation{1}).Sign(group, token.Void, bk)
	require.NoError(t, err)
	back := token.Title{Genesis: g, Transfer: tr, Void: void}
	p = gate.PermitOf(back, born, expires)
	assert.Equal(t, gate.Title{Token: g.ID(), Hop: 1, Holder: ada, Hash: tr.Hash()}, p.Title)
	assert.Equal(t, []gate.Move{{By: ada, Title: g.Hash(), Expires: 1}, {By: ben, Title: tr.Hash(), Declined: true, Expires: 2}}, p.Moves)

	again, err := back.Next(ben, ident.Reservation{Number: 2}).Sign(group, a)
	require.NoError(t, err)
	p = gate.PermitOf(token.Title{Genesis: g, Transfer: again}, back, expires)
	assert.Equal(t, []gate.Move{
		{By: ada, Title: tr.Hash(), Expires: 1}, {By: ada, Title: g.Hash(), Expires: 1}, {By: ben, Title: tr.Hash(), Declined: true, Expires: 2},
	}, p.Moves)
}
