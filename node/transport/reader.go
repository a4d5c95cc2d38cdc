package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/wire"
)

// reader takes a stream apart into frames and hands them to the handler.
type reader struct {
	c         *conn
	confirmed bool // the preamble has been read
	buf       []byte
	from, to  int    // buf[from:to] is unread
	large     bool   // buf is from largeBuffers
	limit     bucket // of frames, see FramesPerSecond

	// While frames are handed over: where they end, and how many have been.
	end, frames, bytes int
	bodies             iter.Seq[[]byte] // each, made once and not for each packet
}

// largeBuffers lends the buffers for more than readBuffer bytes at once.
var largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

func newReader(c *conn) *reader {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	r := &reader{
		c: c, confirmed: c.Confirmed, buf: make([]byte, readBuffer),
		limit: newBucket(c.p.t.cfg.limits.frames, frameBurst, c.made),
	}
	r.bodies = r.each
	return r
}

// run reads to the end of the stream, and returns io.EOF when that comes
// between two frames. The other errors match ErrProtocol or are quic-go's.
func (r *reader) run() error {
	defer r.giveBack()
	for {
		n, err := r.c.stream.Read(r.buf[r.to:])
		r.to += n
		if n > 0 {
			if err := r.take(); err != nil {
				return err
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // see conn.trim
			r.c.stream.SetReadDeadline(time.Time{})
			r.makeRoom(r.c.p.t.now())
			continue
		}
		if err == io.EOF && r.from != r.to {
			return fmt.Errorf("%w: stream ends within a frame", ErrProtocol)
		}
		if err != nil {
			return err
		}
	}
}

// take handles the complete frames in the buffer and makes room for more.
func (r *reader) take() error {
	now := r.c.p.t.now()
	r.c.lastUse.Store(int64(now))
	if r.to >= readBuffer {
		r.c.busy.Store(int64(now))
	}
	end, frames, err := r.complete()
	if err != nil {
		return err
	}
	if frames > 0 && !r.confirmed {
		if err := r.confirm(); err != nil {
			return err
		}
		frames--
	}
	if frames > 0 {
		cost := frames + (end-r.from)>>10
		r.dispatch(end)
		r.c.p.t.wakes(now)
		r.throttle(now, cost)
	}
	r.makeRoom(now)
	return nil
}

// complete finds where the last complete frame of the buffer ends, and how
// many there are.
func (r *reader) complete() (end, frames int, err error) {
	end = r.from
	for r.to-end >= wire.FrameHeader {
		n := binary.BigEndian.Uint32(r.buf[end:])
		if n == 0 || n > wire.MaxFrame {
			return 0, 0, fmt.Errorf("%w: frame of %d bytes", ErrProtocol, n)
		}
		if r.to-end < wire.FrameHeader+int(n) {
			break
		}
		end += wire.FrameHeader + int(n)
		frames++
	}
	return end, frames, nil
}

// next is the body of the next frame of the buffer, which is complete.
func (r *reader) next() []byte {
	size := frameLen(r.buf[r.from:])
	body := r.buf[r.from+wire.FrameHeader : r.from+size]
	r.from += size
	return body
}

// confirm reads the peer's preamble.
func (r *reader) confirm() error {
	b, err := parsePreamble(r.next())
	if err != nil {
		return err
	}
	r.confirmed = true
	if r.c.p.answered(r.c, b) && r.c.announce() {
		r.c.open()
	}
	return nil
}

// dispatch hands the frames up to end to the handler, as long as anybody may
// hear them.
func (r *reader) dispatch(end int) {
	c, p := r.c, r.c.p
	p.call.Lock()
	defer p.call.Unlock()
	r.end = end
	if p.announced == c {
		p.t.cfg.Handler.Frames(p.id, r.bodies)
	}
	r.from = end
	p.t.counters.framesReceived.Add(uint64(r.frames))
	p.t.counters.bytesReceived.Add(uint64(r.bytes))
	r.frames, r.bytes = 0, 0
}

// each is the iterator behind bodies.
func (r *reader) each(yield func([]byte) bool) {
	for r.from < r.end && !r.c.muted.Load() {
		body := r.next()
		r.frames++
		r.bytes += len(body)
		if !yield(body) {
			return
		}
	}
}

// throttle waits until the peer may be read again.
func (r *reader) throttle(now time.Duration, cost int) {
	wait := r.limit.debt(float64(cost), now)
	if wait <= 0 {
		return
	}
	r.c.p.t.counters.throttled.Add(1)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.c.quic.Context().Done():
	}
}

// makeRoom moves the incomplete frame at the end of the buffer to its start,
// and takes a buffer in which it fits: a large one, too, while so much arrives
// that it would fill the small one.
func (r *reader) makeRoom(now time.Duration) {
	rest := r.buf[r.from:r.to]
	need := wire.FrameHeader
	if len(rest) >= wire.FrameHeader {
		need = frameLen(rest)
	}
	if max(need, len(rest)) > readBuffer {
		r.c.busy.Store(int64(now))
	}
	switch busy := r.c.isBusy(now); {
	case busy && !r.large:
		large := largeBuffers.Get().(*[largeBuffer]byte)
		r.to = copy(large[:], rest)
		r.buf, r.large = large[:], true
	case !busy && r.large:
		small := make([]byte, readBuffer)
		r.to = copy(small, rest)
		r.giveBack()
		r.buf = small
	default:
		r.to = copy(r.buf, rest)
	}
	r.from = 0
}

// giveBack returns a borrowed buffer.
func (r *reader) giveBack() {
	if r.large {
		largeBuffers.Put((*[largeBuffer]byte)(r.buf))
		r.buf, r.large = nil, false
	}
}
