package cluster

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// told holds a member to telling its policies of each custody once. A policy that hears of
// a token that it has begins anew with it, beside the program that runs. It observes one life
// of a member.
type told struct {
	n    *node
	here map[custodyTold]policy.EventKind
}

// custodyTold is a custody that the policy of a slot was told of.
type custodyTold struct {
	resource string
	slot     uint64
	token    ident.Token
	hop      uint64
}

func newTold(n *node) *told {
	return &told{n: n, here: make(map[custodyTold]policy.EventKind)}
}

// PolicyMade implements member.Observer: another policy has to be told again.
func (t *told) PolicyMade(resource string, slot uint64, _ string, _ policy.Params, _ [32]byte) {
	for key := range t.here {
		if key.resource == resource && key.slot == slot {
			delete(t.here, key)
		}
	}
}

// PolicyStepped implements member.Observer.
func (t *told) PolicyStepped(resource string, slot uint64, _ clock.Instant, e policy.Event, _ []policy.Action) {
	key := custodyTold{resource, slot, e.Token.ID, e.Token.Hop}
	switch e.Kind {
	case policy.OperationEnded: // Resumed follows where it was Running
		if t.here[key] == policy.Running {
			delete(t.here, key)
		}
	case policy.Arrival, policy.Generated, policy.Resumed, policy.Running:
		if before, twice := t.here[key]; twice {
			t.n.c.problem(Machinery, t.n, "tells a policy twice of hop %d of token %s (events %d, %d)", key.hop, key.token.Short(), before, e.Kind)
		}
		t.here[key] = e.Kind
	case policy.PassSettled:
		if e.Outcome != policy.Returned {
			delete(t.here, key)
		}
	}
}

// PolicyAsked implements member.Observer.
func (t *told) PolicyAsked(string, uint64, policy.Asked) {}

// Dropped implements member.Observer.
func (t *told) Dropped(string, uint64, ident.Token, policy.DropReason) {}
