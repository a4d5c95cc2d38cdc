package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/spec/conformance"
)

// testResource lets tokens move at once.
var testResource = group.Resource{Name: "test", Params: policy.Params{
	Preset: wandering.Paper, OperationTime: 10 * time.Millisecond, MembersMax: 3,
	SkipDelay: time.Millisecond, MinInterval: time.Millisecond,
}}

// peerBench has an authority with its members.
type peerBench struct {
	*testing.T
	dir       string
	authority *ca.Authority
	now       time.Time
}

// newPeerBench makes an authority for a group with one resource.
func newPeerBench(t *testing.T, resource group.Resource) *peerBench {
	dir := t.TempDir()
	authority, err := ca.Create(filepath.Join(dir, "ca"), ca.CreateOptions{Name: "demo", Lifetime: 24 * time.Hour})
	require.NoError(t, err)
	_, err = authority.SetConfig(group.Settings{Resources: []group.Resource{resource}})
	require.NoError(t, err)
	return &peerBench{T: t, dir: dir, authority: authority, now: time.Now()}
}

// issued makes a member's folder as wander join does.
func (b *peerBench) issued(name string) string {
	b.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(b, err)
	private, err := keyfile.EncodePrivateKey(key)
	require.NoError(b, err)
	c, err := b.authority.Issue(ca.Request{Name: name, Key: key.Public()})
	require.NoError(b, err)
	certificate, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
	require.NoError(b, err)
	authority, err := os.ReadFile(filepath.Join(b.authority.Dir(), ca.GroupFile))
	require.NoError(b, err)
	dir := filepath.Join(b.dir, name)
	require.NoError(b, os.Mkdir(dir, 0o700))
	for file, text := range map[string][]byte{"member.key": private, "member.crt": certificate, "group.crt": authority} {
		require.NoError(b, os.WriteFile(filepath.Join(dir, file), text, 0o600))
	}
	return dir
}

// running returns the address of a member that runs in this process.
func (b *peerBench) running(name string) string {
	id, err := identity(b.issued(name))
	require.NoError(b, err)
	n, err := node.Open(context.Background(), node.Config{
		Identity: id, StateDir: b.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	b.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Close(now)
	})
	return n.Address()
}

// must runs a command line that has to succeed and returns what it prints.
func (b *peerBench) must(args ...string) string {
	b.Helper()
	code, out, errs := runCommandAt(b.now, "", args...)
	require.Zero(b, code, errs)
	return out
}

// fails runs a command line that has to fail with a code, and to say things.
func (b *peerBench) fails(code int, says string, args ...string) {
	b.Helper()
	got, _, errs := runCommandAt(b.now, "", args...)
	assert.Equal(b, code, got, errs)
	assert.Contains(b, errs, says)
}

func TestPeerConformance_SomeChecks_Pass(t *testing.T) {
	t.Parallel()
	b := newPeerBench(t, testResource)
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

func TestPeerConformance_BadOptions_Refused(t *testing.T) {
	t.Parallel()
	b := newPeerBench(t, testResource)
	tester := b.issued("tester")
	peer := []string{"conformance", "--peer", "127.0.0.1:1"}
	b.fails(cli.ExitUsage, "required flags missing: --identity", peer...)
	peer = append(peer, "--identity", tester)
	b.fails(cli.ExitUsage, "--vectors and --peer cannot be combined", append(peer, "--vectors", "x")...)
	b.fails(cli.ExitUsage, "want host:port", "conformance", "--peer", "x", "--identity", "nowhere")
	b.fails(cli.ExitUsage, `no resource "x"`, append(peer, "--resource", "x")...)
	b.fails(cli.ExitUsage, `no check "x"`, append(peer, "--check", "x")...)
	b.fails(cli.ExitUsage, "must be greater than 0", append(peer, "--timeout", "0s")...)
	b.fails(cli.ExitConfiguration, "member.key", append(peer, "--revoked", "nowhere")...)
	b.fails(cli.ExitConfiguration, "wander join", "conformance", "--peer", "x:1", "--identity", "nowhere")
	b.fails(cli.ExitUnavailable, "no member answers", append(peer, "--timeout", "10ms")...)
	b.now = b.now.AddDate(1, 0, 0)
	b.fails(cli.ExitNoPermission, "expired", peer...)
}
