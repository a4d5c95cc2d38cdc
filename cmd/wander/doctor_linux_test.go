package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/node/explain"
)

// examined is what wander doctor finds, by name.
func examined(t *testing.T, args ...string) (found map[string]api.Check, code int) {
	t.Helper()
	code, out, errors := runCommand("", append([]string{"doctor", "--output", "json"}, args...)...)
	var got api.Checkup
	require.NoError(t, json.Unmarshal([]byte(out), &got), "%s%s", out, errors)
	found = make(map[string]api.Check)
	for _, c := range got.Checks {
		found[c.Name] = c
	}
	assert.Equal(t, doctor.Failed(got.Checks), code == cli.ExitUnavailable, "exit code %d: %s", code, out)
	return found, code
}

// sound reports whether nothing fails but, on a busy machine, the disk, whose syncs may take seconds there.
func sound(found map[string]api.Check) bool {
	for name, c := range found {
		if c.Result == api.Fail && name != "disk" {
			return false
		}
	}
	return true
}

// TestDoctor_RealDaemons_EachFinding asks a healthy member, its peer and its CA, and then breaks one thing after the other.
func TestDoctor_RealDaemons_EachFinding(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	m1, m2 := c.join("m1"), c.join("m2")
	c.agree("m1=valid m2=valid", m1, m2)
	c.operates(m1)
	c.operates(m2)
	config := filepath.Join(c.dir, "m1", "wander.toml")

	found, _ := examined(t, "--config", config)
	assert.True(t, sound(found), found)
	for _, name := range []string{"daemon", "peers", "udp in", "address", "clock", "certificate", "path mtu", "udp buffer", "version", "settings", "files"} {
		assert.Contains(t, []api.Result{api.Fine, api.Warn, api.Skipped}, found[name].Result, "%s: %v", name, found[name])
		assert.NotEmpty(t, found[name].Finding, name)
	}
	assert.Contains(t, found["disk"].Finding, " syncs: ")
	assert.Equal(t, api.Fine, found["udp in"].Result, "m2 has dialled m1: %v", found["udp in"])
	assert.Contains(t, found["udp in"].Finding, "m2 was asked to dial this member, and was answered at "+m1.listen)
	assert.Contains(t, found["address"].Finding, "; m2 sees it at "+m1.listen)
	assert.NotContains(t, found, "authority", "the daemon asks it")
	assert.Equal(t, "from "+config+"; state_dir "+filepath.Join(c.dir, "m1", "state")+", socket "+filepath.Join(c.dir, "m1", "state", api.SocketName), found["settings"].Finding)
	assert.Contains(t, found["peers"].Finding, "of 1 other members connected")

	found, _ = examined(t, "--config", config, "m2")
	assert.True(t, sound(found), found)
	assert.Contains(t, found["reach"].Finding, "m2 answers at "+m2.listen)
	assert.Contains(t, found["certificate"].Finding, "m2 (")
	assert.Contains(t, found["dials back"].Finding, "m2 was asked to dial this member, and was answered at "+m1.listen)
	assert.Equal(t, api.Fine, found["clock"].Result, found["clock"])
	found, _ = examined(t, "--config", config, m2.listen)
	assert.Contains(t, found["reach"].Finding, "m2 answers")
	found, code := examined(t, "--config", config, m1.listen)
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Contains(t, found["reach"].Advice, "of this member itself")
	found, _ = examined(t, "--config", config, ports.Address(t))
	assert.Equal(t, api.Fail, found["reach"].Result, "nobody listens there")
	code, _, complaint := runCommand("", "doctor", "--config", config, "m9")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, complaint, `no member "m9" is known here`)
	assert.Contains(t, complaint, "wander gate status")
	assert.NotContains(t, complaint, "bad request")
	code, _, complaint = runCommand("", "doctor", "--config", config, "ca")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, complaint, `no member "ca" is known here`, "which may be a member's name")
	found, code = examined(t, "--config", config, "CA")
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, found["authority"].Finding, c.service+" answers")

	// The text that a person reads.
	_, out, _ := runCommand("", "doctor", "--config", config)
	assert.Regexp(t, `(?m)^(ok|warn) +daemon +m1 of group crew, up `, out)

	// One thing after the other.
	require.NoError(t, os.Chmod(filepath.Join(c.dir, "m1", "member.key"), 0o640))
	found, code = examined(t, "--config", config)
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Equal(t, api.Fail, found["files"].Result)
	assert.Contains(t, found["files"].Advice, "chmod 600 ")
	require.NoError(t, os.Chmod(filepath.Join(c.dir, "m1", "member.key"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(c.dir, "m1", "state"), 0o777))
	found, _ = examined(t, "--config", config)
	assert.Contains(t, found["files"].Finding, "may be changed by others")
	require.NoError(t, os.Chmod(filepath.Join(c.dir, "m1", "state"), 0o700))

	text, err := os.ReadFile(config)
	require.NoError(t, err)
	elsewhere := filepath.Join(c.dir, "m1", "elsewhere.toml")
	require.NoError(t, os.WriteFile(elsewhere, []byte(strings.ReplaceAll(string(text), c.service, ports.Address(t))), 0o600))
	_, code = examined(t, "--config", elsewhere, "CA")
	assert.Equal(t, cli.ExitUnavailable, code)

	require.NoError(t, m2.process.Process.Signal(syscall.SIGKILL))
	c.end(m2)
	await.Until(t, "the peer is missed", func() bool { found, _ = examined(t, "--config", config); return found["peers"].Result == api.Fail })
	found, _ = examined(t, "--config", config, "m2")
	assert.Equal(t, api.Fail, found["reach"].Result, found)
	assert.NotEmpty(t, found["reach"].Advice)

	require.NoError(t, m1.process.Process.Signal(syscall.SIGKILL))
	c.end(m1)
	found, code = examined(t, "--config", config)
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Equal(t, api.Fail, found["daemon"].Result)
	assert.Equal(t, api.Fine, found["certificate"].Result, "from the file")
	assert.Equal(t, api.Fine, found["authority"].Result)
	id, err := node.LoadCertificate(filepath.Join(c.dir, "m1", "member.crt"), filepath.Join(c.dir, "m1", "group.crt"))
	require.NoError(t, err)
	word, err := json.Marshal(node.LastWord{At: time.Now(), Member: id.Certificate.Member(), Cause: explain.Revoked, Message: "revoked"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "m1", "state", "ended.json"), word, 0o600))
	found, _ = examined(t, "--config", config)
	assert.Equal(t, api.Fail, found["certificate"].Result, "no other member accepts it")
	assert.Contains(t, found["certificate"].Finding, "revoked: m1 of group crew, valid until")
	found, _ = examined(t, "--config", elsewhere)
	assert.Equal(t, api.Warn, found["authority"].Result, "members go on without the CA")
	code, _, _ = runCommand("", "doctor", "--config", config, "m2")
	assert.Equal(t, cli.ExitUnavailable, code, "only the daemon can dial")
}
