package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/window"
)

// TestHours_Demand_AsMembersTell: a policy is told that its member wants to run while an operation may begin, and only then; one that
// runs it anyway is answered that it did not.
func TestHours_Demand_AsMembersTell(t *testing.T) {
	w := window.Window{Days: window.AllDays, Begin: 10, End: 20, Name: "UTC"}
	s := newStage(t, Config{Members: 1, Windows: window.Windows{w}, Begin: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}, onToken(func(_ int, e *policy.Event) []policy.Action {
		return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}}
	}))
	s.Generate(0)
	assert.Equal(t, []string{
		"0s m0 ended operated=false", "10m0s m0 demand true", "19m59.000000001s m0 demand false", "24h10m0s m0 demand true", "24h19m59.000000001s m0 demand false",
	}, s.run(25*time.Hour, "generated"))
	s.Crash(0, time.Minute)
	assert.Equal(t, []string{"25h1m0s m0 neighbour m-1 of 1", "25h1m0s m0 resumed g0 hop0 \"\"", "25h1m0s m0 timer", "48h10m0s m0 demand true"}, s.run(48*time.Hour+11*time.Minute, "neighbour m0 of 0"))
	assert.Zero(t, s.Stats().Operations)
}
