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
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// watcher notes what the policies are told.
type watcher struct {
	made   []string
	asked  []policy.Asked
	events []policy.Event
}

func (w *watcher) PolicyMade(resource string, _ uint64, name string, _ policy.Params, _ [32]byte) {
	w.made = append(w.made, resource+" "+name)
}

func (w *watcher) Dropped(string, uint64, ident.Token, policy.DropReason) {}

func (w *watcher) PolicyAsked(_ string, _ uint64, a policy.Asked) {
	a.Answer = slices.Clone(a.Answer)
	w.asked = append(w.asked, a)
}

func (w *watcher) PolicyStepped(_ string, _ uint64, _ clock.Instant, e policy.Event, _ []policy.Action) {
	w.events = append(w.events, e)
}

// neighbours are who the policy was told of, in order.
func (w *watcher) neighbours() (list []ident.Member) {
	for _, e := range w.events {
		if e.Kind == policy.Neighbour {
			list = append(list, e.From)
		}
	}
	return list
}

// members is how many take part, as the policy was told last.
func (w *watcher) members() (n int) {
	for _, e := range w.events {
		if e.Kind == policy.Neighbour {
			n = e.Members
		}
	}
	return n
}

// circle is a member among others, which are in the order in which they
// follow it.
func circle(t *testing.T, others int) (*box, *watcher, []*someone) {
	return circleOf(t, newAuthority(t), others)
}

func circleOf(t *testing.T, a *authority, others int) (*box, *watcher, []*someone) {
	self := a.issue(1, 24*time.Hour)
	var list []*someone
	for n := range others {
		list = append(list, a.issue(byte(2+n), 24*time.Hour))
	}
	slices.SortFunc(list, func(x, y *someone) int {
		after := func(s *someone) int { // those above come first
			if s.id().Compare(self.id()) > 0 {
				return 0
			}
			return 1
		}
		if d := after(x) - after(y); d != 0 {
			return d
		}
		return x.id().Compare(y.id())
	})
	w := &watcher{}
	b := a.open(self, func(c *member.Config) { c.Observer = w })
	return b, w, list
}

func TestNeighbour_Ring_OrderOfIDs(t *testing.T) {
	b, w, others := circle(t, 4)
	assert.Equal(t, []string{resource + " wandering"}, w.made)
	assert.Equal(t, []ident.Member{{}}, w.neighbours(), "nobody at first")
	want := []ident.Member{{}}
	for i := 3; i >= 0; i-- { // each one comes before those that are there
		b.meet(others[i])
		want = append(want, others[i].id())
	}
	assert.Equal(t, want, w.neighbours())
	assert.Equal(t, 5, w.members())
}

// TestObserver_SomebodyLooks_NothingAsked: whoever looks at a member leaves no trace in what is recorded of its policies.
func TestObserver_SomebodyLooks_NothingAsked(t *testing.T) {
	a := newAuthority(t)
	b, w, others := circleOf(t, a, 4)
	b.reconfigure(a, 2, catalog.Wandering, policy.Params{Preset: "fair", OperationTime: time.Second, MembersMax: 5, SkipDelay: 10 * time.Millisecond})
	for _, o := range others {
		b.meet(o)
	}
	w.asked = nil
	seen := 0
	member.Observations(b.Member, func(string, uint64, policy.Observation) { seen++ })
	assert.Equal(t, 1, seen)
	assert.NotEmpty(t, b.Status().Slots)
	assert.Empty(t, w.asked)
}

func TestNeighbour_Gone_PassedOver(t *testing.T) {
	b, w, others := circle(t, 3)
	for _, o := range others {
		b.meet(o)
		b.step(member.Learn{Endpoints: [][]byte{o.endpoint(1)}})
	}
	last := func() ident.Member { return w.neighbours()[len(w.neighbours())-1] }
	require.Equal(t, others[0].id(), last())

	b.step(member.Unreachable{Peer: others[0].id(), Silent: true})
	assert.Equal(t, others[1].id(), last())
	b.after(4 * time.Second)
	assert.Equal(t, others[1].id(), last())
	b.after(time.Second)
	assert.Equal(t, others[0].id(), last(), "tried again after a while")

	b.step(member.Unreachable{Peer: others[0].id(), Silent: true})
	b.after(9 * time.Second)
	assert.Equal(t, others[1].id(), last(), "a longer while")
	b.meet(others[0])
	assert.Equal(t, others[0].id(), last(), "at once when it is there")
}

