package enrolment_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/group"
)

// A member trusts the keys in force and those that they vouch for; a retired
// one, which may be in somebody else's hands, counts no more.
func TestClient_MembersAndRotation_Answered(t *testing.T) {
	c := chain(t)
	load := func(config group.Config, list ...group.Authority) *group.Group {
		g, err := group.New(list, config)
		require.NoError(t, err)
		return g
	}
	young := load(configuration(t, 1, first, first), c[0])
	both := load(configuration(t, 2, first, first, second), c[:2]...)
	grown := load(configuration(t, 3, second, second), c[:2]...)
	for name, one := range map[string]struct {
		has   *group.Group
		shown group.Authority
		by    *signature.PrivateKey
		want  error
	}{
		"first":                           {young, c[0], first, nil},
		"has not heard of the second yet": {young, c[1], second, nil},
		"both, by the first":              {both, c[0], first, nil},
		"both, by the second":             {both, c[1], second, nil},
		"second":                          {grown, c[1], second, nil},
		"the first is retired":            {grown, c[0], first, enrolment.ErrImpostor},
		"vouched for by a retired one":    {grown, c[2], third, enrolment.ErrImpostor},
	} {
		body, err := enrolment.Encode(enrolment.RenewAnswer{
			Certificate: issue(t, ada, "ada", one.by).Raw(), Authorities: raws(c[:2]...),
		})
		require.NoError(t, err)
		s := serve(t, shown(t, groupID, raws(c...), one.shown, one.by, start), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(body)
		})
		client := enrolment.Client{
			Addresses: []string{s.address}, Group: one.has, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start),
		}
		renewed, err := client.Renew(t.Context())
		if one.want != nil {
			assert.ErrorIs(t, err, one.want, name)
			assert.Zero(t, s.bytes.Load(), name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, client.Certificate.Member(), renewed.Certificate.Member())
		assert.EqualValues(t, 1, s.shown.Load(), "it says who it is")
	}
}

// A renewed certificate is the member's own.
func TestRenew_OthersCertificate_Refused(t *testing.T) {
	c := chain(t)
	g, err := group.New(c[:1], configuration(t, 1, first, first))
	require.NoError(t, err)
	body, err := enrolment.Encode(enrolment.RenewAnswer{Certificate: issue(t, newKey(9), "ada", first).Raw(), Authorities: raws(c[0])})
	require.NoError(t, err)
	s := serve(t, shown(t, groupID, raws(c[0]), c[0], first, start), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	client := enrolment.Client{Addresses: []string{s.address}, Group: g, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start)}
	_, err = client.Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrAnswer)

	// Nor does a renewal make a gate of a member, or a member of a gate.
	claims := client.Certificate.Body()
	claims.Role = certificate.GateRole
	gate, err := claims.Sign(first)
	require.NoError(t, err)
	for _, renewal := range [][2]certificate.Certificate{{client.Certificate, gate}, {gate, client.Certificate}} {
		client.Certificate = renewal[0]
		body, err = enrolment.Encode(enrolment.RenewAnswer{Certificate: renewal[1].Raw(), Authorities: raws(c[0])})
		require.NoError(t, err)
		_, err = client.Renew(t.Context())
		assert.ErrorIs(t, err, enrolment.ErrAnswer)
		assert.ErrorIs(t, err, certificate.ErrRole)
	}
}

