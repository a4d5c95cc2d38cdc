package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// A demand that is withdrawn before it was refused leaves no trace of a resource that nobody has.
func TestHistory_WaitForNothing_Forgotten(t *testing.T) {
	a := newAuthority(t, group.Resource{Name: resource, MaxHold: time.Minute, Params: policy.Params{OperationTime: time.Second, MembersMax: 3, MinInterval: time.Millisecond}})
	n, _ := openNode(t, a.issue(t, "alone"), func(c *node.Config) { c.Found = true })
	n.WaitWithdrawn("nobody-has-it")
	held, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: resource})
	require.NoError(t, err)
	held.Release(true, 0)
	news := n.History().Since(0, boottime.Now())
	require.Len(t, news.Waits, 1)
	assert.Equal(t, resource, news.Waits[0].Resource)
}

// A member remembers whose programs ran: its own, and another member's of which it was told.
func TestHistory_TurnsOfTwo_BothRemembered(t *testing.T) {
	shared := group.Resource{Name: resource, MaxHold: time.Minute, Params: policy.Params{ // fair, whose members tell each other of turns
		OperationTime: 50 * time.Millisecond, MembersMax: 3, MinInterval: time.Millisecond,
	}}
	a := newAuthority(t, shared)
	first, _ := openNode(t, a.issue(t, "first"), func(c *node.Config) { c.Found = true })
	second, _ := openNode(t, a.issue(t, "second"), func(c *node.Config) { c.Bootstrap = []string{first.Address()} })
	turn := func(n *node.Node) api.HeldGrant {
		held, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: shared.Name})
		require.NoError(t, err)
		return held
	}
	turn(second).Release(true, 0)
	turn(first).Release(true, 0)
	held := turn(second)
	defer held.Release(true, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _, _ = first.Acquire(ctx, api.AcquireRequest{Resource: shared.Name}) }() // who waits asks where the token is
	of := func(who ident.Member) (ended, running int) {
		for _, o := range first.History().Since(0, boottime.Now()).Operations {
			switch {
			case o.Member != who:
			case o.Ended > 0:
				ended++
			default:
				running++
			}
		}
		return ended, running
	}
	await.Until(t, "news that a program runs at the other member", func() bool { _, running := of(second.ID()); return running == 1 })
	ended, running := of(first.ID())
	assert.Equal(t, []int{1, 0}, []int{ended, running})

	var news history.News
	var last history.Sighting
	await.Until(t, "that the token is seen at the other member", func() bool { // its turn may be told before its place
		news = first.History().Since(0, boottime.Now())
		if len(news.Sightings) == 0 {
			return false
		}
		last = news.Sightings[len(news.Sightings)-1]
		return last.Holder == second.ID()
	})
	require.Len(t, news.Waits, 1)
	assert.Equal(t, "granted", news.Waits[0].Outcome)
	for _, s := range news.Sightings[:len(news.Sightings)-1] {
		assert.Equal(t, history.Place{Resource: shared.Name}, s.Place)
		assert.LessOrEqual(t, s.Hop, last.Hop)
	}
	await.Until(t, "the other member's news of this one", func() bool {
		list := second.History().Summaries(boottime.Now(), func(string) int { return 1 })
		return len(list) == 1 && len(list[0].Members) > 0
	})
}
