package plan

import (
	"time"

	"github.com/wandertoken/wander/protocol/group"
)

// What members send for what they do.
const (
	messagesPerHandoff    = 4 // OFFER, ACCEPT, TRANSFER and RECEIPT (protocol/handoff)
	messagesPerComparison = 2 // GOSSIP and its answer, between directories that are alike
	messagesPerConnection = 2 // HELLO of either side
)

// connectionIdle is how long a connection lives without messages: the default of
// node/transport.
const connectionIdle = 30 * time.Second

// messages are what all members sent in the measured time of all runs.
type messages struct{ handoffs, policies, gossip, hello float64 }

// messages counts them. Handoffs and messages between policies are simulated, and
// so are the connections that they need. Comparisons of directories are not:
// each member begins one in a gossip_interval with a random member, and so finds
// a connection with the probability that two members have one, and makes one
// otherwise. Membership updates, and what is asked and answered about them, are
// left out: they depend on how often members come and go.
func (r *Request) messages(a *total) messages {
	seconds, members := a.time.Seconds(), float64(r.Members)
	comparisons := seconds * (members - r.down()) / group.DefaultGossipInterval.Seconds()
	pairs := members * (members - 1) / 2
	// A comparison's connection itself is open for a while.
	open := (a.traffic.Connected.Seconds() + comparisons*connectionIdle.Seconds()) / seconds / pairs
	return messages{
		handoffs: float64(messagesPerHandoff * (a.stats.Hops + a.stats.Lost)),
		policies: float64(a.stats.Messages),
		gossip:   messagesPerComparison * comparisons,
		hello:    messagesPerConnection * (float64(a.traffic.Connections) + comparisons*max(0, 1-open)),
	}
}
