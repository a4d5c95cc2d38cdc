package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// TestWaits_WalkToTheDead_AsTheRulesSay: a ring tries one dead member again when it has passed over it for five seconds, then ten,
// and the only member that lives has a token back when all have been tried twice, and all have been silent for L.
func TestWaits_WalkToTheDead_AsTheRulesSay(t *testing.T) {
	w := &waits{cluster: &cluster{setting: setting{tuning: handoff.DefaultTuning, net: networkSetting{notice: time.Second}}, nodes: make(crowd, 6)}}
	r := group.Resource{Policy: catalog.Ring, MaxHold: 2 * time.Second, Params: policy.Params{OperationTime: time.Second, MembersMax: 2}}
	for dead, seconds := range map[int]int{0: 0, 1: 2, 2: 4, 3: 6, 4: 2 * 8, 5: 2 * 9} { // each try takes two: the first four of five are tried again
		assert.Equal(t, time.Second+time.Duration(seconds)*time.Second, w.ringTime(r, dead), dead)
	}
	assert.Equal(t, time.Second+2*5*2*time.Second+1250*time.Millisecond+6*time.Second, w.returnTime(r, 5))
	lost := (2+3)*4*time.Second + 2*time.Second
	assert.Equal(t, 8*time.Second, w.most(r, 0))
	assert.Equal(t, lost+17*time.Second, w.most(r, 4))
	assert.Equal(t, w.returnTime(r, 5), w.most(r, 5), "it is alone, and runs when it has the token")
	r.Policy = catalog.Wandering
	assert.Equal(t, lost+4*3500*time.Millisecond, w.most(r, 4))
}
