package node

import (
	"net"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
)

// paths are the addresses of this machine, as of the last look. Connections of members
// that dialled this one end when they change, without a word: only this member can
// bring them back.
type paths struct {
	addresses []string
	known     bool
	looked    clock.Instant // by beat
	listed    clock.Instant // when they were asked for
	stale     bool          // the system has told of a change since
	news      addressNews   // of the system; what a test gives in its place tells nothing
}

const (
	// pathsEvery is how often the machine's addresses are looked at, or at the next beat; a
	// change is also noticed by silence.
	pathsEvery = 5 * time.Second

	// pathsListed is how often they are asked for although the system tells of no change:
	// that costs as much as a packet. It is in case that the system does not tell of all.
	pathsListed = time.Minute
)

// due reports whether the machine's addresses may have changed since they were asked for.
func (p *paths) due(now clock.Instant) bool {
	if now.Sub(p.looked) < pathsEvery {
		return false
	}
	p.looked = now
	p.stale = p.stale || !p.news.none()
	return p.stale || now.Sub(p.listed) >= pathsListed
}

// changed takes in the present addresses, and reports whether others were seen before.
// Those of one link or of the machine itself carry no connection with another member
// far away, and containers come and go with them.
func (p *paths) changed(list []net.Addr) bool {
	var now []string
	for _, a := range list {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			now = append(now, ip.IP.String())
		}
	}
	slices.Sort(now)
	changed := p.known && !slices.Equal(p.addresses, now)
	p.addresses, p.known, p.stale, p.listed = now, true, false, p.looked
	return changed
}

// lookAtPaths tries out every connection when this machine has other addresses.
func (n *Node) lookAtPaths() {
	list, err := n.cfg.seams.addresses()
	if err != nil {
		return // until the next look
	}
	if !n.paths.changed(list) {
		return
	}
	n.log.Info("this machine's addresses changed: testing connections", "addresses", n.paths.addresses)
	n.transport.Recheck()
	host, _, _ := net.SplitHostPort(n.Address())
	if ip := net.ParseIP(host); ip != nil && ip.IsGlobalUnicast() && !slices.Contains(n.paths.addresses, ip.String()) {
		n.log.Warn("this machine does not have listen.address any more: listen on [::] with listen.advertise, or restart with another address",
			"listen", n.Address())
	}
}

// awakenAfter is how late a beat is after which all connections are tried out: the
// machine slept, and peers may have given them up.
const awakenAfter = transport.MaxRest
