package circulation

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestTell: messages arrive in the order in which they were sent, their bodies
// are copies, and the share that is to be lost is lost.
func TestTell(t *testing.T) {
	body := make([]byte, 2)
	sent := 0
	s := newStage(t, Config{Members: 2, Telling: Uniform(0, time.Second), TellLoss: 0.2}, nil)
	s.answer = func(m int, now clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind != policy.Timer || m != 0 || sent == 2000 {
			return nil
		}
		sent++
		body[0], body[1] = byte(sent>>8), byte(sent)
		s.due[m] = now.Add(10 * time.Millisecond)
		return []policy.Action{{Kind: policy.Tell, To: MemberID(1), Field: body}}
	}
	s.setTimer(0, 0)
	got := s.run(time.Hour, "timer")
	var bodies []string
	for _, line := range got {
		var at string
		var what string
		_, err := fmt.Sscanf(line, "%s m1 message m0 %q", &at, &what)
		require.NoError(t, err)
		bodies = append(bodies, what)
	}
	assert.IsIncreasing(t, bodies)
	assert.InDelta(t, 1600, len(bodies), 4*18)
	assert.Equal(t, uint64(2000), s.Stats().Messages)
}

// TestTell_ManyLinks_Delivered: order is kept on each link, also when the links on which
// nothing travels any more are forgotten.
func TestTell_ManyLinks_Delivered(t *testing.T) {
	const members = 30
	rng := rand.New(rand.NewPCG(1, 1))
	s := newStage(t, Config{Members: members, Telling: Uniform(0, time.Second)}, nil)
	last := map[string]uint16{}
	s.answer = func(m int, now clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind == policy.Message {
			link := fmt.Sprint(memberIndex(e.From), m)
			n := uint16(e.Body[0])<<8 | uint16(e.Body[1])
			require.Greater(t, n, last[link])
			last[link] = n
		}
		return nil
	}
	for i := range 20_000 {
		s.agents.act(int32(rng.IntN(10)), &policy.Action{Kind: policy.Tell, To: MemberID(rng.IntN(members)), Field: []byte{byte((i + 1) >> 8), byte(i + 1)}})
		s.Run(s.Now().Add(10 * time.Millisecond))
		s.log = nil
	}
	assert.Less(t, len(s.network.links.last), 10*members)
}

// TestTell_BehindToken_InOrder: a message that is sent after a token, on the same way,
// does not arrive before it.
func TestTell_BehindToken_InOrder(t *testing.T) {
	s := newStage(t, Config{Members: 2, Passing: Constant(time.Second), Telling: Constant(time.Millisecond)},
		onToken(func(m int, e *policy.Event) []policy.Action {
			if m == 1 {
				return nil
			}
			return append(pass(e, 1, ""), policy.Action{Kind: policy.Tell, To: MemberID(1), Field: []byte("after")})
		}))
	s.Generate(0)
	assert.Equal(t, []string{`1s m1 arrival from m0 g0 hop1 ""`, `1s m0 delivered g0 hop0 ""`, `1s m1 message m0 "after"`}, s.run(time.Minute, "generated"))
}

func TestTellNobody(t *testing.T) {
	s := newStage(t, Config{Members: 2}, onTimer())
	s.Crash(1, time.Second)
	for _, to := range []int{1, 5} {
		s.agents.act(0, &policy.Action{Kind: policy.Tell, To: MemberID(to)})
	}
	s.agents.act(0, &policy.Action{Kind: policy.Tell})
	assert.Empty(t, s.run(time.Second/2, "neighbour"))
	assert.Equal(t, uint64(3), s.Stats().Messages)
}
