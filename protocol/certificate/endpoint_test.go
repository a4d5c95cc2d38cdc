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

func endpoint() certificate.Endpoint {
	return certificate.Endpoint{
		Member: memberOf(memberKey), Sequence: 9, Mode: certificate.Reachable,
		Addresses: []string{"ftp-03.example.org:4133", "[2001:db8::1]:4133"},
		Attached:  []ident.Member{}, Time: 1_700_000_000_000,
	}
}

func dialsOut(e *certificate.Endpoint) {
	e.Mode, e.Addresses, e.Attached = certificate.DialsOut, []string{}, []ident.Member{{1}, {2}}
}

func TestEndpoint_Signed_RoundTrip(t *testing.T) {
	for _, change := range []func(*certificate.Endpoint){func(*certificate.Endpoint) {}, dialsOut} {
		e := endpoint()
		change(&e)
		signed, err := e.Sign(group, memberKey)
		require.NoError(t, err)
		signer, err := certificate.EndpointSigner(group, signed.Raw())
		require.NoError(t, err)
		assert.Equal(t, e.Member, signer)
		parsed, err := certificate.ParseEndpoint(group, signed.Raw(), memberKey.Public())
		require.NoError(t, err)
		assert.Equal(t, e, parsed.Body())
		assert.Equal(t, signed.Raw(), parsed.Raw())
		assert.Equal(t, signed.Hash(), parsed.Hash())
		assert.False(t, parsed.IsZero())
	}
}

