package ca

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// memberOf is the id that a key has in the authority's group.
func memberOf(a *Authority, key *signature.PublicKey) ident.Member {
	raw := key.Bytes()
	return ident.MemberOf(a.Group(), raw[:])
}

func issueGate(t testing.TB, a *Authority, name string, seed byte) certificate.Certificate {
	t.Helper()
	c, err := a.Issue(Request{Name: name, Key: keyOf(seed), Role: certificate.GateRole})
	require.NoError(t, err)
	return c
}

// A gate's certificate lives for a week unless the operator says otherwise, and stays a gate's when it is renewed, also
// by an authority that has been opened anew.
func TestIssueGate_ShortLife_RenewedAsGate(t *testing.T) {
	a, d := fresh(t)
	gate := issueGate(t, a, "gate", 2)
	assert.Equal(t, certificate.GateRole, gate.Role())
	assert.Equal(t, gateLifetime, gate.Body().NotAfter.Sub(gate.Body().IssuedAt))
	long, err := a.Issue(Request{Name: "long", Key: keyOf(3), Role: certificate.GateRole, Lifetime: 30 * 24 * time.Hour})
	require.NoError(t, err)
	assert.Equal(t, 30*24*time.Hour, long.Body().NotAfter.Sub(long.Body().IssuedAt))
	g, _ := published(t, d)
	_, err = certificate.Parse(g.ID(), gate.Raw(), g)
	assert.ErrorIs(t, err, certificate.ErrRole, "nobody takes it for a member")

	o := options(d)
	o.Now = (&clockAt{now: day.Add(5 * 24 * time.Hour)}).Now
	a, err = Open(testDir, o)
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	assert.Equal(t, certificate.GateRole, l.Records[0].Role)
	renewed, err := a.Renew(gate.Member())
	require.NoError(t, err)
	assert.Greater(t, renewed.Body().Serial, gate.Body().Serial)
	assert.Equal(t, certificate.GateRole, renewed.Role())
	assert.Equal(t, gateLifetime, renewed.Body().NotAfter.Sub(renewed.Body().IssuedAt))
}

// A short certificate_lifetime holds for gates, too.
func TestIssueGate_ShorterConfiguration_Followed(t *testing.T) {
	a, _ := fresh(t)
	s := settings("ftp")
	s.CertificateLifetime = time.Hour
	_, err := a.SetConfig(s)
	require.NoError(t, err)
	c := issueGate(t, a, "gate", 2).Body()
	assert.Equal(t, time.Hour, c.NotAfter.Sub(c.IssuedAt))
}

// No key is both.
func TestIssue_OtherRole_Refused(t *testing.T) {
	a, _ := fresh(t)
	issueGate(t, a, "gate", 2)
	issue(t, a, "member", 3)
	_, err := a.Issue(Request{Name: "gate", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrRole)
	_, err = a.Issue(Request{Name: "member", Key: keyOf(3), Role: certificate.GateRole})
	assert.ErrorIs(t, err, ErrRole)
	_, err = a.Issue(Request{Name: "x", Key: keyOf(4), Role: 2})
	assert.ErrorIs(t, err, certificate.ErrRole)
}

// An invite makes what it was made for: whoever redeems it has no say in that.
func TestInviteGate_Redeemed_Gate(t *testing.T) {
	a, d := fresh(t)
	i, err := a.InviteGate("gate", 0)
	require.NoError(t, err)
	assert.Equal(t, certificate.GateRole, i.Role)
	a = reopen(t, d)
	c, err := a.Redeem(i.ID, i.Secret, "gate", keyOf(2))
	require.NoError(t, err)
	assert.Equal(t, certificate.GateRole, c.Role())
	again, err := a.Redeem(i.ID, i.Secret, "gate", keyOf(2))
	require.NoError(t, err)
	assert.Equal(t, c.Raw(), again.Raw())
	l, err := reopen(t, d).List()
	require.NoError(t, err)
	assert.Equal(t, certificate.GateRole, l.Invites[0].Role)
	assert.Equal(t, c.Member(), l.Invites[0].Member)

	// A member that is invited as a gate has to make another key.
	issue(t, a, "member", 3)
	i, err = a.InviteGate("second", 0)
	require.NoError(t, err)
	_, err = a.Redeem(i.ID, i.Secret, "second", keyOf(3))
	assert.ErrorIs(t, err, ErrRole)
	_, err = a.Redeem(i.ID, i.Secret, "second", keyOf(4))
	assert.NoError(t, err, "the invite is good still")
}

// A configuration names only gates that this authority has made and not revoked.
func TestSetConfig_Gate_MustBeOne(t *testing.T) {
	a, _ := fresh(t)
	gate, member := issueGate(t, a, "gate", 2), issue(t, a, "member", 3)
	revoked := issueGate(t, a, "old", 4)
	_, err := a.Revoke(revoked.Member(), "sold")
	require.NoError(t, err)
	with := func(gate ident.Member) error {
		s := settings("ftp")
		s.Resources[0].Gate = group.Gate{Member: gate, Address: "gate.example.org:4136"}
		_, err := a.SetConfig(s)
		return err
	}
	err = with(memberOf(a, keyOf(9)))
	assert.ErrorIs(t, err, ErrNotGate)
	assert.ErrorContains(t, err, `resource "ftp": gate: not a gate of this group: `+memberOf(a, keyOf(9)).String()+" has no certificate of this authority")
	err = with(member.Member())
	assert.ErrorIs(t, err, ErrNotGate)
	assert.ErrorContains(t, err, member.Member().String()+" is member member")
	err = with(revoked.Member())
	assert.ErrorIs(t, err, ErrNotGate)
	assert.ErrorIs(t, err, ErrRevoked)
	assert.EqualValues(t, 1, a.Config().Version(), "nothing was signed")

	require.NoError(t, with(gate.Member()))
	r, _ := a.Config().Resource("ftp")
	assert.Equal(t, time.Second, r.Gate.Settle, "with defaults")
	assert.ErrorIs(t, with(gate.Member()), ErrUnchanged)
}

// The log of an authority that has made no gate is as it was before there were gates.
func TestLog_NoGate_BytesAsBefore(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	a := createWith(t, optionsOf(d, 7))
	configure(t, a)
	issue(t, a, "a", 2)
	_, err := a.Invite("b", 0)
	require.NoError(t, err)
	log, err := d.ReadFile(testDir+"/"+LogFile, -1)
	require.NoError(t, err)
	assert.NotContains(t, string(log), "role")
}
