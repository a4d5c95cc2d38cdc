package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// wants is how often the policy was told that somebody wants to run.
func (p *puppet) wants() (n int) {
	for _, e := range p.events {
		if e.Kind == policy.DemandChanged && e.Demand {
			n++
		}
	}
	return n
}

// What a policy has said may be lost with a connection: it hears of its demand again
// when the peer is back, once, and not after an orderly end.
func TestDemand_PeerIsBack_ToldAgain(t *testing.T) {
	a := newAuthority(t)
	self, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	for _, c := range []struct {
		name  string
		end   member.Input
		again int
	}{
		{"broken", member.Unreachable{Peer: peer.id(), Silent: true}, 1},
		{"restarted", member.Unreachable{Peer: peer.id(), Refused: true}, 1},
		{"replaced", member.Disconnected{Peer: peer.id(), Lost: true}, 1},
		{"idle", member.Disconnected{Peer: peer.id()}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := a.marionette(self, nil)
			b.meet(peer)
			b.step(c.end)
			b.meet(peer)
			assert.Zero(t, b.puppet.wants(), "nobody wants anything")
			b.step(member.Demand{Request: 7, Resource: resource})
			assert.Equal(t, 1, b.puppet.wants())
			for range 2 {
				b.step(c.end)
				b.meet(peer)
			}
			assert.Equal(t, 1+2*c.again, b.puppet.wants())
			b.meet(peer)
			assert.Equal(t, 1+2*c.again, b.puppet.wants(), "connected still")
		})
	}
}
