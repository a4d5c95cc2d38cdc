package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/weigh"
	"github.com/wandertoken/wander/protocol/member"
)

// TestWeight_Member_Counted: whatever it learns makes it heavier, by about
// what was learned, and nothing else does.
func TestWeight_Member_Counted(t *testing.T) {
	c := calmly(t, 0, memberSetting{stranger: true})
	n := c.nodes[0]
	before := weigh.Of(n.member)
	assert.Equal(t, before, weigh.Of(n.member))
	var in member.Learn
	bytes := 0
	for i := range 10 {
		who := c.ca.founder(1 + i)
		in.Certificates = append(in.Certificates, who.certificate.Raw())
		in.Endpoints = append(in.Endpoints, who.endpoint)
		bytes += len(who.certificate.Raw()) + len(who.endpoint)
	}
	n.put(in)
	after := weigh.Of(n.member)
	assert.GreaterOrEqual(t, after.Entries, before.Entries+10)
	assert.Equal(t, before.Parts[".core.dir.Register.members"]+10, after.Parts[".core.dir.Register.members"])
	assert.GreaterOrEqual(t, after.Bytes, before.Bytes+bytes*9/10)
	assert.Less(t, after.Bytes, before.Bytes+4*bytes)
	n.put(in) // what is heard again is found sooner from then on
	again := weigh.Of(n.member)
	assert.Equal(t, after.Bytes, again.Bytes, "the second time it is nothing new")
	assert.LessOrEqual(t, again.Entries, after.Entries+10)
	n.put(in)
	assert.Equal(t, again, weigh.Of(n.member))
}

func TestPercentile(t *testing.T) {
	list := []time.Duration{5, 1, 4, 2, 3}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		assert.Equal(t, want, percentile(list, p), p)
	}
	assert.Zero(t, percentile(nil, 0.5))
}

// TestQuarters_Run_Even: shares are those of the network while it is whole.
func TestQuarters_Run_Even(t *testing.T) {
	m := &meter{}
	for i := range 8 {
		m.samples = append(m.samples, sample{
			cut: i%2 == 1, members: 10 + i, knowing: 1 - float64(i)/100, ignorant: 0.9 - float64(i)/100,
			dead: float64(i), rate: 100, heaviest: weigh.Weight{Entries: i, Bytes: 2 * i},
		})
	}
	q := (&churnResult{meter: m}).Quarters()
	assert.Equal(t, 11, q[0].Members)
	assert.InDelta(t, 0.94, q[3].Knowing, 1e-9)
	assert.InDelta(t, 0.84, q[3].Lowest, 1e-9)
	assert.InDelta(t, 6, q[3].Dead, 1e-9)
	assert.Equal(t, []int{7, 14}, []int{q[3].Entries, q[3].Bytes})
	assert.InDelta(t, 100, q[2].Rate, 1e-9)
}
