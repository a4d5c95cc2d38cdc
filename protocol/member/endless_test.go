package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// What must not go on without end, or grow without end, whatever a peer says.

// ticksIn is how often the member wants to be called within a time.
func (b *box) ticksIn(d time.Duration) (ticks int) {
	for until := b.now.Boot.Add(d); b.now.Boot < until && ticks < 10_000; ticks++ {
		b.after(max(0, b.NextDeadline().Sub(b.now.Boot)))
	}
	return ticks
}

// A member that only dials out looks after its attachments now and then. When it
// stops, or can be dialled after all, it does not any more.
func TestAttachments_Repeated_Bounded(t *testing.T) {
	for name, in := range map[string]member.Input{
		"stops":            member.Shutdown{},
		"can be dialled":   member.Announce{Addresses: []string{"self.example.org:1"}},
		"only dials out":   member.Announce{},
		"leaves the group": member.Leave{},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			b := a.open(a.issue(1, 24*time.Hour), nil)
			b.step(member.Announce{})
			b.meet(a.issue(2, 24*time.Hour))
			b.step(in)
			assert.Less(t, b.ticksIn(time.Minute), 1000)
		})
	}
}

// sequence is the number of the member's own endpoint record.
func (b *box) sequence() uint64 {
	raw, _ := b.Endpoint(b.ID())
	e, err := certificate.ParseEndpoint(b.cfg.Group.ID(), raw, b.cfg.Key.Public())
	require.NoError(b.t, err)
	return e.Body().Sequence
}

// Two liars can have a member say again and again that it lives, but not as often
// as they like. It is back when they give up.
func TestRefutations_Many_Rationed(t *testing.T) {
	_, b, p := crowd(t)
	first, before := b.sequence(), len(b.journal)
	for range 100 {
		b.now.Boot, b.now.Wall = b.now.Boot.Add(10*time.Millisecond), b.now.Wall.Add(10*time.Millisecond)
		b.hear(p[0], &wire.News{Updates: encoded(t,
			update.Failure(p[0].failure(b.ID(), b.sequence()), p[0].certificate.Raw()),
			update.Failure(p[1].failure(b.ID(), b.sequence()), p[1].certificate.Raw()),
		)})
	}
	assert.Greater(t, b.sequence(), first)
	assert.Less(t, len(b.journal)-before, 40)
	b.ticksIn(time.Minute)
	assert.NoError(t, b.eligible(b.ID()))
}

// Two members with one key would each sign a record above the other's.
func TestOwnRecord_OvertakenRepeatedly_Bounded(t *testing.T) {
	_, b, p := crowd(t)
	clone := &someone{t: t, group: b.cfg.Group.ID(), key: b.cfg.Key, certificate: b.cfg.Certificate}
	signed := 0
	for range 100 {
		b.now.Boot, b.now.Wall = b.now.Boot.Add(10*time.Millisecond), b.now.Wall.Add(10*time.Millisecond)
		b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(clone.certificate.Raw(), clone.endpoint(b.sequence()+1000)))})
		if b.Addresses(b.ID())[0] == "self.example.org:1" {
			signed++
		}
	}
	assert.LessOrEqual(t, signed, 20)
	b.ticksIn(time.Minute)
	assert.Equal(t, []string{"self.example.org:1"}, b.Addresses(b.ID()))
}

// A record of this member's own with the number of the one it has is as good as a
// higher one: the group may have taken that.
func TestOwnRecord_SameNumber_HigherSigned(t *testing.T) {
	_, b, p := crowd(t)
	own, _ := b.Endpoint(b.ID())
	e, err := certificate.ParseEndpoint(b.cfg.Group.ID(), own, b.cfg.Key.Public())
	require.NoError(t, err)
	for port := byte('1'); port <= '9'; port++ { // one of them is greater in its bytes
		body := e.Body()
		body.Addresses = []string{"zzzz.example.org:" + string(port)}
		other, err := body.Sign(b.cfg.Group.ID(), b.cfg.Key)
		require.NoError(t, err)
		b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(b.cfg.Certificate.Raw(), other.Raw()))})
	}
	b.ticksIn(time.Minute)
	assert.Equal(t, []string{"self.example.org:1"}, b.Addresses(b.ID()))
}

// A member can sign as many leaves as it likes, each before the others. One is
// enough to write down and to pass on.
func TestFlood_Leaves_Bounded(t *testing.T) {
	_, b, p := crowd(t)
	before, told := len(b.journal), 0
	for n := range uint64(100) {
		l, err := certificate.Leave{Member: p[2].id(), Time: 1_000_000 - n}.Sign(p[2].group, p[2].key)
		require.NoError(t, err)
		b.hear(p[2], &wire.News{Updates: encoded(t, update.Leave(l.Raw(), p[2].certificate.Raw()))})
		told += len(messages[*wire.News](b, p[0].id()))
	}
	assert.LessOrEqual(t, len(b.journal)-before, 1)
	assert.LessOrEqual(t, told, 1)
	assert.Equal(t, 1, len(b.RecentLeaves()))
}

// A witness can sign as many statements about one record as it likes. One is
// enough to write down and to pass on.
func TestFlood_FailureStatements_Bounded(t *testing.T) {
	_, b, p := crowd(t)
	before, told := len(b.journal), 0
	for n := range uint64(100) {
		b.now.Boot, b.now.Wall = b.now.Boot.Add(5*time.Second), b.now.Wall.Add(5*time.Second)
		f, err := certificate.Failure{Witness: p[0].id(), Subject: p[2].id(), Sequence: 1, Time: n}.Sign(p[0].group, p[0].key)
		require.NoError(t, err)
		b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(f.Raw(), p[0].certificate.Raw()))})
		told += len(messages[*wire.News](b, p[1].id()))
	}
	assert.LessOrEqual(t, len(b.journal)-before, 1)
	assert.LessOrEqual(t, told, 1)
}

