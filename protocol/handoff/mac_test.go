package handoff_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestAcceptMAC_AnyPartChanged_Differs(t *testing.T) {
	key := func(n byte) *signature.PrivateKey {
		k, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
		require.NoError(t, err)
		return k
	}
	inc, offerer, tok := ident.Incarnation{1}, ident.Member{2}, ident.Token{3}
	same := handoff.AcceptMAC(key(1), inc, offerer, tok, 4, 5)
	assert.Equal(t, same, handoff.AcceptMAC(key(1), inc, offerer, tok, 4, 5), "after a restart, too")
	for what, other := range map[string]ident.MAC{
		"key":         handoff.AcceptMAC(key(2), inc, offerer, tok, 4, 5),
		"incarnation": handoff.AcceptMAC(key(1), ident.Incarnation{9}, offerer, tok, 4, 5),
		"offerer":     handoff.AcceptMAC(key(1), inc, ident.Member{9}, tok, 4, 5),
		"token":       handoff.AcceptMAC(key(1), inc, offerer, ident.Token{9}, 4, 5),
		"hop":         handoff.AcceptMAC(key(1), inc, offerer, tok, 5, 5),
		"number":      handoff.AcceptMAC(key(1), inc, offerer, tok, 4, 4),
	} {
		assert.NotEqual(t, same, other, what)
	}
}

// A liar hands over what was refused, or was never offered, with all that the receiver
// has given it for something else.
func TestTransfer_NotAccepted_Unknown(t *testing.T) {
	g := newGroup(t, 3)
	liar, honest := g[0], g[1]
	_, _, accept := liar.offered(honest)
	hand := func(title token.Title, hop uint64, r ident.Reservation) string {
		body := title.Next(honest.id, r)
		body.Hop = hop
		signed, err := body.Sign(group, liar.key)
		require.NoError(t, err)
		return honest.takes(liar, &wire.Transfer{Transfer: signed.Raw(), Genesis: title.Genesis.Raw()}).String()
	}

	refused := token.Title{Genesis: liar.own()}
	honest.world.refusal = wire.RefuseClock
	offer := &wire.Offer{Token: refused.Token(), Hop: 1, Genesis: refused.Genesis.Raw(), Signers: refused.Signers()}
	require.Equal(t, "REFUSE", honest.takes(liar, offer).String())
	honest.world.refusal = 0
	for number := range uint64(4) {
		r := accept.Reservation()
		r.Number = number
		o := hand(refused, 1, r)
		assert.Contains(t, o, "UNKNOWN", "number %d", number)
		assert.NotContains(t, o, "held", "number %d", number)
	}
	honest.restart(nil)
	assert.Contains(t, hand(refused, 1, accept.Reservation()), "UNKNOWN", "after a restart, which forgets reservations")

	unoffered := token.Title{Genesis: liar.own()}
	assert.Equal(t, "UNKNOWN", hand(unoffered, 1, accept.Reservation()))
	assert.Zero(t, honest.m.Held())
}
