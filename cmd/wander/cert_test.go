package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
)

func TestCAInvite(t *testing.T) {
	b := newCABench(t)
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	b.fails(78, "wander ca config", "ca", "invite", "--name", "a", "--address", "ca:4134")
	b.write("group.toml", smallGroup)
	b.must("ca", "config", "group.toml")
	b.fails(64, "--name", "ca", "invite", "--address", "ca:4134")
	b.fails(64, "--address", "ca", "invite", "--name", "a")
	b.fails(64, "for example ca.example.org:4134", "ca", "invite", "--name", "a", "--address", "ca")
	b.fails(64, "invalid member name", "ca", "invite", "--name", "A", "--address", "ca:4134")
	b.fails(64, "1m to 30d", "ca", "invite", "--name", "a", "--address", "ca:4134", "--ttl", "1s")
	b.vars["WANDER_CA_ADDRESS"] = "ca-1.example.org:4134, ca-2.example.org:4134"
	var r inviteReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "invite", "--name", "a", "--ttl", "2h", "--output", "json")), &r))
	assert.Equal(t, 1, r.V)
	assert.Equal(t, []string{"ca-1.example.org:4134", "ca-2.example.org:4134"}, r.Addresses)
	assert.Equal(t, b.now.Add(2*time.Hour), r.Expires)
	assert.Equal(t, certificate.FormatFingerprint(b.identityOfCA()), r.CA)
	assert.True(t, strings.HasPrefix(r.Invite, "wander1-"))
}

func TestCAServe_Invalid_Refused(t *testing.T) {
	b := newCABench(t)
	b.fails(78, "wander ca init", "ca", "serve", "--listen", "127.0.0.1:0")
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	b.fails(78, "wander ca config", "ca", "serve", "--listen", "127.0.0.1:0")
	b.fails(69, "--listen", "ca", "serve", "--listen", "192.0.2.1:1")
	b.fails(64, "text or json", "ca", "serve", "--log-format", "xml")
}

// Without a network between machine and CA: a request goes there, a certificate
// comes back.
func TestJoinOffline(t *testing.T) {
	b := started(t)
	b.must("join", "--request", "--name", "a", "--group", "ca/group.crt", "--dir", "m")
	assert.Contains(t, b.out.String(), "wander ca issue --request m/member.req")
	g, _ := b.group()
	raw := b.blocks("m/member.req")
	require.Len(t, raw, 1)
	r, err := certificate.ParseRequest(g.ID(), raw[0].Bytes)
	require.NoError(t, err)
	assert.Contains(t, b.out.String(), certificate.Fingerprint(r.Key()))
	b.must("join", "--request", "--name", "a", "--group", g.ID().String(), "--dir", "m")
	key, err := keyfile.EncodePublicKey(r.Key())
	require.NoError(t, err)
	text, err := keyfile.EncodeBlocks(key)
	require.NoError(t, err)
	b.write("a.pub", string(text))
	b.must("ca", "issue", "--name", "a", "--key", "a.pub", "--out", "a")
	b.must("ca", "issue", "--name", "b", "--out", "b")

	b.fails(78, "another machine's request", "join", "--install", "b.crt", "--group", "ca/group.crt", "--dir", "m")
	b.fails(78, "made by wander join --request", "join", "--install", "a.crt", "--group", "ca/group.crt", "--dir", "n")
	assert.Contains(t, b.must("join", "--install", "a.crt", "--group", "ca/group.crt", "--dir", "m", "--ca-address", "ca:4134"), "m/group.crt, m/wander.toml\n")
	assert.Equal(t, "a", b.identity("m").Certificate.Name())
	assert.Equal(t, []string{"ca:4134"}, b.settings("m/wander.toml").CA.Address)
	// A renewed one comes the same way.
	b.must("ca", "issue", "--name", "a", "--key", "a.pub", "--out", "a")
	out := b.must("join", "--install", "a.crt", "--dir", "m", "--ca-address", "other:4134")
	assert.Contains(t, out, "m/group.crt\nkept   m/wander.toml")
	assert.Equal(t, []string{"ca:4134"}, b.settings("m/wander.toml").CA.Address)
	assert.EqualValues(t, 3, b.identity("m").Certificate.Body().Serial)
}

func TestCertStatus(t *testing.T) {
	b := started(t)
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "m")
	status := func() certReport {
		var r certReport
		require.NoError(t, json.Unmarshal([]byte(b.must("cert", "status", "--config", "m/wander.toml", "--output", "json")), &r))
		return r
	}
	begin := b.now
	id := b.identity("m").Certificate
	r := status()
	assert.Equal(t, "valid", r.State)
	assert.Equal(t, id.Member(), r.Member)
	assert.EqualValues(t, 1, r.Serial)
	assert.Less(t, r.Used, 0.001)
	assert.Empty(t, b.err.String())
	assert.Contains(t, b.must("cert", "status", "--config", "m/wander.toml"), "renewal     from 2026-04-30")
	for _, c := range []struct {
		after time.Duration
		state string
		level int
		says  string
	}{
		{-3 * time.Hour, "not_yet_valid", 0, "check this machine's clock"},
		{60*24*time.Hour + time.Hour, "due", 0, ""},
		{62 * 24 * time.Hour, "due", 1, "expires in 28d and"},
		{84 * 24 * time.Hour, "due", 2, "expires in 6d and"},
		{89*24*time.Hour + 12*time.Hour, "due", 3, "expires in 12h and"},
	} {
		b.now = begin.Add(c.after)
		r := status()
		assert.Equal(t, c.state, r.State, c.after)
		assert.Equal(t, c.level, r.Warning, c.after)
		assert.Contains(t, b.err.String(), c.says)
		assert.Equal(t, c.says == "", b.err.String() == "")
	}
	b.now = begin.Add(91 * 24 * time.Hour)
	b.fails(77, "expired on 2026-05-30", "cert", "status", "--config", "m/wander.toml")
	b.fails(78, "wander join", "cert", "status")
}

