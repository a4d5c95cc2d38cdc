package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxInbox is how many messages wait for the check before the peer is read
// no further: 64 MiB of them, should it send nothing but the largest.
const maxInbox = 1024

// preamble is the first frame of a stream (T-11). The peer reads and writes it by
// itself, so that a mistake of the transport is not made on both sides.
//
//	preamble = [ 0, [ process: bstr .size 16, ordinal: uint, keep: bool ] ]
type preamble struct {
	_       struct{} `cbor:",toarray"`
	Process [16]byte
	Ordinal uint64
	Keep    bool
}

type preambleFrame struct {
	_      struct{} `cbor:",toarray"`
	Type   uint64
	Fields preamble
}

var preambleLimits = canonical.Limits{MaxBytes: 32, MaxDepth: 3, MaxItems: 6}

func (p preamble) encode() []byte {
	body, err := canonical.Marshal(preambleFrame{Fields: p})
	if err != nil {
		panic(err) // of numbers and bytes, there is none
	}
	return body
}

func parsePreamble(body []byte) (p preamble, err error) {
	var f preambleFrame
	if err := canonical.Unmarshal(body, &f, preambleLimits); err != nil {
		return p, err
	}
	if f.Type != 0 {
		return p, fmt.Errorf("message type %d", f.Type)
	}
	return f.Fields, nil
}

// link is one connection with the member under test, which this side has dialled: it
// reads and writes frames, and judges none of them.
type link struct {
	quic   *quic.Conn
	stream *quic.Stream
	ends   time.Time // when writing ends, and the wait for a preamble: with the check
	inbox  chan frame
}

// newLink is a link to dial, until ctx ends.
func newLink(ctx context.Context) link {
	ends, _ := ctx.Deadline()
	return link{ends: ends, inbox: make(chan frame, maxInbox)}
}

// frame is one body that the member has sent, decoded, or how its stream ended.
type frame struct {
	message wire.Message
	err     error
}

// readPreamble says a preamble and reads that of the member.
func (l *link) readPreamble(p preamble) (preamble, error) {
	l.write(wire.AppendFrame(nil, p.encode()))
	l.stream.SetDeadline(l.ends)
	body, err := wire.ReadFrame(l.stream, nil)
	if err != nil {
		return preamble{}, l.reason(err)
	}
	return parsePreamble(body)
}

// read decodes what comes, until the end of the stream.
func (l *link) read() {
	defer close(l.inbox)
	l.stream.SetReadDeadline(time.Time{})
	for {
		body, err := wire.ReadFrame(l.stream, nil)
		var f frame
		if err == nil {
			f.message, f.err = wire.Decode(body)
		}
		if err != nil && errors.Is(err, wire.ErrFrameSize) {
			f.err = err
		}
		if f.message == nil && f.err == nil {
			return
		}
		select {
		case l.inbox <- f:
		case <-l.quic.Context().Done():
			return
		}
	}
}

// write writes bytes, whatever they are. That the member has ended the connection
// shows in what is read.
func (l *link) write(raw []byte) {
	l.stream.SetWriteDeadline(l.ends)
	_, _ = l.stream.Write(raw)
}

// body sends the body of a frame as it is.
func (l *link) body(raw []byte) { l.write(wire.AppendFrame(nil, raw)) }

// close ends the connection, if it has not ended.
func (l *link) close() { l.quic.CloseWithError(codeNormal, "") }

// reason is why the connection has ended, or err if it has not.
func (l *link) reason(err error) error {
	if cause := context.Cause(l.quic.Context()); cause != nil {
		return cause
	}
	return err
}
