package host_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

func TestHost_FirstEventAfterRecalled_Begins(t *testing.T) {
	var h host.Host
	before := []policy.Action{{Kind: policy.Generate}}
	assert.False(t, h.Begin(1, &policy.Event{Kind: policy.Recalled}, before))
	assert.Equal(t, before, h.Answer())
	assert.True(t, h.Begin(2, &policy.Event{Kind: policy.Timer}, before))
	h.Run(ident.Token{7})
	assert.Equal(t, append(before, policy.Action{Kind: policy.Run, Token: ident.Token{7}}), h.Answer())
	assert.False(t, h.Begin(3, &policy.Event{Kind: policy.Timer}, nil))
	assert.Empty(t, h.Answer())
}

func TestHost_RecalledFromFuture_IsNow(t *testing.T) {
	var h host.Host
	h.Begin(5, &policy.Event{Kind: policy.Recalled}, nil)
	assert.Equal(t, clock.Instant(-3), h.RecalledAt(&policy.Event{At: -3}))
	assert.Equal(t, clock.Instant(5), h.RecalledAt(&policy.Event{At: 9}))
}

// What one action has does not change when the buffer grows for the next one.
func TestTalker_SeveralFields_KeptApart(t *testing.T) {
	var h host.Talker
	for step := range byte(3) {
		h.Begin(clock.Instant(step), &policy.Event{Kind: policy.Timer}, nil)
		for n := range byte(100) {
			h.Tell(ident.Member{n}, func(to []byte) []byte { return append(to, step, n) })
		}
		for n, a := range h.Answer() {
			assert.Equal(t, policy.Action{Kind: policy.Tell, To: ident.Member{byte(n)}, Field: []byte{step, byte(n)}}, a)
			_ = append(a.Field, 255)
		}
		assert.Equal(t, []byte{step, 1}, h.Answer()[1].Field)
	}
}

func TestPrecedes_LaterThenSmallerID_First(t *testing.T) {
	one, two := &ident.Token{1}, &ident.Token{2}
	assert.True(t, host.Precedes(5, two, 4, one))
	assert.False(t, host.Precedes(4, one, 5, two))
	assert.True(t, host.Precedes(5, one, 5, two))
	assert.False(t, host.Precedes(5, two, 5, one))
	assert.False(t, host.Precedes(5, one, 5, one))
}
