package member_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// Members that lie. What they say changes nothing at an honest member, and is
// counted against them.

// known is the sequence number under which the stage's members are known.
const known = 7

// stage is an honest member among others whom it knows, two of whom lie.
type stage struct {
	*box
	ca           *authority
	evil, second *someone
	victim       *someone
	all          []*someone // but the honest one
	count        uint64     // of what a test counts
}

func newStage(t *testing.T) *stage {
	a := newAuthority(t)
	s := &stage{ca: a, box: a.open(a.issue(1, 24*time.Hour), nil)}
	var in member.Learn
	for n := byte(2); n <= 9; n++ {
		o := a.issue(n, 24*time.Hour)
		s.all = append(s.all, o)
		in.Certificates = append(in.Certificates, o.certificate.Raw())
		in.Endpoints = append(in.Endpoints, o.endpoint(known))
	}
	s.evil, s.second, s.victim = s.all[0], s.all[1], s.all[2]
	s.step(in)
	s.step(member.Announce{Addresses: []string{"me.example.org:1"}})
	s.meet(s.evil)
	s.meet(s.second)
	s.meet(s.all[3])
	return s
}

// picture is all that the honest member believes of the group.
func (s *stage) picture() string {
	text := fmt.Sprintf("configuration %d, revocations %d", s.Settings().Version, s.RevocationVersion())
	for k := range s.Members() {
		id := k.Certificate.Member()
		endpoint, _ := s.Endpoint(id)
		text += fmt.Sprintf("\n%v serial %d, %v, at %v, record %x", id, k.Certificate.Body().Serial, k.Eligible, k.Addresses, endpoint)
	}
	return text
}

// against are the faults of one member.
func (s *stage) against(who *someone) member.Fault {
	for _, f := range s.Status().Faults {
		if f.Member == who.id() {
			return f
		}
	}
	return member.Fault{}
}

// signAs signs a body in the name of somebody else.
func (s *someone) signAs(name ident.Member, kind envelope.Kind, body any) []byte {
	payload, err := canonical.Marshal(body)
	require.NoError(s.t, err)
	signed, err := envelope.Sign(envelope.Domain{Version: certificate.Version, Group: s.group, Kind: kind}, name, payload, s.key)
	require.NoError(s.t, err)
	return signed.Raw()
}

// bent is an object whose signature was changed.
func bent(raw []byte) []byte {
	raw = slices.Clone(raw)
	raw[len(raw)-1] ^= 1
	return raw
}

// moved is an endpoint record of the victim that the liar has signed.
func (s *stage) moved() []byte {
	return s.evil.signAs(s.victim.id(), envelope.Endpoint, &certificate.Endpoint{
		Member: s.victim.id(), Sequence: known + 1, Mode: certificate.Reachable, Addresses: []string{"evil.example.org:1"},
	})
}

// gone is a notice of leave of the victim that the liar has signed, under this
// name.
func (s *stage) gone(name *someone) []byte {
	return s.evil.signAs(name.id(), envelope.Leave, &certificate.Leave{Member: s.victim.id(), Time: uint64(began.UnixMilli())})
}

// dead is a statement that the liar has made in another one's name.
func (s *stage) dead() []byte {
	return s.evil.signAs(s.second.id(), envelope.Failure, &certificate.Failure{
		Witness: s.second.id(), Subject: s.victim.id(), Sequence: known, Time: uint64(began.UnixMilli()),
	})
}

