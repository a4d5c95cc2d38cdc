package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Requirement D-19.
func TestForget_Certificates_DoNotComeBack(t *testing.T) {
	ca := newAuthority(1)
	self, gone, signer, valid := ca.member(0), ca.member(1), ca.member(2), ca.member(3)
	d := directory.New(ca, self.id)
	old := gone.issued(1, -3*month, -2*month)
	d.Admit(old)
	d.Admit(signer.issued(1, -3*month, -2*month))
	introduce(t, d, self, valid)
	count, _ := d.Fingerprint()
	assert.Equal(t, uint64(4), count)

	d.Forget(now.Add(-month), func(m ident.Member) bool { return m == signer.id })
	assert.Nil(t, d.Key(gone.id))
	assert.NotNil(t, d.Key(signer.id))
	count, _ = d.Fingerprint()
	assert.Equal(t, uint64(2), count, "who is kept for what it signed is nobody else's business")
	entries, _, _ := d.Page(ident.Member{}, ident.LastMember(), 10, 1<<20)
	assert.Len(t, entries, 2)

	_, news, err := d.Learn(old.Raw())
	assert.ErrorIs(t, err, directory.ErrForgotten)
	assert.False(t, news)
	l := d.LearnPage([]wire.Entry{{Certificate: old.Raw()}}, nil)
	assert.ErrorIs(t, l[0].Err, directory.ErrForgotten)
	assert.Equal(t, gone.id, l[0].Member)
	assert.Equal(t, 3, d.Len())

	_, news, err = d.LearnSigner(old.Raw())
	require.NoError(t, err)
	assert.True(t, news)
	assert.NotNil(t, d.Key(gone.id))
	count, _ = d.Fingerprint()
	assert.Equal(t, uint64(2), count)
	d.Forget(now.Add(-month), nobody)
	assert.Nil(t, d.Key(gone.id), "no longer than it is needed")

	_, _, err = d.Learn(gone.issued(2, -month, month).Raw())
	assert.NoError(t, err, "with a certificate that holds it is welcome")
}

// What a witness says that is on no page any more is not handed on: nobody could
// verify it. It counts here, and is handed on again when the witness is. (D-16)
func TestFailure_WitnessOnNoPage_Counts(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	ben, witness := list[1], list[2]
	d, other := directory.New(ca, list[0].id), directory.New(ca, list[0].id)
	introduce(t, d, list[0], ben, list[3])
	introduce(t, other, list[0], ben, list[3])
	d.Admit(witness.issued(1, -2*month, -month))
	d.Connected(witness.id, true)
	accuse(t, d, ben, 1, witness, list[3])
	accuse(t, other, ben, 1, list[3])
	handedOn := func() int { e, _ := d.Entry(ben.id); return len(e.Failures) }
	assert.Equal(t, 2, handedOn())
	d.Forget(now.Add(-time24), nobody)
	assert.Equal(t, 1, handedOn())
	_, xor := d.Fingerprint()
	_, otherXor := other.Fingerprint()
	assert.Equal(t, otherXor, xor)
	assert.True(t, d.Failed(ben.id))
	d.Admit(witness.issued(2, -month, month))
	assert.Equal(t, 2, handedOn())
	d.Forget(now.Add(-month), nobody)
	_, again := d.Fingerprint()
	other.Admit(witness.issued(2, -month, month))
	accuse(t, other, ben, 1, witness)
	_, otherXor = other.Fingerprint()
	assert.Equal(t, otherXor, again)
}

// A clock that was a year fast keeps nobody out permanently. (D-19)
func TestForget_WrongClock_Undone(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(0).id)
	ben := ca.member(1)
	introduce(t, d, ben)
	d.Connected(ben.id, true)
	d.Forget(now.Add(12*month), nobody)
	count, _ := d.Fingerprint()
	assert.Zero(t, count)
	d.Forget(now.Add(-month), nobody)
	count, _ = d.Fingerprint()
	assert.Equal(t, uint64(1), count)
	_, _, err := d.Learn(ca.member(2).certificate(month).Raw())
	assert.NoError(t, err)
}

