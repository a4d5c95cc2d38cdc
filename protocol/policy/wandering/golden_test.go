package wandering

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// TestScenarios plays the scripts in testdata; their language is policytest's. Who
// plays is the member Z, and knows A to C; an agent without a preset is the paper's.
func TestScenarios(t *testing.T) {
	golden.Scripts(t, func(t *testing.T, script string) string {
		played, err := policytest.Play(script, func(p policy.Params, rng rand.Source) (policy.Policy, error) {
			if p.Preset == "" {
				p.Preset = Paper
			}
			return New(p, policy.Surroundings{Self: ident.Member{'Z'}, Random: rng, Roster: letters{}})
		})
		require.NoError(t, err)
		return played
	})
}

// letters are the members A, B, C and Z.
type letters struct{}

func (letters) Draw(n int, to []ident.Member) []ident.Member {
	return letters{}.Witnesses(ident.Member{'Z'}, n, to)
}

func (letters) Others(n int, to []ident.Member) []ident.Member { return letters{}.Draw(n, to) }

func (letters) Size() int { return 3 }

func (letters) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for _, letter := range "ABCZ" {
		if m := (ident.Member{byte(letter)}); m != of && n > 0 {
			to, n = append(to, m), n-1
		}
	}
	return to
}
