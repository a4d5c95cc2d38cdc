package member_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
)

// babel draws what peers say about members: true, old, forged or senseless.
type babel struct {
	t      *rapid.T
	a      *authority
	people []*someone // the first is the member that listens
	newer  []byte     // a configuration
	at     uint64     // of the last endpoint record of the member that listens
	random *rand.Rand
	wants  []effect.Send // what the member has asked of late
}

func (g *babel) n(least, most int) int { return least + g.random.IntN(most-least+1) }

func (g *babel) one() *someone { return g.people[g.n(0, len(g.people)-1)] }

// peer is anybody but the member that listens.
func (g *babel) peer() *someone { return g.people[g.n(1, len(g.people)-1)] }

func (g *babel) maybe(of int) bool { return g.n(1, of) == 1 }

// sequence is the number of an endpoint record of somebody.
func (g *babel) sequence(s *someone) uint64 {
	if s == g.people[0] {
		return g.at + uint64(g.n(0, 5)/5)
	}
	return uint64(g.n(1, 3))
}

// bent is what was signed, or something like that.
func (g *babel) bent(raw []byte) []byte {
	if !g.maybe(100) {
		return raw
	}
	raw = slices.Clone(raw)
	raw[g.n(0, len(raw)-1)] ^= 1
	return raw
}

func (g *babel) endpoint(s *someone) []byte {
	e := certificate.Endpoint{Member: s.id(), Sequence: g.sequence(s), Mode: certificate.DialsOut}
	if g.maybe(2) {
		e.Mode, e.Addresses = certificate.Reachable, []string{"a.example.org:1"}
	} else if to := g.one(); to != s {
		e.Attached = []ident.Member{to.id()}
	}
	signed, err := e.Sign(s.group, s.key)
	require.NoError(g.t, err)
	return g.bent(signed.Raw())
}

func (g *babel) failure(of *someone) []byte {
	w := g.one()
	f, err := certificate.Failure{Witness: w.id(), Subject: of.id(), Sequence: g.sequence(of), Time: uint64(g.n(0, 3))}.Sign(w.group, w.key)
	if err != nil { // nobody can be a witness of itself
		return []byte{0x80}
	}
	return g.bent(f.Raw())
}

func (g *babel) leave(s *someone) []byte {
	l, err := certificate.Leave{Member: s.id(), Time: uint64(g.n(0, 3))}.Sign(s.group, s.key)
	require.NoError(g.t, err)
	return g.bent(l.Raw())
}

// mortal is one of those who may leave or be revoked, so that some are left.
func (g *babel) mortal() *someone { return g.people[g.n(len(g.people)-3, len(g.people)-1)] }

func (g *babel) revocation() []byte {
	return g.bent(g.a.revoke(uint64(g.n(1, 4)), g.mortal()))
}

func (g *babel) update() []byte {
	s := g.one()
	var u update.Update
	switch g.n(1, 4) {
	case 1:
		u = update.Join(g.bent(s.certificate.Raw()), g.endpoint(s))
	case 2:
		s = g.mortal()
		u = update.Leave(g.leave(s), s.certificate.Raw())
	case 3:
		u = update.Failure(g.failure(s), g.one().certificate.Raw())
	default:
		u = update.Revocation(g.revocation())
	}
	raw, err := u.Encode()
	require.NoError(g.t, err)
	return g.bent(raw)
}

func many[T any](g *babel, most int, one func() T) (list []T) {
	for range g.n(1, most) {
		list = append(list, one())
	}
	return list
}

func (g *babel) id() (m ident.Member) {
	switch g.n(1, 4) {
	case 1:
		return ident.LastMember()
	case 2:
		return m
	case 3:
		m[0] = byte(g.n(0, 255))
		return m
	}
	return g.one().id()
}

func (g *babel) entry() wire.Entry {
	s := g.one()
	e := wire.Entry{Certificate: g.bent(s.certificate.Raw())}
	if g.maybe(2) {
		e.Endpoint = g.endpoint(s)
	}
	if g.maybe(8) {
		e.Leave = g.leave(g.mortal())
	}
	if g.maybe(3) {
		e.Failures = many(g, 3, func() []byte { return g.failure(s) })
	}
	return e
}

func (g *babel) gossip() *wire.Gossip {
	return &wire.Gossip{
		Configuration: uint64(g.n(1, 3)), Revocations: uint64(g.n(0, 5)),
		Members: uint64(g.n(0, 3)) * 500, Fingerprint: wire.Fingerprint{byte(g.n(0, 2))}, Answer: g.maybe(2),
	}
}

