package wandering

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Under light the operation may begin again at once, under the token that precedes;
// then that one stays.
func TestSpareToken_Demand_RunsAtOnce(t *testing.T) {
	p := table1
	p.MinInterval = time.Second
	w := walkerAt(t, 1, Light, p)
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	w.Step(2*second, arrival(9, 1000), nil)
	w.Step(3*second, arrival(8, 1500), nil)
	actions := w.Step(6*second, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{9}}}, nil)
	require.Len(t, kinds(actions, policy.Drop), 1)
	require.Len(t, kinds(actions, policy.Run), 1)
	require.Empty(t, kinds(actions, policy.Pass))
	actions = w.Step(10*second, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{8}}}, nil)
	require.Len(t, kinds(actions, policy.Pass), 1)
}

// Of two tokens that are here one stays, with the candidates of both, but not this
// member, which the second one's may name.
func TestCandidates_TwoTokens_Both(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	carrying := func(id byte, born uint64, waiting ...byte) policy.Event {
		e := arrival(id, born)
		e.Token.Field = []byte{baggageForm, 0, 0, 0, 1, 0}
		for _, waits := range waiting {
			e.Token.Field = (&waiter{ident.Member{waits}, 1 << 20}).append(e.Token.Field)
		}
		return e
	}
	w.Step(3*second, carrying(9, 1000, 5), nil)
	require.True(t, w.running)
	w.Step(4*second, carrying(8, 1500, 1, 6), nil)
	for _, c := range w.fair.candidates.list[:w.fair.candidates.n] {
		require.NotEqual(t, w.self, c.member)
	}
	w.Step(7*second, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{9}}}, nil)
	require.Equal(t, ident.Token{8}, w.token.ID)
	members := []ident.Member{w.fair.choice.member}
	for _, c := range w.fair.candidates.list[:w.fair.candidates.n] {
		members = append(members, c.member)
	}
	require.Subset(t, members, []ident.Member{{5}, {6}})
}
