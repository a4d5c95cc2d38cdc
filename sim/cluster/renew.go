package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/member"
)

// renewWhenDue renews a member's certificate at two thirds of its life, as long as
// the member takes part. One that is down renews when it is back.
func (c *cluster) renewWhenDue(n *node) {
	c.after((c.ca.lifetime()-backdated)*2/3+c.random(c.ca.lifetime()/24), func() {
		if n.gone {
			return
		}
		c.ca.certify(&n.identity, c.now)
		c.count.renewals++
		c.log(n, "gets certificate %d", n.certificate.Claims().Serial)
		n.put(member.Renewed{Certificate: n.certificate})
		c.renewWhenDue(n)
	})
}

// syncShare is how many members, on average, ask the CA within a gossip interval:
// the daemon's.
const syncShare = 8

// syncs lets a member ask the CA now and then, as the daemon does. It hears of a
// few members, so that one whose contacts have all died finds the others, and
// whether it is revoked.
func (c *cluster) syncs(n *node) {
	pause := c.group.Config().Settings().GossipInterval
	if n.member != nil {
		pause = max(pause, pause*time.Duration(n.member.Candidates()+1)/syncShare)
	}
	c.after(pause/2+c.random(pause), func() {
		if n.gone {
			return
		}
		if n.member != nil {
			n.put(c.answer(n))
		}
		c.syncs(n)
	})
}

// answer is what the CA says to a member.
func (c *cluster) answer(n *node) member.Learn {
	in := member.Learn{Configuration: c.ca.published.Config().Raw()}
	if n.fate == revoked && n.doomed {
		in.Revocations = [][]byte{n.revocation}
	}
	for _, o := range c.choose(contactsOf, n) {
		if endpoint, ok := o.member.Endpoint(o.id); ok {
			in.Certificates = append(in.Certificates, o.certificate.Raw())
			in.Endpoints = append(in.Endpoints, endpoint)
		}
	}
	return in
}
