package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
)

// Session is one sign-in, from its SIGN-IN to its last answer. All methods are safe for concurrent use.
type Session struct {
	conn    *Conn
	number  uint64
	slot    uint64
	title   ident.Hash
	answers chan wire.SignedAnswer
	ended   chan struct{} // closed when nothing more comes

	mu   sync.Mutex
	open bool
	over bool
	last gate.Answer // that ended it; nil: the connection did
}

// Number is that of the statement of the sign-in.
func (s *Session) Number() uint64 { return s.number }

// Answers are the gate's answers, verified: Body says what, Raw is what the gate has signed. REFUSE, CLOSED and a BUSY that says that the
// slot is stuck are the last ones; after them, or with the connection, the channel is closed. Of more than 16 that nobody reads
// the oldest are dropped.
func (s *Session) Answers() <-chan wire.SignedAnswer { return s.answers }

// Ended is closed when nothing more comes: the session, or the waiting, is over.
func (s *Session) Ended() <-chan struct{} { return s.ended }

// take takes in an answer, and reports whether it was the last one.
func (s *Session) take(a wire.SignedAnswer) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return true
	}
	switch b := a.Body().Answer.(type) {
	case gate.OpenAnswer:
		s.open = true
	case gate.BusyAnswer:
		last = b.Stuck
	case gate.RefuseAnswer, gate.ClosedAnswer:
		last = true
	}
	select {
	case s.answers <- a:
	default:
		select {
		case <-s.answers:
		default:
		}
		s.answers <- a
	}
	if last {
		s.last = a.Body().Answer
		s.finish()
	}
	return last
}

// lose ends the session with its connection.
func (s *Session) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.finish()
	}
}

// finish needs s.mu.
func (s *Session) finish() {
	s.over, s.open = true, false
	close(s.answers)
	close(s.ended)
}

// SignOut ends the session, or the waiting, and waits for the gate's CLOSED, which says whether close has confirmed that work has
// ended. It may be called again, also after the end. Errors match ErrNoSession if the sign-in was refused, ErrLost, ErrClosed, or are those of ctx.
func (s *Session) SignOut(ctx context.Context) (gate.ClosedAnswer, error) {
	select {
	case <-s.ended:
	default:
		go s.tellOut() // a gate that does not read keeps the connection's writer, but not the caller
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
		return gate.ClosedAnswer{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a := s.last.(type) {
	case gate.ClosedAnswer:
		return a, nil
	case gate.RefuseAnswer:
		return gate.ClosedAnswer{}, fmt.Errorf("%w: %v", ErrNoSession, a.Code)
	case gate.BusyAnswer:
		return gate.ClosedAnswer{}, fmt.Errorf("%w: the slot is stuck", ErrNoSession)
	}
	return gate.ClosedAnswer{}, s.conn.Err()
}

// tellOut says SIGN-OUT.
func (s *Session) tellOut() {
	s.conn.writing.Lock()
	err := s.conn.write(&wire.SignOut{Number: s.number})
	s.conn.writing.Unlock()
	if err != nil {
		s.conn.end(err)
	}
}

// Connect opens a connection to the resource, to its target without a name. See ConnectTo.
func (s *Session) Connect(ctx context.Context) (*Stream, error) { return s.ConnectTo(ctx, "") }

// ConnectTo opens a connection to a target of the resource. The gate must have said OPEN, unless it only observes. Errors match ErrNotOpen, ErrNoTarget, ErrTooManyCon, ErrLost, ErrClosed, or are
// those of ctx. That the gate does not reach the resource shows when the stream is read (ErrTarget).
func (s *Session) ConnectTo(ctx context.Context, target string) (*Stream, error) {
	if err := s.conn.knows(target); err != nil {
		return nil, err
	}
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	if !open && !s.conn.observed() {
		return nil, ErrNotOpen
	}
	q, err := s.conn.quic.OpenStreamSync(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrLost, transport.CloseReason(err))
	}
	var first wire.Frame = &wire.Connect{Number: s.number}
	if target != "" {
		first = &wire.ConnectTo{Number: s.number, Target: target}
	}
	raw, err := wire.Append(nil, first)
	if err == nil {
		_ = q.SetWriteDeadline(time.Now().Add(writeTimeout)) // a gate may leave no room for it
		_, err = q.Write(raw)
		_ = q.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		q.CancelRead(0)
		q.CancelWrite(0)
		return nil, streamError(err)
	}
	return &Stream{Stream: q, conn: s.conn}, nil
}

// knows says which targets the gate has if this is not one of them. Whether it has one without a name shows when the stream is read.
func (c *Conn) knows(target string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case target == "", slices.Contains(c.targets, target):
		return nil
	case len(c.targets) == 0:
		return fmt.Errorf("%w: %q; it has none with a name", ErrNoTarget, target)
	}
	if near := configfile.Nearest(target, c.targets); near != "" {
		return fmt.Errorf("%w: %q; did you mean %q? It has %s", ErrNoTarget, target, near, strings.Join(c.targets, ", "))
	}
	return fmt.Errorf("%w: %q; it has %s", ErrNoTarget, target, strings.Join(c.targets, ", "))
}

// Stream is a connection to the resource through the gate. It is a net.Conn with CloseWrite.
type Stream struct {
	*quic.Stream
	conn *Conn
}

var _ net.Conn = (*Stream)(nil)

// Read reads what the resource has written. Errors match io.EOF, ErrTarget, ErrNotOpen, ErrTooManyCon, ErrStreamCut, ErrLost.
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	return n, streamError(err)
}

// Write writes to the resource. Errors are those of Read.
func (s *Stream) Write(p []byte) (int, error) {
	n, err := s.Stream.Write(p)
	return n, streamError(err)
}

// CloseWrite says that nothing more is written.
func (s *Stream) CloseWrite() error { return s.Stream.Close() }

// Close ends both directions. Bytes that were written before still arrive.
func (s *Stream) Close() error {
	s.Stream.CancelRead(0)
	return s.Stream.Close()
}

// LocalAddr is that of the connection with the gate.
func (s *Stream) LocalAddr() net.Addr { return s.conn.quic.LocalAddr() }

// RemoteAddr is the gate's.
func (s *Stream) RemoteAddr() net.Addr { return s.conn.quic.RemoteAddr() }

// SetDeadline is that of net.Conn.
func (s *Stream) SetDeadline(t time.Time) error { return s.Stream.SetDeadline(t) }

// streamError turns a reset into this package's errors.
func streamError(err error) error {
	reset, ok := errors.AsType[*quic.StreamError](err)
	if !ok || !reset.Remote {
		return err
	}
	switch wire.StreamCode(reset.ErrorCode) {
	case wire.StreamNotOpen:
		return ErrNotOpen
	case wire.StreamTarget:
		return ErrTarget
	case wire.StreamUnknown:
		return ErrNoTarget
	case wire.StreamCut:
		return ErrStreamCut
	case wire.StreamFull:
		return ErrTooManyCon
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}
