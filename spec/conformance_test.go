package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
)

// Rules of chapters 7 and 9 that can be seen from outside, put to a member.

// subject is the member that is put to the test, and what it does.
type subject struct {
	*member.Member
	t       *testing.T
	now     clock.Reading
	effects []effect.Effect
}

// others are ready to be its peers.
var others = []party{newParty(11), newParty(12), newParty(13), newParty(14)}

func certificateOf(t *testing.T, p party, version uint64) certificate.Certificate {
	c, err := certificate.Claims{
		Name: "x", Serial: 1, NotBefore: day, NotAfter: day.AddDate(0, 0, 90), IssuedAt: day,
		Key: p.key.Public().Bytes(), Group: groupID, ConfigVersion: version,
	}.Sign(authority.key)
	require.NoError(t, err)
	return c
}

func newSubject(t *testing.T) *subject {
	g, err := group.New([]group.Authority{statement(t, authority, authority, noExtension)}, configuration(t, 1, noExtension))
	require.NoError(t, err)
	s := &subject{t: t, now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: day.Add(time.Hour)}}
	s.Member, s.effects, err = member.New(member.Config{
		Group: g, Certificate: certificateOf(t, ada, 7), Key: ada.key, Durable: true, Machine: "here", Boot: "boot",
	}, s.now)
	require.NoError(t, err)
	return s
}

func (s *subject) step(in member.Input) { s.effects = s.Step(s.now, in) }

func (s *subject) after(d time.Duration) {
	s.now.Boot, s.now.Wall = s.now.Boot.Add(d), s.now.Wall.Add(d)
	s.step(member.Tick{})
}

func (s *subject) hear(p party, m wire.Message) {
	s.t.Helper()
	body, err := wire.Encode(m)
	require.NoError(s.t, err)
	s.step(member.Received{From: p.id, Body: body})
}

// meet connects a peer, which greets with an endpoint record.
func (s *subject) meet(p party) {
	s.t.Helper()
	s.step(member.Connected{Certificate: certificateOf(s.t, p, 7)})
	e := s.record(p, 1)
	s.hear(p, &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: incarnation, MaxFrame: wire.MaxFrame, Configuration: 7, Endpoint: e})
}

func (s *subject) record(p party, sequence uint64) []byte {
	e, err := certificate.Endpoint{
		Member: p.id, Sequence: sequence, Mode: certificate.Reachable, Addresses: []string{"x.example.org:1"},
	}.Sign(groupID, p.key)
	require.NoError(s.t, err)
	return e.Raw()
}

// sent are the messages of a type in the last step, to one member.
func sent[M wire.Message](s *subject, to party) (list []M) {
	for _, e := range s.effects {
		if x, ok := e.(effect.Send); ok && x.To == to.id {
			if m, ok := x.Message.(M); ok {
				list = append(list, m)
			}
		}
	}
	return list
}

func (s *subject) rejected(reason string) int { return int(s.Status().Rejected[reason]) }

// M-6, M-8, M-14, M-15, M-16, P-3.
func TestPeers_Each_Rationed(t *testing.T) {
	code := newSource(t)
	p := others[0]
	limits := countedReasons(t).reasons
	type rationed struct {
		reason, bound string
		message       wire.Message
	}
	cases := []rationed{
		{"want rate", "askedWork", &wire.Want{Topic: wire.WantRevocations}},
		{"news rate", "news", &wire.News{Updates: [][]byte{revocationUpdate(t)}}},
		{"policy rate", "policy", &wire.Policy{Resource: "x", Policy: "x"}},
		{"keeper rate", "policy", &wire.Policy{Resource: "x", Policy: "x", Body: []byte{policy.KeeperKind}}},
	}
	for _, o := range form.Messages() { // any other as little as it can be
		name := strings.TrimPrefix(o.Name, "message ")
		is := func(c rationed) bool { return c.reason == name+" rate" }
		if _, limited := limits[name+" rate"]; limited && !slices.ContainsFunc(cases, is) {
			m, err := wire.Decode(o.Sample(form.Least()))
			require.NoError(t, err)
			cases = append(cases, rationed{name + " rate", name, m})
		}
	}
	for _, c := range cases {
		assert.Contains(t, limits, c.reason)
		delete(limits, c.reason)
		t.Run(c.reason, func(t *testing.T) {
			s := newSubject(t)
			s.meet(p)
			var burst int
			_, err := fmt.Sscan(code.show("member."+c.bound+"Burst"), &burst)
			require.NoError(t, err)
			for range burst + 50 {
				s.hear(p, c.message)
			}
			assert.InDelta(t, 50, s.rejected(c.reason), 1) // meeting takes one HELLO
			s.after(time.Second)
			before := s.rejected(c.reason)
			s.hear(p, c.message)
			assert.Equal(t, before, s.rejected(c.reason), "it is heard again")
		})
	}
	delete(limits, "update rate") // of what is in messages: M-18
	for reason := range limits {
		assert.False(t, strings.HasSuffix(reason, " rate") && !strings.HasPrefix(reason, "own "), "no case of %q here, in spec/conformance_test.go", reason)
	}
}

