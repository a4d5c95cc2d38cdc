package spec_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

// ringWords are what Ada says in a ring of three, whose next member is Ben: a
// request of her own, the field of a token that she passes on, and a request of
// Cleo's that follows that token.
func ringWords(t *testing.T, id ident.Token) (request, field, following []byte) {
	agent, err := ring.New(policy.Params{
		Preset: ring.E.String(), OperationTime: time.Second, MembersMax: 3, SkipDelay: time.Second,
	})
	require.NoError(t, err)
	said := func(kind policy.ActionKind, event policy.Event) []byte {
		actions := agent.Step(0, event, nil)
		i := slices.IndexFunc(actions, func(a policy.Action) bool { return a.Kind == kind })
		require.GreaterOrEqual(t, i, 0, "%v", actions)
		require.Equal(t, ben.id, actions[i].To)
		return bytes.Clone(actions[i].Field)
	}
	agent.Step(0, policy.Event{Kind: policy.Neighbour, From: ben.id, Members: 3}, nil)
	request = said(policy.Tell, policy.Event{Kind: policy.DemandChanged, Demand: true})
	agent.Step(0, policy.Event{Kind: policy.DemandChanged}, nil)
	field = said(policy.Pass, policy.Event{Kind: policy.Arrival, Token: policy.Token{
		ID: id, Born: millis, Hop: 1, Field: ring.AppendBaton(nil, ring.Baton{Count: 2}),
	}})
	following = said(policy.Tell, policy.Event{Kind: policy.Message, From: cleo.id, Body: request})
	return request, field, following
}

// ringExamples shows them.
func ringExamples(t *testing.T, g *gallery) {
	request, field, following := ringWords(t, ident.Token(bytes.Repeat([]byte{7}, 32)))
	g.plain("Of three members, preset `e`: the body of a request by Ada", request)
	g.plain("The field of the token 0707…, which has come to her at hop 1 and goes on to Ben with 1 hop left", field)
	g.plain("A request by Cleo that Ada sends on to Ben before she knows that he has that token", following)
}

// The offsets are those of the tables in policy/ring.md.
func TestRingOffsets(t *testing.T) {
	id := ident.Token{7}
	request, field, following := ringWords(t, id)
	require.Equal(t, []byte{1, 0, 0, 0, 1, 0, 0, 0, 12}, request)
	require.Equal(t, []byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, field)
	want := append([]byte{1, 0, 0, 0, 1, 0, 0, 0, 11}, id[:]...)
	require.Equal(t, append(want, 0, 0, 0, 0, 0, 0, 0, 2), following)
}
