package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestVotes_SampleKept_ReportSaysSo: who knows a part of the group knows no voters, so that
// nobody is to be waited for or revoked.
func TestVotes_SampleKept_ReportSaysSo(t *testing.T) {
	for _, on := range []policy.OnIsolated{policy.Stop, policy.Majority} {
		params := quick
		params.OnIsolated = on
		a := newAuthorityOf(t, params)
		b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found, c.Sample = true, 4 })
		b.step(member.Demand{Request: 1, Resource: resource, MaxHold: 300 * time.Millisecond})
		var said []string
		for range 100 {
			for _, e := range b.effects {
				if r, ok := e.(effect.Report); ok && r.Kind == "votes missing" {
					said = append(said, r.Detail)
				}
			}
			assert.Nil(t, granted(b), "without votes")
			b.after(50 * time.Millisecond)
		}
		if assert.Len(t, said, 1) {
			assert.Contains(t, said[0], "leave directory.sample out")
		}
	}
}
