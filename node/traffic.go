package node

import (
	"sync/atomic"

	"github.com/wandertoken/wander/protocol/wire"
)

// Traffic is what this node has sent since it was opened, and the connections
// that this took.
type Traffic struct {
	Connections int // open now, whoever dialled them

	Dials    uint64 // begun here and over, with whatever result
	Accepted uint64 // connections that others dialled and that were used

	Messages       uint64 // of all kinds, given to the transport
	PolicyMessages uint64 // of these, those that policies tell each other
}

// sent counts messages given to the transport.
type sent struct{ all, policy atomic.Uint64 }

func (s *sent) note(m wire.Message) {
	s.all.Add(1)
	if m.Type() == wire.TypePolicy {
		s.policy.Add(1)
	}
}

// Traffic is a snapshot of the counts.
func (n *Node) Traffic() Traffic {
	s := n.transport.Stats()
	return Traffic{
		Connections: s.Connections, Dials: s.Dialled + s.Surplus + s.DialFailures, Accepted: s.Accepted,
		Messages: n.outbox.sent.all.Load(), PolicyMessages: n.outbox.sent.policy.Load(),
	}
}