// Whoever is forgotten takes with it what it said, and what was said of it.
func TestForgetStatements(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list[:2]...)
	for _, s := range list[2:] {
		d.Admit(s.issued(1, -2*month, -month))
		must(d.LearnEndpoint(s.endpoint(1, "a.example:1")))
	}
	accuse(t, d, list[1], 1, list[2], list[3])
	accuse(t, d, list[2], 1, list[1])
	assert.True(t, d.Failed(list[1].id))
	must(d.LearnLeave(list[2].leave(1)))
	d.Forget(now.Add(-time24), nobody)
	assert.False(t, d.Failed(list[1].id), "there is nobody left who says so")
	assert.Empty(t, d.KeptFailures(list[1].id))
	assert.Equal(t, 2, d.Len())
	assert.ErrorIs(t, d.Eligible(list[2].id, now), directory.ErrUnknown)
	d.Admit(list[2].certificate(month))
	assert.NoError(t, d.Eligible(list[2].id, now))
	assert.Empty(t, d.KeptFailures(list[2].id))
	_, ok := d.Sequence(list[2].id)
	assert.False(t, ok)
}

// Of a revoked member nothing stays but its revocation.
func TestForget_RevokedMember_RevocationKept(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list[0], list[2])
	d.Admit(ben.issued(1, -2*month, -month))
	must(d.LearnEndpoint(ben.endpoint(1, "a.example:1")))
	must(d.LearnLeave(ben.leave(1)))
	accuse(t, d, ben, 1, list[2])
	must(d.LearnRevocation(ben.revocation(1)))
	d.Forget(now.Add(-time24), nobody)
	_, left := d.Left(ben.id)
	assert.False(t, left)
	assert.Empty(t, d.KeptFailures(ben.id))
	_, revoked := d.Revocation(ben.id)
	assert.True(t, revoked)

	l := d.LearnPage([]wire.Entry{{Certificate: altered(ben.certificate(month).Raw()), Endpoint: ben.endpoint(2, "a.example:1")}}, nil)
	assert.ErrorIs(t, l[0].Err, certificate.ErrSignature)
	assert.False(t, l[0].Endpoint, "a record needs a certificate")
	_, ok := d.Endpoint(ben.id)
	assert.False(t, ok)
}

// Requirement D-21.
func TestForgetRevocations(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(9)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list[:5]...)
	for _, version := range []uint64{1, 2, 4, 7, 8} {
		must(d.LearnRevocation(list[version].revocation(version)))
	}
	assert.Equal(t, uint64(2), d.RevocationVersion())
	for _, c := range []struct{ floor, want uint64 }{{1, 2}, {0, 2}, {3, 4}, {5, 5}, {2, 5}} {
		d.ForgetRevocations(c.floor)
		assert.Equal(t, c.want, d.RevocationVersion(), "floor %d", c.floor)
	}
	raws, _ := d.Revocations(0, 100)
	assert.Equal(t, [][]byte{list[7].revocation(7), list[8].revocation(8)}, raws)
	news, err := d.LearnRevocation(list[3].revocation(3))
	require.NoError(t, err)
	assert.False(t, news, "the CA has given it up")
	assert.ErrorIs(t, d.Eligible(list[1].id, now), directory.ErrRevoked, "as long as its certificate is known")
	must(d.LearnRevocation(list[6].revocation(6)))
	assert.Equal(t, uint64(8), d.RevocationVersion())
	d.ForgetRevocations(8)
	assert.ErrorIs(t, d.Eligible(list[7].id, now), directory.ErrUnknown)
	places, listed := d.Traces()
	assert.Equal(t, 5, places)
	assert.Equal(t, 5, listed)
	d.Forget(now.Add(2*month), nobody)
	places, _ = d.Traces()
	assert.Equal(t, 1, places, "nothing is left of those who were kept revoked")
	d.ForgetRevocations(1 << 60)
	assert.Equal(t, uint64(1)<<60, d.RevocationVersion())
}
