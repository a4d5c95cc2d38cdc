package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
	"github.com/wandertoken/wander/protocol/wire"
)

// puppet is a policy that does what a test has it do at its next step.
type puppet struct {
	policytest.Untimed
	policy.Surroundings
	next   []policy.Action
	events []policy.Event
}

func (p *puppet) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	e.Body = slices.Clone(e.Body)
	p.events = append(p.events, e)
	actions = append(actions, p.next...)
	p.next = nil
	return actions
}

// Admits implements policy.Admitter.
func (p *puppet) Admits(clock.Instant, policy.Token) bool { return true }

// silent are who the policy was told to be silent, in order.
func (p *puppet) silent() (list []ident.Member) {
	for _, e := range p.events {
		if e.Kind == policy.Silent {
			list = append(list, e.From)
		}
	}
	return list
}

// marionette is a member whose policy is a puppet.
type marionette struct {
	*box
	puppet *puppet
}

func (a *authority) marionette(s *someone, change func(*member.Config)) *marionette {
	p := &puppet{}
	b := a.open(s, func(c *member.Config) {
		c.SetPolicies(func(in policy.Surroundings) policy.Policy { p.Surroundings = in; return p })
		if change != nil {
			change(c)
		}
	})
	return &marionette{b, p}
}

// does has the policy act, at an event that says nothing.
func (s *marionette) does(actions ...policy.Action) {
	s.puppet.next = actions
	s.step(member.Demand{Request: uint64(len(s.puppet.events)) + 100, Resource: resource})
	require.Empty(s.t, s.puppet.next, "the policy was not asked")
	s.step(member.Withdraw{Request: uint64(len(s.puppet.events)) + 99})
}

func (s *marionette) watches(id ident.Member) { s.does(policy.Action{Kind: policy.Watch, To: id}) }

// pass lets time pass, and answers each message to one of those who are gone: nobody
// is there, after the time that a dial takes.
func (s *marionette) pass(d time.Duration, gone ...*someone) (greetings int) {
	end := s.now.Boot.Add(d)
	for {
		next := min(s.NextDeadline(), end)
		s.after(max(0, next.Sub(s.now.Boot)))
		for again := true; again; {
			again = false
			for _, e := range s.effects {
				if sent, ok := e.(effect.Send); ok {
					if i := slices.IndexFunc(gone, func(g *someone) bool { return g.id() == sent.To }); i >= 0 {
						greetings++
						s.now.Boot = s.now.Boot.Add(3 * time.Second)
						s.step(member.Unreachable{Peer: gone[i].id(), Silent: true})
						again = true
						break
					}
				}
			}
		}
		if s.now.Boot >= end {
			return greetings
		}
	}
}

// speaks lets somebody be heard a moment later.
func (s *marionette) speaks(o *someone) {
	s.after(time.Millisecond)
	s.hear(o, &wire.Gossip{Configuration: 1, Answer: true})
}

// known makes members known that can be dialled.
func (s *marionette) known(list ...*someone) {
	for _, o := range list {
		s.step(member.Learn{Certificates: [][]byte{o.certificate.Raw()}, Endpoints: [][]byte{o.endpoint(1)}})
	}
}

func gossipTo(b *box, id ident.Member) (n int) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok && s.To == id {
			if _, ok := s.Message.(*wire.Gossip); ok {
				n++
			}
		}
	}
	return n
}

