package node

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// A peer that talks faster than its frames can be stepped is held back early:
// before it costs much memory, and before others have to wait behind it.
func TestBacklog_OnePeer_NotFilled(t *testing.T) {
	for _, size := range []int{1, wire.MaxFrame} {
		e := newEngine(&Node{}, nil, nil) // not begun: everything waits
		loud, quiet := ident.Member{1}, ident.Member{2}
		body, frames := make([]byte, size), 0
		for ; !e.full(loud); frames++ {
			e.frames(loud, slices.Values([][]byte{body}))
		}
		assert.LessOrEqual(t, frames, maxBacklog/4)
		assert.LessOrEqual(t, frames*size, 1<<20)
		assert.False(t, e.full(quiet))
		e.take()
		for len(e.take()) > 0 {
		}
		assert.False(t, e.full(loud))
		assert.Empty(t, e.load)
	}
}

// All peers together are held back, too, by the memory that they cost.
func TestBacklog_AllPeers_Bounded(t *testing.T) {
	e := newEngine(&Node{}, nil, nil)
	body, bytes := make([]byte, wire.MaxFrame), 0
	for n := range 1000 {
		from := ident.Member{byte(n), byte(n >> 8)}
		for !e.full(from) {
			e.frames(from, slices.Values([][]byte{body}))
			bytes += len(body)
		}
	}
	assert.LessOrEqual(t, bytes, 16<<20)
}
