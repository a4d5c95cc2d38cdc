package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Each pass counts with its field, also one that loses the token, and each message
// with its body, also one that gets lost.
func TestTraffic(t *testing.T) {
	var token ident.Token
	fields := [][]byte{make([]byte, 10), make([]byte, 30), make([]byte, 20)}
	s := newStage(t, Config{Members: 2, TellLoss: 1}, func(member int, _ clock.Instant, e *policy.Event) []policy.Action {
		switch e.Kind {
		case policy.Generated, policy.Arrival:
			if len(fields) == 0 {
				return nil
			}
			token = e.Token.ID
			field := fields[0]
			fields = fields[1:]
			return []policy.Action{
				{Kind: policy.Tell, To: MemberID(1 - member), Field: make([]byte, 7)},
				{Kind: policy.Pass, Token: token, Field: field},
			}
		}
		return nil
	})
	s.At(clock.Instant(5*time.Second), func(w *Simulation) {
		assert.Equal(t, Traffic{}, w.Traffic())
		w.Generate(0)
	})
	s.Run(clock.Instant(6 * time.Second))
	before := s.Traffic()
	assert.Equal(t, Traffic{Fields: 60, Messages: 21, Passes: 3, LongestField: 30}, before)
	fields = [][]byte{make([]byte, 5)}
	s.LosePass(1)
	s.Crash(1, time.Second)
	s.At(clock.Instant(7*time.Second), func(w *Simulation) { w.Generate(0) })
	s.Run(clock.Instant(8 * time.Second))
	assert.Equal(t, Traffic{Fields: 5, Messages: 7, Passes: 1, LongestField: 30}, s.Traffic().Since(before))
}
