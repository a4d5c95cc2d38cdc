package ca

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// The class that the authority gives stays when the certificate is renewed, also by an authority that has been opened
// anew, until the operator gives another one.
func TestClass_Renewed_Kept(t *testing.T) {
	a, d := fresh(t)
	backup, web, none := "backup", "web", ""
	first, err := a.Issue(Request{Name: "nas", Key: keyOf(2), Class: &backup})
	require.NoError(t, err)
	assert.Equal(t, "backup", first.Class())

	o := options(d)
	o.Now = (&clockAt{now: day.Add(60 * 24 * time.Hour)}).Now
	a, err = Open(testDir, o)
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	assert.Equal(t, "backup", l.Records[0].Class)
	renewed, err := a.Renew(first.Member())
	require.NoError(t, err)
	assert.Greater(t, renewed.Body().Serial, first.Body().Serial)
	assert.Equal(t, "backup", renewed.Class())

	kept, err := a.Issue(Request{Name: "nas", Key: keyOf(2)})
	require.NoError(t, err)
	assert.Equal(t, "backup", kept.Class())
	other, err := a.Issue(Request{Name: "nas", Key: keyOf(2), Class: &web})
	require.NoError(t, err)
	assert.Equal(t, "web", other.Class())
	removed, err := a.Issue(Request{Name: "nas", Key: keyOf(2), Class: &none})
	require.NoError(t, err)
	assert.Empty(t, removed.Class())

	capital := "Backup"
	_, err = a.Issue(Request{Name: "x", Key: keyOf(3), Class: &capital})
	assert.ErrorIs(t, err, ident.ErrClass)
	_, err = a.Issue(Request{Name: "gate", Key: keyOf(4), Role: certificate.GateRole, Class: &backup})
	assert.ErrorIs(t, err, ident.ErrClass)
}

// The class of an invite is the authority's: the machine that joins says nothing of it.
func TestClass_Invite_Certified(t *testing.T) {
	a, d := fresh(t)
	i, err := a.InviteClass("backup", "nas", 0)
	require.NoError(t, err)
	assert.Equal(t, "backup", i.Class)
	a, err = Open(testDir, options(d))
	require.NoError(t, err)
	c, err := a.Redeem(i.ID, i.Secret, "nas", keyOf(2))
	require.NoError(t, err)
	assert.Equal(t, "backup", c.Class())
	_, err = a.InviteClass("Backup", "x", 0)
	assert.ErrorIs(t, err, ident.ErrClass)
}
