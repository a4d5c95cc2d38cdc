package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// What a restart continues, and what it begins anew: handoff rules §1, inc.

// refusal is why the only demand that was refused was.
func refusal(b *box) error {
	list := refused(b)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// firstRecord is the first one that the last step persists.
func firstRecord(b *box) effect.Persist {
	for _, e := range b.effects {
		if p, ok := e.(effect.Persist); ok {
			return p
		}
	}
	return effect.Persist{}
}

func TestRestart_Durable_CustodyMemoryContinues(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = true })
	first := b.Status()
	require.True(t, b.Holds(resource))
	b.restart()
	assert.Equal(t, first.Incarnation, b.Status().Incarnation)
	assert.True(t, b.Holds(resource))
	b.checkpoint()
	b.restart()
	assert.Equal(t, first.Incarnation, b.Status().Incarnation)
	assert.True(t, b.Holds(resource))
	assert.Zero(t, b.Status().Generated, "a token is founded once for a journal")
}

func TestRestart_Volatile_BeginsAnew(t *testing.T) {
	for name, change := range map[string]func(*box){
		"on the operator's word": func(b *box) { b.cfg.NewIncarnation = true },
		"in another place":       func(b *box) { b.cfg.Machine = "there" },
		"as a volatile member":   func(b *box) { b.cfg.Durable = false },
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = true })
			first := b.Status().Incarnation
			b.cfg.Found = false
			change(b)
			b.restart()
			assert.NotEqual(t, first, b.Status().Incarnation)
			assert.False(t, b.Holds(resource), "it remembers no custody")
			persisted := firstRecord(b)
			assert.Equal(t, journal.KindIncarnation, persisted.Record.Kind())
			assert.True(t, persisted.Sync)
		})
	}
}

// P-26 of spec/policy/common.md.
func TestFound_Restart_OnceForAJournal(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = true })
	require.EqualValues(t, 1, b.Status().Generated)
	b.cfg.NewIncarnation = true
	for range 2 {
		b.restart()
		assert.False(t, b.Holds(resource), "it is lost to it, and not founded again")
		assert.Zero(t, b.Status().Generated)
		b.checkpoint()
	}
	fresh := a.open(a.issue(2, time.Hour), nil)
	assert.False(t, fresh.Holds(resource), "nobody founds unless it is told to")
}

func TestRestart_VolatileMode_NeverContinues(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Durable = false })
	seen := map[string]bool{}
	for range 5 {
		seen[b.Status().Incarnation.String()] = true
		b.restart()
	}
	assert.Len(t, seen, 5)
}

func TestRestore_JournalOfAnother_Refused(t *testing.T) {
	a := newAuthority(t)
	me, other := a.issue(1, time.Hour), a.issue(2, time.Hour)
	b := a.open(me, nil)
	cfg := b.cfg
	cfg.Certificate, cfg.Key = other.certificate, other.key
	_, _, err := member.Restore(cfg, b.journal, b.now)
	assert.ErrorIs(t, err, member.ErrNotMember)
	cfg.Certificate = me.certificate
	_, _, err = member.New(cfg, b.now)
	assert.ErrorIs(t, err, member.ErrKey)
	b.journal = append(b.journal, journal.Stamped{Record: &journal.Closed{}})
	_, _, err = member.Restore(b.cfg, b.journal, b.now)
	assert.ErrorIs(t, err, handoff.ErrReplay)
}

// What a journal knows of others is known after a restart, also to a new
// incarnation, and through a checkpoint.
func TestRestart_Directory_Remembered(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.step(member.Connected{Certificate: peer.certificate})
	hello := peer.hello()
	hello.Endpoint = peer.endpoint(3)
	b.hear(peer, hello)
	for _, change := range []func(){func() {}, b.checkpoint, func() { b.cfg.NewIncarnation = true }} {
		change()
		b.restart()
		assert.Equal(t, []string{"a.example.org:1"}, b.Addresses(peer.id()))
	}
}

// Who is dead for long is forgotten by a member that has just started, too: one that
// never runs for an hour would keep everybody, and its directory would differ from
// those of all others.
func TestRestart_DepartedMembers_Forgotten(t *testing.T) {
	a := newAuthority(t)
	b, dead := a.open(a.issue(1, 10*365*24*time.Hour), nil), a.issue(2, time.Hour)
	b.meet(dead)
	b.step(member.Disconnected{Peer: dead.id()})
	b.now.Wall = began.Add(group.DefaultSettlementTime + 3*time.Hour)
	b.restart()
	require.Contains(t, b.IDs(), dead.id())
	b.step(member.Tick{})
	assert.NotContains(t, b.IDs(), dead.id())
}