func revocationUpdate(t *testing.T) []byte {
	raw, err := updates.Revocation(revocation(t, "", noExtension).Raw()).Encode()
	require.NoError(t, err)
	return raw
}

// M-14.
func TestGossip_Repeated_AnsweredOnce(t *testing.T) {
	s, p := newSubject(t), others[0]
	s.meet(p)
	s.hear(p, &wire.Gossip{Configuration: 7})
	answers := sent[*wire.Gossip](s, p)
	require.Len(t, answers, 1)
	assert.True(t, answers[0].Answer)
	s.hear(p, &wire.Gossip{Configuration: 7, Answer: true})
	assert.Empty(t, sent[*wire.Gossip](s, p))
}

// M-15.
func TestProbe_Suspect_WhoIsAsked(t *testing.T) {
	for _, c := range []struct {
		name     string
		sequence uint64
		meets    bool
		greeted  int
	}{
		{"as known", 1, false, 1},
		{"another record", 2, false, 0},
		{"connected", 1, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, p, gone := newSubject(t), others[0], others[1]
			s.meet(gone)
			s.meet(p)
			if !c.meets {
				s.step(member.Disconnected{Peer: gone.id})
			}
			s.after(31 * time.Second) // its own GOSSIPs are over
			s.hear(p, &wire.Probe{Subject: gone.id, Sequence: c.sequence})
			assert.Len(t, sent[*wire.Gossip](s, gone), c.greeted)
			if c.meets {
				return // the transport finds out
			}
			for range 3 * c.greeted {
				s.step(member.Unreachable{Peer: gone.id, Silent: true})
				assert.Empty(t, sent[*wire.Probe](s, p), "it asks nobody in its turn")
			}
		})
	}
}

// D-32.
func TestProbe_Refused_Answer(t *testing.T) {
	s, p := newSubject(t), others[0]
	s.meet(p)
	for range 10 {
		s.step(member.Unreachable{Peer: p.id})
		s.step(member.Unreachable{Peer: p.id, Refused: true})
	}
	assert.Zero(t, s.Status().Suspects)
	s.step(member.Unreachable{Peer: p.id, Silent: true})
	assert.Equal(t, 1, s.Status().Suspects)
	s.meet(p) // D-35
	assert.Zero(t, s.Status().Suspects)
}

// asked is the one question about the directory in the last step.
func (s *subject) asked(p party) *wire.Want {
	s.t.Helper()
	list := sent[*wire.Want](s, p)
	require.Len(s.t, list, 1)
	return list[0]
}

// crowd is how many others a subject is told of, so that there is something to
// compare; claimed is how many a peer says that it knows.
const crowd, claimed = 70, 129

// narrowed is a subject among many that has been shown a SUMMARY, and now wants
// one of a smaller range: all ids but the last.
func narrowed(t *testing.T) (s *subject, p party, through ident.Member) {
	s, p = newSubject(t), p0()
	s.meet(p)
	var list [][]byte
	for n := range byte(crowd) {
		list = append(list, certificateOf(t, newParty(100+n), 7).Raw())
	}
	s.step(member.Learn{Certificates: list})
	last := ident.LastMember()
	through = last
	through[len(through)-1]--
	s.hear(p, &wire.Gossip{Configuration: 7, Members: claimed})
	s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: through, Members: claimed}, {Through: last}}})
	require.Equal(t, wire.Want{Topic: wire.WantSummary, Through: through}, *s.asked(p))
	return s, p, through
}

// D-26, and M-7.
func TestComparison(t *testing.T) {
	middle := ident.Member{0: 0x7f}
	ask := func(t *testing.T) (*subject, party) {
		s, p := newSubject(t), others[0]
		s.meet(p)
		s.hear(p, &wire.Gossip{Configuration: 7, Members: 5000, Fingerprint: wire.Fingerprint{1}})
		w := s.asked(p)
		require.Equal(t, wire.Want{Topic: wire.WantSummary, Through: ident.LastMember()}, *w)
		return s, p
	}
	t.Run("nobody in any part", func(t *testing.T) {
		s, p := ask(t)
		s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: middle}, {Through: ident.LastMember()}}})
		assert.Empty(t, sent[*wire.Want](s, p))
	})
	t.Run("few", func(t *testing.T) {
		s, p := ask(t)
		s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: middle}, {Through: ident.LastMember(), Members: 1}}})
		assert.Equal(t, wire.Want{Topic: wire.WantMembers, From: middle.Next(), Through: ident.LastMember()}, *s.asked(p))
	})
	t.Run("many", func(t *testing.T) {
		s, p, through := narrowed(t)
		s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: through, Members: claimed}}})
		assert.Equal(t, wire.Want{Topic: wire.WantMembers, Through: through}, *s.asked(p), "it does not get smaller")
		s.hear(p, &wire.Members{Through: through})
		assert.Empty(t, sent[*wire.Want](s, p))
	})
	for name, c := range map[string]struct {
		page wire.Members
		on   bool
	}{
		"more":            {wire.Members{Entries: []wire.Entry{{Certificate: certificateOf(t, p0(), 7).Raw()}}, Through: middle, More: true}, true},
		"the end":         {wire.Members{Entries: []wire.Entry{{Certificate: certificateOf(t, p0(), 7).Raw()}}, Through: ident.LastMember(), More: true}, false},
		"nobody":          {wire.Members{Through: middle, More: true}, false},
		"nothing further": {wire.Members{Entries: []wire.Entry{{Certificate: certificateOf(t, p0(), 7).Raw()}}, Through: ident.LastMember()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := ask(t)
			s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: ident.LastMember(), Members: 100}}})
			s.asked(p)
			s.hear(p, &c.page)
			if !c.on {
				assert.Empty(t, sent[*wire.Want](s, p))
				return
			}
			assert.Equal(t, middle.Next(), s.asked(p).From)
		})
	}
}

