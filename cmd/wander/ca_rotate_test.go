package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// rotation is what ca rotate says in JSON.
func (b *caBench) rotation(args ...string) (r rotationReport) {
	b.t.Helper()
	text := b.must(append([]string{"ca", "rotate", "--output", "json"}, args...)...)
	require.NoError(b.t, json.Unmarshal([]byte(text), &r))
	return r
}

func TestCARotate(t *testing.T) {
	b := newCABench(t)
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	assert.Contains(t, b.must("ca", "rotate"), "wander ca config")
	b.fails(78, "sign one first: wander ca config", "ca", "rotate", "begin")
	b.write("group.toml", smallGroup)
	b.must("ca", "config", "group.toml")
	b.must("ca", "issue", "--name", "a")
	first := b.certificate("a.crt")
	assert.Contains(t, b.must("ca", "rotate"), "next: nothing. To replace the key: wander ca rotate begin")
	b.fails(64, "the next step", "ca", "rotate", "switch")

	out := b.must("ca", "rotate", "begin")
	assert.Contains(t, out, "created CA key 2, which does not sign yet\nsigned configuration 2; copy ca/group.crt")
	assert.Contains(t, out, "back up ca/ca-2.key")
	assert.Contains(t, out, "next: wander ca rotate switch")
	assert.Contains(t, out, "heard of it at 2026-03-01 12:12:00 UTC")
	r := b.rotation()
	assert.Equal(t, "introduced", r.Phase)
	assert.Equal(t, "switch", r.Next)
	assert.Equal(t, b.now, *r.Since)
	b.fails(64, "in progress", "ca", "rotate", "begin")

	out = b.must("ca", "rotate", "switch")
	assert.Contains(t, out, "CA key 2 signs from now on")
	assert.Contains(t, out, "1 member with a certificate of the old key only:\n  a, member "+first.Member().String())
	assert.Contains(t, out, "at 2026-05-30 12:00:00 UTC at the latest")
	b.fails(1, "--force", "ca", "rotate", "retire")
	r = b.rotation()
	require.Len(t, r.Pending, 1)
	assert.Equal(t, first.Member(), r.Pending[0].Member)

	b.must("ca", "issue", "--name", "a", "--key", "a.crt")
	renewed := b.certificate("a.crt")
	assert.Equal(t, first.Member(), renewed.Member())
	assert.NotEqual(t, first.Authority(), renewed.Authority())
	assert.Contains(t, b.must("ca", "rotate"), "now: every member that lives")
	assert.Contains(t, b.must("ca", "rotate", "retire"), "CA key 2 is the only valid one")
	r = b.rotation()
	assert.Equal(t, "settled", r.Phase)
	assert.Equal(t, []ca.Use{ca.Retired, ca.Signs}, []ca.Use{r.Keys[0].Use, r.Keys[1].Use})
	assert.Equal(t, certificate.FormatFingerprint(renewed.Authority()), r.Keys[1].Fingerprint)
	b.certificate("a.crt")

	require.NoError(t, os.Rename("ca/ca-2.key", "elsewhere"))
	b.fails(78, "put the private key there", "ca", "issue", "--name", "b")
	b.must("ca", "list")
}

func TestCARotate_ForcedAndWithdrawn_Reported(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a")
	b.must("ca", "rotate", "begin", "--lifetime", "400d")
	assert.Contains(t, b.must("ca", "rotate", "withdraw"), "withdrew the new CA key; key 1 signs as before")
	r := b.rotation("begin")
	assert.Equal(t, []ca.Use{ca.Signs, ca.Retired, ca.Next}, []ca.Use{r.Keys[0].Use, r.Keys[1].Use, r.Keys[2].Use})
	assert.Equal(t, 400*24*time.Hour, r.Keys[1].Expires.Sub(b.now))
	b.must("ca", "rotate", "switch")
	assert.NotContains(t, b.must("ca", "list"), "key_retired")
	b.must("ca", "rotate", "retire", "--force")
	assert.Contains(t, b.must("ca", "list"), "key_retired")
	b.fails(64, "unknown step \"swich\"\nhint: did you mean \"switch\"?", "ca", "rotate", "swich")
}

func TestCARotate_Passphrase_Asked(t *testing.T) {
	b := newCABench(t)
	b.vars["WANDER_CA_PASSPHRASE"] = "sesame"
	b.must("ca", "init", "--name", "demo")
	b.write("group.toml", smallGroup)
	b.must("ca", "config", "group.toml")
	b.must("ca", "rotate", "begin")
	assert.Equal(t, keyfile.EncryptedPrivateKey, b.blocks("ca/ca-2.key")[0].Type)
	delete(b.vars, "WANDER_CA_PASSPHRASE")
	b.must("ca", "rotate")
	b.fails(64, "no terminal to read", "ca", "rotate", "switch")
}

