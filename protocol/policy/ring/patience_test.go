package ring

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// A member that misses a token begins its wait anew when it hears alive, three times and
// no more (P-23): or one liar could keep it from ever making one.
func TestAliveIsHeardThreeTimes(t *testing.T) {
	params := policy.Params{
		Preset: E.String(), OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second, RegenerationMean: time.Millisecond,
	}
	base := derive(params).base
	agent, err := New(params, rand.NewPCG(1, 2))
	require.NoError(t, err)
	agent.Step(0, policy.Event{Kind: policy.Neighbour, From: ident.Member{2}, Members: 10}, nil)
	agent.Step(0, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	const pause = 10 * time.Millisecond
	next := base * 9 / 10
	for at := time.Duration(0); at < 10*base; at += pause {
		if at >= next { // shortly before it would make one
			next += base * 9 / 10
			agent.Step(clock.Instant(at), policy.Event{
				Kind: policy.Message, From: ident.Member{9}, Body: (&message{kind: alive, count: 1, reach: 9}).append(nil),
			}, nil)
		}
		for _, a := range agent.Step(clock.Instant(at), policy.Event{Kind: policy.Timer}, nil) {
			if a.Kind == policy.Generate {
				assert.InDelta(t, 3*0.9+1, at.Seconds()/base.Seconds(), 0.01)
				return
			}
		}
	}
	require.Fail(t, "makes none")
}
