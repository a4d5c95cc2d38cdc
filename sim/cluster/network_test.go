package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/wire"
)

// TestSilence_EachMember_Known: only an end that has waited in vain takes the other one for
// silent. A greeting that is lost ends the connection, and shows nothing (D-48).
func TestSilence_EachMember_Known(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, end := range []struct {
		what    string
		end     func(*cluster, *conn)
		suspect bool
	}{
		{"closed", func(c *cluster, k *conn) { c.breakOff(k, orderly) }, false},
		{"nothing came", func(c *cluster, k *conn) { c.breakOff(k, silent) }, true},
		{"greeting lost", func(c *cluster, k *conn) {
			c.lose(&letter{from: k.ends[0], to: k.ends[1], kind: wire.TypeHello, conn: k})
		}, false},
		{"another message lost", func(c *cluster, k *conn) {
			c.lose(&letter{from: k.ends[0], to: k.ends[1], kind: wire.TypeOffer, conn: k})
			c.breakOff(k, orderly)
		}, false},
	} {
		t.Run(end.what, func(t *testing.T) {
			c := calmly(t, 1, make([]memberSetting, 3)...)
			c.runFor(30 * time.Second)
			require.NotEmpty(t, c.nodes[0].links())
			k := c.nodes[0].links()[0]
			end.end(c, k)
			suspects := 0
			for range c.net.notice / time.Millisecond {
				c.runFor(time.Millisecond)
				for _, n := range c.nodes {
					suspects = max(suspects, n.member.Status().Suspects)
				}
			}
			assert.Equal(t, end.suspect, suspects > 0)
			for _, n := range k.ends {
				_, peer := k.other(n)
				assert.NotSame(t, k, n.conns[peer.id], "it is over")
			}
		})
	}
}
