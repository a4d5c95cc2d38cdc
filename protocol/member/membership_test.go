package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

func (s *someone) leave() []byte {
	l, err := certificate.Leave{Member: s.id(), Time: uint64(began.UnixMilli())}.Sign(s.group, s.key)
	require.NoError(s.t, err)
	return l.Raw()
}

func (s *someone) failure(of ident.Member, sequence uint64) []byte {
	f, err := certificate.Failure{Witness: s.id(), Subject: of, Sequence: sequence, Time: uint64(began.UnixMilli())}.Sign(s.group, s.key)
	require.NoError(s.t, err)
	return f.Raw()
}

func encoded(t *testing.T, list ...update.Update) (raws [][]byte) {
	for _, u := range list {
		raw, err := u.Encode()
		require.NoError(t, err)
		raws = append(raws, raw)
	}
	return raws
}

// messages are all messages of a type to somebody in the last step.
func messages[M wire.Message](b *box, to ident.Member) (list []M) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok && s.To == to {
			if found, ok := s.Message.(M); ok {
				list = append(list, found)
			}
		}
	}
	return list
}

// stateOf is what the member thinks of another.
func (b *box) eligible(id ident.Member) error {
	for k := range b.Members() {
		if k.Certificate.Member() == id {
			return k.Eligible
		}
	}
	return nil
}

// crowd is a member with three peers, whose endpoint records it knows.
func crowd(t *testing.T) (a *authority, b *box, peers []*someone) {
	a = newAuthority(t)
	b = a.open(a.issue(1, 24*time.Hour), nil)
	b.step(member.Announce{Addresses: []string{"self.example.org:1"}})
	for n := byte(2); n <= 4; n++ {
		p := a.issue(n, 24*time.Hour)
		peers = append(peers, p)
		b.step(member.Connected{Certificate: p.certificate})
		hello := p.hello()
		hello.Endpoint = p.endpoint(1)
		b.hear(p, hello)
	}
	return a, b, peers
}

// leaveIsDurable reports whether the last step has the leave made durable before it
// sends anything.
func leaveIsDurable(b *box) (durable bool) {
	for _, e := range b.effects {
		switch e := e.(type) {
		case effect.Persist:
			known, ok := e.Record.(*journal.Known)
			durable = durable || ok && known.What == journal.KnownLeave && e.Sync
		case effect.Send:
			return durable
		}
	}
	return durable
}

// The leave of a peer is its own word; nobody else's.
func TestLeave_Peer_Departed(t *testing.T) {
	_, b, p := crowd(t)
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Leave(p[2].leave(), p[2].certificate.Raw()))})
	assert.ErrorIs(t, b.eligible(p[2].id()), directory.ErrLeft)
	assert.NotEmpty(t, messages[*wire.News](b, p[1].id()), "it is passed on at once")
	assert.Len(t, b.RecentLeaves(), 1)

	forged := p[1].leave()
	forged[len(forged)-1] ^= 1
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Leave(forged, p[1].certificate.Raw()))})
	assert.NoError(t, b.eligible(p[1].id()))
	require.Len(t, b.Faults(), 1)
	assert.Equal(t, member.Fault{Member: p[0].id(), Count: 1, Last: "forged leave"}, b.Faults()[0])
}

// An update of a kind that is not known is of a later version: nobody is at fault,
// and the others are heard.
func TestUpdates_UnknownKind_ListEnds(t *testing.T) {
	a, b, p := crowd(t)
	joiner := a.issue(9, 24*time.Hour)
	later := []byte{0x82, 0x09, 0x41, 0x00} // [9, h'00']
	b.hear(p[0], &wire.News{Updates: append([][]byte{later}, encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(5)))...)})
	assert.NotEmpty(t, b.Addresses(joiner.id()))
	assert.Empty(t, b.Faults())
	assert.EqualValues(t, 1, b.Status().Rejected["unknown kind of update"])
}

