package transport

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/wandertoken/wander/protocol/wire"
)

// keepBuffer is the largest buffer that an empty lane keeps, in bytes, so that
// the next frame allocates nothing. The sweep takes it from an idle peer.
const keepBuffer = directBytes

// queue holds encoded frames for one peer, by class. The zero value is empty.
type queue struct {
	lanes [classes]lane
}

// lane is a first-in, first-out row of encoded frames in one buffer.
type lane struct {
	buf    []byte
	off    int // buf[off:] waits
	frames int
}

// push adds a frame, or reports false when there is no room for it.
func (q *queue) push(class Class, body []byte) bool {
	l := &q.lanes[class]
	if l.frames >= MaxQueueFrames || l.size()+wire.FrameHeader+len(body) > MaxQueueBytes {
		return false
	}
	if l.off > 0 && len(l.buf)+wire.FrameHeader+len(body) > cap(l.buf) {
		l.buf = l.buf[:copy(l.buf, l.buf[l.off:])]
		l.off = 0
	}
	l.buf = wire.AppendFrame(l.buf, body)
	l.frames++
	return true
}

// size is the number of bytes that wait.
func (q *queue) size() int { return q.lanes[Rest].size() + q.lanes[Custody].size() }

// next appends to dst whole frames of at most limit bytes, but at least one
// frame when there is one: custody before the rest.
func (q *queue) next(dst []byte, limit int) []byte {
	for _, class := range byUrgency {
		if l := &q.lanes[class]; l.frames > 0 {
			return l.next(dst, limit)
		}
	}
	return dst
}

// byUrgency is the order in which classes are sent.
var byUrgency = [classes]Class{Custody, Rest}

// clear drops everything and returns how many frames that was, by class.
func (q *queue) clear() (dropped [classes]int) {
	for class := range q.lanes {
		dropped[class] = q.lanes[class].frames
		q.lanes[class].reset()
	}
	return dropped
}

// append adds the frames of o behind those of q. There must be room.
func (q *queue) append(o *queue) {
	for class := range o.lanes {
		l := &q.lanes[class]
		l.buf = append(l.buf, o.lanes[class].waiting()...)
		l.frames += o.lanes[class].frames
	}
}

// frames is the number of frames that wait.
func (q *queue) frames() int { return q.lanes[Custody].frames + q.lanes[Rest].frames }

// release gives the buffers back when nothing waits.
func (q *queue) release() {
	for class := range q.lanes {
		if q.lanes[class].frames == 0 {
			q.lanes[class] = lane{}
		}
	}
}

func (l *lane) size() int { return len(l.buf) - l.off }

func (l *lane) waiting() []byte { return l.buf[l.off:] }

func (l *lane) reset() {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	l.buf, l.off, l.frames = l.buf[:0], 0, 0
}

// frameLen is the length of the encoded frame that b begins with.
func frameLen(b []byte) int {
	return wire.FrameHeader + int(binary.BigEndian.Uint32(b))
}

func (l *lane) next(dst []byte, limit int) []byte {
	n := 0
	for l.frames > 0 {
		size := frameLen(l.buf[l.off:])
		if n > 0 && n+size > limit {
			break
		}
		dst = append(dst, l.buf[l.off:l.off+size]...)
		l.off += size
		l.frames--
		n += size
	}
	if l.frames == 0 {
		l.reset()
	}
	return dst
}

// outbound is what waits for one peer. While the handler is told of a connection, what
// had waited before is held back, so that HELLO goes first. total counts the bytes that
// wait for all peers. The zero value is empty.
type outbound struct {
	queue    queue // to be sent
	held     queue // while greeting: what had waited before
	greeting bool
	charged  int // of both, in the total
}

// push adds a frame, or reports false when there is no room.
func (o *outbound) push(class Class, body []byte) bool {
	if l := &o.held.lanes[class]; l.frames > 0 {
		both := o.queue.lanes[class]
		if l.frames+both.frames >= MaxQueueFrames || l.size()+both.size()+wire.FrameHeader+len(body) > MaxQueueBytes {
			return false
		}
	}
	return o.queue.push(class, body)
}

// charge keeps the total up to date.
func (o *outbound) charge(total *atomic.Int64) {
	if size := o.queue.size() + o.held.size(); size != o.charged {
		total.Add(int64(size - o.charged))
		o.charged = size
	}
}

// greet holds back what waits, so that what the handler sends in Connected goes first.
func (o *outbound) greet() {
	o.greeting = true
	o.held, o.queue = o.queue, queue{}
}

// greeted ends greet: what was held back follows.
func (o *outbound) greeted() {
	o.greeting = false
	o.queue.append(&o.held)
	o.held = queue{}
}

// ungreet undoes greet, if the connection is gone meanwhile: its HELLO is dropped, as the
// next one begins with another. It returns how many frames that was.
func (o *outbound) ungreet(total *atomic.Int64) (dropped [classes]int) {
	if !o.greeting {
		return dropped
	}
	o.greeting = false
	dropped = o.queue.clear()
	o.queue, o.held = o.held, queue{}
	o.charge(total)
	return dropped
}

// clear drops everything and returns how many frames that was, by class.
func (o *outbound) clear(total *atomic.Int64) (dropped [classes]int) {
	dropped = o.queue.clear()
	for class, frames := range o.held.clear() {
		dropped[class] += frames
	}
	o.charge(total)
	return dropped
}

// take takes what waits to be sent, as encoded frames.
func (o *outbound) take(total *atomic.Int64) (frames []byte) {
	for _, class := range byUrgency {
		frames = append(frames, o.queue.lanes[class].waiting()...)
	}
	o.queue.clear()
	o.charge(total)
	return frames
}
