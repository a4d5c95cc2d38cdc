package main

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/internal/await"
)

// restarts is how often TestNode_KilledAndStartedAtOnce_ComesUp kills a daemon.
var restarts = flag.Int("restarts", 5, "how often the daemon is killed and started again")

// TestNode_KilledAndStartedAtOnce_ComesUp is `kill -9` and at once `wander node`:
// the killed process may still be there, and its lock and its sockets with it.
// With -restarts 100 it is done more often.
func TestNode_KilledAndStartedAtOnce_ComesUp(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	m := c.join("a")
	for range *restarts {
		c.answers(m)
		require.NoError(t, m.process.Process.Kill())
		next := &crewMember{name: m.name, listen: m.listen, client: m.client}
		c.run(next) // before anybody waits for the one that was killed
		_ = m.process.Wait()
		m = next
	}
	c.answers(m)
}

// answers waits until a member's daemon answers, and fails when it ends instead.
func (c *crew) answers(m *crewMember) {
	c.t.Helper()
	await.Until(c.t, m.name+" answers", func() bool {
		var info unix.Siginfo
		require.NoError(c.t, unix.Waitid(unix.P_PID, m.process.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil))
		if info.Signo != 0 {
			c.end(m)
			require.Fail(c.t, "the daemon has ended", "%s", &m.output)
		}
		_, err := m.client.Status(context.Background())
		return err == nil
	})
}
