package circulation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestDown_BeforeTheStart_NeverBegin(t *testing.T) {
	for members, want := range map[int]int{10: 7, 50: 35, 3: 2, 1: 1} {
		cfg := Config{Members: members, Found: members, Down: 0.3, Seed: 1}
		s := newStage(t, cfg, nil)
		assert.Equal(t, want, len(s.up))
		assert.Equal(t, want, s.cfg.Members-cfg.falling())
		assert.Equal(t, want, cfg.Living())
		assert.Equal(t, want, s.Tokens(), "founded among the living only")
		began := 0
		for _, line := range s.log {
			if strings.HasSuffix(line, " timer") {
				began++
			}
		}
		assert.Equal(t, want, began)
	}
}

func TestDown_ByAnInstant_FallOneByOne(t *testing.T) {
	s := newStage(t, Config{Members: 100, Down: 0.2, DownBy: 100 * time.Second, Seed: 1}, nil)
	assert.Equal(t, 100, len(s.up))
	s.run(50 * time.Second)
	assert.InDelta(t, 90, len(s.up), 8)
	s.run(100 * time.Second)
	assert.Equal(t, 80, len(s.up))
}

// A member that is away falls for good all the same, and its token is gone.
func TestDown_WhileAway_StaysDown(t *testing.T) {
	s := newStage(t, Config{Members: 2, Demand: Scripted()}, nil)
	require.True(t, s.Generate(1))
	s.run(0)
	require.True(t, s.Crash(1, time.Minute))
	require.Equal(t, 1, s.Tokens())
	s.faults.fallForGood(1)
	assert.Zero(t, s.Tokens())
	s.run(time.Hour)
	assert.False(t, s.Up(1))
	assert.Equal(t, uint64(1), s.Stats().Lost)
}

// Who is down is named for as long as nobody has stated it, but to a member that has
// passed it a token in vain.
func TestUnstated_Down_StillNamed(t *testing.T) {
	for _, unstated := range []bool{false, true} {
		passes := 0
		s := newStage(t, Config{Members: 4, Down: 0.5, Unstated: unstated, Found: 1, Seed: 1, Demand: Scripted(), Passing: Constant(time.Second)},
			onToken(func(_ int, e *policy.Event) []policy.Action { passes++; return pass(e, -1, "") }))
		s.Run(clock.Instant(11 * time.Second))
		var up, down int
		for m := range 4 {
			if s.Up(m) {
				up = m
			} else {
				down = m
			}
		}
		r := &memberRoster{&s.Simulation.roster, int32(up)}
		assert.Equal(t, map[bool]int{false: 1, true: 3}[unstated], r.Size())
		assert.Equal(t, unstated, len(r.Witnesses(MemberID(down), 3, nil)) > 0)
		s.Run(clock.Instant(time.Hour))
		assert.Equal(t, 1, r.Size())
		assert.Empty(t, r.Witnesses(MemberID(down), 3, nil))
		assert.Equal(t, unstated, s.Stats().Refused > 0)
		assert.Greater(t, passes, 100)
	}
}

func TestDown_OutOfRange_Refused(t *testing.T) {
	for _, c := range []Config{{Members: 10, Down: -0.1}, {Members: 10, Down: 1}, {Members: 10, Down: 0.99}} {
		assert.ErrorIs(t, c.validate(), ErrShare)
	}
	c := Config{Members: 10, DownBy: -1}
	assert.ErrorIs(t, c.validate(), ErrNegative)
}
