package certificate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
)

func gateClaims() certificate.Claims {
	c := claims()
	c.Role = certificate.GateRole
	return c
}

// A gate's certificate is read as one by those that ask for it, and never as a member's.
func TestRole_Gate_NoMember(t *testing.T) {
	signed := mustSign(t, gateClaims())
	for name, read := range map[string]func() (certificate.Certificate, error){
		"gate": func() (certificate.Certificate, error) {
			return certificate.ParseGate(group, signed.Raw(), trusting(caKey))
		},
		"any": func() (certificate.Certificate, error) {
			return certificate.ParseAny(group, signed.Raw(), trusting(caKey))
		},
		"packed": func() (certificate.Certificate, error) { return signed.Pack().Open(), nil },
	} {
		parsed, err := read()
		require.NoError(t, err, name)
		assert.Equal(t, gateClaims(), parsed.Body(), name)
		assert.Equal(t, certificate.GateRole, parsed.Role(), name)
	}
	_, err := certificate.Parse(group, signed.Raw(), trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrRole)
	_, err = certificate.Read(group, signed.Raw(), trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrRole)
	claims, err := certificate.Peek(group, signed.Raw())
	require.NoError(t, err)
	assert.Equal(t, certificate.GateRole, claims.Role)
}

func TestRole_Member_NoGate(t *testing.T) {
	member := mustSign(t, claims())
	assert.Equal(t, certificate.MemberRole, member.Role())
	assert.Equal(t, claims().Role, certificate.MemberRole)
	_, err := certificate.ParseGate(group, member.Raw(), trusting(caKey))
	assert.ErrorIs(t, err, certificate.ErrRole)
	_, err = certificate.ParseAny(group, member.Raw(), trusting(caKey))
	assert.NoError(t, err)
	assert.ErrorIs(t, member.CheckGate(member.Member(), day), certificate.ErrRole)
}

// What somebody writes into the claim in place of 1 is refused, whoever asks. The claim is a member's as long as it is
// not there: writing that out would be a second encoding of the same.
func TestRole_Unknown_Refused(t *testing.T) {
	for role, want := range map[any]error{
		uint64(0): certificate.ErrMalformed, uint64(2): certificate.ErrRole, ^uint64(0): certificate.ErrRole,
		-1: certificate.ErrMalformed, "gate": certificate.ErrMalformed, nil: certificate.ErrMalformed,
	} {
		raw := withClaim(t, -70005, role)
		for name, read := range map[string]func() (certificate.Certificate, error){
			"member": func() (certificate.Certificate, error) { return certificate.Parse(group, raw, trusting(caKey)) },
			"gate":   func() (certificate.Certificate, error) { return certificate.ParseGate(group, raw, trusting(caKey)) },
			"any":    func() (certificate.Certificate, error) { return certificate.ParseAny(group, raw, trusting(caKey)) },
		} {
			_, err := read()
			assert.ErrorIs(t, err, want, "%v as %s", role, name)
		}
	}
	raw := withClaim(t, -70005, uint64(1))
	_, err := certificate.ParseGate(group, raw, trusting(caKey))
	assert.NoError(t, err, "the claims that these are made of are good")

	c := claims()
	c.Role = 2
	_, err = c.Sign(caKey)
	assert.ErrorIs(t, err, certificate.ErrRole)
}

// withClaim is a member's certificate with one claim more.
func withClaim(t *testing.T, key int, value any) []byte {
	t.Helper()
	d := envelope.Domain{Version: certificate.Version, Group: group, Kind: envelope.Certificate}
	u, err := envelope.Parse(d, mustSign(t, claims()).Raw())
	require.NoError(t, err)
	var all map[int]any
	require.NoError(t, canonical.Unmarshal(u.Payload(), &all, canonical.Limits{MaxBytes: 1 << 10, MaxDepth: 5, MaxItems: 64}))
	all[key] = value
	payload, err := canonical.Marshal(all)
	require.NoError(t, err)
	v, err := envelope.Sign(d, certificate.AuthorityID(caKey.Public()), payload, caKey)
	require.NoError(t, err)
	return v.Raw()
}

func TestCheckGate(t *testing.T) {
	c := mustSign(t, gateClaims())
	assert.NoError(t, c.CheckGate(memberOf(memberKey), day))
	assert.ErrorIs(t, c.CheckGate(memberOf(otherKey), day), certificate.ErrOtherGate)
	assert.ErrorIs(t, c.CheckGate(memberOf(memberKey), day.AddDate(0, 0, -1)), certificate.ErrNotYetValid)
	assert.ErrorIs(t, c.CheckGate(memberOf(memberKey), day.AddDate(0, 0, 90)), certificate.ErrExpired)
}

func TestRole_Text_RoundTrip(t *testing.T) {
	for role, text := range map[certificate.Role]string{certificate.MemberRole: `"member"`, certificate.GateRole: `"gate"`} {
		got, err := json.Marshal(role)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
		var back certificate.Role
		require.NoError(t, json.Unmarshal(got, &back))
		assert.Equal(t, role, back)
	}
	assert.ErrorIs(t, new(certificate.Role).UnmarshalText([]byte("role 2")), certificate.ErrRole)
	assert.Equal(t, "role 2", certificate.Role(2).String())
}
