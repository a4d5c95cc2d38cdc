package certificate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func revocation() certificate.Revocation {
	return certificate.Revocation{Version: 4, Member: memberOf(memberKey), Serial: 7, Reason: "laptop stolen, Zürich", Time: 1_700_000_000_000}
}

func TestRevocation_Signed_RoundTrip(t *testing.T) {
	signed, err := revocation().Sign(group, caKey)
	require.NoError(t, err)
	parsed, err := certificate.ParseRevocation(group, signed.Raw(), trusting(caKey))
	require.NoError(t, err)
	assert.Equal(t, revocation(), parsed.Body())
	assert.Equal(t, revocation().Member, parsed.Body().Member)
	assert.Equal(t, signed.Raw(), parsed.Raw())
	assert.Equal(t, signed.Hash(), parsed.Hash())
	assert.False(t, parsed.IsZero())
}

func TestRevocation_Invalid_Refused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*certificate.Revocation)
		want   error
	}{
		{"version", func(r *certificate.Revocation) { r.Version = 0 }, certificate.ErrVersion},
		{"nobody", func(r *certificate.Revocation) { r.Member = ident.Member{} }, certificate.ErrMalformed},
		{"long reason", func(r *certificate.Revocation) { r.Reason = strings.Repeat("a", 129) }, certificate.ErrReason},
		{"escape sequence", func(r *certificate.Revocation) { r.Reason = "\x1b[2J" }, certificate.ErrReason},
		{"two lines", func(r *certificate.Revocation) { r.Reason = "a\nb" }, certificate.ErrReason},
		{"replacement character", func(r *certificate.Revocation) { r.Reason = "\uFFFD" }, certificate.ErrReason},
		{"text that is read from right to left", func(r *certificate.Revocation) { r.Reason = "cba\u202Ecba" }, certificate.ErrReason},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := revocation()
			tt.change(&r)
			_, err := r.Sign(group, caKey)
			assert.ErrorIs(t, err, tt.want)
			raw := envelopeOf(t, envelope.Revocation, certificate.AuthorityID(caKey.Public()), &r, caKey)
			_, err = certificate.ParseRevocation(group, raw, trusting(caKey))
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestRevocation_CriticalExtension_Refused(t *testing.T) {
	r := revocation()
	r.Extensions = canonical.Extensions{}.With(0, canonical.Raw{1})
	_, err := r.Sign(group, caKey)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
}

func TestRevocation_ByOthers_Refused(t *testing.T) {
	signed, err := revocation().Sign(group, otherKey)
	require.NoError(t, err)
	_, err = certificate.ParseRevocation(group, signed.Raw(), trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)

	elsewhere, err := revocation().Sign(groupOf(otherKey), caKey)
	require.NoError(t, err)
	_, err = certificate.ParseRevocation(group, elsewhere.Raw(), trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrSignature)

	_, err = certificate.ParseRevocation(group, nil, trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrMalformed)
}

func TestRevocation_Altered_Refused(t *testing.T) {
	signed, err := revocation().Sign(group, caKey)
	require.NoError(t, err)
	spoil(t, signed.Raw(), func(raw []byte) error {
		_, err := certificate.ParseRevocation(group, raw, trusting(caKey))
		return err
	})
}
