package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// fork writes evidence against a member that the authority in the folder ca has
// certified, with its key in NAME.key, to a file, and returns the member's id.
func (b *caBench) fork(name, file string) ident.Member {
	b.t.Helper()
	text, err := os.ReadFile(name + ".key")
	require.NoError(b.t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(b.t, err)
	g, err := cli.LoadGroup("ca/group.crt")
	require.NoError(b.t, err)
	public := key.Public().Bytes()
	id := ident.MemberOf(g.ID(), public[:])
	genesis, err := token.GenesisBody{Resource: "ftp", Generator: id}.Sign(g.ID(), key)
	require.NoError(b.t, err)
	var objects []evidence.Object
	for accept := range uint64(2) {
		signed, err := token.Title{Genesis: genesis}.Next(ident.Member{7}, ident.Reservation{Incarnation: ident.Incarnation{1}, Number: accept}).Sign(g.ID(), key)
		require.NoError(b.t, err)
		objects = append(objects, evidence.Object{Kind: envelope.Transfer, Raw: signed.Raw()})
	}
	e, err := evidence.New(g.ID(), g.Statements(), b.blocks(name + ".crt")[0].Bytes, objects[0], objects[1])
	require.NoError(b.t, err)
	text, err = e.Text()
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(file, text, 0o600))
	return id
}

// convicted is an authority, and evidence against a member of its group.
func convicted(t *testing.T) (*caBench, ident.Member) {
	b := newCABench(t)
	b.write("group.toml", smallGroup)
	b.must("ca", "init", "--dir", "ca", "--name", "demo", "--no-passphrase")
	b.must("ca", "config", "--dir", "ca", "group.toml")
	b.must("ca", "issue", "--dir", "ca", "--name", "thief")
	return b, b.fork("thief", "thief.evidence")
}

func TestVerifyEvidence(t *testing.T) {
	b, thief := convicted(t)
	g, err := cli.LoadGroup("ca/group.crt")
	require.NoError(t, err)
	for _, group := range []string{"ca/group.crt", g.ID().String()} {
		out := b.must("audit", "verify-evidence", "--group", group, "thief.evidence")
		assert.Contains(t, out, "thief.evidence: proof against thief, member "+thief.String())
		assert.Contains(t, out, "two transfers of one hop: it gave hop 1 of token")
		assert.Empty(t, b.err.String())
	}
	assert.Contains(t, b.must("audit", "verify-evidence", "thief.evidence"), "proof against thief")
	assert.Contains(t, b.err.String(), "warning: the group is unverified")

	var v evidenceVerdict
	require.NoError(t, json.Unmarshal([]byte(b.must("audit", "verify-evidence", "-o", "json", "-g", "ca/group.crt", "thief.evidence")), &v))
	assert.True(t, v.Proof && v.Trusted)
	assert.Equal(t, thief, *v.Member)
	assert.Equal(t, uint64(1), v.Hop)
}

// Evidence against a gate is checked from the group's id alone, and the authority revokes the gate by it.
func TestVerifyEvidence_Gate_RevokedByIt(t *testing.T) {
	b, _ := convicted(t)
	b.must("ca", "issue", "--dir", "ca", "--gate", "--name", "front")
	text, err := os.ReadFile("front.key")
	require.NoError(t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(t, err)
	g, err := cli.LoadGroup("ca/group.crt")
	require.NoError(t, err)
	var objects []evidence.Object
	for session := range uint64(2) {
		signed, err := wire.AnswerBody{
			Resource: "ftp", Member: ident.Member{7}, Number: 3, Time: 1, Answer: gate.ClosedAnswer{Session: session + 1, Reason: gate.BySignOut},
		}.Sign(g.ID(), key)
		require.NoError(t, err)
		objects = append(objects, evidence.Object{Kind: envelope.GateAnswer, Raw: signed.Raw()})
	}
	e, err := evidence.New(g.ID(), g.Statements(), b.blocks("front.crt")[0].Bytes, objects[0], objects[1])
	require.NoError(t, err)
	text, err = e.Text()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("front.evidence", text, 0o600))

	out := b.must("audit", "verify-evidence", "--group", g.ID().String(), "front.evidence")
	assert.Contains(t, out, "front.evidence: proof against front, gate "+e.Accused.String()+", certificate 2\n")
	assert.Contains(t, out, "two answers to one sign-in: it answered sign-in 3 of member "+ident.Member{7}.Short()+" with session ")
	var v evidenceVerdict
	require.NoError(t, json.Unmarshal([]byte(b.must("audit", "verify-evidence", "-o", "json", "-g", "ca/group.crt", "front.evidence")), &v))
	assert.Nil(t, v.Token, "no answer names one")
	assert.Contains(t, b.must("inspect", "--group", "ca/group.crt", "front.evidence"), "evidence against gate "+e.Accused.String()+" (verified)")
	b.must("ca", "revoke", "--dir", "ca", "--evidence", "front.evidence")
	assert.Contains(t, b.must("ca", "list", "--dir", "ca"), "two answers to one sign-in")
	b.write("group.toml", gatedGroup(e.Accused, ""))
	b.fails(78, "member has been revoked", "ca", "config", "--dir", "ca", "group.toml")
}