// TestNeighbour_Refuses_TriedAgainAfterTheSameTime: a neighbour that refuses the token is passed over for five seconds each time, and not
// for longer and longer: it may take the next one at once.
func TestNeighbour_Refuses_TriedAgainAfterTheSameTime(t *testing.T) {
	a, w := newAuthority(t), &watcher{}
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found, c.Observer = true, w })
	b.reconfigure(a, 2, catalog.Ring, policy.Params{Preset: "s", OperationTime: time.Second, MembersMax: 3, SkipDelay: 10 * time.Millisecond})
	peer := a.issue(2, 24*time.Hour)
	b.meet(peer)
	const tick = 100 * time.Millisecond
	var pauses []time.Duration
	for i, since := 0, 0; i < 600; i++ {
		b.after(tick)
		if m := said[*wire.Offer](b); m != nil {
			b.hear(peer, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseNewborn})
		}
		list := w.neighbours()
		switch passedOver := list[len(list)-1].IsZero(); {
		case passedOver && since == 0:
			since = i
		case !passedOver && since > 0:
			pauses, since = append(pauses, time.Duration(i-since)*tick), 0
		}
	}
	assert.GreaterOrEqual(t, len(pauses), 3)
	for _, pause := range pauses {
		assert.InDelta(t, 5*time.Second, pause, float64(tick))
	}
}

// TestNeighbour_CertificateExpires_PassedOver: without anything else policyEvent, a neighbour whose
// certificate has ended is one no more.
func TestNeighbour_CertificateExpires_PassedOver(t *testing.T) {
	a := newAuthority(t)
	w := &watcher{}
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Observer = w })
	b.meet(a.issue(2, time.Hour))
	require.Len(t, w.neighbours(), 2)
	for range 61 {
		b.after(time.Minute)
	}
	assert.Equal(t, ident.Member{}, w.neighbours()[2])
}

// TestNeighbour_Restarted_GreetsTheOneBefore: whoever comes back is passed over until
// the member before it hears of that, so it says so.
func TestNeighbour_Restarted_GreetsTheOneBefore(t *testing.T) {
	b, _, others := circle(t, 3)
	for _, o := range others {
		b.meet(o)
		b.step(member.Learn{Endpoints: [][]byte{o.endpoint(1)}})
	}
	b.restart()
	var greeted []ident.Member
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			greeted = append(greeted, s.To)
		}
	}
	assert.Equal(t, []ident.Member{others[2].id()}, greeted)
	b.after(0)
	assert.Empty(t, said[*wire.Want](b), "once")
}

// TestNeighbour_Declines_PassedOver: a neighbour that accepts the token and then
// declines it, every time, does not keep it from all who follow.
func TestNeighbour_Declines_PassedOver(t *testing.T) {
	a := newAuthority(t)
	self := a.issue(1, 24*time.Hour)
	w := &watcher{}
	b := a.open(self, func(c *member.Config) { c.Found, c.Observer = true, w })
	b.reconfigure(a, 2, catalog.Ring, policy.Params{Preset: "s", OperationTime: time.Second, MembersMax: 3, SkipDelay: 10 * time.Millisecond})
	others := map[ident.Member]*someone{}
	for n := range byte(3) {
		s := a.issue(2+n, 24*time.Hour)
		others[s.id()] = s
		b.meet(s)
	}
	declined := map[ident.Member]uint64{}
	first := w.neighbours()[len(w.neighbours())-1]
	for range 300 {
		b.after(10 * time.Millisecond)
		for todo := b.effects; len(todo) > 0; todo = todo[1:] {
			s, ok := todo[0].(effect.Send)
			if !ok {
				continue
			}
			b.effects = nil
			peer := others[s.To]
			switch m := s.Message.(type) {
			case *wire.Offer:
				declined[s.To]++
				b.hear(peer, &wire.Accept{Token: m.Token, Hop: m.Hop, Incarnation: peer.incarnation, Accept: declined[s.To], Lifetime: 60_000})
			case *wire.Transfer:
				b.hear(peer, &wire.Void{Void: peer.answer(b.verified(m.Transfer, self), token.Void)})
			}
			todo = append(todo, b.effects...)
		}
	}
	assert.Len(t, declined, 3, "all were tried")
	assert.LessOrEqual(t, declined[first], uint64(2))
}
