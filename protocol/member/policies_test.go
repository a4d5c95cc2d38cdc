package member_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// choice is one policy of the catalog, with parameters.
type choice struct {
	name   string
	params policy.Params
}

func choices() (list []choice) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			p := policy.Params{Preset: preset.Name, OperationTime: time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond}
			if name == catalog.Multitoken {
				p.TargetInterval = 10 * time.Second
			}
			list = append(list, choice{name, p})
		}
	}
	return list
}

// TestConfiguration_PolicyChanges_EachFollowsEach: whatever a token does while the configuration
// changes, and whatever the former policy has written on it, programs run under
// the new one.
func TestConfiguration_PolicyChanges_EachFollowsEach(t *testing.T) {
	for _, before := range choices() {
		for _, after := range choices() {
			for what, happens := range changes {
				t.Run(before.name+" "+before.params.Preset+" to "+after.name+" "+after.params.Preset+", "+what, func(t *testing.T) {
					a := newAuthority(t)
					c := &change{self: a.issue(1, 1000*24*time.Hour), peer: a.issue(2, 1000*24*time.Hour), maker: a.issue(3, 1000*24*time.Hour)}
					c.box = a.open(c.self, func(c *member.Config) { c.Found = true })
					c.reconfigure(a, 2, before.name, before.params)
					c.meet(c.peer)
					happens(c, func() { c.reconfigure(a, 3, after.name, after.params) })
					c.step(member.Unreachable{Peer: c.peer.id(), Silent: true})
					for request := uint64(10); request < 13; request++ {
						c.step(member.Demand{Request: request, Resource: resource})
						c.step(member.Ended{Grant: c.granted().Grant, Operated: true})
					}
				})
			}
		}
	}
}

// change is a member and a peer, while the configuration changes.
type change struct {
	*box
	self, peer *someone
	maker      *someone // of tokens that come
	accepted   uint64
}

// changes are what happens around it.
var changes = map[string]func(c *change, reconfigure func()){
	"it rests":  func(_ *change, reconfigure func()) { reconfigure() },
	"it is old": func(c *change, reconfigure func()) { c.after(5 * time.Second); reconfigure() },
	"it runs": func(c *change, reconfigure func()) {
		c.step(member.Demand{Request: 1, Resource: resource})
		if granted(c.box) == nil { // it has let go already, and the peer takes nothing
			c.step(member.Unreachable{Peer: c.peer.id(), Silent: true})
		}
		g := c.granted()
		reconfigure()
		c.after(100 * time.Millisecond)
		c.step(member.Ended{Grant: g.Grant, Operated: true})
	},
	"it is accepted": func(c *change, reconfigure func()) {
		offer := c.offered()
		reconfigure()
		c.accepts(offer)
	},
	"it is declined": func(c *change, reconfigure func()) {
		offer := c.offered()
		if sent := c.accepts(offer); sent != nil {
			reconfigure()
			c.hear(c.peer, &wire.Void{Void: c.peer.answer(*sent, token.Void)})
			return
		}
		reconfigure()
	},
	"it comes": func(c *change, reconfigure func()) {
		c.meet(c.maker)
		c.step(member.Unreachable{Peer: c.maker.id(), Silent: true})
		c.comes(1)
		reconfigure()
		c.comes(2)
		c.comes(3)
	},
}

// wait lets time pass until the next thing is due.
func (c *change) wait() {
	c.after(max(0, c.NextDeadline().Sub(c.now.Boot)))
}

// granted waits for the grant.
func (c *change) granted() *effect.Grant {
	c.t.Helper()
	for range 2000 {
		if g := granted(c.box); g != nil {
			return g
		}
		c.wait()
	}
	c.t.Fatal("never granted")
	return nil
}

// offered waits for a while for an offer.
func (c *change) offered() *wire.Offer {
	for range 100 {
		if o := said[*wire.Offer](c.box); o != nil {
			return o
		}
		c.after(10 * time.Millisecond)
	}
	return nil
}

// accepts lets the peer accept, and returns the transfer that follows if there is
// one.
func (c *change) accepts(offer *wire.Offer) *token.Transfer {
	if offer == nil {
		return nil
	}
	c.accepted++
	c.hear(c.peer, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: c.peer.incarnation, Accept: c.accepted, Lifetime: 60_000})
	for range 10 {
		if m := said[*wire.Transfer](c.box); m != nil {
			sent := c.verified(m.Transfer, c.self)
			return &sent
		}
		c.after(10 * time.Millisecond)
	}
	return nil
}

// comes lets a token come from the peer, with a field that says anything.
func (c *change) comes(sequence uint64) {
	c.t.Helper()
	title := c.maker.mint(sequence)
	hop, err := title.Next(c.peer.id(), ident.Reservation{Incarnation: c.peer.incarnation, Number: sequence}).Sign(c.maker.group, c.maker.key)
	require.NoError(c.t, err)
	title.Transfer = hop
	c.hear(c.peer, &wire.Offer{Token: title.Token(), Hop: 2, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](c.box)
	require.NotNil(c.t, accept)
	body := title.Next(c.self.id(), accept.Reservation())
	body.Field = bytes.Repeat([]byte{byte(sequence - 1)}, []int{9, 0, policy.MaxField}[sequence-1])
	c.hear(c.peer, c.peer.transfer(title, body))
	require.NotNil(c.t, said[*wire.Receipt](c.box))
}
