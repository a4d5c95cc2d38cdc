package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
)

// What a gate signs: rules of spec/gate-member.md.

// signer is a gate's key, which signs what a test says.
type signer struct {
	*visitor
	key *signature.PrivateKey
	raw []byte // its certificate
}

// witnesses makes a member that holds a token, before a gate whose certificate it sees.
func witnesses(t testing.TB) *signer {
	key := keyOf(t, 200)
	pub := key.Public().Bytes()
	v := visits(t, false, func(r *group.Resource) {
		first := keyOf(t, 255).Public().Bytes()
		r.Gate.Member = ident.MemberOf(ident.GroupOf(first[:]), pub[:])
	})
	c, err := certificate.Claims{
		Name: "gate", Serial: 9, NotBefore: began.Add(-time.Hour), NotAfter: began.Add(time.Hour), IssuedAt: began,
		Key: pub, Group: v.cfg.Group.ID(), ConfigVersion: 1, Role: certificate.GateRole,
	}.Sign(keyOf(t, 255))
	require.NoError(t, err)
	s := &signer{visitor: v, key: key, raw: c.Raw()}
	s.reach()
	return s
}

func (s *signer) reach() {
	s.step(member.GateReachable{Resource: resource, Is: true, Certificate: s.raw})
}

// signs says an answer to a sign-in, and signs it.
func (s *signer) signs(in *effect.SignIn, a gate.Answer) {
	if open, ok := a.(gate.OpenAnswer); ok && open.Token == (ident.Token{}) {
		open.Token, open.Hop = in.Token, in.Hop
		a = open
	}
	b := wire.AnswerBody{Resource: resource, Member: s.self.id(), Title: in.Title.Hash(), Number: 1, Time: s.now.Millis(), Answer: a}
	signed, err := b.Sign(s.cfg.Group.ID(), s.key)
	require.NoError(s.t, err)
	s.step(member.GateSaid{Entry: in.Entry, Answer: a, At: s.now.Millis(), Signed: signed.Raw()})
}

// told are the answers in the journal.
func (s *signer) told() (list []gate.Answer) {
	for _, p := range s.journal {
		if r, ok := p.Record.(*journal.Told); ok {
			a, err := wire.ParseAnswer(s.cfg.Group.ID(), r.Answer, s.key.Public())
			require.NoError(s.t, err)
			list = append(list, a.Body().Answer)
		}
	}
	return list
}

func (s *signer) opening(session uint64) gate.OpenAnswer {
	return gate.OpenAnswer{Session: session, Until: s.in(16 * time.Second)}
}

// runs lets a program run under a session, and ends it.
func (s *signer) runs(request, session uint64) {
	s.t.Helper()
	in := s.demand(request)
	if in == nil {
		in = s.knocks(2 * time.Second)
	}
	require.NotNil(s.t, in)
	s.signs(in, s.opening(session))
	g := granted(s.box)
	require.NotNil(s.t, g)
	s.step(member.Ended{Grant: g.Grant, Operated: true})
	s.signs(in, gate.ClosedAnswer{Session: session, Reason: gate.BySignOut, Confirmed: true})
}

// TestTold_EachAnswer_JournalledOnce: what says nothing new is not written down, and of one sign-in no more than eight: six before it
// opens, and then that it opens and closes.
func TestTold_EachAnswer_JournalledOnce(t *testing.T) {
	s := witnesses(t)
	in := s.demand(1)
	for i := range 3 {
		s.signs(in, gate.BusyAnswer{Session: 7, Until: s.in(time.Duration(i) * time.Second)})
	}
	for n := range uint64(20) {
		s.signs(in, gate.BusyAnswer{Session: 8 + n, Until: s.in(time.Second)})
	}
	s.signs(in, s.opening(30))
	s.signs(in, gate.ClosedAnswer{Session: 30, Reason: gate.ByDeadline, Confirmed: true})
	list := s.told()
	require.Len(t, list, 8)
	assert.Equal(t, uint64(7), list[0].(gate.BusyAnswer).Session)
	assert.Equal(t, uint64(12), list[5].(gate.BusyAnswer).Session)
	assert.Equal(t, uint64(30), list[6].(gate.OpenAnswer).Session)
	assert.Equal(t, uint64(30), list[7].(gate.ClosedAnswer).Session)

	s = witnesses(t)
	s.meet(s.taker)
	s.runs(1, 7)
	list = s.told()
	require.Len(t, list, 2)
	assert.Equal(t, uint64(7), list[0].(gate.OpenAnswer).Session)
	assert.Equal(t, uint64(7), list[1].(gate.ClosedAnswer).Session)

	known := 0
	s.reach()
	for _, p := range s.journal {
		if r, ok := p.Record.(*journal.Known); ok && r.What == journal.KnownGate {
			known++
			assert.Equal(t, s.raw, r.Object)
		}
	}
	assert.Equal(t, 1, known, "the certificate, once")
}

// TestTold_Unsigned_NotJournalled: what nobody has signed is no evidence.
func TestTold_Unsigned_NotJournalled(t *testing.T) {
	s := witnesses(t)
	s.says(s.demand(1).Entry, gate.BusyAnswer{Session: 7})
	assert.Empty(t, s.told())
}

