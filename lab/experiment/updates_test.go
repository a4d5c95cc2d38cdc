package experiment

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/sim/circulation"
)

// TestJoins_Multitoken_Real: what the lists carry in the runs verifies.
func TestJoins_Multitoken_Real(t *testing.T) {
	ca := numberedKey(0).Public()
	root := ca.Bytes()
	group := ident.GroupOf(root[:])
	seen := map[ident.Member]bool{}
	for _, raw := range signedJoins(3) {
		u, err := update.Parse(raw)
		require.NoError(t, err)
		require.Equal(t, update.KindJoin, u.Kind)
		claims, err := certificate.Parse(group, u.Certificate, authoritiesOf{ca})
		require.NoError(t, err)
		e, err := certificate.ParseEndpoint(group, u.Endpoint, claims.Key())
		require.NoError(t, err)
		assert.Equal(t, claims.Member(), e.Body().Member)
		assert.InDelta(t, 430, len(raw), 5, "the notes say so")
		seen[claims.Member()] = true
	}
	assert.Len(t, seen, 3)
}

// TestShares_ByHand_Equal follows one joining in a group of four and one in a group of
// five.
func TestShares_ByHand_Equal(t *testing.T) {
	w, err := circulation.New(grow(nil, multitoken.Jittered, 4, 2).config(1))
	require.NoError(t, err)
	o := &watch{world: w, members: 4, spread: &spread{}}
	at := func(s int, member, subject int) {
		w.Run(clock.Instant(s) * clock.Instant(1e9))
		o.learned(member, subject)
	}
	o.begin()
	at(1, 4, 4) // itself
	at(2, 0, 4)
	o.begin()
	at(3, 1, 4)
	at(4, 5, 4) // joined later
	at(5, 2, 4)
	at(6, 0, 5)
	at(7, 4, 5)
	at(8, 3, 4)
	at(9, 1, 0) // no joiner
	for percent, want := range map[int]float64{0: 2, 25: 2, 26: 3, 50: 3, 75: 5, 76: 8, 99: 8, 100: 8} {
		assert.Equal(t, want, o.times[0][percent], percent)
	}
	inf := math.Inf(1)
	for percent, want := range map[int]float64{0: 4, 20: 4, 21: 5, 40: 5, 41: inf, 100: inf} {
		assert.Equal(t, want, o.times[1][percent], percent)
	}
	assert.Equal(t, []float64{3, inf}, o.column(50))
}

// TestUpdates_Run_ReachEverybody: a small group of each kind, which also gives the
// same again.
func TestUpdates_Run_ReachEverybody(t *testing.T) {
	l := &Lab{ctx: context.Background()}
	g := grow(nil, multitoken.Jittered, 50, 8)
	for _, g := range []growing{g, g.alone(), g.tokensOnly(), g.papersList(), grow(nil, multitoken.Paper, 1, 8)} {
		s, err := g.run(l, 1)
		require.NoError(t, err)
		require.Len(t, s.times, 8)
		assert.Less(t, s.column(100)[7], 40.0)
		assert.Equal(t, g.receipts, s.traffic.Receipts.Bytes > 0)
		assert.Positive(t, s.traffic.Tokens.Bytes)
		assert.Equal(t, g.compare > 0, s.traffic.Compared > 0)
		assert.InDelta(t, 1.7, s.interval, 0.3)
		again, err := g.run(l, 1)
		require.NoError(t, err)
		assert.Equal(t, s, again)
	}
}

// authoritiesOf knows one CA.
type authoritiesOf struct{ ca *signature.PublicKey }

func (a authoritiesOf) Key([16]byte) *signature.PublicKey { return a.ca }