// TestForgeries_Any_ChangeNothing: what nobody can have signed who was entitled to is
// not believed, whoever carries it and in whatever message, and is counted
// against who carried it, once for each message.
func TestForgeries_Any_ChangeNothing(t *testing.T) {
	nobody := newAuthority(t).issue(99, 24*time.Hour) // its CA has the same key
	forgedCertificate := bent(nobody.certificate.Raw())
	for name, lie := range map[string]struct {
		says func(s *stage) (update.Update, wire.Entry)
		what [2]string // the fault, when it came as an update and in a page
	}{
		"join of somebody without a certificate": {func(*stage) (update.Update, wire.Entry) {
			return update.Join(forgedCertificate, nobody.endpoint(1)), wire.Entry{Certificate: forgedCertificate, Endpoint: nobody.endpoint(1)}
		}, [2]string{"forged certificate", "forged directory entry"}},
		"another one's address": {func(s *stage) (update.Update, wire.Entry) {
			c := s.victim.certificate.Raw()
			return update.Join(c, s.moved()), wire.Entry{Certificate: c, Endpoint: s.moved()}
		}, [2]string{"forged endpoint record", "forged directory entry"}},
		"leave of another one, in its name": {func(s *stage) (update.Update, wire.Entry) {
			c := s.victim.certificate.Raw()
			return update.Leave(s.gone(s.victim), c), wire.Entry{Certificate: c, Leave: s.gone(s.victim)}
		}, [2]string{"forged leave", "forged directory entry"}},
		"leave of another one, in the liar's name": {func(s *stage) (update.Update, wire.Entry) {
			return update.Leave(s.gone(s.evil), s.evil.certificate.Raw()), wire.Entry{Certificate: s.victim.certificate.Raw(), Leave: s.gone(s.evil)}
		}, [2]string{"forged leave", "forged directory entry"}},
		"another one's failure statement": {func(s *stage) (update.Update, wire.Entry) {
			return update.Failure(s.dead(), s.second.certificate.Raw()), wire.Entry{Certificate: s.victim.certificate.Raw(), Failures: [][]byte{s.dead()}}
		}, [2]string{"forged failure statement", "forged directory entry"}},
		"revocation that the CA has not signed": {func(s *stage) (update.Update, wire.Entry) {
			return update.Revocation(bent(s.ca.revoke(1, s.victim))), wire.Entry{}
		}, [2]string{"forged revocation", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			before := s.picture()
			u, entry := lie.says(s)
			s.hear(s.evil, &wire.News{Updates: encoded(t, u)})
			assert.Equal(t, before, s.picture())
			assert.EqualValues(t, 1, s.against(s.evil).Count)
			assert.Equal(t, lie.what[0], s.against(s.evil).Last)
			assert.EqualValues(t, 1, s.Status().Rejected[lie.what[0]])
			assert.Equal(t, []effect.Report{{Kind: lie.what[0], About: s.evil.id(), Detail: "handed over by this member"}}, reports(s.box))
			assert.Empty(t, news(s.box), "it is not passed on")
			if lie.what[1] == "" {
				return
			}
			s.askedBy(s.evil)
			s.hear(s.evil, &wire.Members{Entries: []wire.Entry{entry}, Through: ident.LastMember()})
			assert.Equal(t, before, s.picture())
			assert.EqualValues(t, 2, s.against(s.evil).Count)
			assert.Equal(t, lie.what[1], s.against(s.evil).Last)
			assert.Zero(t, s.against(s.second).Count)
		})
	}
}

func reports(b *box) (list []effect.Report) {
	for _, e := range b.effects {
		if r, ok := e.(effect.Report); ok {
			list = append(list, r)
		}
	}
	return list
}

// news are the updates that were sent in the last step, outside handoffs.
func news(b *box) (list [][]byte) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			if n, ok := s.Message.(*wire.News); ok {
				list = append(list, n.Updates...)
			}
		}
	}
	return list
}

// askedBy makes the honest member ask somebody for a page of its directory.
func (s *stage) askedBy(who *someone) *wire.Want {
	s.hear(who, &wire.Gossip{Configuration: 1, Members: 1 << 20, Fingerprint: wire.Fingerprint{1}, Answer: true})
	want := said[*wire.Want](s.box)
	require.NotNil(s.t, want)
	if want.Topic == wire.WantSummary {
		s.hear(who, &wire.Summary{From: want.From, Parts: []wire.Part{{Through: want.Through, Members: 1, Fingerprint: wire.Fingerprint{1}}}})
		want = said[*wire.Want](s.box)
	}
	require.NotNil(s.t, want)
	require.Equal(s.t, wire.WantMembers, want.Topic)
	return want
}

// TestWitness_One_FailsNobody: a member that declares everybody failed is alone with
// that. Its statements say who made them.
func TestWitness_One_FailsNobody(t *testing.T) {
	s := newStage(t)
	before := s.picture()
	sequence := s.ownSequence()
	for _, o := range s.all[1:] {
		s.hear(s.evil, &wire.News{Updates: encoded(t, update.Failure(s.evil.failure(o.id(), known), s.evil.certificate.Raw()))})
	}
	s.hear(s.evil, &wire.News{Updates: encoded(t, update.Failure(s.evil.failure(s.ID(), sequence), s.evil.certificate.Raw()))})
	assert.Equal(t, before, s.picture())
	assert.Equal(t, sequence, s.ownSequence(), "one statement needs no answer")
	assert.Equal(t, 8, s.stated(s.evil), "it stands there for everybody to see")
	assert.Zero(t, s.stated(s.second))

	// Neither do more statements of the same witness, about other numbers.
	for n := range uint64(20) {
		s.hear(s.evil, &wire.News{Updates: encoded(t, update.Failure(s.evil.failure(s.victim.id(), known+n), s.evil.certificate.Raw()))})
	}
	assert.Equal(t, before, s.picture())
}

// stated is of how many others a member says that they do not answer.
func (s *stage) stated(who *someone) int {
	for k := range s.Members() {
		if k.Certificate.Member() == who.id() {
			return k.Stated
		}
	}
	return 0
}

