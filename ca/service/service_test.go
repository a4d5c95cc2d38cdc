package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
)

func TestService_WholeLife_Answered(t *testing.T) {
	b := newBench(t)
	a := b.join("a")
	assert.Equal(t, "a", a.enrolled.Certificate.Name())
	assert.Equal(t, "demo", a.enrolled.Group.Name())
	assert.Empty(t, a.enrolled.Peers)
	assert.Zero(t, a.enrolled.Others, "it is the first")

	news, err := a.client().Sync(t.Context(), enrolment.Mine{Endpoint: a.endpoint(1, "a.example.org:4133")})
	require.NoError(t, err)
	assert.Same(t, a.enrolled.Group, news.Group)
	assert.Empty(t, news.Peers, "itself is none")

	// The second one is told of the first.
	c := b.join("c")
	require.Len(t, c.enrolled.Peers, 1)
	assert.Equal(t, uint64(1), c.enrolled.Others)
	assert.Equal(t, a.enrolled.Certificate.Raw(), c.enrolled.Peers[0].Certificate)
	_, err = certificate.ParseEndpoint(b.group(), c.enrolled.Peers[0].Endpoint, a.key.Public())
	require.NoError(t, err)

	// A certificate is renewed when it is old enough.
	same, err := a.client().Renew(t.Context())
	require.NoError(t, err)
	assert.Equal(t, a.enrolled.Certificate.Raw(), same.Certificate.Raw())
	b.clock.move(80 * 24 * time.Hour)
	b.server.upkeep()
	newer, err := a.client().Renew(t.Context())
	require.NoError(t, err, b.log.String())
	assert.Equal(t, a.id(), newer.Certificate.Member())
	assert.Greater(t, newer.Certificate.Body().Serial, same.Certificate.Body().Serial)

	// One leaves; the other one brings it to the authority.
	_, err = a.client().Sync(t.Context(), enrolment.Mine{Leaves: [][]byte{c.leave()}})
	require.NoError(t, err)
	assert.ErrorIs(t, b.ca.Eligible(c.id()), ca.ErrLeft)
	_, err = c.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrLeft)
	assert.NoError(t, c.client().Leave(t.Context(), c.leave()), "it wanted no more than that")
	require.NoError(t, a.client().Leave(t.Context(), a.leave()))
	assert.ErrorIs(t, b.ca.Eligible(a.id()), ca.ErrLeft)
}

// What other processes do with the same folder counts at once.
func TestOtherProcesses(t *testing.T) {
	b := newBench(t)
	a, c := b.join("a"), b.join("c")
	b.configure("tape")
	signed, err := b.ca.Revoke(c.id(), "stolen")
	require.NoError(t, err)

	news, err := a.client().Sync(t.Context(), enrolment.Mine{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, news.Group.Config().Version())
	assert.Equal(t, [][]byte{signed.Raw()}, news.Revocations)
	current := a.client()
	current.Group = news.Group
	news, err = current.Sync(t.Context(), enrolment.Mine{Revocations: 1})
	require.NoError(t, err)
	assert.Empty(t, news.Revocations)
	assert.Same(t, current.Group, news.Group)

	_, err = c.client().Sync(t.Context(), enrolment.Mine{})
	var revoked *enrolment.RevokedError
	require.ErrorAs(t, err, &revoked)
	assert.Equal(t, signed.Raw(), revoked.Revocation)
	_, err = c.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrRevoked)
	assert.ErrorIs(t, c.client().Leave(t.Context(), a.leave()), enrolment.ErrRevoked)
	assert.NoError(t, b.ca.Eligible(a.id()), "nobody who was revoked brings anything")
}

// Many revocations come in pages.
func TestRevocationPages(t *testing.T) {
	v := view{}
	v.Authorities, v.Configuration, v.ConfigVersion = [][]byte{{1}}, []byte{2}, 9
	v.RevocationVersion = 5 + 2*enrolment.MaxRevocations // of which the first four are forgotten
	for i := range 2*enrolment.MaxRevocations + 1 {
		v.Revocations = append(v.Revocations, []byte{byte(i >> 8), byte(i)})
	}
	var got [][]byte
	has, pages := uint64(0), 0
	for more := true; more; pages++ {
		p := v.since(9, has)
		assert.Empty(t, p.Configuration)
		got = append(got, p.Revocations...)
		has, more = max(has, 4)+uint64(len(p.Revocations)), p.More
	}
	assert.Equal(t, v.Revocations, got)
	assert.Equal(t, 3, pages)
	assert.Equal(t, v.RevocationVersion, has)
	assert.Empty(t, v.since(9, has+7).Revocations, "somebody knows more than the authority")
	assert.Equal(t, []byte{2}, v.since(8, has).Configuration)
}

// An answer that was lost, or a crash of the machine behind it, is repaired by
// asking again: the same key gets the same certificate. Another key gets none.
func TestAskingAgain(t *testing.T) {
	b := newBench(t)
	i, key := b.invite("a"), newKey(t)
	first, err := enrolment.Enrol(t.Context(), i, b.request("a", key), b.clock.Now)
	require.NoError(t, err)
	b.stop()
	b.serve()
	i.Addresses = []string{"127.0.0.1:1", b.address} // nobody is at the first
	b.clock.move(2 * time.Hour)                      // the invite has ended meanwhile
	again, err := enrolment.Enrol(t.Context(), i, b.request("a", key), b.clock.Now)
	require.NoError(t, err)
	assert.Equal(t, first.Certificate.Raw(), again.Certificate.Raw())
	_, err = enrolment.Enrol(t.Context(), i, b.request("a", newKey(t)), b.clock.Now)
	assert.ErrorIs(t, err, enrolment.ErrRefused)
	assert.Contains(t, b.log.String(), "was used by member "+first.Certificate.Member().String())
}

