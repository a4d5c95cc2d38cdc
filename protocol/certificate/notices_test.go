package certificate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func leave() certificate.Leave {
	return certificate.Leave{Member: memberOf(memberKey), Time: 1_700_000_000_000}
}

func failure() certificate.Failure {
	return certificate.Failure{Witness: memberOf(memberKey), Subject: memberOf(otherKey), Sequence: 9, Time: 1_700_000_000_000}
}

func request() certificate.Request {
	return certificate.Request{Name: "ftp-03", Key: memberKey.Public().Bytes(), Time: 1_700_000_000_000, Nonce: [16]byte{1, 2}}
}

// later is an extension that this version does not know and keeps.
var later = canonical.Extensions{}.With(1, canonical.Raw{0x01})

func TestLeave_Signed_RoundTrip(t *testing.T) {
	for _, extensions := range []canonical.Extensions{{}, later} {
		l := leave()
		l.Extensions = extensions
		signed, err := l.Sign(group, memberKey)
		require.NoError(t, err)
		who, err := certificate.LeaveSigner(group, signed.Raw())
		require.NoError(t, err)
		assert.Equal(t, l.Member, who)
		parsed, err := certificate.ParseLeave(group, signed.Raw(), memberKey.Public())
		require.NoError(t, err)
		assert.Equal(t, l, parsed.Body())
		assert.Equal(t, l.Member, parsed.Body().Member)
		assert.Equal(t, signed.Raw(), parsed.Raw())
		assert.Equal(t, signed.Hash(), parsed.Hash())
		assert.False(t, parsed.IsZero())
	}
	assert.True(t, certificate.SignedLeave{}.IsZero())
}

func TestFailure_Signed_RoundTrip(t *testing.T) {
	for _, extensions := range []canonical.Extensions{{}, later} {
		f := failure()
		f.Extensions = extensions
		signed, err := f.Sign(group, memberKey)
		require.NoError(t, err)
		who, err := certificate.FailureSigner(group, signed.Raw())
		require.NoError(t, err)
		assert.Equal(t, f.Witness, who)
		parsed, err := certificate.ParseFailure(group, signed.Raw(), memberKey.Public())
		require.NoError(t, err)
		assert.Equal(t, f, parsed.Body())
		assert.Equal(t, signed.Raw(), parsed.Raw())
		assert.Equal(t, signed.Hash(), parsed.Hash())
		assert.False(t, parsed.IsZero())
	}
}

func TestRequest_Signed_RoundTrip(t *testing.T) {
	for _, extensions := range []canonical.Extensions{{}, later} {
		r := request()
		r.Extensions = extensions
		signed, err := r.Sign(group, memberKey)
		require.NoError(t, err)
		parsed, err := certificate.ParseRequest(group, signed.Raw())
		require.NoError(t, err)
		assert.Equal(t, r, parsed.Body())
		assert.Equal(t, memberOf(memberKey), parsed.Member())
		assert.True(t, parsed.Key().Equal(memberKey.Public()))
		assert.True(t, signed.Key().Equal(memberKey.Public()))
		assert.Equal(t, signed.Member(), parsed.Member())
		assert.Equal(t, signed.Raw(), parsed.Raw())
		assert.Equal(t, signed.Hash(), parsed.Hash())
		assert.False(t, parsed.IsZero())
	}
}

// notice is a kind of object that a member signs: how to sign one with a key,
// and how to read one with a key.
type notice struct {
	kind  envelope.Kind
	sign  func(key *signature.PrivateKey) ([]byte, error)
	parse func(raw []byte, key *signature.PublicKey) error
}

func raw(o interface{ Raw() []byte }, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return o.Raw(), nil
}

func notices() map[string]notice {
	return map[string]notice{
		"leave": {
			envelope.Leave,
			func(key *signature.PrivateKey) ([]byte, error) { return raw(leave().Sign(group, key)) },
			func(raw []byte, key *signature.PublicKey) error {
				_, err := certificate.ParseLeave(group, raw, key)
				return err
			},
		},
		"failure": {
			envelope.Failure,
			func(key *signature.PrivateKey) ([]byte, error) { return raw(failure().Sign(group, key)) },
			func(raw []byte, key *signature.PublicKey) error {
				_, err := certificate.ParseFailure(group, raw, key)
				return err
			},
		},
		"request": {
			envelope.Request,
			func(key *signature.PrivateKey) ([]byte, error) { return raw(request().Sign(group, key)) },
			func(raw []byte, _ *signature.PublicKey) error {
				_, err := certificate.ParseRequest(group, raw)
				return err
			},
		},
	}
}

