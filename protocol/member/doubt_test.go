package member_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// A member has the more patience the later it runs, up to a bound, and soon
// forgets it.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		late time.Duration
		want [4]int // at once, and after 5, 10 and 15 seconds
	}{
		{-time.Hour, [4]int{1, 1, 1, 1}},
		{0, [4]int{1, 1, 1, 1}},
		{member.LateFrom - 1, [4]int{1, 1, 1, 1}},
		{member.LateFrom, [4]int{2, 1, 1, 1}},
		{1700 * time.Millisecond, [4]int{4, 2, 1, 1}},
		{3500 * time.Millisecond, [4]int{8, 4, 2, 1}},
		{1000 * time.Hour, [4]int{8, 4, 2, 1}},
	} {
		b := newAuthority(t).alone()
		b.step(member.Late{By: c.late})
		var got [4]int
		for i := range got {
			s := b.Status()
			got[i] = s.Patience
			assert.Equal(t, s.Patience > 1, s.Late > 0)
			b.after(5*time.Second - time.Millisecond)
			assert.Equal(t, got[i], b.Status().Patience)
			b.after(time.Millisecond)
		}
		assert.Equal(t, c.want, got, c.late)
	}
}

// A small delay does not hide a large one before it, and one that is as large as what is left
// of it renews it.
func TestLatenessThatGoesOn(t *testing.T) {
	b := newAuthority(t).alone()
	b.step(member.Late{By: time.Hour})
	b.step(member.Late{By: member.LateFrom})
	assert.Equal(t, 8, b.Status().Patience)
	b.after(9 * time.Second)
	b.step(member.Late{By: 1750 * time.Millisecond})
	b.after(4 * time.Second)
	assert.Equal(t, 4, b.Status().Patience)
}

// alone is a member that knows nobody.
func (a *authority) alone() *box { return a.open(a.issue(1, 24*time.Hour), nil) }

// heard is what a member does, while somebody is heard every second, about another
// one that never answers.
type heard struct{ probes, asked, stated int }

func (b *box) deaf(dead ident.Member, peer *someone, late, d time.Duration) (h heard) {
	for range d / time.Second {
		b.after(time.Second)
		h.probes += len(messages[*wire.Gossip](b, dead))
		gone := len(messages[*wire.Gossip](b, dead)) > 0
		if b.step(member.Late{By: late}); gone {
			b.step(member.Unreachable{Peer: dead, Silent: true})
			h.asked += len(messages[*wire.Probe](b, peer.id()))
		}
		b.hear(peer, &wire.Gossip{Configuration: 1, Answer: true})
	}
	for k := range b.Members() {
		if k.Certificate.Member() == dead {
			h.stated = k.Stated
		}
	}
	return h
}

// A member that is late probes whom it does not hear more seldom, asks nobody to
// do the same, and states nobody failed. When it is punctual again it does.
func TestLateMemberDoubtsItself(t *testing.T) {
	_, b, p := crowd(t)
	dead := p[2].id()
	b.step(member.Late{By: time.Hour})
	b.step(member.Unreachable{Peer: dead, Silent: true})
	late := b.deaf(dead, p[0], time.Hour, 10*time.Minute)
	assert.Zero(t, late.asked)
	assert.Zero(t, late.stated)
	assert.Greater(t, late.probes, 10, "it is not blind")
	assert.Less(t, late.probes, 25, "once in eight paces, where 160 paces are")

	punctual := b.deaf(dead, p[0], 0, 90*time.Second)
	assert.Positive(t, punctual.asked)
	assert.NoError(t, b.standing(dead), "nobody fails anybody alone")
	u := p[0].failure(dead, 1)
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(u, p[0].certificate.Raw()))})
	assert.Error(t, b.standing(dead), "this member has stated it, too")
}

// A member that is late is a bad witness: it probes nobody because it is asked to.
func TestLateMemberIsNoWitness(t *testing.T) {
	_, b, p := crowd(t)
	b.step(member.Unreachable{Peer: p[2].id()})
	b.step(member.Late{By: member.LateFrom})
	b.hear(p[0], &wire.Probe{Subject: p[2].id(), Sequence: 1})
	assert.Empty(t, messages[*wire.Gossip](b, p[2].id()))
	assert.EqualValues(t, 1, b.Status().Rejected["probe while late"])
	b.after(5 * time.Second)
	b.hear(p[0], &wire.Probe{Subject: p[2].id(), Sequence: 1})
	assert.NotEmpty(t, messages[*wire.Gossip](b, p[2].id()))
}

// A watched member is taken for dead after eight times as long at most, however
// late the watcher is for however long.
func TestLateWatcherWaitsLonger(t *testing.T) {
	for _, c := range []struct {
		late        time.Duration
		least, most time.Duration
	}{
		{0, 0, time.Second},
		{member.LateFrom, 9 * time.Second, 13 * time.Second},
		{time.Hour, 65 * time.Second, 85 * time.Second},
	} {
		t.Run(fmt.Sprint(c.late), func(t *testing.T) {
			a := newAuthority(t)
			dead, other := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
			b := a.marionette(a.issue(1, 24*time.Hour), nil)
			b.meet(dead)
			b.meet(other)
			b.known(dead, other)
			b.watches(dead.id())
			b.step(member.Late{By: c.late})
			b.step(member.Unreachable{Peer: dead.id(), Silent: true})
			broke := b.now.Boot
			for len(b.puppet.silent()) == 0 {
				require.Less(t, b.now.Boot.Sub(broke), 2*c.most)
				b.step(member.Late{By: c.late})
				b.speaks(other)
				b.pass(100*time.Millisecond, dead)
			}
			took := b.now.Boot.Sub(broke)
			assert.GreaterOrEqual(t, took, c.least)
			assert.LessOrEqual(t, took, c.most)
		})
	}
}

// Nobody else makes a member doubt itself: neither who does not answer, nor who
// says that it is dead.
func TestOthersMakeNobodyLate(t *testing.T) {
	_, b, p := crowd(t)
	for range 20 {
		b.step(member.Unreachable{Peer: p[1].id(), Silent: true})
		b.step(member.Unreachable{Peer: p[2].id(), Silent: true})
		b.hear(p[0], &wire.Probe{Subject: p[1].id(), Sequence: 1})
		b.hear(p[0], &wire.News{Updates: encoded(t,
			update.Failure(p[1].failure(b.ID(), 1<<60), p[1].certificate.Raw()),
			update.Failure(p[2].failure(b.ID(), 1<<60), p[2].certificate.Raw()),
		)})
		b.after(time.Second)
		assert.Equal(t, 1, b.Status().Patience)
	}
}
