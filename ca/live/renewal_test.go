package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
				w.until(o.name+" knows it", func() bool {
					for _, i := range o.Members() {
						if i.Member == m.id {
							return i.Expires.After(before.Add(lifetime))
						}
					}
					return false
				})
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
		assert.Zero(t, m.log.lines("WARN", "certificate"), m.log.tail())
		assert.Empty(t, m.Status().Warnings)
	}

	// What is on the disk is what is in force.
	for _, m := range all {
		expires := m.Status().CertificateExpires
		m.kill()
		id, err := m.identity()
		require.NoError(t, err)
		assert.Equal(t, m.id, id.Certificate.Member())
		assert.Equal(t, expires, id.Certificate.Claims().NotAfter)
		w.start(m)
	}
	w.circulate(all...)
	w.audit()
}
