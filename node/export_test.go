package node

import (
	"iter"
	"net"
	"time"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// SetFS puts a file system under the journal.
func (c *Config) SetFS(fs store.FS) { c.seams.journal.FS = fs }

// SetHandler puts something between the transport and the node.
func (c *Config) SetHandler(wrap func(transport.Handler) transport.Handler) { c.seams.handler = wrap }

// SetSocket puts a socket in the place of the one that would be opened, and addresses in
// the place of this machine's.
func (c *Config) SetSocket(conn net.PacketConn, addresses func() ([]net.Addr, error)) {
	c.Conn, c.seams.addresses = conn, addresses
}

// LookAtPulse is a beat of the pulse, so long after it was due.
func (n *Node) LookAtPulse(late time.Duration) {
	n.lookout.lookAtPulse(clock.Instant(n.lookout.pulse.due.Load()).Add(late), time.Second)
}

// Frames hands frames over as the transport does.
func (n *Node) Frames(from ident.Member, bodies iter.Seq[[]byte]) {
	(&handler{n.engine, &n.contacts, n.log}).Frames(from, bodies)
}
