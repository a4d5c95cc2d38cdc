package certificate_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

var (
	caKey     = newKey(1)
	memberKey = newKey(2)
	otherKey  = newKey(3)
	group     = groupOf(caKey)
	day       = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
)

func newKey(seed byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

func groupOf(ca *signature.PrivateKey) ident.Group {
	raw := ca.Public().Bytes()
	return ident.GroupOf(raw[:])
}

func memberOf(key *signature.PrivateKey) ident.Member {
	raw := key.Public().Bytes()
	return ident.MemberOf(group, raw[:])
}

// authorities is a CA by its key ids.
type authorities map[[16]byte]*signature.PublicKey

func (a authorities) Key(id [16]byte) *signature.PublicKey { return a[id] }

func trusting(keys ...*signature.PrivateKey) authorities {
	a := authorities{}
	for _, k := range keys {
		a[certificate.AuthorityID(k.Public())] = k.Public()
	}
	return a
}

func claims() certificate.Claims {
	return certificate.Claims{
		Name: "ftp-03.example", Serial: 7,
		NotBefore: day, NotAfter: day.AddDate(0, 0, 90), IssuedAt: day.Add(time.Hour),
		Key: memberKey.Public().Bytes(), Group: group, ConfigVersion: 3, RevocationVersion: 300,
	}
}

func mustSign(t require.TestingT, c certificate.Claims) certificate.Certificate {
	cert, err := c.Sign(caKey)
	require.NoError(t, err)
	return cert
}

func TestCertificate_Signed_RoundTrip(t *testing.T) {
	c := claims()
	signed := mustSign(t, c)
	parsed, err := certificate.Parse(group, signed.Raw(), trusting(caKey))
	require.NoError(t, err)
	assert.Equal(t, c, parsed.Body())
	assert.Equal(t, c, signed.Body())
	assert.Equal(t, signed.Raw(), parsed.Raw())
	assert.Equal(t, signed.Hash(), parsed.Hash())
	assert.Equal(t, memberOf(memberKey), parsed.Member())
	assert.Equal(t, "ftp-03.example", parsed.Name())
	assert.True(t, parsed.Key().Equal(memberKey.Public()))
	assert.False(t, parsed.IsZero())
	assert.True(t, certificate.Certificate{}.IsZero())
}

func TestCertificate_AnyClaims_RoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?`)
	second := rapid.Int64Range(0, 253402300798)
	rapid.Check(t, func(t *rapid.T) {
		c := claims()
		c.Name = name.Draw(t, "name")
		c.Serial = rapid.Uint64Min(1).Draw(t, "serial")
		c.NotBefore = time.Unix(second.Draw(t, "nbf"), 0).UTC()
		c.NotAfter = time.Unix(rapid.Int64Range(c.NotBefore.Unix()+1, 253402300799).Draw(t, "exp"), 0).UTC()
		c.IssuedAt = time.Unix(second.Draw(t, "iat"), 0).UTC()
		c.ConfigVersion = rapid.Uint64().Draw(t, "config")
		c.RevocationVersion = rapid.Uint64().Draw(t, "revocation")
		if rapid.Bool().Draw(t, "extended") {
			c.Extensions = canonical.Extensions{}.With(rapid.Uint64().Draw(t, "key")|1, canonical.Raw{0x01})
		}
		parsed, err := certificate.Parse(group, mustSign(t, c).Raw(), trusting(caKey))
		require.NoError(t, err)
		assert.Equal(t, c, parsed.Body())
	})
}

func TestCertificate_Times_CutToSeconds(t *testing.T) {
	c := claims()
	c.NotBefore = c.NotBefore.Add(999 * time.Millisecond).In(time.FixedZone("there", 3600))
	assert.Equal(t, day, mustSign(t, c).Body().NotBefore)
}

func TestClaims_Invalid_NotSigned(t *testing.T) {
	tests := []struct {
		name   string
		change func(*certificate.Claims)
		want   error
	}{
		{"no name", func(c *certificate.Claims) { c.Name = "" }, certificate.ErrName},
		{"long name", func(c *certificate.Claims) { c.Name = strings.Repeat("a", 65) }, certificate.ErrName},
		{"upper case", func(c *certificate.Claims) { c.Name = "Ftp" }, certificate.ErrName},
		{"path", func(c *certificate.Claims) { c.Name = "a/b" }, certificate.ErrName},
		{"option", func(c *certificate.Claims) { c.Name = "-rf" }, certificate.ErrName},
		{"dots", func(c *certificate.Claims) { c.Name = ".." }, certificate.ErrName},
		{"dash at the end", func(c *certificate.Claims) { c.Name = "a-" }, certificate.ErrName},
		{"serial", func(c *certificate.Claims) { c.Serial = 0 }, certificate.ErrSerial},
		{"before 1970", func(c *certificate.Claims) { c.NotBefore = time.Unix(-1, 0) }, certificate.ErrValidity},
		{"after 9999", func(c *certificate.Claims) { c.NotAfter = time.Unix(253402300800, 0) }, certificate.ErrValidity},
		{"no time", func(c *certificate.Claims) { c.IssuedAt = time.Time{} }, certificate.ErrValidity},
		{"ends as it begins", func(c *certificate.Claims) { c.NotAfter = c.NotBefore }, certificate.ErrValidity},
		{"no key", func(c *certificate.Claims) { c.Key = [32]byte{} }, certificate.ErrKey},
		{"small order", func(c *certificate.Claims) { c.Key = [32]byte{1} }, certificate.ErrKey},
		{"critical extension", func(c *certificate.Claims) { c.Extensions = canonical.Extensions{}.With(2, canonical.Raw{1}) }, certificate.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := claims()
			tt.change(&c)
			_, err := c.Sign(caKey)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

// claimsMap is a certificate's payload as a map, to be spoilt.
func claimsMap() map[int64]any {
	key := memberKey.Public().Bytes()
	return map[int64]any{
		2: "a", 4: uint64(200), 5: uint64(100), 6: uint64(100), 7: [8]byte{7: 1},
		8:      map[int]any{1: map[int]any{1: 1, -1: 6, -2: key}},
		-70001: group, -70002: uint64(1), -70003: uint64(0),
	}
}

func envelopeOf(t testing.TB, kind envelope.Kind, kid [16]byte, payload any, key *signature.PrivateKey) []byte {
	encoded, err := canonical.Marshal(payload)
	require.NoError(t, err)
	v, err := envelope.Sign(envelope.Domain{Version: certificate.Version, Group: group, Kind: kind}, kid, encoded, key)
	require.NoError(t, err)
	return v.Raw()
}

func TestCertificate_SignedInvalid_Refused(t *testing.T) {
	x := memberKey.Public().Bytes()
	cose := func(pairs map[int]any) map[int]any { return map[int]any{1: pairs} }
	tests := []struct {
		name   string
		change func(map[int64]any)
		want   error
	}{
		{"as it should be", func(map[int64]any) {}, nil},
		{"known kind of extension", func(m map[int64]any) { m[-70004] = map[int]any{1: 1} }, nil},
		{"critical extension", func(m map[int64]any) { m[-70004] = map[int]any{2: 1} }, canonical.ErrExtension},
		{"empty extensions", func(m map[int64]any) { m[-70004] = map[int]any{} }, certificate.ErrMalformed},
		{"unknown claim", func(m map[int64]any) { m[1] = "issuer" }, certificate.ErrMalformed},
		{"missing claim", func(m map[int64]any) { delete(m, 6) }, certificate.ErrMalformed},
		{"name", func(m map[int64]any) { m[2] = "A" }, certificate.ErrName},
		{"name as bytes", func(m map[int64]any) { m[2] = []byte("a") }, certificate.ErrMalformed},
		{"serial", func(m map[int64]any) { m[7] = [8]byte{} }, certificate.ErrSerial},
		{"short serial", func(m map[int64]any) { m[7] = [7]byte{1} }, certificate.ErrMalformed},
		{"time after 9999", func(m map[int64]any) { m[4] = uint64(1) << 62 }, certificate.ErrValidity},
		{"validity", func(m map[int64]any) { m[4] = uint64(100) }, certificate.ErrValidity},
		{"key type", func(m map[int64]any) { m[8] = cose(map[int]any{1: 2, -1: 6, -2: x}) }, certificate.ErrKey},
		{"curve", func(m map[int64]any) { m[8] = cose(map[int]any{1: 1, -1: 4, -2: x}) }, certificate.ErrKey},
		{"key of small order", func(m map[int64]any) { m[8] = cose(map[int]any{1: 1, -1: 6, -2: [32]byte{1}}) }, certificate.ErrKey},
		{"private key", func(m map[int64]any) { m[8] = cose(map[int]any{1: 1, -1: 6, -2: x, -4: x}) }, certificate.ErrMalformed},
		{"group", func(m map[int64]any) { m[-70001] = ident.Group{1} }, certificate.ErrGroup},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := claimsMap()
			tt.change(m)
			raw := envelopeOf(t, envelope.Certificate, certificate.AuthorityID(caKey.Public()), m, caKey)
			_, err := certificate.Parse(group, raw, trusting(caKey))
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestCertificate_OfOthers_Refused(t *testing.T) {
	raw := mustSign(t, claims()).Raw()
	_, err := certificate.Parse(group, raw, trusting(otherKey))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)

	_, err = certificate.Parse(groupOf(otherKey), raw, trusting(otherKey))
	assert.ErrorIs(t, err, certificate.ErrGroup)

	forged := envelopeOf(t, envelope.Certificate, certificate.AuthorityID(caKey.Public()), claimsMap(), otherKey)
	_, err = certificate.Parse(group, forged, trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrSignature)

	elsewhere := envelopeOf(t, envelope.Revocation, certificate.AuthorityID(caKey.Public()), claimsMap(), caKey)
	_, err = certificate.Parse(group, elsewhere, trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrSignature)
}

func TestCertificate_BeginningAndEnd_HalfOpen(t *testing.T) {
	cert := mustSign(t, claims())
	begin, end := cert.Body().NotBefore, cert.Body().NotAfter
	assert.ErrorIs(t, cert.ValidAt(begin.Add(-1)), certificate.ErrNotYetValid)
	assert.NoError(t, cert.ValidAt(begin))
	assert.NoError(t, cert.ValidAt(end.Add(-1)))
	assert.ErrorIs(t, cert.ValidAt(end), certificate.ErrExpired)
}

// spoil calls parse with every version of raw that has one bit flipped, is cut
// short or has a byte behind it.
func spoil(t *testing.T, raw []byte, parse func([]byte) error) {
	t.Helper()
	require.NoError(t, parse(raw))
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			require.Error(t, parse(bad), "bit %d of byte %d flipped", bit, i)
		}
		require.Error(t, parse(raw[:i]), "cut to %d bytes", i)
	}
	require.Error(t, parse(append(bytes.Clone(raw), 0)))
}

func TestCertificate_Altered_Refused(t *testing.T) {
	spoil(t, mustSign(t, claims()).Raw(), func(raw []byte) error {
		_, err := certificate.Parse(group, raw, trusting(caKey))
		return err
	})
}
