package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// Certificates are renewed by the daemons while the token goes round: the same
// members, on the same connections, although every certificate that was shown on
// them ends.
func TestRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := []*machine{w.join("a"), w.join("b"), w.join("c")}
	w.start(all...)
	w.circulate(all...)
	for _, m := range all {
		w.until(m.name+" is connected with all", func() bool { return len(m.Status().Peers) == 2 })
	}
	for range 3 {
		before := w.now()
		w.skip(lifetime * 3 / 4)
		for _, m := range all {
			w.until(m.name+" has renewed", func() bool { return m.Status().CertificateExpires.After(before.Add(lifetime)) })
			// Its peers hear of it before the end of the last one.
			for _, o := range all {
				w.until(o.name+" knows it", func() bool { return o.expiry(m).After(before.Add(lifetime)) })
			}
		}
		w.circulate(all...)
	}
	// All connections are older than all certificates by now, and looked at once
	// a second.
	time.Sleep(1500 * time.Millisecond)
	w.circulate(all...)
	for _, m := range all {
		assert.Zero(t, m.log.lines("disconnected", "protocol violation"), m.log.tail())
		assert.Equal(t, 3, m.log.lines("certificate renewed"))
		assert.Zero(t, m.log.lines("cannot renew certificate"), m.log.tail())
		assert.Empty(t, m.warnings())
	}

	// What is on the disk is what is in force.
	for _, m := range all {
		expires := m.Status().CertificateExpires
		m.kill()
		id, err := m.identity()
		require.NoError(t, err)
		assert.Equal(t, m.id, id.Certificate.Member())
		assert.Equal(t, expires, id.Certificate.Body().NotAfter)
		w.start(m)
	}
	w.circulate(all...)
	w.audit()
}

// While the CA is away, tokens go round, each stage of the warning is said once,
// and tries go on; when it is back, a member is renewed at once.
func TestAuthorityAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.join("a"), w.join("b")
	w.start(a, b)
	w.circulate(a, b)
	w.stop()
	expires := a.Status().CertificateExpires
	for i, left := range []time.Duration{lifetime / 4, lifetime / 15, lifetime / 100} {
		w.skip(expires.Sub(w.now()) - left)
		before := a.log.lines("cannot renew certificate")
		w.until("a tries again and fails", func() bool { return a.log.lines("cannot renew certificate") > before })
		w.until("the warning", func() bool { return a.log.lines("WARN", "the certificate expires in") == i+1 })
		warnings := a.warnings()
		require.Len(t, warnings, 1)
		assert.Contains(t, warnings[0], "the certificate expires in")
		assert.NotContains(t, warnings[0], "m0s", "it is for people")
		assert.Contains(t, warnings[0], "the last attempt to renew it failed")
		w.circulate(a, b)
	}
	tries := a.log.lines("cannot renew certificate")
	w.serve()
	for _, m := range []*machine{a, b} {
		w.until(m.name+" is renewed", func() bool { return m.Status().CertificateExpires.After(expires) })
		w.until(m.name+" has nothing to warn of", func() bool { return len(m.warnings()) == 0 })
	}
	assert.Less(t, tries, 60, "it backs off")
	w.circulate(a, b)
	w.audit()
}

// Who was down until its certificate ended does not start, and says why.
func TestCertificate_ExpiredWhileDown_Renewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.join("a"), w.join("b")
	w.start(a, b)
	w.circulate(a, b)
	require.NoError(t, b.Close(context.Background()))
	b.up = false
	w.skip(lifetime * 3 / 4)
	w.until("a has renewed", func() bool { return a.log.lines("certificate renewed") == 1 })
	w.skip(lifetime * 3 / 4)
	w.until("a has renewed", func() bool { return a.log.lines("certificate renewed") == 2 })
	err := b.open(nil)
	require.ErrorIs(t, err, node.ErrIdentity)
	require.ErrorIs(t, err, certificate.ErrExpired)
	w.agree("expired", b, a)

	// It joins again with its key, as the same member.
	was := b.id
	w.rejoin(b)
	require.Equal(t, was, b.id)
	w.start(b)
	w.circulate(a, b)
	w.agree("valid", b, a)
	w.audit()
}

// Within the group's grace a machine that was off comes back by itself: it starts, says what it does, takes part in nothing until it is
// renewed, and goes on with its journal. Past the grace it does not start.
func TestCertificate_ExpiredWithinGrace_RenewsItself(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(s *group.Settings) { s.RenewGrace = lifetime })
	a, b := w.join("a"), w.join("b")
	w.start(a, b)
	w.circulate(a, b)
	down := func(lives int) {
		t.Helper()
		require.NoError(t, b.Close(context.Background()))
		b.up = false
		for range lives {
			before := a.Status().CertificateExpires
			w.skip(lifetime * 3 / 4)
			w.until("a has renewed", func() bool { return a.Status().CertificateExpires.After(before) })
		}
	}
	down(2)
	w.stop()
	held := len(b.journal())
	require.NoError(t, b.open(nil))
	w.until("b has tried in vain", func() bool { return b.log.lines("cannot renew certificate") > 0 })
	st := b.Status()
	assert.Equal(t, explain.Expired, st.Cause)
	assert.Regexp(t, "^this member's certificate ended [0-9]+m[0-9s]* ago; renewing within the grace of 1h:", st.Sentence)
	assert.Empty(t, st.Peers)
	require.Len(t, b.warnings(), 1)
	assert.Contains(t, b.warnings()[0], "renewing within the grace of 1h; the last attempt to renew it failed")
	w.agree("expired", b, a)
	w.serve()
	w.until("b has renewed", func() bool { return b.Status().CertificateExpires.After(w.now()) })
	w.agree("valid", b, a)
	w.circulate(a, b)
	assert.Greater(t, len(b.journal()), held, "it goes on with its journal")

	down(3)
	err := b.open(nil)
	require.ErrorIs(t, err, node.ErrIdentity)
	require.ErrorIs(t, err, certificate.ErrExpired)
	w.audit()
}

// A certificate that ends while the member runs and the CA is away ends its part
// in the group, and not its daemon: it waits.
func TestCertificate_ExpiredWhileUp_Renewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.join("a"), w.join("b")
	w.start(a, b)
	w.circulate(a, b)
	b.kill()
	require.NoError(t, b.open(func(c *node.Config) { c.Authority = nil })) // nobody renews it
	w.circulate(a, b)
	w.skip(lifetime * 3 / 4)
	w.until("a has renewed", func() bool { return a.log.lines("certificate renewed") == 1 })
	w.until("b knows it", func() bool { return b.expiry(a).Equal(a.Status().CertificateExpires) })
	w.until("b warns", func() bool { return b.log.lines("the certificate expires", "without a [ca] address") == 1 })
	w.skip(lifetime / 2)
	w.until("b says that it is out", func() bool { return b.log.lines("the certificate expired at") == 1 })
	w.until("nobody talks to it", func() bool { return len(a.Status().Peers) == 0 })
	w.agree("expired", b, a)
	require.NoError(t, b.Err())

	// The operator brings a new one.
	w.rejoin(b)
	require.NoError(t, b.Reload())
	w.agree("valid", b, a)
	w.circulate(a, b)
	w.audit()
}