// Two configurations of one version, which only a broken CA signs, do not make
// two members answer each other without end.
func TestConfiguration_TwoOfOneVersion_OneKept(t *testing.T) {
	a, b, p := crowd(t)
	other := quick
	other.SkipDelay *= 2
	c, err := settings(1, other).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.hear(p[0], &wire.Configuration{Configuration: c.Raw()})
	assert.Empty(t, messages[*wire.Configuration](b, p[0].id()))
	assert.EqualValues(t, 1, b.Status().Configuration)
}

// Leaving is permanent: peers are told at once, and a restart finds a member that
// is none any more.
func TestLeave(t *testing.T) {
	_, b, p := crowd(t)
	b.step(member.Shutdown{})
	b.step(member.Leave{})
	for _, s := range p {
		require.Len(t, messages[*wire.News](b, s.id()), 1)
	}
	assert.Error(t, b.eligible(b.ID()))
	assert.True(t, leaveIsDurable(b), "told before it is durable")
	b.restart()
	stop := false
	for _, e := range b.effects {
		if s, ok := e.(effect.Stop); ok {
			stop = true
			assert.ErrorIs(t, s.Reason, member.ErrLeft)
		}
	}
	assert.True(t, stop)
}

// A renewed certificate is the same member's: nothing else changes.
func TestRenewed(t *testing.T) {
	a, b, _ := crowd(t)
	renewed := a.issue(1, 48*time.Hour)
	require.Equal(t, b.ID(), renewed.id())
	b.step(member.Renewed{Certificate: renewed.certificate})
	for k := range b.Members() {
		if k.Certificate.Member() == b.ID() {
			assert.Equal(t, renewed.certificate.Raw(), k.Certificate.Raw())
		}
	}
	other := a.issue(77, time.Hour)
	b.step(member.Renewed{Certificate: other.certificate})
	assert.Equal(t, uint64(1), b.Status().Rejected["certificate of another member"])
}

// An endpoint record of this member's own that it does not remember is outdone.
func TestOwnRecord_Overtaken_HigherSigned(t *testing.T) {
	_, b, p := crowd(t)
	self := &someone{t: t, group: b.cfg.Group.ID(), key: b.cfg.Key, certificate: b.cfg.Certificate}
	theirs := uint64(began.Add(time.Hour).UnixMilli())
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(self.certificate.Raw(), self.endpoint(theirs)))})
	raw, _ := b.Endpoint(b.ID())
	now, err := certificate.ParseEndpoint(b.cfg.Group.ID(), raw, b.cfg.Key.Public())
	require.NoError(t, err)
	assert.Greater(t, now.Body().Sequence, theirs)
	assert.Equal(t, []string{"self.example.org:1"}, now.Body().Addresses)
}

// A member that nobody can dial attaches itself to a few others, and says to
// whom.
func TestDialsOut_Start_Attaches(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	b.step(member.Announce{})
	var peers []*someone
	for n := byte(2); n <= 7; n++ {
		p := a.issue(n, 24*time.Hour)
		peers = append(peers, p)
		b.step(member.Learn{Certificates: [][]byte{p.certificate.Raw()}, Endpoints: [][]byte{p.endpoint(1)}})
	}
	attached := func() []ident.Member {
		raw, _ := b.Endpoint(b.ID())
		e, err := certificate.ParseEndpoint(b.cfg.Group.ID(), raw, b.cfg.Key.Public())
		require.NoError(t, err)
		assert.Equal(t, certificate.DialsOut, e.Body().Mode)
		return e.Body().Attached
	}
	for range 10 {
		b.after(5 * time.Second)
		for _, p := range peers {
			if len(messages[*wire.Gossip](b, p.id())) > 0 {
				b.meet(p)
			}
		}
	}
	b.after(5 * time.Second)
	first := attached()
	assert.Len(t, first, 3)
	b.step(member.Unreachable{Peer: first[0], Silent: true})
	for range 60 {
		b.after(5 * time.Second)
		b.step(member.Unreachable{Peer: first[0], Silent: true})
		for _, p := range peers {
			if p.id() != first[0] && len(messages[*wire.Gossip](b, p.id())) > 0 {
				b.meet(p)
			}
		}
	}
	second := attached()
	assert.Len(t, second, 3)
	assert.NotContains(t, second, first[0])
}
