package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestAuthority_First_ProvesItself(t *testing.T) {
	a := authority(t, firstKey, firstKey)
	got, err := group.GroupOf(a.Raw())
	require.NoError(t, err)
	assert.Equal(t, id, got)
	parsed, err := group.ParseAuthority(id, a.Raw(), trusting())
	require.NoError(t, err)
	assert.Equal(t, statement(firstKey), parsed.Body())
	assert.Equal(t, a.Raw(), parsed.Raw())
	assert.Equal(t, a.Hash(), parsed.Hash())
	assert.Equal(t, certificate.AuthorityID(firstKey.Public()), parsed.ID())
	assert.True(t, parsed.Key().Equal(firstKey.Public()))
	assert.False(t, parsed.IsZero())
}

func TestAuthority_Later_VouchedFor(t *testing.T) {
	a := authority(t, secondKey, firstKey)
	parsed, err := group.ParseAuthority(id, a.Raw(), trusting(firstKey))
	require.NoError(t, err)
	assert.Equal(t, statement(secondKey), parsed.Body())

	_, err = group.ParseAuthority(id, a.Raw(), trusting(thirdKey))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = group.ParseAuthority(id, a.Raw(), trusting(secondKey))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
}

func TestAuthority_SelfVouchedOtherGroup_Refused(t *testing.T) {
	_, err := statement(secondKey).Sign(secondKey)
	assert.ErrorIs(t, err, group.ErrGroup)

	raw := envelopeOf(t, envelope.Authority, statementList(func(l []any) { l[2] = secondKey.Public().Bytes() }), secondKey)
	_, err = group.ParseAuthority(id, raw, trusting(firstKey, secondKey))
	assert.ErrorIs(t, err, group.ErrGroup)
}

// statementList is a statement's payload as an array, to be spoilt.
func statementList(change func([]any)) []any {
	l := []any{"demo", id, firstKey.Public().Bytes(), uint64(100), uint64(200), uint64(0), map[int]any{}}
	change(l)
	return l
}

func TestStatement_Invalid_Refused(t *testing.T) {
	tests := []struct {
		name   string
		change func([]any)
		want   error
	}{
		{"as it should be", func([]any) {}, nil},
		{"name", func(l []any) { l[0] = "De mo" }, group.ErrName},
		{"other group", func(l []any) { l[1] = ident.Group{1} }, group.ErrGroup},
		{"key", func(l []any) { l[2] = [32]byte{1} }, group.ErrKey},
		{"short key", func(l []any) { l[2] = [31]byte{1} }, group.ErrMalformed},
		{"validity", func(l []any) { l[4] = uint64(100) }, group.ErrValidity},
		{"after 9999", func(l []any) { l[4] = uint64(1) << 60 }, group.ErrValidity},
		{"version", func(l []any) { l[5] = uint64(1) }, group.ErrVersion},
		{"critical extension", func(l []any) { l[6] = map[int]any{2: 1} }, canonical.ErrExtension},
		{"other extension", func(l []any) { l[6] = map[int]any{1: 1} }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := envelopeOf(t, envelope.Authority, statementList(tt.change), firstKey)
			_, err := group.ParseAuthority(id, raw, trusting())
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestStatement_Invalid_NotSigned(t *testing.T) {
	tests := []struct {
		name   string
		change func(*group.Statement)
		want   error
	}{
		{"name", func(s *group.Statement) { s.Name = "" }, group.ErrName},
		{"no time", func(s *group.Statement) { s.NotBefore = time.Time{} }, group.ErrValidity},
		{"validity", func(s *group.Statement) { s.NotAfter = s.NotBefore.Add(time.Millisecond) }, group.ErrValidity},
		{"key", func(s *group.Statement) { s.Key = [32]byte{1} }, group.ErrKey},
		{"version", func(s *group.Statement) { s.Version = 1 }, group.ErrVersion},
		{"extension", func(s *group.Statement) { s.Extensions = canonical.Extensions{}.With(2, canonical.Raw{1}) }, group.ErrMalformed},
		{"other group", func(s *group.Statement) { s.Group = ident.Group{1} }, group.ErrGroup},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := statement(firstKey)
			tt.change(&s)
			_, err := s.Sign(firstKey)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestMalformedStatement(t *testing.T) {
	_, err := group.ParseAuthority(id, []byte{1}, trusting())
	assert.ErrorIs(t, err, group.ErrMalformed)
	_, err = group.GroupOf(nil)
	assert.ErrorIs(t, err, group.ErrMalformed)
	_, err = group.GroupOf(envelopeOf(t, envelope.Authority, "text", firstKey))
	assert.ErrorIs(t, err, group.ErrMalformed)
}

func TestStatement_Altered_Refused(t *testing.T) {
	spoil(t, authority(t, firstKey, firstKey).Raw(), func(raw []byte) error {
		_, err := group.ParseAuthority(id, raw, trusting())
		return err
	})
	spoil(t, authority(t, secondKey, firstKey).Raw(), func(raw []byte) error {
		_, err := group.ParseAuthority(id, raw, trusting(firstKey))
		return err
	})
}