// What a service says of a newer configuration has to be newer, and signed.
func TestSync_Older_Ignored(t *testing.T) {
	c := chain(t)
	g, err := group.New(c[:1], configuration(t, 5, first, first))
	require.NoError(t, err)
	for name, one := range map[string]struct {
		configuration []byte
		want          error
	}{
		"none":   {nil, nil},
		"newer":  {configuration(t, 6, first, first).Raw(), nil},
		"same":   {configuration(t, 5, first, first).Raw(), enrolment.ErrAnswer},
		"older":  {configuration(t, 4, first, first).Raw(), enrolment.ErrAnswer},
		"forged": {configuration(t, 6, foreign, foreign).Raw(), enrolment.ErrAnswer},
	} {
		body, err := enrolment.Encode(enrolment.SyncAnswer{Publication: enrolment.Publication{Authorities: raws(c[0]), Configuration: one.configuration}})
		require.NoError(t, err)
		s := serve(t, shown(t, groupID, raws(c...), c[0], first, start), func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			q, err := enrolment.Decode[enrolment.SyncRequest](raw)
			assert.NoError(t, err)
			assert.EqualValues(t, 5, q.Configuration)
			assert.Len(t, q.Leaves, enrolment.MaxLeaves)
			_, _ = w.Write(body)
		})
		client := enrolment.Client{Addresses: []string{s.address}, Group: g, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start)}
		leaves := make([][]byte, enrolment.MaxLeaves+1)
		for i := range leaves {
			leaves[i] = []byte{1}
		}
		_, err = client.Sync(t.Context(), enrolment.Mine{Leaves: leaves})
		if one.want == nil {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorIs(t, err, one.want, name)
		}
	}
}

// Limits hold on both sides of the wire, and every reason has a sentinel.
func TestMessageLimits(t *testing.T) {
	many := func(n int) [][]byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = []byte{1}
		}
		return list
	}
	_, err := enrolment.Encode(enrolment.EnrolRequest{})
	assert.ErrorIs(t, err, enrolment.ErrMalformed)
	_, err = enrolment.Encode(enrolment.SyncRequest{Leaves: many(enrolment.MaxLeaves + 1)})
	assert.ErrorIs(t, err, enrolment.ErrMalformed)
	_, err = enrolment.Encode(enrolment.EvidenceRequest{Evidence: make([]byte, evidence.MaxSize+1)})
	assert.ErrorIs(t, err, enrolment.ErrMalformed)
	largest, err := enrolment.Encode(enrolment.EvidenceRequest{Evidence: make([]byte, evidence.MaxSize)})
	require.NoError(t, err)
	_, err = enrolment.Decode[enrolment.EvidenceRequest](largest)
	assert.NoError(t, err)
	for name, change := range map[string]func(*enrolment.EnrolAnswer){
		"no certificate":       func(a *enrolment.EnrolAnswer) { a.Certificate = nil },
		"no configuration":     func(a *enrolment.EnrolAnswer) { a.Publication.Configuration = nil },
		"no authority":         func(a *enrolment.EnrolAnswer) { a.Publication.Authorities = nil },
		"too many authorities": func(a *enrolment.EnrolAnswer) { a.Publication.Authorities = many(9) },
		"too many peers":       func(a *enrolment.EnrolAnswer) { a.Peers = make([]enrolment.Peer, 9) },
		"too many revocations": func(a *enrolment.EnrolAnswer) { a.Publication.Revocations = many(enrolment.MaxRevocations + 1) },
		"too large":            func(a *enrolment.EnrolAnswer) { a.Certificate = make([]byte, 5000) },
	} {
		a := good(t)
		change(&a)
		_, err := enrolment.Encode(a)
		assert.ErrorIs(t, err, enrolment.ErrMalformed, name)
	}
	full := enrolment.SyncAnswer{Publication: enrolment.Publication{Authorities: many(8), Leaves: many(enrolment.MaxLeaves)}}
	full.Publication.Revocations = many(enrolment.MaxRevocations)
	for i := range full.Publication.Revocations {
		full.Publication.Revocations[i] = make([]byte, 600) // the longest has 512 bytes of reason
	}
	raw, err := enrolment.Encode(full)
	require.NoError(t, err, "the largest answer fits")
	_, err = enrolment.Decode[enrolment.SyncAnswer](raw)
	require.NoError(t, err)
	for r := enrolment.Refused; r <= enrolment.Failed; r++ {
		assert.NotErrorIs(t, r.Err(), enrolment.ErrAnswer)
	}
	assert.ErrorIs(t, enrolment.Reason(99).Err(), enrolment.ErrAnswer)
	assert.Equal(t, 403, enrolment.Reason(99).Status())
	assert.False(t, strings.Contains((&enrolment.BusyError{}).Error(), "%!"))
}