// Of members that cannot be named to newcomers none is.
func TestPeers_Request_EligibleNamed(t *testing.T) {
	b := newBench(t)
	sync := func(m *member, raw []byte) {
		_, err := m.client().Sync(t.Context(), enrolment.Mine{Endpoint: raw})
		require.NoError(t, err)
	}
	good, hidden, dead, moved := b.join("good"), b.join("hidden"), b.join("dead"), b.join("moved")
	sync(good, good.endpoint(7, "good:1"))
	sync(good, good.endpoint(6, "old:1"))
	sync(hidden, hidden.endpoint(1))
	sync(dead, dead.endpoint(1, "dead:1"))
	sync(moved, moved.endpoint(1, "moved:1"))
	sync(moved, moved.endpoint(2))
	_, err := b.ca.Revoke(dead.id(), "")
	require.NoError(t, err)

	for i := range 2 {
		news := b.join(fmt.Sprintf("new-%d", i)).enrolled
		require.Len(t, news.Peers, 1)
		e, err := certificate.ParseEndpoint(b.group(), news.Peers[0].Endpoint, good.key.Public())
		require.NoError(t, err)
		assert.Equal(t, []string{"good:1"}, e.Body().Addresses)
		b.stop()
		b.serve() // it remembers
	}

	// Nobody can speak for another.
	_, err = good.client().Sync(t.Context(), enrolment.Mine{Endpoint: hidden.endpoint(9, "evil:1")})
	assert.ErrorIs(t, err, enrolment.ErrRefused)

	// Without the file, newcomers are told at least that there are others.
	b.stop()
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, seenFile), []byte("torn"), 0o600))
	b.serve()
	assert.Contains(t, b.log.String(), "earlier members are unknown")
	last := b.join("last").enrolled
	assert.Empty(t, last.Peers)
	assert.EqualValues(t, 5, last.Others)
}

func TestSeen_ManyMembers_Bounded(t *testing.T) {
	b := newBench(t)
	m := b.join("a")
	s := b.server.seen
	for i := range maxSeen + 10 {
		id := m.id()
		id[0], id[1] = byte(i>>8), byte(i)
		s.members[id] = &observation{at: b.clock.Now().Add(time.Duration(i))}
		if len(s.members) > maxSeen {
			s.forgetOldest()
		}
	}
	assert.Len(t, s.members, maxSeen)
	clear(s.members)
	for range enrolment.MaxPeers + 5 {
		one := b.join(time.Now().Format("x150405.000000000"))
		require.NoError(t, s.note(b.group(), one.enrolled.Certificate, one.endpoint(1, "a:1"), b.clock.Now()))
		b.clock.move(time.Minute)
	}
	assert.Len(t, s.draw(m.id(), b.clock.Now(), view{authority: b.ca}), enrolment.MaxPeers)
}

// The TLS key lives for two days, and is renewed after one.
func TestServiceCertificate_Expires_Renewed(t *testing.T) {
	b := newBench(t)
	first := b.server.shown.Load()
	b.clock.move(enrolment.ServiceLifetime/2 - time.Second)
	b.server.upkeep()
	assert.Same(t, first, b.server.shown.Load())
	b.clock.move(2 * time.Second)
	b.server.upkeep()
	assert.NotSame(t, first, b.server.shown.Load())
	last := b.server.shown.Load()
	b.clock.move(-12 * time.Hour) // somebody puts the clock right
	b.server.upkeep()
	assert.NotSame(t, last, b.server.shown.Load(), "it would begin in the future")
	b.join("a")
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	_, err := ca.Create(dir, ca.CreateOptions{Name: "demo"})
	require.NoError(t, err)
	_, err = New(Config{})
	assert.ErrorIs(t, err, ErrConfig)
	_, err = New(Config{Listener: newMemory(), Open: func() (*ca.Authority, error) { return ca.Open(dir, ca.Options{}) }})
	assert.ErrorIs(t, err, ErrNoConfiguration)
	_, err = New(Config{Listener: newMemory(), Open: func() (*ca.Authority, error) { return ca.Open(t.TempDir(), ca.Options{}) }})
	assert.ErrorIs(t, err, ca.ErrNoAuthority)
}

// TestServer_ShutdownWhileServeBegins_Ends: the race detector sees whether the two agree.
func TestServer_ShutdownWhileServeBegins_Ends(t *testing.T) {
	for range 100 {
		b := newBench(t)
		b.stop()
	}
}

// Shutdown ends what has begun, and can be asked for twice.
func TestShutdown(t *testing.T) {
	b := newBench(t)
	b.join("a")
	require.NoError(t, b.server.Shutdown(context.Background()))
	require.NoError(t, b.server.Shutdown(context.Background()))
	i := b.invite("late")
	_, err := enrolment.Enrol(t.Context(), i, b.request("late", newKey(t)), b.clock.Now)
	assert.ErrorIs(t, err, enrolment.ErrUnreachable)
}

// Who has only a certificate of a retired key is named to nobody: newcomers could
// not verify it.
func TestPeers_RetiredKey_NotNamed(t *testing.T) {
	b := newBench(t)
	a := b.join("a")
	_, err := a.client().Sync(t.Context(), enrolment.Mine{Endpoint: a.endpoint(1, "a:1")})
	require.NoError(t, err)
	require.NoError(t, b.ca.IntroduceKey(0))
	require.NoError(t, b.ca.SwitchKey())
	b.server.upkeep()
	assert.Len(t, b.join("c").enrolled.Peers, 1, "the old key is still in force")
	require.NoError(t, b.ca.RetireKey(true))
	b.server.upkeep()
	d := b.join("d").enrolled
	assert.Empty(t, d.Peers)
	assert.EqualValues(t, 2, d.Others)
}