func p0() party { return others[0] }

// M-13.
func TestSummary_OutOfRange_Refused(t *testing.T) {
	s, p, _ := narrowed(t)
	s.hear(p, &wire.Summary{Parts: []wire.Part{{Through: ident.LastMember(), Members: claimed}}})
	assert.Empty(t, sent[*wire.Want](s, p))
	require.Len(t, s.Status().Faults, 1)
	assert.Equal(t, p.id, s.Status().Faults[0].Member)
}

// D-28: what is newer is asked for, what is older is not.
func TestGossip_Versions_Compared(t *testing.T) {
	for name, message := range map[string]func(configuration, revocations uint64) wire.Message{
		"GOSSIP": func(c, r uint64) wire.Message { return &wire.Gossip{Configuration: c, Revocations: r} },
		"HELLO": func(c, r uint64) wire.Message {
			return &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: incarnation, MaxFrame: wire.MaxFrame, Configuration: c, Revocations: r}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newSubject(t), others[0]
			s.meet(p)
			s.hear(p, message(8, 4)) // 3 is the floor
			var topics []wire.Topic
			for _, w := range sent[*wire.Want](s, p) {
				topics = append(topics, w.Topic)
			}
			assert.Equal(t, []wire.Topic{wire.WantConfiguration, wire.WantRevocations}, topics)
			s.hear(p, message(6, 0))
			assert.Empty(t, sent[*wire.Want](s, p))
			s.hear(p, message(7, 3))
			assert.Empty(t, sent[*wire.Want](s, p), "the same")
		})
	}
}

// M-10: what stands before a malformed update counts, what stands behind it is not
// read.
func TestUpdates_Malformed_ListEnds(t *testing.T) {
	join := func(s *subject, p party) []byte {
		raw, err := updates.Join(certificateOf(t, p, 7).Raw(), s.record(p, 1)).Encode()
		require.NoError(t, err)
		return raw
	}
	s, p := newSubject(t), others[0]
	s.meet(p)
	s.hear(p, &wire.News{Updates: [][]byte{join(s, others[1]), {0x82, 0x01, 0x40}, join(s, others[2])}})
	assert.NotNil(t, s.Addresses(others[1].id))
	assert.Nil(t, s.Addresses(others[2].id))
	require.Len(t, s.Status().Faults, 1)
}

// D-31: who is at fault too often is not listened to, until some time has passed.
func TestFaults_Many_Bounded(t *testing.T) {
	s, p := newSubject(t), others[0]
	s.meet(p)
	bad := &wire.News{Updates: [][]byte{{0x82, 0x01, 0x40}}}
	for range 30 {
		s.hear(p, bad)
	}
	assert.EqualValues(t, 20, s.Status().Faults[0].Count)
	assert.Equal(t, 10, s.rejected("ignored peer"))
	s.hear(p, &wire.Gossip{Configuration: 7, Members: 5000})
	assert.Empty(t, sent[*wire.Want](s, p), "no comparison")
	assert.Len(t, sent[*wire.Gossip](s, p), 1, "but an answer")
	s.after(11 * time.Second)
	s.hear(p, bad)
	assert.EqualValues(t, 21, s.Status().Faults[0].Count)
}

// D-27.
func TestJoined(t *testing.T) {
	s := newSubject(t)
	for _, p := range others {
		s.meet(p)
	}
	for i, p := range others {
		s.hear(p, &wire.Gossip{Configuration: 7, Members: 0})
		assert.Equal(t, min(i, 3), s.Status().Snapshots, "a sample tells nothing")
		own := sent[*wire.Gossip](s, p)[0]
		s.hear(p, &wire.Gossip{Configuration: 7, Members: own.Members, Fingerprint: own.Fingerprint, Answer: true})
		assert.Equal(t, min(i+1, 3), s.Status().Snapshots)
	}
	for _, p := range others {
		s.step(member.Disconnected{Peer: p.id})
	}
	for range 5 {
		s.after(30 * time.Second)
	}
	assert.Zero(t, s.Status().Snapshots, "it was cut off")
}

// D-20.
func TestBehind(t *testing.T) {
	s := newSubject(t)
	s.step(member.Connected{Certificate: certificateOf(t, others[0], 7)})
	assert.False(t, s.Status().Behind)
	s.step(member.Connected{Certificate: certificateOf(t, others[1], 8)})
	assert.True(t, s.Status().Behind)
}
