package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node/api"
)

// saving is an operation that saves its permit by member and hop, as a whole though it may be killed, and says in which
// file it found it.
const saving = `echo "$0 $(stat -c %a "$WANDER_PERMIT_FILE") $WANDER_PERMIT_FILE" >>files
cp "$WANDER_PERMIT_FILE" "saved/$$.part"
mv "saved/$$.part" "saved/$0-$WANDER_HOP-$WANDER_TOKEN.pem"`

// TestPermits_RealDaemons_Verify: three daemons, one of which is killed and started again, give each program a permit that
// verifies, from hop 0 on, for its user alone, and remove it when the program ends.
func TestPermits_RealDaemons_Verify(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	require.NoError(t, os.Mkdir(filepath.Join(c.dir, "saved"), 0o700))
	for _, name := range []string{"a", "b", "c"} {
		m := &crewMember{name: name, listen: ports.Address(t), client: api.Dial(filepath.Join(c.dir, name, "state", "wander.sock"))}
		invite := c.wander("ca", "invite", "--dir", "ca", "--name", name, "--address", c.service)
		c.wander("join", invite, "--dir", name, "--listen", m.listen, "--resource", "tape", "--", "sh", "-ec", "cd "+c.dir+"\n"+saving, name)
		c.members = append(c.members, m)
		c.run(m)
	}
	saved := func(of string) []string {
		files, err := filepath.Glob(filepath.Join(c.dir, "saved", of+"-*.pem"))
		require.NoError(t, err)
		return files
	}
	for _, m := range c.members {
		await.Until(t, m.name+" has held a token", func() bool { return len(saved(m.name)) > 2 })
	}
	killed := c.members[1]
	require.NoError(t, killed.process.Process.Kill())
	c.end(killed)
	before := len(saved(killed.name))
	c.run(killed)
	await.Until(t, "the killed one has held a token again", func() bool { return len(saved(killed.name)) > before+2 })
	c.wander("run", "tape", "--socket", filepath.Join("a", "state", "wander.sock"), "--", "sh", "-ec", saving, "a")
	for _, m := range c.members {
		require.NoError(t, m.process.Process.Signal(os.Interrupt))
	}
	for _, m := range c.members {
		assert.Equal(t, 0, c.end(m), &m.output)
	}

	out := c.wander(append([]string{"permit", "verify", "--output", "json", "--group", "ca/group.crt"}, saved("*")...)...)
	first := false
	for line := range strings.Lines(out) {
		var v permitVerdict
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		assert.True(t, v.Verifies, line)
		name := strings.Split(strings.TrimSuffix(filepath.Base(v.File), ".pem"), "-")
		assert.Equal(t, name[0], v.Holder.Name)
		assert.Equal(t, name[2], v.Token.String())
		first = first || v.Hop == 0 && name[1] == "0"
	}
	assert.True(t, first, "the founder has used its token before it passed it on")
	t.Logf("%d permits", strings.Count(out, "\n")+1)

	left := c.permitFolders()
	assert.LessOrEqual(t, len(left), 1, "each command's end removes its permit, but that of a daemon that was killed")
	assert.Subset(t, []string{killed.name}, slices.Collect(maps.Values(left)))
	// The CA revokes a member: what it says counts no more, and what others say does.
	c.wander("ca", "revoke", "c", "--dir", "ca")
	var failed bytes.Buffer
	cmd := c.program(append([]string{"permit", "verify", "--group", "ca/group.crt"}, saved("c")...)...)
	cmd.Stderr = &failed
	verdict, err := cmd.Output()
	require.Error(t, err)
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
	assert.Equal(t, len(saved("c")), strings.Count(string(verdict), "does not verify: holder of the permit was revoked"), string(verdict))
	assert.Contains(t, failed.String(), "hint: a member that was revoked vouches for nothing any more")
}

// permitFolders are the folders with permits that are there, and whose commands' they are.
func (c *crew) permitFolders() map[string]string {
	files, err := os.ReadFile(filepath.Join(c.dir, "files"))
	require.NoError(c.t, err)
	there := make(map[string]string)
	for line := range strings.Lines(string(files)) {
		member, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		mode, file, _ := strings.Cut(rest, " ")
		assert.Equal(c.t, "600", mode)
		if _, err := os.Stat(filepath.Dir(file)); err == nil {
			there[filepath.Dir(file)] = member
		}
	}
	return there
}