func (g *babel) hello(s *someone) *wire.Hello {
	h := s.hello()
	if g.maybe(2) {
		h.Endpoint = g.endpoint(g.one())
	}
	return h
}

// shapes are those of all messages in the CDDL.
var shapes = form.Messages()

func (g *babel) message(from *someone) wire.Message {
	if g.maybe(50) { // any, about anything
		m, err := wire.Decode(shapes[g.n(0, len(shapes)-1)].Seeded(g.random.Uint32()))
		require.NoError(g.t, err)
		return m
	}
	switch g.n(1, 10) {
	case 1:
		return g.hello(from)
	case 2:
		return g.gossip()
	case 3:
		return &wire.Want{Topic: wire.Topic(g.n(1, 4)), From: g.id(), Through: g.id(), Version: uint64(g.n(0, 5))}
	case 4:
		ids := many(g, 4, g.id)
		slices.SortFunc(ids, ident.Member.Compare)
		s := &wire.Summary{From: ident.Member{}}
		for _, id := range slices.Compact(ids) {
			if !id.IsZero() {
				s.Parts = append(s.Parts, wire.Part{Through: id, Members: uint64(g.n(0, 300)), Fingerprint: wire.Fingerprint{1}})
			}
		}
		return s
	case 5:
		return &wire.Members{Entries: many(g, 4, g.entry), Through: g.id(), More: g.maybe(2)}
	case 6:
		s := g.one()
		return &wire.Probe{Subject: s.id(), Sequence: g.sequence(s)}
	case 7:
		return &wire.Configuration{Configuration: g.bent(g.newer)}
	case 8:
		return &wire.Revocations{Revocations: many(g, 2, g.revocation), More: g.maybe(2)}
	case 9:
		title := from.mint(uint64(g.n(1, 3)))
		return &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers(), Certificates: [][]byte{g.bent(g.one().certificate.Raw())}}
	}
	return &wire.News{Updates: many(g, 6, g.update)}
}

// answer answers a question of the member.
func (g *babel) answer() member.Input {
	asked := g.wants[len(g.wants)-1]
	g.wants = g.wants[:len(g.wants)-1]
	want := asked.Message.(*wire.Want)
	var answer wire.Message = &wire.Members{Entries: many(g, 4, g.entry), Through: want.Through, More: g.maybe(2)}
	switch {
	case want.Topic == wire.WantRevocations:
		answer = &wire.Revocations{Revocations: many(g, 2, g.revocation), More: g.maybe(2)}
	case want.Topic == wire.WantConfiguration:
		answer = &wire.Configuration{Configuration: g.bent(g.newer)}
	case want.Topic == wire.WantSummary:
		half := want.From
		half[0] |= 0x40
		parts := []wire.Part{{Through: want.Through, Members: uint64(g.n(0, 300)), Fingerprint: wire.Fingerprint{1}}}
		if half.Compare(want.From) > 0 && half.Compare(want.Through) < 0 {
			parts = append([]wire.Part{{Through: half, Members: uint64(g.n(0, 300))}}, parts...)
		}
		answer = &wire.Summary{From: want.From, Parts: parts}
	}
	body, err := wire.Encode(answer)
	require.NoError(g.t, err)
	return member.Received{From: asked.To, Body: body}
}

func (g *babel) input() member.Input {
	s := g.peer()
	switch g.n(1, 30) {
	case 24, 25:
		return member.Connected{Certificate: s.certificate}
	case 26:
		return member.Unreachable{Peer: s.id(), Silent: g.maybe(2), Refused: g.maybe(3)}
	case 27:
		return member.Disconnected{Peer: s.id()}
	case 28:
		return member.Announce{}
	case 29:
		if g.maybe(3) {
			return member.Late{By: member.LateFrom * time.Duration(g.n(0, 10))}
		}
		return member.Announce{Addresses: []string{"self.example.org:1"}}
	case 30:
		if g.maybe(10) {
			return member.Shutdown{}
		}
		return member.Learn{Certificates: [][]byte{s.certificate.Raw()}, Endpoints: [][]byte{g.endpoint(s)}}
	}
	if g.maybe(2) && len(g.wants) > 0 {
		return g.answer()
	}
	s = g.people[g.n(1, 3)]
	body, err := wire.Encode(g.message(s))
	if err != nil {
		return member.Tick{} // what cannot be said
	}
	return member.Received{From: s.id(), Body: body}
}