// Nobody signs a notice for another, under its own key id or the other's.
func TestNotices_OfAnother_Refused(t *testing.T) {
	bodies := map[string]any{"leave": ptr(leave()), "failure": ptr(failure()), "request": ptr(request())}
	for name, n := range notices() {
		_, err := n.sign(otherKey)
		assert.ErrorIs(t, err, certificate.ErrSigner, name)
		forged := func(kid ident.Member, signer *signature.PrivateKey) []byte {
			return envelopeOf(t, n.kind, kid, bodies[name], signer)
		}
		good := memberKey.Public()
		assert.NoError(t, n.parse(forged(memberOf(memberKey), memberKey), good), name)
		assert.ErrorIs(t, n.parse(forged(memberOf(otherKey), otherKey), good), certificate.ErrSigner, name)
		assert.ErrorIs(t, n.parse(forged(memberOf(otherKey), memberKey), good), certificate.ErrSigner, name)
		assert.ErrorIs(t, n.parse(forged(memberOf(memberKey), otherKey), good), certificate.ErrSignature, name)
		if name != "request" { // which needs no key
			assert.ErrorIs(t, n.parse(forged(memberOf(memberKey), memberKey), otherKey.Public()), certificate.ErrSigner, name)
		}
	}
}

func ptr[T any](x T) *T { return &x }

// A notice of one kind is none of another, even with the same payload.
func TestNotices_OfAnotherKind_Refused(t *testing.T) {
	all := notices()
	for name, n := range all {
		good, err := n.sign(memberKey)
		require.NoError(t, err)
		for other, o := range all {
			if err := o.parse(good, memberKey.Public()); other == name {
				assert.NoError(t, err, name)
			} else {
				assert.Error(t, err, "%s as %s", name, other)
			}
		}
	}
	// a leave's payload, signed as what an endpoint record is signed as
	l := leave()
	other := envelopeOf(t, envelope.Endpoint, l.Member, &l, memberKey)
	_, err := certificate.ParseLeave(group, other, memberKey.Public())
	assert.ErrorIs(t, err, certificate.ErrSignature)
}

func TestNotices_Altered_Refused(t *testing.T) {
	for name, n := range notices() {
		good, err := n.sign(memberKey)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			spoil(t, good, func(raw []byte) error { return n.parse(raw, memberKey.Public()) })
		})
	}
}

func TestMalformedNotices(t *testing.T) {
	for name, n := range notices() {
		for _, bad := range [][]byte{nil, {1}, []byte("leave")} {
			assert.ErrorIs(t, n.parse(bad, memberKey.Public()), certificate.ErrMalformed, name)
		}
	}
	_, err := certificate.LeaveSigner(group, nil)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	_, err = certificate.FailureSigner(group, []byte{1})
	assert.ErrorIs(t, err, certificate.ErrMalformed)
}

func TestFailure_Invalid_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*certificate.Failure)
		want   error
	}{
		"of oneself": {func(f *certificate.Failure) { f.Subject = f.Witness }, certificate.ErrSelf},
		"of nobody":  {func(f *certificate.Failure) { f.Subject = ident.Member{} }, certificate.ErrMalformed},
	} {
		f := failure()
		c.change(&f)
		_, err := f.Sign(group, memberKey)
		assert.ErrorIs(t, err, c.want, name)
		_, err = certificate.ParseFailure(group, envelopeOf(t, envelope.Failure, f.Witness, &f, memberKey), memberKey.Public())
		assert.ErrorIs(t, err, c.want, name)
	}
}