func (s *stage) ownSequence() uint64 {
	raw, ok := s.Endpoint(s.ID())
	require.True(s.t, ok)
	e, err := certificate.ParseEndpoint(s.cfg.Group.ID(), raw, s.cfg.Key.Public())
	require.NoError(s.t, err)
	return e.Body().Sequence
}

// TestLiars_Two_SubjectFailedUntilItSpeaks: a quorum can lie. Those whom it
// lies about, and nobody else, are failed until they sign a higher number; the
// honest member does so at once.
func TestLiars_Two_SubjectFailedUntilItSpeaks(t *testing.T) {
	s := newStage(t)
	sequence := s.ownSequence()
	for _, liar := range []*someone{s.evil, s.second} {
		s.hear(liar, &wire.News{Updates: encoded(t, update.Failure(liar.failure(s.victim.id(), known), liar.certificate.Raw()))})
		s.hear(liar, &wire.News{Updates: encoded(t, update.Failure(liar.failure(s.ID(), sequence), liar.certificate.Raw()))})
	}
	require.ErrorIs(t, s.eligible(s.victim.id()), directory.ErrFailed)
	for _, o := range s.all {
		if o != s.victim {
			assert.NoError(t, s.eligible(o.id()))
		}
	}
	assert.Greater(t, s.ownSequence(), sequence)
	assert.NoError(t, s.eligible(s.ID()))

	s.step(member.Connected{Certificate: s.victim.certificate})
	hello := s.victim.hello()
	hello.Endpoint = s.victim.endpoint(known)
	s.hear(s.victim, hello)
	told := messages[*wire.News](s.box, s.victim.id())
	require.Len(t, told, 1, "it is told what is said about it, and by whom")
	assert.Len(t, told[0].Updates, 2)
	s.hear(s.evil, &wire.News{Updates: encoded(t, update.Join(s.victim.certificate.Raw(), s.victim.endpoint(known+1)))})
	assert.NoError(t, s.eligible(s.victim.id()))

	// The old statements are worth nothing any more.
	for _, liar := range []*someone{s.evil, s.second} {
		s.hear(liar, &wire.News{Updates: encoded(t, update.Failure(liar.failure(s.victim.id(), known), liar.certificate.Raw()))})
	}
	assert.NoError(t, s.eligible(s.victim.id()))
}

// TestEndpointRecord_Old_Ignored: what was true once does not come back, and
// who plays it back is noted: a few times everybody may be behind.
func TestEndpointRecord_Old_Ignored(t *testing.T) {
	s := newStage(t)
	s.hear(s.victim, s.victim.hello()) // not connected: counts for nothing
	before := s.picture()
	old := s.victim.endpoint(known - 1)
	s.hear(s.evil, &wire.News{Updates: encoded(t, update.Join(s.victim.certificate.Raw(), old))})
	hello := s.evil.hello()
	hello.Endpoint = old // as if it were its own
	s.hear(s.evil, hello)
	assert.Equal(t, before, s.picture())
	assert.EqualValues(t, 2, s.against(s.evil).Stale)
	assert.Equal(t, "old endpoint record", s.against(s.evil).Last)
	assert.EqualValues(t, 2, s.Status().Rejected["old endpoint record"])

	s.askedBy(s.evil)
	s.hear(s.evil, &wire.Members{Entries: []wire.Entry{{Certificate: s.victim.certificate.Raw(), Endpoint: old}}, Through: ident.LastMember()})
	assert.Equal(t, before, s.picture())
}

// TestConfiguration_Lower_Refused: versions only grow. Who shows an older one is
// given the newer, and noted.
func TestConfiguration_Lower_Refused(t *testing.T) {
	s := newStage(t)
	older := s.cfg.Group.Config().Raw()
	newer, err := settings(2, quick).Sign(s.cfg.Group.ID(), s.ca.key)
	require.NoError(t, err)
	s.step(member.Learn{Configuration: newer.Raw()})
	before := s.picture()
	s.hear(s.evil, &wire.Configuration{Configuration: older})
	assert.Equal(t, before, s.picture())
	assert.EqualValues(t, 2, s.Settings().Version)
	assert.EqualValues(t, 1, s.against(s.evil).Stale)
	assert.Equal(t, "older configuration", s.against(s.evil).Last)
	assert.NotEmpty(t, reports(s.box))
	require.Len(t, messages[*wire.Configuration](s.box, s.evil.id()), 1)

	forged, err := settings(3, quick).Sign(s.cfg.Group.ID(), keyOf(t, 77))
	require.NoError(t, err)
	for _, raw := range [][]byte{bent(newer.Raw()), forged.Raw()} {
		s.hear(s.evil, &wire.Configuration{Configuration: raw})
		assert.Equal(t, before, s.picture())
	}
	assert.EqualValues(t, 1, s.against(s.evil).Count, "a bent signature is a forgery; a key may be unknown yet")
	assert.EqualValues(t, 1, s.Status().Rejected["configuration"])
}
