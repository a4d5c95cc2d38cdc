package node_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// The frames of one reading lie in a buffer that is used again when they have
// been handed over, however many they are.
func TestEngine_ManyFramesInOneBuffer_Handled(t *testing.T) {
	a := newAuthority(t, quick)
	n, _ := openNode(t, a.issue(t, "node"), nil)
	p := a.openPeer(t, a.issue(t, "peer"))
	p.meet(n)
	ask := func() {
		p.say(n, &wire.Want{Topic: wire.WantConfiguration})
		hear[*wire.Configuration](p)
	}
	ask() // so that the greeting has been heard
	g, err := token.GenesisBody{
		Resource: resource, Generator: p.Self(), Incarnation: p.incarnation, Sequence: 1, Time: uint64(time.Now().UnixMilli()),
	}.Sign(a.group.ID(), p.id.Key)
	require.NoError(t, err)
	title := token.Title{Genesis: g}
	offer, err := wire.Encode(&wire.Offer{Token: title.Token(), Hop: 1, Genesis: g.Raw(), Signers: title.Signers()})
	require.NoError(t, err)
	var bodies [][]byte
	for range 1000 {
		bodies = append(bodies, slices.Clone(offer))
	}
	n.Frames(p.Self(), slices.Values(bodies)) // the first makes the node wait for its disk
	for _, body := range bodies {
		clear(body)
	}
	ask()
	require.Zero(t, n.Status().Rejected["malformed"])
}