// A program outlives the member's process. Until it has ended, or is dead, the
// restarted member neither grants nor gives the token away (handoff rules §2,
// EXEC).
func TestRestart_ProgramRuns_GrantContinues(t *testing.T) {
	start := func(t *testing.T) (*box, *effect.Grant) {
		a := newAuthority(t)
		b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = true })
		b.step(member.Demand{Request: 1, Resource: resource})
		g := granted(b)
		require.NotNil(t, g)
		b.restart()
		b.step(member.Demand{Request: 2, Resource: resource})
		require.Nil(t, granted(b), "the first one still runs")
		require.True(t, b.Status().Slots[0].Executing)
		return b, g
	}
	t.Run("it asks for the same again", func(t *testing.T) {
		b, g := start(t)
		b.step(member.Demand{Request: 3, Resource: resource, Held: []ident.Grant{g.Grant}})
		assert.ErrorIs(t, refusal(b), member.ErrHeld)
	})
	t.Run("its end is reported", func(t *testing.T) {
		b, g := start(t)
		b.step(member.Ended{Grant: g.Grant, Operated: true})
		assert.Equal(t, journal.EndReported, lastEnd(t, b).Cause)
		b.after(time.Second)
		assert.False(t, b.Status().Slots[0].Executing)
		assert.Positive(t, b.Status().Slots[0].LastOperation)
	})
	t.Run("its deadline comes", func(t *testing.T) {
		b, g := start(t)
		b.now.Boot = g.Deadline - 1
		b.step(member.Tick{})
		assert.True(t, b.Status().Slots[0].Executing)
		b.after(1)
		assert.True(t, b.Status().Slots[0].Executing, "it is being killed")
		b.after(time.Second)
		assert.False(t, b.Status().Slots[0].Executing)
		assert.Equal(t, journal.EndDeadline, lastEnd(t, b).Cause)
	})
	t.Run("its deadline has passed", func(t *testing.T) {
		b, g := start(t)
		b.now.Boot = g.Deadline.Add(time.Minute)
		b.restart()
		b.after(0) // who kills it may have woken up with this member
		b.after(time.Second)
		assert.False(t, b.Status().Slots[0].Executing)
		assert.Equal(t, journal.EndRestarted, lastEnd(t, b).Cause)
	})
	t.Run("the machine boots", func(t *testing.T) {
		b, _ := start(t)
		b.cfg.Boot = "another"
		b.restart()
		b.after(0)
		assert.False(t, b.Status().Slots[0].Executing)
		assert.Equal(t, journal.EndRestarted, lastEnd(t, b).Cause)
	})
	t.Run("through a checkpoint", func(t *testing.T) {
		b, _ := start(t)
		b.checkpoint()
		b.restart()
		assert.True(t, b.Status().Slots[0].Executing)
	})
}

// lastEnd is the end of a grant that the journal tells of last.
func lastEnd(t *testing.T, b *box) *journal.Ended {
	for _, s := range slices.Backward(b.journal) {
		if r, ok := s.Record.(*journal.Ended); ok {
			return r
		}
	}
	require.Fail(t, "no end in the journal")
	return nil
}

// What ran a program says on the boot clock when it saw it running. The journal has
// it by the wall clock, rounded inwards; what cannot be is left out.
func TestEnded_SeenRunning_Recorded(t *testing.T) {
	for name, c := range map[string]struct {
		from, to time.Duration // before the end
		operated bool
		want     bool
	}{
		"seen":              {2 * time.Second, time.Second, true, true},
		"seen once":         {time.Second, time.Second, true, false},
		"backwards":         {time.Second, 2 * time.Second, true, false},
		"in the future":     {time.Second, -time.Second, true, false},
		"it did not run":    {2 * time.Second, time.Second, false, false},
		"before everything": {1 << 62, time.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := holder(t)
			b.step(member.Demand{Request: 1, Resource: resource})
			g := granted(b)
			require.NotNil(t, g)
			b.after(3 * time.Second)
			b.step(member.Ended{Grant: g.Grant, Operated: c.operated, SeenFrom: b.now.Boot.Add(-c.from), SeenTo: b.now.Boot.Add(-c.to)})
			r, now := lastEnd(t, b), b.now.Micros()
			if !c.want {
				assert.Zero(t, r.SeenFrom)
				assert.Zero(t, r.SeenTo)
				return
			}
			assert.Equal(t, now-2_000_000+1, r.SeenFrom)
			assert.Equal(t, now-1_000_000-1, r.SeenTo)
		})
	}
}

// The token that was held during a crash goes on, whether or not its program's
// end was seen.
func TestRestart_ProgramRan_TokenGoesOn(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = true }), a.issue(2, time.Hour)
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	require.NotNil(t, g)
	b.restart()
	b.meet(peer)
	offer := said[*wire.Offer](b)
	for i := 0; offer == nil && i < 10; i++ {
		b.after(time.Second)
		offer = said[*wire.Offer](b)
	}
	require.NotNil(t, offer, "the next holder is found while the program runs")
	b.hear(peer, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: peer.incarnation, Accept: 1, Lifetime: 30_000})
	assert.Nil(t, said[*wire.Transfer](b))
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	for i := 0; b.Holds(resource) && i < 10; i++ {
		b.after(10 * time.Millisecond)
	}
	assert.False(t, b.Holds(resource))
}