// Who was declared failed and says that it lives is passed tokens again by those who
// have stated it.
func TestWitness_Refuted_StatesAgain(t *testing.T) {
	_, b, p := crowd(t)
	dead := p[2]
	b.step(member.Disconnected{Peer: p[1].id()})
	b.step(member.Unreachable{Peer: dead.id(), Silent: true})
	for range 20 {
		b.hear(p[0], &wire.Gossip{Configuration: 1})
		b.after(5 * time.Second)
		if len(messages[*wire.Gossip](b, dead.id())) > 0 {
			b.step(member.Unreachable{Peer: dead.id(), Silent: true})
		}
	}
	require.True(t, b.Shunned(dead.id()))
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(dead.certificate.Raw(), dead.endpoint(2)))})
	assert.False(t, b.Shunned(dead.id()))
}

// A member that knows a sample asks for one page, not for all that follows.
func TestSample_Exchange_OnePage(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Sample = 8 })
	peer := a.issue(2, 24*time.Hour)
	b.meet(peer)
	asked := 0
	b.hear(peer, &wire.Gossip{Configuration: 1, Members: 1000, Answer: true})
	for range 20 {
		w := said[*wire.Want](b)
		if w == nil {
			break
		}
		require.Equal(t, wire.WantMembers, w.Topic)
		asked++
		b.hear(peer, &wire.Members{Entries: []wire.Entry{{Certificate: peer.certificate.Raw()}}, Through: w.From.Next(), More: true})
	}
	assert.Equal(t, 1, asked)
}

// On a page the witness may stand behind whom it speaks of. The journal is read
// from the front.
func TestPage_Journalled_CanBeRead(t *testing.T) {
	a, b, p := crowd(t)
	w, v := a.issue(20, 24*time.Hour), a.issue(21, 24*time.Hour)
	subject := p[2]
	b.hear(p[0], &wire.Gossip{Configuration: 1, Members: 9, Answer: true})
	b.hear(p[0], &wire.Summary{Parts: []wire.Part{{Through: ident.LastMember(), Members: 9}}})
	b.hear(p[0], &wire.Members{Through: ident.LastMember(), Entries: []wire.Entry{
		{Certificate: subject.certificate.Raw(), Failures: [][]byte{w.failure(subject.id(), 1), v.failure(subject.id(), 1)}},
		{Certificate: w.certificate.Raw()}, {Certificate: v.certificate.Raw()},
	}})
	require.Error(t, b.eligible(subject.id()))
	b.restart()
	assert.Error(t, b.eligible(subject.id()))
}

// An answer that comes so late that something else has been asked is no lie.
func TestSummary_Late_NoFault(t *testing.T) {
	_, b, p := crowd(t)
	gossip := &wire.Gossip{Configuration: 1, Members: 9000, Answer: true}
	half := ident.Member{0: 0x7f}
	all := &wire.Summary{Parts: []wire.Part{{Through: half, Members: 4500}, {Through: ident.LastMember(), Members: 4500}}}
	b.hear(p[0], gossip)
	b.after(30 * time.Second)
	b.hear(p[0], gossip) // asks the same again
	b.hear(p[0], all)    // the first answer
	b.hear(p[0], all)    // the second
	assert.Empty(t, b.Status().Faults)
}

// Configurations, revocations and certificates of signers that do not verify cost
// a signature check each; who hands over too many is not listened to.
func TestForgeries_AllKinds_Rationed(t *testing.T) {
	a, b, p := crowd(t)
	forged := func(raw []byte) []byte {
		raw = append([]byte(nil), raw...)
		raw[len(raw)-1] ^= 1
		return raw
	}
	other := a.issue(9, time.Hour)
	title := other.mint(1)
	newer, err := settings(2, quick).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	newest, err := settings(3, quick).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: newer.Raw()})
	older := a.group.Config()
	for name, msg := range map[string]wire.Message{
		"revocation":    &wire.Revocations{Revocations: [][]byte{forged(a.revoke(1, other))}},
		"configuration": &wire.Configuration{Configuration: forged(newest.Raw())},
		"older":         &wire.Configuration{Configuration: older.Raw()},
		"offer": &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers(),
			Certificates: [][]byte{forged(other.certificate.Raw())}},
	} {
		t.Run(name, func(t *testing.T) {
			before, answers := faultsOf(b, p[0]), 0
			for range 200 {
				b.hear(p[0], msg)
				answers += len(messages[*wire.Configuration](b, p[0].id()))
			}
			assert.LessOrEqual(t, faultsOf(b, p[0])-before, uint64(30))
			assert.LessOrEqual(t, answers, 30)
		})
	}
}

func faultsOf(b *box, s *someone) uint64 {
	for _, f := range b.Status().Faults {
		if f.Member == s.id() {
			return f.Count
		}
	}
	return 0
}

// What the CA has given up of the revocation list is no gap in it: who joins asks
// on behind it.
func TestRevocations_BehindTheFloor_AskedFor(t *testing.T) {
	a := newAuthority(t)
	b, peer, gone := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	s := settings(2, quick)
	s.RevocationFloor = 20
	c, err := s.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: c.Raw()})
	b.meet(peer)
	b.hear(peer, &wire.Revocations{Revocations: [][]byte{a.revoke(21, gone), a.revoke(22, gone)}, More: true})
	want := said[*wire.Want](b)
	require.NotNil(t, want)
	assert.EqualValues(t, 22, want.Version)
}
