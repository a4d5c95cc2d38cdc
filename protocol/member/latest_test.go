package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// bounded runs a program at each demand, to be killed at an instant at the latest.
type bounded struct {
	policytest.Untimed
	latest clock.Instant
	token  policy.Token
	ended  int // programs that did not begin
}

func (p *bounded) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	switch {
	case e.Kind == policy.Generated:
		p.token = e.Token
	case e.Kind == policy.OperationEnded && !e.Operated:
		p.ended++
	case e.Kind == policy.DemandChanged && e.Demand:
		return append(actions, policy.Action{Kind: policy.Run, Token: p.token.ID, At: p.latest})
	}
	return actions
}

// The end that a policy gives a program bounds the grant. When it has passed, as in a
// daemon that was frozen, nothing begins, and who waits goes on waiting.
func TestRun_LatestEnd_Kept(t *testing.T) {
	p := &bounded{}
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) {
		c.Found = true
		c.SetPolicies(func(policy.Surroundings) policy.Policy { return p })
	})
	p.latest = b.now.Boot
	b.step(member.Demand{Request: 1, Resource: resource})
	assert.Nil(t, granted(b))
	assert.Equal(t, 1, p.ended)
	b.step(member.Withdraw{Request: 1})

	p.latest = b.now.Boot.Add(300 * time.Millisecond)
	b.step(member.Demand{Request: 2, Resource: resource})
	g := granted(b)
	require.NotNil(t, g)
	assert.Equal(t, p.latest, g.Deadline)
	assert.Equal(t, 300*time.Millisecond, g.Length)
}