// before puts a configuration into force in which another gate, or none, stands before the resource.
func (s *signer) before(g group.Gate) {
	next := s.Settings()
	next.Version++
	next.Resources = slices.Clone(next.Resources)
	next.Resources[0].Gate = g
	c, err := next.Sign(s.cfg.Group.ID(), keyOf(s.t, 255))
	require.NoError(s.t, err)
	s.step(member.Learn{Configuration: c.Raw()})
	require.Equal(s.t, next.Version, s.Settings().Version)
}

// betweens are what may happen to a member between two sessions.
var betweens = map[string]func(*signer){
	"at once": func(*signer) {},
	"after a restart": func(s *signer) {
		s.restart()
		s.looks()
		s.reach()
	},
	"after a checkpoint": func(s *signer) {
		s.box.journal = nil
		for _, r := range s.Checkpoint() {
			s.box.journal = append(s.box.journal, journal.Stamped{At: s.now.Micros(), Record: r})
		}
		s.restart()
		s.looks()
		s.reach()
	},
}

// TestFence_NotAbove_NoProgram: a session whose number is not above those before it is none, also after a restart, with or without a
// checkpoint.
func TestFence_NotAbove_NoProgram(t *testing.T) {
	for name, between := range betweens {
		for _, session := range []uint64{7, 6} {
			t.Run(name, func(t *testing.T) {
				s := witnesses(t)
				s.runs(1, 7)
				between(s)
				s.after(10 * time.Second) // the end of a recall
				in := s.demand(2)
				if in == nil {
					in = s.knocks(2 * time.Second)
				}
				require.NotNil(t, in)
				s.signs(in, s.opening(session))
				assert.Nil(t, granted(s.box))
				assert.NotNil(t, last[effect.SignOut](s.box))
				assert.Equal(t, "gate lies", last[effect.Report](s.box).Kind)
				assert.Contains(t, s.gate().Said, "after session 7")
				assert.Len(t, s.told(), map[string]int{"after a checkpoint": 2}[name]+map[string]int{"at once": 3, "after a restart": 3}[name], "it is evidence")
			})
		}
	}
}

// TestFence_AnotherKey_CountsAnew: a gate that takes the place of another one counts for itself.
func TestFence_AnotherKey_CountsAnew(t *testing.T) {
	s := witnesses(t)
	s.runs(1, 7)
	s.key = keyOf(t, 201)
	s.runs(2, 3)
}

// TestOpen_Twice_Reported: a second session for one sign-in changes nothing, and is told.
func TestOpen_Twice_Reported(t *testing.T) {
	s := witnesses(t)
	in := s.demand(1)
	s.signs(in, s.opening(7))
	require.NotNil(t, granted(s.box))
	s.signs(in, s.opening(7))
	assert.Nil(t, last[effect.Report](s.box), "said again")
	s.signs(in, s.opening(8))
	assert.Equal(t, "gate lies", last[effect.Report](s.box).Kind)
	assert.Nil(t, last[effect.Lose](s.box))
	assert.Equal(t, uint64(7), s.gate().Session)
	assert.Len(t, s.told(), 2)
}

// TestOpen_AnotherToken_NoProgram: OPEN names the token that was shown.
func TestOpen_AnotherToken_NoProgram(t *testing.T) {
	s := witnesses(t)
	in := s.demand(1)
	s.signs(in, gate.OpenAnswer{Session: 7, Until: s.in(time.Second), Token: ident.Token{1}})
	assert.Nil(t, granted(s.box))
	assert.NotNil(t, last[effect.SignOut](s.box))
}

// TestFence_LieOfAHighNumber_CountsAsSigned: R-78 is about all sessions that the key has opened, also under another token and as the second
// one of a sign-in, and a member that has restarted knows no less of them.
func TestFence_LieOfAHighNumber_CountsAsSigned(t *testing.T) {
	for name, between := range betweens {
		for lie, a := range map[string]gate.OpenAnswer{
			"another token": {Session: 90, Token: ident.Token{1}}, "a second session": {Session: 90},
		} {
			t.Run(name+", "+lie, func(t *testing.T) {
				s := witnesses(t)
				in := s.demand(1)
				s.signs(in, s.opening(7))
				g := granted(s.box)
				require.NotNil(t, g)
				s.signs(in, a)
				s.step(member.Ended{Grant: g.Grant, Operated: true})
				s.signs(in, gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut, Confirmed: true})
				between(s)
				s.after(10 * time.Second) // the end of a recall
				if in = s.demand(2); in == nil {
					in = s.knocks(2 * time.Second)
				}
				require.NotNil(t, in)
				s.signs(in, s.opening(8))
				assert.Nil(t, granted(s.box))
				assert.Contains(t, s.gate().Said, "session 8 after session 90")
			})
		}
	}
}

// TestCertificate_GateIsBack_JournalledAgain: R-80. A checkpoint has no gate that the configuration does not have.
func TestCertificate_GateIsBack_JournalledAgain(t *testing.T) {
	s := witnesses(t)
	s.runs(1, 7)
	gate := s.Settings().Resources[0].Gate
	s.before(group.Gate{})
	s.Checkpoint()
	s.before(gate)
	s.box.journal = nil
	s.reach()
	require.Len(t, s.box.journal, 1)
	assert.Equal(t, &journal.Known{What: journal.KnownGate, Object: s.raw}, s.box.journal[0].Record)
}
