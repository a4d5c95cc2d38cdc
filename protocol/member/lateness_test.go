package member_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
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

// A small delay does not hide a large one before it. One as large as what is left
// of that renews it.
func TestLateness_GoesOn_Bounded(t *testing.T) {
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

// passes lets time pass on a member that is late all the while. One peer is heard
// every second, and nobody answers a dial. It says how often the peer was asked to
// probe somebody, and how often each other member was dialled.
func (b *box) passes(d, late time.Duration, peer *someone) (asked int, dials map[ident.Member]int) {
	dials = make(map[ident.Member]int)
	for range d / time.Second {
		b.after(time.Second)
		var gone []ident.Member
		for _, e := range b.effects {
			if s, ok := e.(effect.Send); ok && s.To != peer.id() {
				dials[s.To]++
				gone = append(gone, s.To)
			}
		}
		b.step(member.Late{By: late})
		for _, id := range gone {
			b.step(member.Unreachable{Peer: id, Silent: true})
			asked += len(messages[*wire.Probe](b, peer.id()))
		}
		b.hear(peer, &wire.Gossip{Configuration: 1, Answer: true})
	}
	return asked, dials
}

// stated is of how many others a member says that they have failed.
func (b *box) stated() (n int) {
	for k := range b.Members() {
		if b.HasStated(k.Certificate.Member()) {
			n++
		}
	}
	return n
}

// A member that is late thinks nothing of a connection that breaks. Of whom it
// dials in vain it tells nobody; when it is punctual again it does.
func TestLateMember_Suspicion_WaitsLonger(t *testing.T) {
	_, b, p := crowd(t)
	dead := p[2].id()
	b.step(member.Unreachable{Peer: p[1].id()})
	b.step(member.Late{By: member.LateFrom})
	b.step(member.Unreachable{Peer: dead, Silent: true})
	assert.Zero(t, b.Status().Suspects)
	b.step(member.Unreachable{Peer: dead, Silent: true})
	assert.Equal(t, 1, b.Status().Suspects)
	asked, dials := b.passes(10*time.Minute, member.LateFrom, p[0])
	assert.Zero(t, asked)
	assert.Zero(t, b.stated())
	assert.True(t, b.Shunned(dead))
	assert.Greater(t, dials[dead], 50, "it is not blind")
	b.passes(time.Minute, 0, p[0])
	assert.Equal(t, 2, b.stated(), "and of one more that it has met meanwhile")
}

// However many do not answer, a member dials two of them each second, in turn, and
// a fourth to a sixty-fourth of that when it is late.
func TestSuspects_Many_Rationed(t *testing.T) {
	for _, c := range []struct {
		late        time.Duration
		least, most int
	}{
		{0, 115, 135}, {member.LateFrom, 25, 45}, {time.Hour, 2, 20}, // with ten or so to compare directories
	} {
		a := newAuthority(t)
		peer := a.issue(2, 24*time.Hour)
		b := a.alone()
		b.meet(peer)
		for _, s := range a.strangers(60) {
			b.step(member.Learn{Certificates: [][]byte{s.certificate.Raw()}, Endpoints: [][]byte{s.endpoint(1)}})
			b.step(member.Unreachable{Peer: s.id(), Silent: true})
		}
		_, dials := b.passes(time.Minute, c.late, peer)
		sum, most := 0, 0
		for _, n := range dials {
			sum, most = sum+n, max(most, n)
		}
		assert.GreaterOrEqual(t, sum, c.least)
		assert.LessOrEqual(t, sum, c.most)
		assert.LessOrEqual(t, most, sum/60+4)
	}
}

// A member that is late is a bad witness: it probes nobody because it is asked to.
func TestLateMember_Failure_NotStated(t *testing.T) {
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

// A watched member counts as dead after eight times as long at most, however
// late the watcher is for however long.
func TestLateMember_Monitor_WaitsLonger(t *testing.T) {
	for _, c := range []struct {
		late        time.Duration
		least, most time.Duration
	}{
		{0, 0, time.Second},
		{member.LateFrom, 4 * time.Second, 8 * time.Second},
		{time.Hour, 28 * time.Second, 36 * time.Second},
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
func TestLateness_OthersMessages_Unchanged(t *testing.T) {
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