// after is how long nothing happens, and how far the wall clock jumps meanwhile.
func (g *babel) after(now clock.Reading) clock.Reading {
	pauses := []time.Duration{0, time.Millisecond, time.Second, 5 * time.Second, time.Minute, 2 * time.Hour}
	d := pauses[g.n(0, len(pauses)-1)]
	now.Boot, now.Wall = now.Boot.Add(d), now.Wall.Add(d)
	if g.maybe(20) {
		now.Wall = now.Wall.Add(time.Duration(g.n(-3, 3)) * time.Hour)
	}
	return now
}

// note keeps what the member asks.
func (g *babel) note(effects []effect.Effect) {
	for _, e := range effects {
		if s, ok := e.(effect.Send); ok {
			if _, ok := s.Message.(*wire.Want); ok {
				g.wants = append(g.wants, s)
			}
		}
	}
}

// written is all that a step wants done, for comparison.
func written(t require.TestingT, list []effect.Effect) (lines []string) {
	for _, e := range list {
		switch e := e.(type) {
		case effect.Send:
			body, err := wire.Encode(e.Message)
			require.NoError(t, err, "%T", e.Message)
			require.LessOrEqual(t, len(body), wire.MaxFrame)
			lines = append(lines, fmt.Sprintf("send %v %x", e.To, body))
		case effect.Persist:
			body, err := journal.Encode(e.At, e.Record)
			require.NoError(t, err)
			lines = append(lines, fmt.Sprintf("persist %x %v", body, e.Sync))
		default:
			lines = append(lines, fmt.Sprintf("%T %+v", e, e))
		}
	}
	return lines
}

// settles ticks the member whenever it wants, and fails when that does not get
// it past a time.
func settles(t *rapid.T, m *member.Member, now clock.Reading) {
	for range 100 {
		next := m.NextDeadline()
		if next > now.Boot {
			return
		}
		m.Step(now, member.Tick{})
	}
	require.Fail(t, "the member wants to be called again and again")
}

// Whatever peers say, a member goes on, does the same for the same, does a bounded
// amount for each input, waits until something is due, and can be rebuilt from its
// journal and from a checkpoint.
func TestPropertyBabel(t *testing.T) {
	a := newAuthority(t)
	people := make([]*someone, 8)
	for i := range people {
		people[i] = a.issue(byte(i+1), 48*time.Hour)
	}
	c, err := settings(2, quick).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		g := &babel{t: t, a: a, people: people, newer: c.Raw(), random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
		cfg := member.Config{
			Group: a.group, Certificate: people[0].certificate, Key: people[0].key, Durable: true, Machine: "here",
			Boot: "boot", Found: true, Sample: 4 * g.n(0, 1), Seed: [32]byte{1},
		}
		now := clock.Reading{Boot: clock.Instant(time.Hour), Wall: began}
		var past []journal.Stamped
		one, effects, err := member.New(cfg, now)
		require.NoError(t, err)
		past = stamped(past, effects)
		other, _, err := member.New(cfg, now)
		require.NoError(t, err)
		both := func(in member.Input) {
			effects := one.Step(now, in)
			require.Equal(t, written(t, effects), written(t, other.Step(now, in)))
			require.Less(t, len(effects), 600)
			past = stamped(past, effects)
			g.note(effects)
		}
		for _, s := range people[1:4] {
			both(member.Connected{Certificate: s.certificate})
			body, err := wire.Encode(s.hello())
			require.NoError(t, err)
			both(member.Received{From: s.id(), Body: body})
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = g.after(now)
			if raw, ok := one.Endpoint(one.ID()); ok {
				if e, err := certificate.ParseEndpoint(a.group.ID(), raw, people[0].key.Public()); err == nil {
					g.at = e.Body().Sequence
				}
			}
			both(g.input())
		}
		settles(t, one, now)
		_, _, err = member.Restore(cfg, past, now)
		require.NoError(t, err)
		records := make([]journal.Stamped, 0)
		for _, r := range other.Checkpoint() {
			records = append(records, journal.Stamped{At: now.Micros(), Record: r})
		}
		again, _, err := member.Restore(cfg, records, now)
		require.NoError(t, err)
		for k := range other.Members() {
			if id := k.Certificate.Member(); errors.Is(k.Eligible, directory.ErrLeft) || errors.Is(k.Eligible, directory.ErrRevoked) {
				require.Equal(t, k.Eligible, again.Eligible(id), "who is dead stays so over a restart")
			}
		}
	})
}

// stamped adds what a step persists to a journal.
func stamped(past []journal.Stamped, effects []effect.Effect) []journal.Stamped {
	for _, e := range effects {
		if p, ok := e.(effect.Persist); ok {
			past = append(past, journal.Stamped{At: p.At, Record: p.Record})
		}
	}
	return past
}
