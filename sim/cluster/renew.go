package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/member"
)

// renewWhenDue renews a member's certificate at two thirds of its life, as long as
// the member takes part. One that is down renews when it is back.
func (x *churner) renewWhenDue(n *node) {
	x.c.after((x.c.ca.lifetime()-backdated)*2/3+x.c.random(x.c.ca.lifetime()/24), func() {
		if n.gone {
			return
		}
		x.c.ca.certify(&n.identity, x.c.now)
		x.c.count.renewals++
		x.c.log(n, "gets certificate %d", n.certificate.Body().Serial)
		n.put(member.Renewed{Certificate: n.certificate})
		x.renewWhenDue(n)
	})
}

// syncShare is how many members, on average, ask the CA within a gossip interval:
// the daemon's.
const syncShare = 8

// syncs lets a member ask the CA now and then, as the daemon does. It hears of a
// few members, so that one whose contacts have all died finds the others, and
// whether it is revoked.
func (x *churner) syncs(n *node) {
	pause := x.c.group.Config().Settings().GossipInterval
	if n.member != nil {
		pause = max(pause, pause*time.Duration(n.member.Candidates()+1)/syncShare)
	}
	x.c.after(pause/2+x.c.random(pause), func() {
		if n.gone {
			return
		}
		if n.member != nil {
			n.put(x.answer(n))
		}
		x.syncs(n)
	})
}

// answer is what the CA says to a member.
func (x *churner) answer(n *node) member.Learn {
	in := member.Learn{Configuration: x.c.ca.published.Config().Raw()}
	if n.fate == revoked && n.doomed {
		in.Revocations = [][]byte{n.revocation}
	}
	for _, o := range x.choose(contactsOf, n) {
		if endpoint, ok := o.member.Endpoint(o.id); ok {
			in.Certificates = append(in.Certificates, o.certificate.Raw())
			in.Endpoints = append(in.Endpoints, endpoint)
		}
	}
	return in
}
