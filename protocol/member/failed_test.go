package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// One witness fails nobody; a second one does, and a newer endpoint record of
// the subject undoes it.
func TestQuorum_Reached_Failed(t *testing.T) {
	_, b, p := crowd(t)
	subject := p[2]
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(p[0].failure(subject.id(), 1), p[0].certificate.Raw()))})
	assert.NoError(t, b.eligible(subject.id()))
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(p[1].failure(subject.id(), 1), p[1].certificate.Raw()))})
	assert.Error(t, b.eligible(subject.id()))
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(subject.certificate.Raw(), subject.endpoint(2)))})
	assert.NoError(t, b.eligible(subject.id()))
}

// What a quorum has said already is not told again.
func TestQuorum_Exact_Enough(t *testing.T) {
	a, b, p := crowd(t)
	subject := p[2]
	tell := func(w *someone) {
		b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(w.failure(subject.id(), 1), w.certificate.Raw()))})
	}
	for i, w := range []*someone{p[0], p[1], a.issue(8, 24*time.Hour)} {
		tell(w)
		told := len(messages[*wire.News](b, p[1].id()))
		assert.Equal(t, i < 2, told > 0, i)
	}
}

// A member that was declared failed hears of it and says, with a higher number,
// that it lives.
func TestFailed_Lives_Refutes(t *testing.T) {
	_, b, p := crowd(t)
	before, _ := b.Endpoint(b.ID())
	old, err := certificate.ParseEndpoint(b.cfg.Group.ID(), before, b.cfg.Key.Public())
	require.NoError(t, err)
	sequence := old.Body().Sequence
	b.hear(p[0], &wire.News{Updates: encoded(t,
		update.Failure(p[0].failure(b.ID(), sequence), p[0].certificate.Raw()),
		update.Failure(p[1].failure(b.ID(), sequence), p[1].certificate.Raw()),
	)})
	after, _ := b.Endpoint(b.ID())
	refuted, err := certificate.ParseEndpoint(b.cfg.Group.ID(), after, b.cfg.Key.Public())
	require.NoError(t, err)
	assert.Greater(t, refuted.Body().Sequence, sequence)
	assert.NoError(t, b.eligible(b.ID()))
	for _, to := range p {
		assert.NotEmpty(t, messages[*wire.News](b, to.id()), "it says so at once")
	}
}

// A failed member that connects is told so.
func TestFailed_Greets_Told(t *testing.T) {
	a, b, p := crowd(t)
	lost := a.issue(9, 24*time.Hour)
	b.hear(p[0], &wire.News{Updates: encoded(t,
		update.Join(lost.certificate.Raw(), lost.endpoint(7)),
		update.Failure(p[0].failure(lost.id(), 7), p[0].certificate.Raw()),
		update.Failure(p[1].failure(lost.id(), 7), p[1].certificate.Raw()),
	)})
	require.Error(t, b.eligible(lost.id()))
	b.step(member.Connected{Certificate: lost.certificate})
	b.hear(lost, lost.hello())
	news := messages[*wire.News](b, lost.id())
	require.Len(t, news, 1)
	assert.Len(t, news[0].Updates, 2)
}

// A member that does not answer is probed, then others are asked, and only then
// is it declared failed.
func TestProbe_NoAnswer_SuspectThenStated(t *testing.T) {
	_, b, p := crowd(t)
	dead := p[2].id()
	b.step(member.Unreachable{Peer: dead, Silent: true})
	require.NotEmpty(t, b.Addresses(dead))
	probes, stated := 0, 0
	asked := len(messages[*wire.Probe](b, p[0].id())) + len(messages[*wire.Probe](b, p[1].id()))
	for range 20 {
		b.hear(p[0], &wire.Gossip{Configuration: 1}) // the network works
		b.after(5 * time.Second)
		for _, e := range b.effects {
			if s, ok := e.(effect.Send); ok {
				switch m := s.Message.(type) {
				case *wire.Probe:
					assert.Equal(t, dead, m.Subject)
					asked++
				case *wire.News:
					stated++
				}
			}
		}
		if len(messages[*wire.Gossip](b, dead)) > 0 {
			probes++
			b.step(member.Unreachable{Peer: dead}) // too soon for its transport, which says so
			b.step(member.Unreachable{Peer: dead, Silent: true})
			asked += len(messages[*wire.Probe](b, p[0].id())) + len(messages[*wire.Probe](b, p[1].id()))
		}
	}
	t.Log(probes, asked, stated)
	assert.GreaterOrEqual(t, probes, 2)
	assert.Equal(t, 2, asked, "both of the others")
	assert.NoError(t, b.eligible(dead), "nobody fails anybody alone")
	u := p[0].failure(dead, 1)
	b.hear(p[0], &wire.News{Updates: encoded(t, update.Failure(u, p[0].certificate.Raw()))})
	assert.Error(t, b.eligible(dead))
}

// A member that hears nobody says nothing about others.
func TestCutOff_Member_StatesNothing(t *testing.T) {
	_, b, p := crowd(t)
	for _, s := range p {
		b.step(member.Unreachable{Peer: s.id(), Silent: true})
	}
	for range 50 {
		b.after(5 * time.Second)
		for _, s := range p {
			b.step(member.Unreachable{Peer: s.id(), Silent: true})
		}
	}
	for _, s := range p {
		assert.NoError(t, b.eligible(s.id()))
	}
	for k := range b.Members() {
		assert.Zero(t, k.Stated)
	}
	b.meet(p[0])
	assert.Empty(t, messages[*wire.News](b, p[0].id()))
}
