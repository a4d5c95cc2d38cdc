package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// rotating is a group with several CA keys in force.
type rotating struct {
	id   ident.Group
	keys []*authority
}

func (r rotating) ID() ident.Group { return r.id }

func (r rotating) Key(kid [16]byte) *signature.PublicKey {
	for _, a := range r.keys {
		if key := a.Key(kid); key != nil {
			return key
		}
	}
	return nil
}

// by is the same member with the certificates of another CA key.
func (s someone) by(a *authority) someone {
	s.ca = a
	return s
}

// What a retired CA key has signed counts no more: whose certificate that is takes
// part no more, is on no page, and is no witness, until it shows another one, be
// that the shorter one. What it has signed can be verified all the same.
func TestRetiredKey(t *testing.T) {
	first := newAuthority(1)
	second := &authority{key: newKey(2), id: first.id}
	both := rotating{first.id, []*authority{first, second}}
	d := directory.New(both, first.member(99).id)
	ann, ben, cat := first.member(0), first.member(1).by(second), first.member(2).by(second)
	introduce(t, d, ann, ben, cat)
	for _, w := range []someone{ann, ben} {
		_, err := d.LearnFailure(w.failure(cat, 1))
		require.NoError(t, err)
	}
	require.True(t, d.Failed(cat.id))

	after := rotating{first.id, []*authority{second}}
	d.SetGroup(after)
	assert.ErrorIs(t, d.Eligible(ann.id, now), directory.ErrRetired)
	assert.NoError(t, d.Eligible(ben.id, now))
	assert.False(t, d.Failed(cat.id), "a witness by a retired key is none")
	assert.Equal(t, 2, d.Candidates())
	assert.NotNil(t, d.Key(ann.id))
	entries, _, _ := d.Page(ident.Member{}, ident.LastMember(), 10, 1<<20)
	assert.Len(t, entries, 2)

	other := directory.New(after, first.member(98).id)
	introduce(t, other, ben, cat)
	_, err := other.LearnFailure(ben.failure(cat, 1))
	require.NoError(t, err)
	wantCount, want := other.Fingerprint()
	count, got := d.Fingerprint()
	assert.Equal(t, wantCount, count, "who joins now knows the same")
	assert.Equal(t, want, got)

	_, news, err := d.Learn(ann.by(second).certificate(month / 2).Raw())
	require.NoError(t, err)
	assert.True(t, news, "it ends sooner, but it counts")
	assert.NoError(t, d.Eligible(ann.id, now))
	assert.True(t, d.Failed(cat.id))
	news, err = d.Recall(ann.certificate(month).Raw(), both)
	require.NoError(t, err)
	assert.False(t, news)
	assert.NoError(t, d.Eligible(ann.id, now))
}

// A journal may have kept a certificate of a key that was retired meanwhile. It
// shows who a signer is, and no more; from peers it is not taken.
func TestRecall(t *testing.T) {
	first := newAuthority(1)
	second := &authority{key: newKey(2), id: first.id}
	both := rotating{first.id, []*authority{first, second}}
	d := directory.New(rotating{first.id, []*authority{second}}, first.member(99).id)
	ann := first.member(0)
	l := d.LearnPage([]wire.Entry{{Certificate: ann.certificate(month).Raw()}}, nil)
	require.Error(t, l[0].Err)
	news, err := d.Recall(ann.certificate(month).Raw(), both)
	require.NoError(t, err)
	assert.True(t, news)
	assert.NotNil(t, d.Key(ann.id))
	assert.ErrorIs(t, d.Eligible(ann.id, now), directory.ErrRetired)
	assert.Zero(t, d.Candidates())
	_, err = d.Recall(ann.certificate(month).Raw(), rotating{id: first.id})
	assert.Error(t, err)
}

// Who joins after a rotation is handed revocations that the retired key has signed
// by peers that still keep them. The CA has given those up.
func TestRevocation_BelowFloorByRetiredKey_Accepted(t *testing.T) {
	first := newAuthority(1)
	second := &authority{key: newKey(2), id: first.id}
	d := directory.New(second, first.member(99).id)
	d.ForgetRevocations(2)
	news, err := d.LearnRevocation(first.member(0).revocation(2))
	require.NoError(t, err)
	assert.False(t, news)
	_, err = d.LearnRevocation(first.member(1).revocation(3))
	assert.Error(t, err)
}