func TestNotices_CriticalExtension_Refused(t *testing.T) {
	critical := canonical.Extensions{}.With(4, canonical.Raw{1})
	l, f, r := leave(), failure(), request()
	l.Extensions, f.Extensions, r.Extensions = critical, critical, critical
	_, err := l.Sign(group, memberKey)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	_, err = f.Sign(group, memberKey)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	_, err = r.Sign(group, memberKey)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	for name, c := range map[string]struct {
		payload []any
		kind    envelope.Kind
	}{
		"leave":   {[]any{l.Member, l.Time, map[uint64]any{4: 1}}, envelope.Leave},
		"failure": {[]any{f.Witness, f.Subject, f.Sequence, f.Time, map[uint64]any{4: 1}}, envelope.Failure},
		"request": {[]any{r.Name, r.Key, r.Time, r.Nonce, map[uint64]any{4: 1}}, envelope.Request},
	} {
		err := notices()[name].parse(envelopeOf(t, c.kind, l.Member, c.payload, memberKey), memberKey.Public())
		assert.ErrorIs(t, err, canonical.ErrExtension, name)
	}
}

func TestRequest_Invalid_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*certificate.Request)
		want   error
	}{
		"no name":            {func(r *certificate.Request) { r.Name = "" }, certificate.ErrName},
		"long name":          {func(r *certificate.Request) { r.Name = strings.Repeat("a", 65) }, certificate.ErrName},
		"name":               {func(r *certificate.Request) { r.Name = "../ca" }, certificate.ErrName},
		"no key":             {func(r *certificate.Request) { r.Key = [32]byte{} }, certificate.ErrKey},
		"key of small order": {func(r *certificate.Request) { r.Key = [32]byte{1} }, certificate.ErrKey},
		"another's key":      {func(r *certificate.Request) { r.Key = otherKey.Public().Bytes() }, certificate.ErrSigner},
	} {
		r := request()
		c.change(&r)
		_, err := r.Sign(group, memberKey)
		assert.ErrorIs(t, err, c.want, name)
		_, err = certificate.ParseRequest(group, envelopeOf(t, envelope.Request, memberOf(memberKey), &r, memberKey))
		assert.ErrorIs(t, err, c.want, name)
	}
	// A request of one group is none in another: the key id is another one.
	good, err := request().Sign(group, memberKey)
	require.NoError(t, err)
	_, err = certificate.ParseRequest(groupOf(otherKey), good.Raw())
	assert.ErrorIs(t, err, certificate.ErrSigner)
}

// The largest notice of each kind still fits an object of a message.
func TestNotices_Largest_Fit(t *testing.T) {
	value := append(canonical.Raw{0x58, 0xfe}, make([]byte, 254)...)
	full := canonical.Extensions{}.With(1, value).With(3, value).With(5, value).With(7, value).With(9, value).With(11, value).With(13, value).With(15, value)
	f := failure()
	f.Extensions = full
	signed, err := f.Sign(group, memberKey)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(signed.Raw()), 4<<10)
	r := request()
	r.Name, r.Extensions = strings.Repeat("a", certificate.MaxName), full
	asked, err := r.Sign(group, memberKey)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(asked.Raw()), 4<<10)
}

// In a batch each object has the verdict that it has alone.
func TestUnverified_Batch_EachVerdict(t *testing.T) {
	l, err := leave().Sign(group, memberKey)
	require.NoError(t, err)
	forged := envelopeOf(t, envelope.Failure, failure().Witness, ptr(failure()), otherKey)
	good, err := certificate.ReadLeave(group, l.Raw(), memberKey.Public())
	require.NoError(t, err)
	bad, err := certificate.ReadFailure(group, forged, memberKey.Public())
	require.NoError(t, err)
	var batch envelope.Batch
	good.AddTo(&batch)
	bad.AddTo(&batch)
	results := batch.Verify(nil)
	accepted, err := good.Accept(results[0])
	require.NoError(t, err)
	assert.Equal(t, l.Raw(), accepted.Raw())
	assert.Equal(t, l.Body(), accepted.Body())
	refused, err := bad.Accept(results[1])
	assert.ErrorIs(t, err, certificate.ErrSignature)
	assert.True(t, refused.IsZero())
	_, err = bad.Verify()
	assert.ErrorIs(t, err, certificate.ErrSignature)
}
