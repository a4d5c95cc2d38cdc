package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"

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
// time, and connections break for no loss of single packets: fewer than there are members, and then the session is begun anew.
func TestSessions_LossyPath_OneAfterTheOther(t *testing.T) {
	const members = 3
	for _, loss := range []float64{0.05, 0.2}[:whole.Part(1, 2)] {
		t.Run(fmt.Sprintf("%.0f%%", 100*loss), func(t *testing.T) {
			w := newWorld(t, members, func(r *group.Resource) { r.Gate.Settle, r.MaxHold = time.Millisecond, time.Minute })
			s := open(w, nil)
			path, err := relay.New(netip.MustParseAddrPort(s.Addr()), relay.Path{Loss: loss, Delay: 10 * time.Millisecond, Jitter: 10 * time.Millisecond}, 1)
			require.NoError(t, err)
			t.Cleanup(path.Close)
			dial := func(who int) (c *client.Conn) {
				await.Until(t, "the handshake succeeds", func() bool {
					c, err = s.tryAs(w.Members[who], func(c *client.Config) { c.Address = path.Address() })
					return err == nil
				})
				t.Cleanup(func() { c.Close() })
				return c
			}
			var conns []*client.Conn
			for who := range members {
				conns = append(conns, dial(who))
			}
			held := w.Mint(0)
			longest, number, broken := time.Duration(0), uint64(0), 0
			sessions := whole.Part(20, 300)
			for n := 0; n < sessions; {
				who := n % members
				took, answer, err := turn(t, w, conns[who], held)
				if conns[who].Err() != nil { // after silence of 4 s, which a machine that stands still makes, too
					broken++
					require.Less(t, broken, members, "%v", conns[who].Err())
					conns[who] = dial(who)
					continue
				}
				require.NoError(t, err)
				longest = max(longest, took)
				require.Greater(t, answer.Session, number)
				number = answer.Session
				held = w.Passed(held, who, (who+1)%members)
				n++
			}
			t.Logf("%d sessions, %d connections broken, the longest from SIGN-IN to OPEN %v", sessions, broken, longest.Round(time.Millisecond))
		})
	}
}

// turn is one session: its member says something to the target, hears it, and signs out.
func turn(t *testing.T, w *gatetest.World, c *client.Conn, held gatetest.Custody) (took time.Duration, open core.OpenAnswer, err error) {
	t.Helper()
	began := time.Now()
	session, err := c.SignIn(held.Title, held.Before, w.Certificates, time.Minute)
	if err != nil {
		return 0, open, err
	}
	for opened := false; !opened; {
		a := await.Next(t, "an answer", session.Answers())
		if a.IsZero() {
			return 0, open, errors.New("the session has ended")
		}
		open, opened = a.Body().Answer.(core.OpenAnswer)
	}
	took = time.Since(began)
	stream, err := session.Connect(context.Background())
	if err != nil {
		return 0, open, err
	}
	if _, err := stream.Write([]byte("x")); err != nil {
		return 0, open, err
	}
	if _, err := io.ReadFull(stream, make([]byte, 1)); err != nil {
		return 0, open, err
	}
	closed, err := session.SignOut(context.Background())
	if want := (core.ClosedAnswer{Session: open.Session, Reason: core.BySignOut, Confirmed: true}); err == nil && closed != want {
		err = fmt.Errorf("it says %v", closed)
	}
	return took, open, err
}
