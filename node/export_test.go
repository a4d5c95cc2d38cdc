package node

import (
	"iter"
	"net"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/metrics"
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

// SetContacts has peers last heard of, and missed, so long ago; 0 is never.
func (n *Node) SetContacts(heard, failed time.Duration) {
	ago := func(d time.Duration) int64 {
		if d == 0 {
			return 0
		}
		return int64(boottime.Now().Add(-d))
	}
	n.contacts.heard.Store(ago(heard))
	n.contacts.failed.Store(ago(failed))
}

// PrepareLastWord is what a daemon does with the file of its last word as it starts.
var PrepareLastWord = prepareLastWord

// Fail ends the node, as its own work does.
func (n *Node) Fail(err error) { n.fail(err) }

// WaitWithdrawn notes a wait that was withdrawn.
func (n *Node) WaitWithdrawn(resource string) {
	n.historian.waited(resource, boottime.Now(), 0, metrics.RequestWithdrawn)
}

// PageAddress is where a browser finds the page, empty where only the socket has it.
func PageAddress(n *Node) string { return n.web.address }