// request writes the request of a key for a name.
func (b *caBench) request(file, name string, g ident.Group) *signature.PrivateKey {
	key := b.keyNumber(9)
	signed, err := certificate.Request{Name: name, Key: key.Public().Bytes(), Time: 1}.Sign(g, key)
	require.NoError(b.t, err)
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.CertificateRequest, Bytes: signed.Raw()})
	require.NoError(b.t, err)
	b.write(file, string(text))
	return key
}

func TestCAIssue_Request_Signed(t *testing.T) {
	b := started(t)
	g, _ := b.group()
	key := b.request("a.req", "ftp-03", g.ID())
	out := b.must("ca", "issue", "--request", "a.req")
	assert.Contains(t, out, "key "+certificate.Fingerprint(key.Public())+", which ftp-03 has")
	cert := b.certificate("ftp-03.crt")
	assert.Equal(t, "ftp-03", cert.Name())
	assert.True(t, cert.Key().Equal(key.Public()))
	assert.NoFileExists(t, "ftp-03.key", "the key stays where it was made")
	b.must("ca", "issue", "--request", "a.req", "--name", "ftp-03", "--out", "b", "--lifetime", "1d")
	assert.Equal(t, cert.Member(), b.certificate("b.crt").Member())

	b.fails(64, "requests the name ftp-03", "ca", "issue", "--request", "a.req", "--name", "other")
	b.fails(64, "cannot be combined", "ca", "issue", "--request", "a.req", "--key", "a.req")
	b.fails(78, "give --request", "ca", "issue", "--request", "ca/ca.crt")
	b.fails(78, "no such file", "ca", "issue", "--request", "none")
	b.request("foreign.req", "ftp-04", ident.Group{1})
	b.fails(78, "give --request", "ca", "issue", "--request", "foreign.req")
	b.must("ca", "revoke", "ftp-03")
	b.fails(77, "never certified again", "ca", "issue", "--request", "a.req")
}

func TestCAList_InvitesLeavesAndKeys_Shown(t *testing.T) {
	b := started(t)
	a, err := ca.Open("ca", ca.Options{Now: func() time.Time { return b.now }})
	require.NoError(t, err)
	b.must("ca", "issue", "--name", "gone")
	text, err := os.ReadFile("gone.key")
	require.NoError(t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(t, err)
	gone := b.certificate("gone.crt").Member()
	leave, err := certificate.Leave{Member: gone}.Sign(a.Group(), key)
	require.NoError(t, err)
	require.NoError(t, a.Left(leave.Raw()))
	used, err := a.Invite("used", time.Hour)
	require.NoError(t, err)
	_, err = a.Redeem(used.ID, used.Secret, "used", b.keyNumber(3).Public())
	require.NoError(t, err)
	_, err = a.Invite("late", time.Minute)
	require.NoError(t, err)
	_, err = a.Invite("open", time.Hour)
	require.NoError(t, err)
	b.now = b.now.Add(time.Minute)
	b.must("ca", "rotate", "begin")

	var r caReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "list", "--output", "json")), &r))
	assert.Equal(t, "left", r.Certificates[0].State)
	assert.Equal(t, 1, r.Certificates[0].Key)
	require.Len(t, r.Leaves, 1)
	assert.Equal(t, gone, r.Leaves[0].Member)
	require.Len(t, r.Invites, 3)
	assert.Equal(t, []string{"used", "expired", "open"}, []string{r.Invites[0].State, r.Invites[1].State, r.Invites[2].State})
	assert.Equal(t, r.Certificates[1].Member, *r.Invites[0].Member)
	assert.Nil(t, r.Invites[1].Member)
	require.Len(t, r.Keys, 2)
	assert.Equal(t, ca.Next, r.Keys[1].Use)
	listed := b.must("ca", "list")
	for _, want := range []string{"MEMBER THAT LEFT", "INVITE", "CA KEY", "next", "expired", r.Keys[0].Fingerprint} {
		assert.Contains(t, listed, want)
	}
	b.fails(77, "rejoins with a new key only", "ca", "issue", "--name", "gone", "--key", "gone.key")
}

func (b *caBench) keyNumber(seed byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	require.NoError(b.t, err)
	return key
}
