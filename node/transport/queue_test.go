package transport

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/wire"
	"pgregory.net/rapid"
)

// TestQueue_AnyUse_AgreesWithNaive compares the queue with one slice of bodies for
// each class.
func TestQueue_AnyUse_AgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var twin [classes][][]byte
		size := func(class Class) (n int) {
			for _, b := range twin[class] {
				n += wire.FrameHeader + len(b)
			}
			return n
		}
		n := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				class := Class(rapid.IntRange(0, classes-1).Draw(t, "class"))
				length := rapid.SampledFrom([]int{1, 2, 100, 700, 5000, wire.MaxFrame}).Draw(t, "length")
				n++
				body := bytes.Repeat([]byte{n}, length)
				fits := len(twin[class]) < MaxQueueFrames && size(class)+wire.FrameHeader+length <= MaxQueueBytes
				require.Equal(t, fits, q.push(class, body))
				if fits {
					twin[class] = append(twin[class], body)
				}
			},
			"next": func(t *rapid.T) {
				limit := rapid.IntRange(0, 20_000).Draw(t, "limit")
				got := q.next([]byte("before"), limit)
				require.Equal(t, "before", string(got[:6]))
				require.Equal(t, twinNext(&twin, limit), got[6:])
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
					return
				}
				require.Equal(t, [classes]int{len(twin[0]), len(twin[1])}, q.clear())
				twin = [classes][][]byte{}
			},
			"release": func(*rapid.T) { q.release() },
			"": func(t *rapid.T) {
				require.Equal(t, size(Rest)+size(Custody), q.size())
				for class := range q.lanes {
					require.Equal(t, len(twin[class]), q.lanes[class].frames)
				}
			},
		})
	})
}

func twinNext(twin *[classes][][]byte, limit int) []byte {
	out := []byte{}
	for _, class := range byUrgency {
		for i, body := range twin[class] {
			if i > 0 && len(out)+wire.FrameHeader+len(body) > limit {
				twin[class] = twin[class][i:]
				return out
			}
			out = wire.AppendFrame(out, body)
		}
		twin[class] = nil
		if len(out) > 0 {
			return out
		}
	}
	return out
}

func TestQueue_Append_OrderKept(t *testing.T) {
	var q, o queue
	require.True(t, q.push(Custody, []byte("1")))
	require.True(t, o.push(Custody, []byte("2")))
	require.True(t, o.push(Rest, []byte("3")))
	q.append(&o)
	var want []byte
	for _, body := range []string{"1", "2", "3"} {
		want = wire.AppendFrame(want, []byte(body))
	}
	require.Equal(t, want, q.next(q.next(nil, 1000), 1000))
	require.Zero(t, q.size())
}

// TestQueue_Held_SharesRoom: what had waited for a connection counts
// while the connection opens.
func TestQueue_Held_SharesRoom(t *testing.T) {
	var o outbound
	n := 0
	for ; o.push(Rest, make([]byte, 1000)); n++ {
		if n == 100 {
			o.greet()
		}
	}
	require.Equal(t, MaxQueueBytes/1004, n)
	o.greeted()
	require.LessOrEqual(t, o.queue.size(), MaxQueueBytes)
	require.True(t, o.push(Custody, make([]byte, 1000)), "each class has its own")
}

func TestQueue_Idle_NoBuffer(t *testing.T) {
	var q queue
	q.push(Custody, make([]byte, 100))
	q.next(nil, 1000)
	require.NotZero(t, cap(q.lanes[Custody].buf), "kept for the next frame")
	q.release()
	require.Zero(t, cap(q.lanes[Custody].buf))

	for q.push(Custody, make([]byte, 1000)) {
	}
	q.next(nil, MaxQueueBytes)
	require.LessOrEqual(t, cap(q.lanes[Custody].buf), keepBuffer, "a backlog's buffer is not kept")
}

func TestSend_Steady_NoAllocations(t *testing.T) {
	var q queue
	body := make([]byte, 300)
	q.push(Custody, body)
	q.lanes[Custody].reset()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		q.push(Custody, body)
		q.lanes[Custody].reset()
	}))
}

// TestGreeting_Fails_Unreachable: when a connection ends before its HELLO has
// left, the HELLO goes with it, and what had waited waits on.
func TestGreeting_Fails_Unreachable(t *testing.T) {
	var o outbound
	var total atomic.Int64
	require.Zero(t, o.ungreet(&total))
	o.push(Custody, []byte("OFFER"))
	o.greet()
	o.push(Custody, []byte("HELLO"))
	dropped := o.ungreet(&total)
	require.Equal(t, wire.AppendFrame(nil, []byte("OFFER")), o.queue.next(nil, 1000))
	require.Zero(t, o.held.size())
	require.Equal(t, 1, dropped[Custody])
}
