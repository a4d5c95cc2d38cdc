package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// rollbacks are the runs of some seeds, with a bug or without.
func rollbacks(t *testing.T, bug Bug, seeds uint64) (s Summary, escapes, broken int) {
	for seed := range seeds {
		r := Setting{Seed: seed, Preset: Rollback, Bug: bug}.Run(nil)
		if bug == NoBug {
			check(t, r)
		}
		if breaks(r, Custody) {
			broken++
		}
		escapes += r.Escapes
		s.AddResult(r)
	}
	return s, escapes, broken
}

// TestRollback_PeerRemembers_NoFork: H-70 to H-74. A member whose disk went back signs
// nothing twice if the first that it met remembered. It may if those who remembered were
// away, or went back themselves.
func TestRollback_PeerRemembers_NoFork(t *testing.T) {
	skipUnderRaceDetector(t)
	seeds := whole.Part(2, 6)
	s, escapes, _ := rollbacks(t, NoBug, uint64(seeds))
	t.Logf("%d disks went back, %d forks of members whom nobody had told", s.All()["goback"], escapes)
	assert.Greater(t, s.All()["goback"], 5*seeds)
	_, _, broken := rollbacks(t, HideShown, 2)
	assert.Positive(t, broken, "without what HELLO shows the checker finds forks")
}
