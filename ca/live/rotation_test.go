package live_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
)

// know waits until a machine has a configuration of the CA's present version.
func (w *world) know(machines ...*machine) {
	w.Helper()
	version := w.ca.Config().Version()
	for _, m := range machines {
		w.until(m.name+" has the configuration", func() bool { return m.Status().ConfigurationVersion == version })
	}
}

// bring carries the CA's group file to one machine, as an operator does who
// does not want to wait.
func (w *world) bring(m *machine) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, ca.GroupFile))
	m.write("group.crt", text, err)
	require.NoError(w, m.Reload())
}

// showEachOther waits until all know the certificates that the others have now: who
// does not when a key is retired ends the connection, and dials anew.
func (w *world) showEachOther(machines ...*machine) {
	w.Helper()
	for _, of := range machines {
		id, err := of.identity()
		require.NoError(w, err)
		for _, m := range machines {
			w.until(m.name+" knows the certificate of "+of.name, func() bool {
				return slices.ContainsFunc(m.Members(), func(i api.MemberInfo) bool {
					return i.Member == of.id && i.Expires.Equal(id.Certificate.Body().NotAfter)
				})
			})
		}
	}
}

// renewedBySigner waits until machines have certificates of the CA key that signs.
func (w *world) renewedBySigner(machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		w.until(m.name+" has a certificate of the new key", func() bool {
			id, err := m.identity()
			return err == nil && id.Certificate.Authority() == w.ca.Config().Signer()
		})
	}
}

// The CA key is replaced while the token goes round. One member is down for the
// first two steps and comes back with the old group file; one hears of the CA
// through others only. Nobody is ever refused, and nobody has to do anything.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, away := w.join("a"), w.join("b"), w.join("away")
	w.start(a, b, away)
	w.circulate(a, b, away)
	require.NoError(t, away.Close(context.Background()))
	away.up = false

	require.NoError(t, w.ca.IntroduceKey(0))
	w.bring(a)
	w.know(a, b)
	w.circulate(a, b)
	require.NoError(t, w.ca.SwitchKey())
	w.bring(a)
	w.know(a, b)
	_, err := a.Renew(context.Background())
	require.NoError(t, err)
	w.circulate(a, b)

	id, err := away.identity()
	require.NoError(t, err)
	assert.EqualValues(t, 1, id.Group.Config().Version(), "it has missed all of it")
	require.NoError(t, away.open(func(c *node.Config) { c.Authority = nil }))
	w.know(away)
	w.circulate(a, b, away)
	require.ErrorIs(t, w.ca.RetireKey(false), ca.ErrPending, "it has an old certificate only")
	away.kill()
	w.start(away)
	w.circulate(a, b, away)
	_, err = away.Renew(context.Background())
	require.NoError(t, err)
	w.renewedBySigner(away, a, b) // b within some seconds, by itself
	w.showEachOther(away, a, b)

	require.NoError(t, w.ca.RetireKey(false))
	w.bring(b)
	w.know(a, b, away)
	w.circulate(a, b, away)
	for _, m := range w.machines {
		assert.Zero(t, m.log.lines("member of another group"), m.log.tail())
		assert.Zero(t, m.log.lines("refused the handshake"), m.log.tail())
		assert.Zero(t, m.log.lines("disconnected", "protocol violation"), m.log.tail())
		m.kill()
		w.start(m)
	}
	w.circulate(a, b, away)
	w.audit()
}

// A key is retired by force. A member that was down meanwhile comes back with
// nothing but the old key's files, which all others refuse, and one starts with
// the new group file and the old certificate while the CA is away. Both get new
// certificates by themselves.
func TestForcedRetirement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, away := w.join("a"), w.join("b"), w.join("away")
	w.start(a, b, away)
	w.circulate(a, b, away)
	require.NoError(t, away.Close(context.Background()))
	away.up = false
	require.NoError(t, w.ca.IntroduceKey(0))
	require.NoError(t, w.ca.SwitchKey())
	require.NoError(t, w.ca.RetireKey(true))
	w.stop()
	w.bring(b)
	w.know(a, b)
	for _, m := range []*machine{a, b} {
		var warnings []string
		w.until(m.name+" warns", func() bool { warnings = m.warnings(); return len(warnings) == 1 })
		assert.Contains(t, warnings[0], "has been retired")
	}
	w.until("the daemon has written its group file", func() bool {
		id, err := a.identity()
		return err == nil && id.Group.Config().Version() == w.ca.Config().Version()
	})
	for _, m := range []*machine{a, b} {
		m.kill()
		w.start(m)
	}
	w.serve()
	w.renewedBySigner(a, b)
	w.circulate(a, b)
	w.start(away)
	w.know(away)
	w.renewedBySigner(away)
	w.circulate(a, b, away)

	// The next one begins with a renewal, before anybody has heard of it.
	w.stop()
	require.NoError(t, w.ca.IntroduceKey(0))
	require.NoError(t, w.ca.SwitchKey())
	w.serve()
	got, err := a.Renew(context.Background())
	require.NoError(t, err)
	require.True(t, got.Newer)
	a.kill()
	w.start(a) // its group file knows the key
	w.circulate(a, b, away)
	w.audit()
}