func TestVerifyEvidence_Invalid_Refused(t *testing.T) {
	b, _ := convicted(t)
	b.write("empty", "")
	b.fails(cli.ExitFailure, "not every file is proof", "audit", "verify-evidence", "-g", "ca/group.crt", "thief.evidence", "empty")
	b.fails(cli.ExitConfiguration, "missing: no such file", "audit", "verify-evidence", "-g", "ca/group.crt", "thief.evidence", "empty", "missing", "ca/group.crt")
	assert.Contains(t, b.out.String(), "thief.evidence: proof against thief")
	assert.Contains(t, b.out.String(), "empty: no proof: not one block of evidence")
	assert.Contains(t, b.out.String(), "missing: no proof: open missing")
	assert.Contains(t, b.out.String(), "ca/group.crt: no proof: not one block of evidence")
	b.fails(cli.ExitFailure, "not every file is proof", "audit", "verify-evidence", "--group", strings.Repeat("ab", 32), "thief.evidence")
	assert.Contains(t, b.out.String(), "evidence of another group")
	b.fails(cli.ExitConfiguration, "", "audit", "verify-evidence", "--group", "nothing", "thief.evidence")
}

func TestCARevoke_Evidence_Revoked(t *testing.T) {
	b, thief := convicted(t)
	b.fails(cli.ExitUsage, "member specified in 2 ways", "ca", "revoke", "--dir", "ca", "thief", "--evidence", "thief.evidence")
	b.fails(cli.ExitUsage, "--evidence and --reason cannot be combined", "ca", "revoke", "--dir", "ca", "--reason", "x", "--evidence", "thief.evidence")
	b.write("empty", "")
	b.fails(cli.ExitFailure, "no proof", "ca", "revoke", "--dir", "ca", "--evidence", "empty")

	b.must("ca", "init", "--dir", "other", "--name", "other", "--no-passphrase")
	b.fails(cli.ExitFailure, "evidence of another group", "ca", "revoke", "--dir", "other", "--evidence", "thief.evidence")

	out := b.must("ca", "revoke", "--dir", "ca", "--evidence", "thief.evidence")
	assert.Contains(t, out, "proof against thief")
	assert.Contains(t, out, "revoked member "+thief.String())
	assert.Contains(t, b.must("ca", "revoke", "--dir", "ca", "--evidence", "thief.evidence"), "nothing to do")

	list := b.must("ca", "list", "--dir", "ca")
	assert.Contains(t, list, "two transfers of one hop")
	assert.Contains(t, list, "EVIDENCE AGAINST")
	a, err := ca.Open("ca", ca.Options{})
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	require.Len(t, l.Evidence, 1)
	b.must("audit", "verify-evidence", "--group", "ca/group.crt", "ca/"+l.Evidence[0].File)
}

// TestInspectEvidence: evidence is shown with what it proves, if the group is given.
func TestInspectEvidence(t *testing.T) {
	b, thief := convicted(t)
	out := b.must("inspect", "--group", "ca/group.crt", "thief.evidence")
	assert.Contains(t, out, "evidence against member "+thief.String()+" (verified)")
	assert.Contains(t, out, "account: it ")
	assert.Contains(t, b.must("inspect", "thief.evidence"), "(not verified: no group file was given)")
}