func TestCertRenew(t *testing.T) {
	b := started(t)
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "m")
	begin := b.now
	assert.Contains(t, b.must("cert", "renew", "--config", "m/wander.toml"), "nothing to do: certificate 1")
	before := b.identity("m")
	s.stop()
	b.now = begin.Add(61 * 24 * time.Hour)
	s = b.serve("--listen", s.address)
	b.write("group.toml", strings.Replace(smallGroup, "100", "200", 1))
	b.must("ca", "config", "group.toml")
	assert.Contains(t, b.must("cert", "renew", "--config", "m/wander.toml"), "certificate 2 is in")
	after := b.identity("m")
	assert.Equal(t, before.Certificate.Member(), after.Certificate.Member())
	assert.Greater(t, after.Certificate.Body().Serial, before.Certificate.Body().Serial)
	assert.EqualValues(t, 2, after.Group.Config().Version())

	// Once it has expired, an invite brings it back, with the same key.
	s.stop()
	b.fails(69, "check that wander ca serve is running", "cert", "renew", "--config", "m/wander.toml")
	b.now = b.now.Add(91 * 24 * time.Hour)
	s = b.serve("--listen", s.address)
	b.fails(77, "get an invite", "cert", "renew", "--config", "m/wander.toml")
	b.must("join", b.invited("a", s.address), "--dir", "m")
	assert.Equal(t, before.Certificate.Member(), b.identity("m").Certificate.Member())

	b.must("ca", "revoke", "a")
	b.fails(79, "this key is not valid any more", "cert", "renew", "--config", "m/wander.toml")
	b.vars["WANDER_CA_ADDRESS"] = ""
	b.write("m/wander.toml", "[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = \"group.crt\"\n")
	b.fails(78, "set ca.address", "cert", "renew", "--config", "m/wander.toml")
}

// Within the group's grace the key of an expired certificate is enough.
func TestCertRenew_WithinGrace_Renewed(t *testing.T) {
	b := started(t)
	b.write("group.toml", "renew_grace = \"7d\"\n"+smallGroup)
	b.must("ca", "config", "group.toml")
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "m")
	s.stop()
	before := b.identity("m")
	b.now = b.now.Add(97*24*time.Hour - time.Hour)
	s = b.serve("--listen", s.address)
	b.fails(77, "the CA renews it until 2026-06-06", "cert", "status", "--config", "m/wander.toml")
	b.write("group.toml", "renew_grace = \"7d\"\n"+strings.Replace(smallGroup, "100", "200", 1))
	b.must("ca", "config", "group.toml")
	out := b.must("cert", "renew", "--config", "m/wander.toml")
	assert.Contains(t, out, "certificate 2 is in")
	assert.Contains(t, out, "configuration 3 is in", "the news come with it")
	after := b.identity("m")
	assert.Equal(t, before.Certificate.Member(), after.Certificate.Member())
	assert.Equal(t, before.Certificate.Key().Bytes(), after.Certificate.Key().Bytes())

	s.stop()
	b.now = b.now.Add(98 * 24 * time.Hour)
	b.serve("--listen", s.address)
	b.fails(77, "get an invite", "cert", "status", "--config", "m/wander.toml")
	b.fails(77, "run wander join with it", "cert", "renew", "--config", "m/wander.toml")
}

// A certificate of a retired CA key counts for nobody but the CA, which gives
// another.
func TestCert_RetiredKey_Reported(t *testing.T) {
	b := started(t)
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "m")
	s.stop()
	b.must("ca", "rotate", "begin")
	b.must("ca", "rotate", "switch")
	b.must("ca", "rotate", "retire", "--force")
	text, err := os.ReadFile("ca/group.crt")
	require.NoError(t, err)
	b.write("m/group.crt", string(text))
	assert.Contains(t, b.must("cert", "status", "--config", "m/wander.toml", "--output", "json"), `"state":"key_retired"`)
	assert.Contains(t, b.err.String(), "wander cert renew gets another")
	b.serve("--listen", s.address)
	assert.Contains(t, b.must("cert", "renew", "--config", "m/wander.toml"), "certificate 2 is in")
	assert.Contains(t, b.must("cert", "status", "--config", "m/wander.toml", "--output", "json"), `"state":"valid"`)
}
