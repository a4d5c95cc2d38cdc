package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// network is what tokens and messages travel on.
type network struct {
	links    links
	contacts contacts
	traffic  Traffic
}

func newNetwork(cfg *Config) network {
	return network{links: newLinks(cfg), contacts: newContacts(cfg.IdleTimeout)}
}

// carry is when something arrives that is sent now and would take latency.
func (n *network) carry(from, to int32, now clock.Instant, latency time.Duration) clock.Instant {
	if n.contacts.idle > 0 && from != to {
		n.contacts.meet(from, to, now, &n.traffic)
	}
	if n.links.last == nil {
		return now.Add(latency)
	}
	return n.links.order(from, to, now, latency)
}
