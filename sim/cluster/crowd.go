package cluster

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/ident"
)

// crowd is members of a group.
type crowd []*node

// one is a random member.
func (l crowd) one(r *rand.Rand) *node { return l[r.IntN(len(l))] }

// half is every second member in a random order.
func (l crowd) half(r *rand.Rand) (half crowd) {
	for _, i := range r.Perm(len(l))[:len(l)/2] {
		half = append(half, l[i])
	}
	return half
}

// honest are the members whose drivers do what the members say, in their order.
func (l crowd) honest() (list crowd) {
	for _, n := range l {
		if n.isHonest() {
			list = append(list, n)
		}
	}
	return list
}

// durable reports whether no member forgets.
func (l crowd) durable() bool {
	for _, n := range l {
		if !n.durable {
			return false
		}
	}
	return true
}

// circulates reports whether a member that works has a token, or has passed it on and has
// no answer yet.
func (l crowd) circulates(t ident.Token) bool {
	for _, n := range l {
		if n.member == nil || n.asleep {
			continue
		}
		for h, held := range n.guard.oracle.held {
			if held && h.token == t {
				return true
			}
		}
		for _, p := range n.guard.oracle.sent {
			if p.hop.token == t {
				return true
			}
		}
	}
	return false
}

// canAnswer reports whether the custody memory that a transfer names lives.
func (l crowd) canAnswer(to party) bool {
	for _, n := range l {
		if n.id == to.member && n.guard.oracle.incarnation == to.incarnation {
			return true
		}
	}
	return false
}
