package member_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/member"
)

// TestPauses_Probes_GrowAndDiffer: members do not dial a gate together, and a gate that is away for long is dialled seldom.
func TestPauses_Probes_GrowAndDiffer(t *testing.T) {
	var p member.Probes
	assert.Less(t, p.Next(2, 0), time.Millisecond, "the first one is at a random moment")
	for i := 1; i < 12; i++ {
		most := min(time.Second<<i, 5*time.Second)
		low, high := p, p
		assert.Equal(t, most/2, low.Next(2, 0))
		assert.InDelta(t, most, high.Next(2, 1), float64(time.Microsecond))
		p = high
	}
	p.Connected(10 * time.Second)
	assert.Less(t, p.Next(2, 0.5), time.Second)
	p.Next(2, 0)
	p.Connected(10*time.Second - 1)
	assert.GreaterOrEqual(t, p.Next(2, 0), time.Second, "a gate that drops its connections at once")
}

// TestProbes_ManyMembers_RateBounded: members that have lost a gate together dial it at a rate that is the same from the first
// second to the end of ten minutes, whatever their number.
func TestProbes_ManyMembers_RateBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const seconds, groups = 600, 40
	for _, members := range []int{5, 50, 300} {
		var dials [seconds]int
		for range groups * members {
			var p member.Probes
			for at := p.Next(members, rng.Float64()); at < seconds*time.Second; at += p.Next(members, rng.Float64()) {
				dials[at/time.Second]++
			}
		}
		for i := 0; i+10 <= seconds; i += 10 {
			sum := 0
			for _, n := range dials[i : i+10] {
				sum += n
			}
			assert.Less(t, float64(sum)/10/groups, 7.5, "%d members, in the ten seconds from %d on", members, i)
		}
	}
}
