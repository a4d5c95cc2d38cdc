package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/spec/conformance"
)

const testGroup = `
[[resource]]
name = "test"
operation_time = "10ms"
members_max = 3
skip_delay = "1ms"
min_interval = "1ms"
preset = "paper"
`

// issued is a member's folder as wander join makes it.
func (b *caBench) issued(name string) string {
	b.t.Helper()
	b.must("ca", "issue", "--name", name, "--out", b.path(name, "member"))
	text, err := os.ReadFile(b.path("ca", "group.crt"))
	require.NoError(b.t, err)
	b.write(filepath.Join(name, "group.crt"), string(text))
	return b.path(name)
}

// running is the address of a member that runs in this process.
func (b *caBench) running(name string) string {
	id, err := memberHome{b.issued(name)}.identity()
	require.NoError(b.t, err)
	n, err := node.Open(context.Background(), node.Config{
		Identity: id, StateDir: b.t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(b.t, err)
	b.t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Close(now)
	})
	return n.Address()
}

// newConformanceBench makes the bench of a test that mostly waits: it may run beside others,
// as the process stays in the folder where it is.
func newConformanceBench(t *testing.T, group string) *caBench {
	b := &caBench{t: t, dir: t.TempDir(), now: time.Now(), vars: map[string]string{}}
	b.vars["WANDER_CA_DIR"] = b.path("ca")
	for _, dir := range []string{"subject", "tester"} {
		require.NoError(t, os.Mkdir(b.path(dir), 0o700))
	}
	b.write("group.toml", group)
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	b.must("ca", "config", b.path("group.toml"))
	return b
}

func TestPeerConformance(t *testing.T) {
	t.Parallel()
	b := newConformanceBench(t, testGroup)
	address, tester := b.running("subject"), b.issued("tester")
	args := []string{"conformance", "--peer", address, "--identity", tester, "--timeout", "1m"}

	out := b.must(append(args, "--check", "hello,transfer-repeated", "--check", "revoked-member")...)
	assert.Regexp(t, `(?m)^REQUIREMENT +CHECK +VERDICT +DETAIL$`, out)
	assert.Regexp(t, `(?m)^M-1 G-1 E-2 +hello +pass`, out)
	assert.Regexp(t, `(?m)^D-9 T-6 T-18 +revoked-member +skipped +needs a member of the group that was revoked$`, out)
	assert.Contains(t, out, ": 2 passed, 0 failed, 1 skipped; of 1 tokens handed over, 0 have not come back\n")

	var r peerReport
	require.NoError(t, json.Unmarshal([]byte(b.must(append(args, "--check", "alpn", "--output", "json")...)), &r))
	assert.Equal(t, 1, r.V)
	assert.Equal(t, "subject", r.Name)
	assert.Equal(t, []conformance.Result{{Name: "alpn", Requirements: []string{"T-1"}, Verdict: conformance.Pass}}, r.Checks)
}

func TestPeerConformanceRefuses(t *testing.T) {
	t.Parallel()
	b := newConformanceBench(t, testGroup)
	tester := b.issued("tester")
	peer := []string{"conformance", "--peer", "127.0.0.1:1"}
	b.fails(exitUsage, "--identity is missing", peer...)
	peer = append(peer, "--identity", tester)
	b.fails(exitUsage, "two tests", append(peer, "--vectors", "x")...)
	b.fails(exitUsage, "want host:port", "conformance", "--peer", "x", "--identity", "nowhere")
	b.fails(exitUsage, `no resource "x"`, append(peer, "--resource", "x")...)
	b.fails(exitUsage, `no check "x"`, append(peer, "--check", "x")...)
	b.fails(exitUsage, "more than 0", append(peer, "--timeout", "0s")...)
	b.fails(exitConfiguration, "member.key", append(peer, "--revoked", "nowhere")...)
	b.fails(exitConfiguration, "wander join", "conformance", "--peer", "x:1", "--identity", "nowhere")
	b.fails(exitUnavailable, "no member answers", append(peer, "--timeout", "10ms")...)
	b.now = b.now.AddDate(1, 0, 0)
	b.fails(exitNoPermission, "expired", peer...)
}

// A port that somebody else has is said to be that.
func TestNodePortInUse(t *testing.T) {
	t.Parallel()
	b := newConformanceBench(t, testGroup)
	address, dir := b.running("subject"), b.issued("tester")
	b.write(filepath.Join("tester", "wander.toml"), `state_dir = "state"
[identity]
certificate = "member.crt"
key = "member.key"
group = "group.crt"
[listen]
address = "`+address+`"
`)
	b.fails(exitConfiguration, "\nhint: another program has this port", "node", "--config", filepath.Join(dir, "wander.toml"))
}
