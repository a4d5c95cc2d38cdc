package ca

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// forkOf is evidence that the member with the key of this seed has given a hop
// away twice, if the authority has certified it; n tells tokens apart.
func forkOf(a *Authority, seed byte, n uint64) []byte {
	key, id := privateKeyOf(seed), ident.Member{}
	for _, r := range a.ledger.state.records {
		if public := key.Public().Bytes(); r.Member == ident.MemberOf(a.Group(), public[:]) {
			id = r.Member
		}
	}
	newest, _ := a.ledger.state.lastOf(id)
	genesis, err := token.GenesisBody{Resource: "ftp", Generator: id, Sequence: n}.Sign(a.Group(), key)
	if err != nil {
		panic(err)
	}
	var objects []evidence.Object
	for accept := range uint64(2) {
		signed, err := token.Title{Genesis: genesis}.Next(ident.Member{7}, ident.Reservation{Incarnation: ident.Incarnation{1}, Number: accept}).Sign(a.Group(), key)
		if err != nil {
			panic(err)
		}
		objects = append(objects, evidence.Object{Kind: envelope.Transfer, Raw: signed.Raw()})
	}
	var statements [][]byte
	for _, s := range a.ledger.state.authorities {
		statements = append(statements, s.Raw())
	}
	e, err := evidence.New(a.Group(), statements, newest.raw, objects[0], objects[1])
	if err != nil {
		panic(err)
	}
	raw, err := e.Encode()
	if err != nil {
		panic(err)
	}
	return raw
}

func TestEvidence_Repeated_KeptOnce(t *testing.T) {
	a, d := fresh(t)
	cert := issue(t, a, "a", 2)
	raw, from := forkOf(a, 2, 1), ident.Member{9}
	e, news, err := a.TakeEvidence(raw, from)
	require.NoError(t, err)
	assert.True(t, news)
	assert.Equal(t, cert.Member(), e.Accused)
	assert.Equal(t, evidence.Fork, e.Kind)
	assert.Equal(t, from, e.From)
	assert.NoError(t, a.Eligible(cert.Member()), "nobody is revoked by itself")

	again, news, err := reopen(t, d).TakeEvidence(raw, ident.Member{8})
	require.NoError(t, err)
	assert.False(t, news)
	assert.Equal(t, e, again, "who brought it first counts")

	l, err := reopen(t, d).List()
	require.NoError(t, err)
	assert.Equal(t, []Evidence{e}, l.Evidence)
	b := blocks(t, d, e.File)
	require.Len(t, b, 1)
	assert.Equal(t, keyfile.Block{Type: keyfile.Evidence, Bytes: raw}, b[0])
}

// A member that signs what it likes fills neither the log nor the disk.
func TestEvidence_AgainstOneMember_Bounded(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "a", 2)
	issue(t, a, "b", 3)
	for n := range uint64(2 * MaxEvidencePerMember) {
		_, news, err := a.TakeEvidence(forkOf(a, 2, n), ident.Member{9})
		require.NoError(t, err)
		assert.Equal(t, n < MaxEvidencePerMember, news)
	}
	_, news, err := reopen(t, d).TakeEvidence(forkOf(a, 2, 100), ident.Member{9})
	require.NoError(t, err)
	assert.False(t, news, "also after a restart")
	_, news, err = a.TakeEvidence(forkOf(a, 3, 1), ident.Member{9})
	require.NoError(t, err)
	assert.True(t, news, "others are not forgotten for it")
	_, _, err = a.RevokeBy(forkOf(a, 2, 100))
	assert.NoError(t, err, "the operator's counts besides")
}

func TestEvidence_Invalid_Refused(t *testing.T) {
	a, _ := fresh(t)
	issue(t, a, "a", 2)
	raw := forkOf(a, 2, 1)
	bent := bytes.Clone(raw)
	bent[len(bent)-1] ^= 1
	other := create(t, faultDisk{faultfs.New(2)})
	_, err := other.SetConfig(settings("ftp"))
	require.NoError(t, err)
	issue(t, other, "a", 2)
	for name, bad := range map[string][]byte{"bytes": {1}, "altered": bent, "of another group": forkOf(other, 2, 1)} {
		_, _, err := a.TakeEvidence(bad, ident.Member{9})
		assert.ErrorIs(t, err, ErrNoEvidence, name)
		_, _, err = a.RevokeBy(bad)
		assert.ErrorIs(t, err, ErrNoEvidence, name)
	}
	l, err := a.List()
	require.NoError(t, err)
	assert.Empty(t, l.Evidence)
	assert.Empty(t, l.Revoked)
}

// Evidence against somebody whom the authority does not know of is the
// operator's to bring: a thief of a retired CA key could invent members.
func TestEvidence_AgainstStranger_Refused(t *testing.T) {
	a, d := fresh(t)
	before, err := d.ReadFile(testDir+"/"+LogFile, -1)
	require.NoError(t, err)
	issue(t, a, "a", 2)
	raw := forkOf(a, 2, 1)
	out, err := d.Open(testDir + "/" + LogFile) // as restored from a backup
	require.NoError(t, err)
	require.NoError(t, out.Truncate(int64(len(before))))
	require.NoError(t, out.Close())

	a = reopen(t, d)
	_, _, err = a.TakeEvidence(raw, ident.Member{9})
	assert.ErrorIs(t, err, ErrUnknown)
	p, _, err := a.RevokeBy(raw)
	require.NoError(t, err)
	assert.ErrorIs(t, a.Eligible(p.Accused), ErrRevoked)
}

func TestRevoke_ByEvidence_Revoked(t *testing.T) {
	a, d := fresh(t)
	cert := issue(t, a, "a", 2)
	p, signed, err := a.RevokeBy(forkOf(a, 2, 1))
	require.NoError(t, err)
	assert.Equal(t, cert.Member(), signed.Body().Member)
	assert.Equal(t, "evidence "+p.ID.Short()+": two transfers of one hop", signed.Body().Reason)
	l, err := reopen(t, d).List()
	require.NoError(t, err)
	require.Len(t, l.Evidence, 1)
	assert.True(t, l.Evidence[0].From.IsZero())
	require.Len(t, l.Revoked, 1)
	assert.Equal(t, p.ID, *l.Revoked[0].By)

	_, _, err = a.RevokeBy(forkOf(a, 2, 2))
	assert.ErrorIs(t, err, ErrRevoked)
	l, err = a.List()
	require.NoError(t, err)
	assert.Len(t, l.Evidence, 2, "kept all the same")
}