func TestEndpoint_Invalid_Refused(t *testing.T) {
	many := make([]ident.Member, certificate.MaxAttached+1)
	for i := range many {
		many[i] = ident.Member{byte(i + 1)}
	}
	tests := []struct {
		name   string
		change func(*certificate.Endpoint)
		want   error
	}{
		{"mode 0", func(e *certificate.Endpoint) { e.Mode = 0 }, certificate.ErrMode},
		{"mode 3", func(e *certificate.Endpoint) { e.Mode = 3 }, certificate.ErrMode},
		{"reachable nowhere", func(e *certificate.Endpoint) { e.Addresses = nil }, certificate.ErrMode},
		{"reachable and attached", func(e *certificate.Endpoint) { e.Attached = many[:1] }, certificate.ErrMode},
		{"dials out with address", func(e *certificate.Endpoint) { e.Mode = certificate.DialsOut }, certificate.ErrMode},
		{"address", func(e *certificate.Endpoint) { e.Addresses[1] = "nowhere" }, certificate.ErrAddress},
		{"addresses", func(e *certificate.Endpoint) {
			e.Addresses = strings.Split(strings.Repeat("a:1 ", 8)+"a:1", " ")
		}, certificate.ErrTooMany},
		{"attachments", func(e *certificate.Endpoint) { dialsOut(e); e.Attached = many }, certificate.ErrTooMany},
		{"attached to itself", func(e *certificate.Endpoint) { dialsOut(e); e.Attached[1] = e.Member }, certificate.ErrAttached},
		{"attached twice", func(e *certificate.Endpoint) { dialsOut(e); e.Attached[1] = e.Attached[0] }, certificate.ErrAttached},
		{"attached to nobody", func(e *certificate.Endpoint) { dialsOut(e); e.Attached[1] = ident.Member{} }, certificate.ErrAttached},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := endpoint()
			tt.change(&e)
			_, err := e.Sign(group, memberKey)
			assert.ErrorIs(t, err, tt.want)
			_, err = certificate.ParseEndpoint(group, envelopeOf(t, envelope.Endpoint, e.Member, &e, memberKey), memberKey.Public())
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestEndpoint_CriticalExtension_Refused(t *testing.T) {
	e := endpoint()
	e.Extensions = canonical.Extensions{}.With(4, canonical.Raw{1})
	_, err := e.Sign(group, memberKey)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	assert.ErrorIs(t, err, canonical.ErrExtension)
}

func TestEndpoint_Largest_Fits(t *testing.T) {
	e := endpoint()
	e.Addresses = nil
	for range certificate.MaxAddresses {
		e.Addresses = append(e.Addresses, strings.Repeat("h", certificate.MaxAddress-6)+":65535")
	}
	signed, err := e.Sign(group, memberKey)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(signed.Raw()), 4<<10)

	value := append(canonical.Raw{0x58, 0xfe}, make([]byte, 254)...)
	e.Extensions = canonical.Extensions{}.With(1, value).With(3, value).With(5, value).With(7, value).With(9, value).With(11, value).With(13, value).With(15, value)
	_, err = e.Sign(group, memberKey)
	assert.ErrorIs(t, err, certificate.ErrTooLarge)
}

func TestEndpoint_OfAnother_Refused(t *testing.T) {
	e := endpoint()
	_, err := e.Sign(group, otherKey)
	assert.ErrorIs(t, err, certificate.ErrSigner)

	parse := func(kid ident.Member, signer, verifier *signature.PrivateKey) error {
		_, err := certificate.ParseEndpoint(group, envelopeOf(t, envelope.Endpoint, kid, &e, signer), verifier.Public())
		return err
	}
	assert.NoError(t, parse(e.Member, memberKey, memberKey))
	assert.ErrorIs(t, parse(memberOf(otherKey), otherKey, otherKey), certificate.ErrSigner)
	assert.ErrorIs(t, parse(memberOf(otherKey), memberKey, memberKey), certificate.ErrSigner)
	assert.ErrorIs(t, parse(e.Member, otherKey, otherKey), certificate.ErrSigner)
	assert.ErrorIs(t, parse(e.Member, otherKey, memberKey), certificate.ErrSignature)
}

func TestEndpoint_Signed_ListsNotShared(t *testing.T) {
	e := endpoint()
	signed, err := e.Sign(group, memberKey)
	require.NoError(t, err)
	e.Addresses[0] = "changed:1"
	assert.Equal(t, endpoint(), signed.Body())
}

func TestMalformedEndpoint(t *testing.T) {
	_, err := certificate.ParseEndpoint(group, []byte{1}, memberKey.Public())
	assert.ErrorIs(t, err, certificate.ErrMalformed)
	_, err = certificate.EndpointSigner(group, nil)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
}

func TestEndpoint_Altered_Refused(t *testing.T) {
	e := endpoint()
	signed, err := e.Sign(group, memberKey)
	require.NoError(t, err)
	spoil(t, signed.Raw(), func(raw []byte) error {
		_, err := certificate.ParseEndpoint(group, raw, memberKey.Public())
		return err
	})
}

func TestCheckAddress(t *testing.T) {
	for _, good := range []string{
		"a:1", "ftp-03.example.org:65535", "192.0.2.1:4133", "[::1]:4133", "[::ffff:192.0.2.1]:1", "[:::.F]:1", "my_host:80", "-Host.:1", "999.1:1",
		strings.Repeat("a", 255) + ":12345",
	} {
		assert.NoError(t, certificate.CheckAddress(good), good)
	}
	for _, bad := range []string{
		"", "a", ":", "a:", ":1", "a:0", "a:65536", "a:01", "a:+1", "a:http", "::1:4133", "[::1:4133", "::1]:4133", "[]:1",
		"[a.b]:1", "[fe80::1%eth0]:1", "a b:1", "a\n:1", "ä:1", "[::1] :1", "a/b:1", strings.Repeat("a", 256) + ":1",
	} {
		assert.ErrorIs(t, certificate.CheckAddress(bad), certificate.ErrAddress, bad)
	}
}

func TestMode_Each_Named(t *testing.T) {
	assert.Equal(t, "reachable", certificate.Reachable.String())
	assert.Equal(t, "dials out only", certificate.DialsOut.String())
	assert.Equal(t, "mode 9", certificate.Mode(9).String())
}
