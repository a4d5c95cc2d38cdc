package cluster

import (
	"maps"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// told are the custodies that the policies of a member know of, in one life of it, and which
// event told them. Each is told once: a policy that hears of a token that it has begins anew
// with it, beside the program that runs.
type told map[custodyTold]policy.EventKind

// custodyTold is a custody that the policy of a slot was told of.
type custodyTold struct {
	resource string
	slot     uint64
	token    ident.Token
	hop      uint64
}

// observer is the observer of a node's member. It is a function, so that it does not count
// as what the member keeps (internal/weigh).
type observer func() *node

// observe begins to observe another life.
func (n *node) observe() observer {
	n.told = make(told)
	return func() *node { return n }
}

// PolicyMade implements member.Observer: another policy has to be told again.
func (o observer) PolicyMade(resource string, slot uint64, _ string, _ policy.Params, _ [32]byte) {
	maps.DeleteFunc(o().told, func(key custodyTold, _ policy.EventKind) bool {
		return key.resource == resource && key.slot == slot
	})
}

// PolicyStepped implements member.Observer.
func (o observer) PolicyStepped(resource string, slot uint64, _ clock.Instant, e policy.Event, answer []policy.Action) {
	n := o()
	t := n.told
	key := custodyTold{resource, slot, e.Token.ID, e.Token.Hop}
	switch e.Kind {
	case policy.OperationEnded: // Resumed follows where it was Running
		if t[key] == policy.Running {
			delete(t, key)
		}
	case policy.Arrival, policy.Generated, policy.Resumed, policy.Running:
		if before, twice := t[key]; twice && !n.c.tainted[key.token] {
			n.c.problem(Machinery, n, "tells a policy twice of hop %d of token %s (events %d, %d)", key.hop, key.token.Short(), before, e.Kind)
		}
		t[key] = e.Kind
	case policy.PassEnded:
		if e.Outcome != policy.Returned {
			delete(t, key)
		}
	}
	for i := range answer {
		if answer[i].Kind == policy.Drop {
			t.forget(answer[i].Token)
		}
	}
}

// PolicyAsked implements member.Observer.
func (o observer) PolicyAsked(string, uint64, policy.Asked) {}

// Dropped implements member.Observer.
func (o observer) Dropped(_ string, _ uint64, id ident.Token, _ policy.DropReason) {
	o().told.forget(id)
}

// forget notes that a token is not here any more.
func (t told) forget(id ident.Token) {
	maps.DeleteFunc(t, func(key custodyTold, _ policy.EventKind) bool { return key.token == id })
}