// While a watched member is connected the watch costs a small message each second, which
// asks for no answer: the transport notices if nothing comes after it.
func TestWatch_PeerThere_NoEvent(t *testing.T) {
	a := newAuthority(t)
	peer := a.issue(2, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(peer)
	b.watches(peer.id())
	sent := 0
	for range 240 {
		b.after(time.Second)
		for _, g := range messages[*wire.Gossip](b.box, peer.id()) {
			if g.Answer {
				sent++
			}
		}
	}
	assert.Empty(t, b.puppet.silent())
	assert.Equal(t, 240, sent)
	b.does(policy.Action{Kind: policy.Unwatch, To: peer.id()})
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	assert.Empty(t, b.puppet.silent(), "nobody watches any more")
}

// A watched member is silent when its connection has broken for silence, as soon as
// somebody else is heard.
func TestWatch_ConnectionBreaks_SilentEvent(t *testing.T) {
	a := newAuthority(t)
	peer, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(peer)
	b.meet(other)
	b.known(peer, other)
	b.watches(peer.id())
	b.after(5 * time.Second)
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	assert.Empty(t, b.puppet.silent(), "it may be this one that is cut off")
	assert.Equal(t, 1, gossipTo(b.box, other.id()), "so it asks")
	b.speaks(other)
	assert.Equal(t, []ident.Member{peer.id()}, b.puppet.silent())
	b.pass(time.Minute, peer)
	assert.Len(t, b.puppet.silent(), 1, "said once")
}

// Who hears nobody believes nothing of others, however long it takes; who knows
// nobody else has nobody to ask.
func TestWatch_WatcherCutOff_NoEvent(t *testing.T) {
	a := newAuthority(t)
	peer, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(peer)
	b.meet(other)
	b.known(peer, other)
	b.watches(peer.id())
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	b.step(member.Unreachable{Peer: other.id(), Silent: true})
	asked := b.pass(time.Minute, peer, other)
	assert.Empty(t, b.puppet.silent())
	assert.Less(t, asked, 100, "dials take 3 s here")
	b.meet(other)
	assert.Equal(t, []ident.Member{peer.id()}, b.puppet.silent())

	alone := a.marionette(a.issue(4, 24*time.Hour), nil)
	alone.meet(peer)
	alone.known(peer)
	alone.watches(peer.id())
	alone.step(member.Unreachable{Peer: peer.id(), Silent: true})
	assert.Equal(t, []ident.Member{peer.id()}, alone.puppet.silent())
}

// A watched member that is not connected is dialled: without an answer for the group's
// silence, 4 s, it is silent.
func TestWatch_NotConnected_Dialled(t *testing.T) {
	a := newAuthority(t)
	dead, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(other)
	b.known(dead, other)
	b.after(time.Minute)
	began := b.now.Boot
	b.watches(dead.id())
	for step := 0; len(b.puppet.silent()) == 0; step++ {
		require.Less(t, step, 100)
		b.speaks(other)
		b.pass(100*time.Millisecond, dead)
	}
	assert.Equal(t, []ident.Member{dead.id()}, b.puppet.silent())
	took := b.now.Boot.Sub(began)
	assert.GreaterOrEqual(t, took, 4*time.Second)
	assert.Less(t, took, 9*time.Second, "a dial takes 3 s here, and nothing happens meanwhile")
}

// TestWatch_Absent_SilentAtOnce: where the transport has found that nobody listens where a
// watched member was, nothing more is waited for, unless this member is late.
func TestWatch_Absent_SilentAtOnce(t *testing.T) {
	for _, connected := range []bool{true, false} {
		for _, late := range []bool{true, false} {
			a := newAuthority(t)
			peer, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
			b := a.marionette(a.issue(1, 24*time.Hour), nil)
			b.meet(other)
			b.known(peer, other)
			if connected {
				b.meet(peer)
			}
			b.watches(peer.id())
			b.after(time.Second)
			if late {
				b.step(member.Late{By: member.LateFrom})
			}
			b.step(member.Unreachable{Peer: peer.id(), Silent: true, Absent: true})
			assert.Empty(t, b.puppet.silent(), "it may be this one that is cut off")
			b.speaks(other)
			assert.Equal(t, !late, len(b.puppet.silent()) == 1)
		}
	}
}

// TestWatch_BeginsAndEnds_DriverTold: the driver knows who is watched.
func TestWatch_BeginsAndEnds_DriverTold(t *testing.T) {
	a := newAuthority(t)
	peer := a.issue(2, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(peer)
	var told []effect.Watch
	look := func() {
		for _, e := range b.effects {
			if w, ok := e.(effect.Watch); ok {
				told = append(told, w)
			}
		}
	}
	b.puppet.next = []policy.Action{{Kind: policy.Watch, To: peer.id()}}
	b.step(member.Demand{Request: 1, Resource: resource})
	look()
	b.puppet.next = []policy.Action{{Kind: policy.Unwatch, To: peer.id()}}
	b.step(member.Withdraw{Request: 1})
	look()
	b.puppet.next = []policy.Action{{Kind: policy.Watch, To: peer.id()}}
	b.step(member.Demand{Request: 2, Resource: resource})
	look()
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	look()
	on, off := effect.Watch{Peer: peer.id(), On: true}, effect.Watch{Peer: peer.id()}
	assert.Equal(t, []effect.Watch{on, off, on, off}, told)
}

// One or two dials that fail, a refusal, a dial that is put off, and a connection
// that ends in order are not silence.
func TestWatch_Answers_NoEvent(t *testing.T) {
	a := newAuthority(t)
	peer, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.meet(other)
	b.known(peer, other)
	b.watches(peer.id())
	for range 5 {
		b.step(member.Unreachable{Peer: peer.id(), Silent: true})
		b.step(member.Unreachable{Peer: peer.id(), Silent: true})
		b.speaks(other)
		b.step(member.Unreachable{Peer: peer.id(), Refused: true})
	}
	for range 10 {
		b.after(time.Second)
		b.step(member.Unreachable{Peer: peer.id()})
		b.speaks(other)
	}
	b.meet(peer)
	b.step(member.Disconnected{Peer: peer.id()})
	b.after(time.Second)
	assert.Equal(t, 1, gossipTo(b.box, peer.id()), "it is dialled again")
	b.speaks(other)
	b.meet(peer)
	assert.Empty(t, b.puppet.silent())
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	b.speaks(other)
	assert.Len(t, b.puppet.silent(), 1)
}

// A member that starts again without its memory has lost what it held; one that has
// kept it has not.
func TestWatch_Restarted_Event(t *testing.T) {
	a := newAuthority(t)
	peer := a.issue(2, 24*time.Hour)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	b.known(peer)
	b.watches(peer.id())
	b.meet(peer) // now its incarnation is known
	b.step(member.Unreachable{Peer: peer.id(), Refused: true})
	b.meet(peer)
	assert.Empty(t, b.puppet.silent(), "a durable member")
	b.step(member.Unreachable{Peer: peer.id(), Refused: true})
	peer.incarnation = ident.Incarnation{99}
	b.meet(peer)
	assert.Equal(t, []ident.Member{peer.id()}, b.puppet.silent())
	b.watches(peer.id())
	b.step(member.Disconnected{Peer: peer.id()})
	b.meet(peer)
	assert.Len(t, b.puppet.silent(), 1, "the watch is about the new one")
}

// Whoever has departed is silent; who cannot be dialled has three times the silence
// to dial; and nobody watches itself or more than it may.
func TestOddWatches(t *testing.T) {
	a := newAuthority(t)
	self, peer, mute := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.marionette(self, nil)
	b.meet(peer)
	b.watches(self.id())
	b.watches(ident.Member{})
	b.watches(mute.id())
	b.after(0)
	assert.Equal(t, []ident.Member{mute.id()}, b.puppet.silent(), "nobody knows it")
	b.step(member.Learn{Certificates: [][]byte{mute.certificate.Raw()}})
	b.watches(mute.id())
	for range 8 {
		b.after(time.Second)
		b.speaks(peer)
	}
	assert.Len(t, b.puppet.silent(), 1)
	b.after(12 * time.Second)
	b.after(12 * time.Second)
	b.speaks(peer)
	assert.Len(t, b.puppet.silent(), 2)

	b.watches(peer.id())
	b.watches(peer.id())
	for _, s := range a.strangers(policy.MaxWatched) {
		b.step(member.Learn{Certificates: [][]byte{s.certificate.Raw()}, Endpoints: [][]byte{s.endpoint(1)}})
		b.watches(s.id())
	}
	b.step(member.Unreachable{Peer: peer.id(), Silent: true})
	b.after(0)
	assert.Len(t, b.puppet.silent(), 2, "the oldest watch has ended")
	b.step(member.Shutdown{})
	b.after(time.Hour)
	assert.Len(t, b.puppet.silent(), 2)
}

// What a policy may ask about the group is answered by the directory.
func TestRoster(t *testing.T) {
	a := newAuthority(t)
	self := a.issue(1, 24*time.Hour)
	w := &watcher{}
	b := a.marionette(self, func(c *member.Config) { c.Observer = w })
	list := a.strangers(policy.MaxWitnesses + 4)
	b.known(list...)
	assert.Equal(t, self.id(), b.puppet.Self)
	drawn := b.puppet.Roster.Draw(5, nil)
	assert.Len(t, drawn, 5)
	witnesses := b.puppet.Roster.Witnesses(list[0].id(), 100, nil)
	assert.Len(t, witnesses, policy.MaxWitnesses)
	assert.NotContains(t, witnesses, list[0].id())
	assert.Equal(t, []policy.Asked{{N: 5, Answer: drawn}, {Of: list[0].id(), N: 100, Answer: witnesses}}, w.asked)
	for range 4 {
		b.step(member.Unreachable{Peer: list[0].id(), Silent: true})
	}
	require.True(t, b.Shunned(list[0].id()))
	assert.Len(t, b.puppet.Roster.Draw(100, nil), policy.MaxWitnesses+3, "who does not answer is not drawn")
}

// TestWatch_ManySlots_OneGreeting: however many policies watch a member, it is greeted
// once, each of them is told of its silence once, and none that has ended its watch.
func TestWatch_ManySlots_OneGreeting(t *testing.T) {
	s := settings(1, quick)
	s.Resources[0].Slots = 5
	a := newAuthorityWith(t, s)
	var puppets []*puppet
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) {
		c.SetPolicies(func(in policy.Surroundings) policy.Policy {
			p := &puppet{Surroundings: in}
			puppets = append(puppets, p)
			return p
		})
	})
	dead, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	m := &marionette{b, puppets[0]}
	m.known(dead)
	b.meet(other)
	for _, p := range puppets {
		p.next = []policy.Action{{Kind: policy.Watch, To: dead.id()}}
	}
	b.step(member.Demand{Request: 1, Resource: resource})
	assert.Equal(t, 1, gossipTo(b, dead.id()))
	puppets[4].next = []policy.Action{{Kind: policy.Unwatch, To: dead.id()}}
	b.step(member.Withdraw{Request: 1})
	for range 10 {
		m.pass(5*time.Second, dead)
		m.speaks(other)
	}
	for i, p := range puppets[:4] {
		assert.Equal(t, []ident.Member{dead.id()}, p.silent(), "slot %d", i)
	}
	assert.Empty(t, puppets[4].silent())
}

// TestSurroundings_Volatile_Forgetful: a policy knows whether an earlier life of its member
// may have left programs that nobody remembers.
func TestSurroundings_Volatile_Forgetful(t *testing.T) {
	for _, durable := range []bool{true, false} {
		a := newAuthority(t)
		s := a.marionette(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Durable = durable })
		assert.Equal(t, !durable, s.puppet.Forgetful)
	}
}

// TestSurroundings_Reconfigured_NotYoung: a policy knows whether its member has just begun, or
// has only changed its configuration.
func TestSurroundings_Reconfigured_NotYoung(t *testing.T) {
	a := newAuthority(t)
	s := a.marionette(a.issue(1, 24*time.Hour), nil)
	assert.True(t, s.puppet.Young)
	set := settings(2, quick)
	set.Resources[0].MaxHold += time.Second
	signed, err := set.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	s.step(member.Learn{Configuration: signed.Raw()})
	assert.False(t, s.puppet.Young)
}
