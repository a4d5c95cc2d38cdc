package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node/api"
)

// voting is a crew whose programs need votes. They lock a file, so that a second one at the
// same time is seen, and go on for longer than they may now and then.
type voting struct{ *crew }

func newVoting(t *testing.T, onIsolated string) voting {
	t.Helper()
	c := voting{newCrew(t)}
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "group.toml"), []byte(`
gossip_interval = "2s"
silence         = "1s"

[[resource]]
name           = "tape"
operation_time = "200ms"
members_max    = 5
min_interval   = "50ms"
max_hold       = "2s"
on_isolated    = "`+onIsolated+`"
`), 0o600))
	c.wander("ca", "config", "--dir", "ca", "group.toml")
	for _, name := range []string{"a", "b", "c"} {
		c.joinVoting(name)
	}
	return c
}

const votingProgram = `; echo "$0" >>runs; flock -n lock sleep "$(($$ % 5 / 4 * 9)).2" || echo "$0" >>overlaps`

func (c voting) joinVoting(name string) {
	c.t.Helper()
	m := &crewMember{name: name, listen: ports.Address(c.t), client: api.Dial(filepath.Join(c.dir, name, "state", "wander.sock"))}
	invite := c.wander("ca", "invite", "--dir", "ca", "--name", name, "--address", c.service)
	c.wander("join", invite, "--dir", name, "--listen", m.listen, "--resource", "tape", "--", "sh", "-c", "cd "+c.dir+votingProgram, name)
	c.members = append(c.members, m)
	c.run(m)
}

// runs counts the programs of a member, or of all.
func (c voting) runs(of string) int {
	text, _ := os.ReadFile(filepath.Join(c.dir, "runs"))
	return strings.Count(string(text), of+"\n")
}

// goOn waits until each of some members has run so many programs more.
func (c voting) goOn(programs int, names ...string) {
	c.t.Helper()
	before := make(map[string]int)
	for _, name := range names {
		before[name] = c.runs(name)
	}
	for _, name := range names {
		await.Until(c.t, name+" runs programs", func() bool { return c.runs(name) >= before[name]+programs })
	}
}

// holder is a member whose program runs.
func (c voting) holder() (found *crewMember) {
	c.t.Helper()
	await.Until(c.t, "a program runs", func() bool {
		for _, m := range c.members {
			st, err := m.client.Status(context.Background())
			if err == nil && len(st.Resources) > 0 && st.Resources[0].Slots[0].Executing {
				found = m
			}
		}
		return found != nil
	})
	return found
}

func (c voting) signal(m *crewMember, s unix.Signal) {
	require.NoError(c.t, unix.Kill(m.process.Process.Pid, s))
}

func (c voting) noOverlap() {
	c.t.Helper()
	text, _ := os.ReadFile(filepath.Join(c.dir, "overlaps"))
	assert.Empty(c.t, string(text), "two programs at once")
}

func (c voting) others(m *crewMember) (names []string) {
	for _, o := range c.members {
		if o != m {
			names = append(names, o.name)
		}
	}
	return names
}

// TestVotes_DaemonFrozen_NoTwoPrograms: the daemon of a holder is frozen while its program
// runs, and the program is killed at its deadline. The others make another token and go
// on. Thawed, the daemon begins nothing before it has votes again.
func TestVotes_DaemonFrozen_NoTwoPrograms(t *testing.T) {
	t.Parallel()
	whole.Only(t) // TestVotes_VoterFrozen freezes, too, and sim/cluster has no two programs
	c := newVoting(t, "majority")
	c.goOn(2, "a", "b", "c")
	for range 2 {
		frozen := c.holder()
		c.signal(frozen, unix.SIGSTOP)
		c.goOn(3, c.others(frozen)...)
		c.signal(frozen, unix.SIGCONT)
		c.goOn(1, "a", "b", "c")
	}
	c.noOverlap()
}

// TestVotes_VoterFrozen_NothingBegins: with stop, nobody begins a program whom the voter
// does not answer, and status says so. When it does again, all go on.
func TestVotes_VoterFrozen_NothingBegins(t *testing.T) {
	t.Parallel()
	c := newVoting(t, "stop")
	c.goOn(1, "a", "b", "c")
	var voter *crewMember
	for _, m := range c.members {
		c.signal(m, unix.SIGSTOP)
		if missing := c.missing(m); missing {
			voter = m
			break
		}
		c.signal(m, unix.SIGCONT)
		c.goOn(1, c.others(m)...)
	}
	require.NotNil(t, voter, "nobody's vote is missed")
	before := c.runs("")
	await.Until(t, "votes are missed again", func() bool { return c.missed(voter) })
	assert.LessOrEqual(t, c.runs(""), before+1, "one may have had its vote")
	c.signal(voter, unix.SIGCONT)
	c.goOn(1, "a", "b", "c")
	c.noOverlap()
}

// missing reports whether the vote of a frozen member is missed, or programs go on.
func (c voting) missing(frozen *crewMember) (is bool) {
	c.t.Helper()
	others := c.others(frozen)
	before := [2]int{c.runs(others[0]), c.runs(others[1])}
	await.Until(c.t, "a vote is missed, or programs go on", func() bool {
		is = c.missed(frozen)
		return is || c.runs(others[0]) > before[0]+2 && c.runs(others[1]) > before[1]+2
	})
	return is
}

// missed reports whether a member shows that a vote is missing.
func (c voting) missed(frozen *crewMember) bool {
	for _, m := range c.members {
		if m == frozen {
			continue
		}
		if st, err := m.client.Status(context.Background()); err == nil && len(st.Resources) > 0 && len(st.Resources[0].Slots[0].Missing) > 0 {
			return true
		}
	}
	return false
}
