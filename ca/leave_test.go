package ca

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

func privateKeyOf(seed byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

// leaveOf is the notice of the member with the key of this seed.
func leaveOf(t testing.TB, g ident.Group, seed byte) []byte {
	t.Helper()
	key := privateKeyOf(seed)
	public := key.Public().Bytes()
	signed, err := certificate.Leave{Member: ident.MemberOf(g, public[:]), Time: 1}.Sign(g, key)
	require.NoError(t, err)
	return signed.Raw()
}

func TestLeft(t *testing.T) {
	a, d := fresh(t)
	cert := issue(t, a, "a", 2)
	raw := leaveOf(t, a.Group(), 2)
	require.NoError(t, a.Left(raw))
	require.NoError(t, reopen(t, d).Left(raw), "once more")
	assert.ErrorIs(t, a.Eligible(cert.Member()), ErrLeft)

	_, err := a.Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrLeft, "its key is dead")
	_, err = a.Renew(cert.Member())
	assert.ErrorIs(t, err, ErrLeft)
	issue(t, a, "a", 3)

	l, err := reopen(t, d).List()
	require.NoError(t, err)
	require.Len(t, l.Left, 1)
	assert.Equal(t, cert.Member(), l.Left[0].Member)
	assert.Equal(t, l.Left[0], *l.Records[0].Left)
	assert.Nil(t, l.Records[1].Left)
	_, extra, err := group.Load(blocks(t, d, GroupFile))
	require.NoError(t, err)
	assert.Equal(t, [][]byte{raw}, extra.Leaves)
}

func TestLeft_Invalid_Refused(t *testing.T) {
	a, _ := fresh(t)
	cert := issue(t, a, "a", 2)
	raw := leaveOf(t, a.Group(), 2)
	assert.ErrorIs(t, a.Left([]byte("x")), certificate.ErrMalformed)
	assert.ErrorIs(t, a.Left(leaveOf(t, a.Group(), 3)), ErrUnknown)
	assert.Error(t, a.Left(leaveOf(t, ident.Group{1}, 2)))
	forged := bytes.Clone(raw)
	forged[len(forged)-1] ^= 1
	assert.ErrorIs(t, a.Left(forged), certificate.ErrSignature)
	assert.NoError(t, a.Eligible(cert.Member()))
	_, err := a.Revoke(cert.Member(), "")
	require.NoError(t, err)
	assert.ErrorIs(t, a.Left(raw), ErrRevoked)
}

func TestRevoke_MemberThatLeft_Revoked(t *testing.T) {
	a, d := fresh(t)
	cert := issue(t, a, "a", 2)
	require.NoError(t, a.Left(leaveOf(t, a.Group(), 2)))
	_, err := a.Revoke(cert.Member(), "its key was found elsewhere")
	require.NoError(t, err)
	assert.ErrorIs(t, reopen(t, d).Eligible(cert.Member()), ErrRevoked)
}

// TestLeaves_CertificateValid_Published: until the last certificate of the
// member has expired.
func TestLeaves_CertificateValid_Published(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	cert := issue(t, a, "a", 2)
	require.NoError(t, a.Left(leaveOf(t, a.Group(), 2)))
	p, err := a.Publication()
	require.NoError(t, err)
	assert.Len(t, p.Leaves, 1)
	clock.now = cert.Body().NotAfter
	issue(t, a, "b", 3)
	p, err = a.Publication()
	require.NoError(t, err)
	assert.Empty(t, p.Leaves)
	_, err = a.Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrLeft, "the key stays dead")
}
