package driver_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/internal/whole"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// TestSessions_LossyPath_OneAfterTheOther: packets between members and the gate get lost, late and out of order. A token goes round, each member has its session in
// time, and no connection breaks.
func TestSessions_LossyPath_OneAfterTheOther(t *testing.T) {
	const members = 3
	for _, loss := range []float64{0.05, 0.2}[:whole.Part(1, 2)] {
		t.Run(fmt.Sprintf("%.0f%%", 100*loss), func(t *testing.T) {
			w := gatetest.New(t, members, func(r *group.Resource) { r.Gate.Settle, r.MaxHold = time.Millisecond, time.Minute })
			s := open(w, nil)
			path, err := relay.New(netip.MustParseAddrPort(s.Addr()), relay.Path{Loss: loss, Delay: 10 * time.Millisecond, Jitter: 10 * time.Millisecond}, 1)
			require.NoError(t, err)
			t.Cleanup(path.Close)
			var conns []*client.Conn
			for _, p := range w.Members {
				var c *client.Conn
				await.Until(t, "the handshake succeeds", func() bool {
					c, err = s.tryAs(p, func(c *client.Config) { c.Address = path.Address() })
					return err == nil
				})
				t.Cleanup(func() { c.Close() })
				conns = append(conns, c)
			}
			held := w.Mint(0)
			longest, number := time.Duration(0), uint64(0)
			sessions := whole.Part(20, 300)
			for n := range sessions {
				who := n % members
				began := time.Now()
				session := w.SignIn(conns[who], held, time.Minute)
				answer := gatetest.Opened(t, session)
				longest = max(longest, time.Since(began))
				require.Greater(t, answer.Session, number)
				number = answer.Session
				echoes(t, connect(t, session), "x")
				closed, err := session.SignOut(context.Background())
				require.NoError(t, err)
				require.Equal(t, core.ClosedAnswer{Session: number, Reason: core.BySignOut, Confirmed: true}, closed)
				held = w.Passed(held, who, (who+1)%members)
			}
			for _, c := range conns {
				assert.NoError(t, c.Err())
			}
			t.Logf("%d sessions, the longest from SIGN-IN to OPEN %v", sessions, longest.Round(time.Millisecond))
		})
	}
}
