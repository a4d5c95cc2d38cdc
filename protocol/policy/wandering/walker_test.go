package wandering

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// everybody is a Roster in which members 1 to n are each other's witnesses.
type everybody struct {
	n    int
	self byte
}

func (e everybody) Draw(n int, to []ident.Member) []ident.Member {
	return e.Witnesses(ident.Member{e.self}, n, to)
}

func (e everybody) Others(n int, to []ident.Member) []ident.Member { return e.Draw(n, to) }

func (e everybody) Size() int { return e.n - 1 }

func (e everybody) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for i := byte(1); int(i) <= e.n && n > 0; i++ {
		if m := (ident.Member{i}); m != of {
			to, n = append(to, m), n-1
		}
	}
	return to
}

func walkerAt(t *testing.T, self byte, preset string, p policy.Params) *walker {
	return walkerAmong(t, 20, self, preset, p)
}

// walkerAmong is one of n members.
func walkerAmong(t *testing.T, n int, self byte, preset string, p policy.Params) *walker {
	p.Preset = preset
	made, err := New(p, policy.Surroundings{
		Self: ident.Member{self}, Random: rand.NewPCG(1, uint64(self)), Roster: everybody{n, self},
	})
	require.NoError(t, err)
	w := made.(*walker)
	w.Step(second, policy.Event{Kind: policy.Timer}, nil)
	return w
}

// table1 is the case study of the journal paper.
var table1 = policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond}

const second = clock.Instant(time.Second)

func arrival(id byte, born uint64) policy.Event {
	return policy.Event{Kind: policy.Arrival, From: ident.Member{19}, Token: policy.Token{ID: ident.Token{id}, Born: born, Hop: 7}}
}

func said(from byte, m body) policy.Event {
	return policy.Event{Kind: policy.Message, From: ident.Member{from}, Body: m.append(nil)}
}

func kinds(actions []policy.Action, kind policy.ActionKind) (found []policy.Action) {
	for _, a := range actions {
		if a.Kind == kind {
			found = append(found, a)
		}
	}
	return found
}

// detached are actions with fields that stay after the next Step.
func detached(actions []policy.Action) []policy.Action {
	for i := range actions {
		actions[i].Field = slices.Clone(actions[i].Field)
	}
	return actions
}

// told are the messages of one kind to a member.
func told(actions []policy.Action, to byte, kind bodyKind) (found []body) {
	for _, a := range kinds(actions, policy.Tell) {
		var m body
		if a.To == (ident.Member{to}) && parseBody(a.Field, &m) && m.kind == kind {
			found = append(found, m)
		}
	}
	return found
}
