package live_test

import (
	"context"
	"iter"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// thief is a member with a driver of its own: it says what the test tells it.
type thief struct {
	*transport.Transport
	*machine
	messages chan wire.Message
}

func (w *world) steal(m *machine) *thief {
	w.Helper()
	id, err := m.identity()
	require.NoError(w, err)
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(w, err)
	s := &thief{machine: m, messages: make(chan wire.Message, 4096)}
	s.Transport, err = transport.Open(transport.Config{
		Conn: conn, Group: id.Group.ID(), Authorities: id.Group, Certificate: id.Certificate, Key: id.Key, Handler: s, Now: w.now,
	})
	require.NoError(w, err)
	w.Cleanup(func() { s.Transport.Close() })
	return s
}

func (s *thief) Connected(certificate.Certificate) {}
func (s *thief) Disconnected(ident.Member, error)  {}
func (s *thief) Unreachable(ident.Member, error)   {}
func (s *thief) Frames(_ ident.Member, f iter.Seq[[]byte]) {
	for body := range f {
		if m, err := wire.Decode(body); err == nil {
			select {
			case s.messages <- m:
			default: // it does not listen
			}
		}
	}
}

func (s *thief) say(to *machine, m wire.Message) {
	s.w.Helper()
	body, err := wire.Encode(m)
	require.NoError(s.w, err)
	s.Transport.Send(to.id, transport.Custody, body)
}

// gives gives a token that the thief has made to a member.
func (s *thief) gives(title token.Title, to *machine) {
	s.w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.DialAddress(ctx, to.listen)
	require.NoError(s.w, err)
	s.say(to, &wire.Hello{
		Versions: [2]uint64{1, 1}, Incarnation: ident.Incarnation{1}, MaxFrame: wire.MaxFrame, Configuration: 1,
		Time: uint64(s.w.now().UnixMilli()),
	})
	s.say(to, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := hears[*wire.Accept](s)
	signed, err := title.Next(to.id, accept.Reservation()).Sign(s.w.ca.Group(), s.key)
	require.NoError(s.w, err)
	s.say(to, &wire.Transfer{Transfer: signed.Raw(), Genesis: title.Genesis.Raw()})
	hears[*wire.Receipt](s)
}

func hears[M wire.Message](s *thief) M {
	s.w.Helper()
	var want M
	for {
		if m, ok := await.Next(s.w, want.Type().String(), s.messages).(M); ok {
			return m
		}
	}
}

// A member signs two transfers of one hop, to two honest members, while the CA
// is away. When the titles meet, the proof is written; it reaches the CA when
// that is back, also after a restart, and it is enough to revoke the thief.
func TestEvidence_Found_ReachesTheAuthority(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many = true // a forked token runs two operations at once: that is the damage
	a, b, bad := w.join("a"), w.join("b"), w.join("bad")
	quiet := func(c *node.Config) { c.Found = false }
	require.NoError(t, a.open(quiet))
	b.peers = []string{a.listen}
	require.NoError(t, b.open(quiet))
	w.stop()

	s := w.steal(bad)
	genesis, err := token.GenesisBody{
		Resource: resource, Generator: bad.id, Incarnation: ident.Incarnation{1}, Time: uint64(w.now().UnixMilli()),
	}.Sign(w.ca.Group(), bad.key)
	require.NoError(t, err)
	s.gives(token.Title{Genesis: genesis}, a)
	s.gives(token.Title{Genesis: genesis}, b)
	w.until("the titles meet", func() bool { return a.Status().Evidence.Unsent+b.Status().Evidence.Unsent > 0 })
	w.circulate(a, b)

	for _, m := range []*machine{a, b} {
		m.kill()
	}
	l, err := w.ca.List()
	require.NoError(t, err)
	assert.Empty(t, l.Evidence)
	w.serve()
	require.NoError(t, a.open(quiet))
	require.NoError(t, b.open(quiet))
	w.until("the evidence is at the CA", func() bool {
		l, err = w.ca.List()
		require.NoError(t, err)
		return len(l.Evidence) > 0
	})
	assert.Equal(t, bad.id, l.Evidence[0].Accused)
	assert.Equal(t, evidence.Fork, l.Evidence[0].Kind)
	w.until("nothing is left to bring", func() bool { return a.Status().Evidence.Unsent+b.Status().Evidence.Unsent == 0 })

	text, err := os.ReadFile(filepath.Join(w.dir, l.Evidence[0].File))
	require.NoError(t, err)
	e, err := evidence.ParseText(text)
	require.NoError(t, err)
	raw, err := e.Encode()
	require.NoError(t, err)
	_, _, err = w.ca.RevokeBy(raw)
	require.NoError(t, err)
	w.agree("revoked", bad, a, b)
}
