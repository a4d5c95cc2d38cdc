package transport

import (
	"context"
	"errors"
	"fmt"

	"github.com/quic-go/quic-go"
)

// Why a handshake was refused. Each is a class of [Stats.Refused].
var (
	ErrNoCertificate = errors.New("no certificate")
	ErrNotMember     = errors.New("TLS certificate carries no member certificate")
	ErrCertificate   = errors.New("member certificate not valid")
	ErrOtherGroup    = errors.New("member of another group")
	ErrExpired       = errors.New("member certificate expired")
	ErrNotYetValid   = errors.New("member certificate not yet valid")
	ErrKeyMismatch   = errors.New("member certificate is for another key")
	ErrSelf          = errors.New("peer has this member's own id")
	ErrWrongMember   = errors.New("another member answered")
	ErrHandshake     = errors.New("handshake failed")
)

// Why a connection ended, one for each [Code].
var (
	ErrNormal       = errors.New("closed")
	ErrIdle         = errors.New("idle")
	ErrReplaced     = errors.New("replaced by another connection")
	ErrShuttingDown = errors.New("shutting down")
	ErrProtocol     = errors.New("protocol violation")
	ErrRevoked      = errors.New("member revoked")
	ErrOverload     = errors.New("overload")
	ErrInternal     = errors.New("internal error")
)

// Why a connection ended without a code, or did not come about.
var (
	ErrUnresponsive = errors.New("peer is silent")
	ErrAbsent       = fmt.Errorf("%w: nobody listens there", ErrUnresponsive)
	ErrRestarted    = errors.New("peer has restarted")
	ErrRefused      = errors.New("peer refused the handshake")
	ErrLost         = errors.New("connection lost")
	ErrNoAddress    = errors.New("no address known")
	ErrBackOff      = errors.New("not dialled again so soon")
	ErrBusy         = errors.New("too many dials in progress")
	ErrClosed       = errors.New("transport closed")
	ErrConfig       = errors.New("transport configuration")
	errSuperseded   = fmt.Errorf("%w: connected already", ErrReplaced)
)

// Code is the QUIC application error code that closes a connection.
type Code uint64

// The codes that a transport sends.
const (
	CodeNormal       Code = 0
	CodeIdle         Code = 1
	CodeReplaced     Code = 2
	CodeShuttingDown Code = 3
	CodeProtocol     Code = 4
	CodeRevoked      Code = 5
	CodeOverload     Code = 6
	CodeInternal     Code = 7
)

var codeErrors = [...]error{
	CodeNormal: ErrNormal, CodeIdle: ErrIdle, CodeReplaced: ErrReplaced,
	CodeShuttingDown: ErrShuttingDown, CodeProtocol: ErrProtocol,
	CodeRevoked: ErrRevoked, CodeOverload: ErrOverload, CodeInternal: ErrInternal,
}

func (c Code) err() error {
	if int(c) < len(codeErrors) {
		return codeErrors[c]
	}
	return ErrLost
}

func (c Code) String() string { return c.err().Error() }

// CloseError says that one side closed a connection with a code. It matches
// the code's sentinel under errors.Is.
type CloseError struct {
	Code   Code
	Remote bool // the peer closed it
	Alive  bool // of CodeReplaced: the connection in its place is one of the same process of the peer
}

func (e *CloseError) Error() string {
	if e.Remote {
		return fmt.Sprintf("peer closed the connection: %v (code %d)", e.Code, uint64(e.Code))
	}
	return fmt.Sprintf("connection closed: %v (code %d)", e.Code, uint64(e.Code))
}

// Unwrap is the code's sentinel.
func (e *CloseError) Unwrap() error { return e.Code.err() }

// withdrawn reports whether it was the dialler that ended an inbound connection,
// and for a reason that every day brings: it restarts or stops, or another
// connection with this member came first. A dialler that was killed and has restarted
// answers with a stateless reset. Before its handshake is over a
// connection can say no more than that its application has closed it.
func withdrawn(err error) bool {
	if tr, ok := errors.AsType[*quic.TransportError](err); ok {
		return tr.Remote && tr.ErrorCode == quic.ApplicationErrorErrorCode
	}
	if _, ok := errors.AsType[*quic.StatelessResetError](err); ok {
		return true
	}
	app, ok := errors.AsType[*quic.ApplicationError](err)
	if !ok || !app.Remote {
		return false
	}
	switch Code(app.ErrorCode) {
	case CodeNormal, CodeIdle, CodeReplaced, CodeShuttingDown:
		return true
	}
	return false
}

// closeReason turns what quic-go says about a connection's end, or about a
// dial that failed, into this package's errors.
func closeReason(err error) error {
	if app, ok := errors.AsType[*quic.ApplicationError](err); ok {
		return &CloseError{Code: Code(app.ErrorCode), Remote: app.Remote}
	}
	if refusalOf(err) != nil {
		return err
	}
	if tr, ok := errors.AsType[*quic.TransportError](err); ok {
		switch {
		case tr.Remote && tr.ErrorCode.IsCryptoError():
			return fmt.Errorf("%w: %w", ErrRefused, err)
		case tr.Remote && tr.ErrorCode == quic.ConnectionRefused:
			return fmt.Errorf("%w: %w", ErrOverload, err)
		case tr.ErrorCode.IsCryptoError():
			return fmt.Errorf("%w: %w", ErrHandshake, err)
		}
	}
	if _, ok := errors.AsType[*quic.StatelessResetError](err); ok {
		return ErrRestarted
	}
	if _, ok := errors.AsType[*quic.IdleTimeoutError](err); ok {
		return ErrUnresponsive
	}
	if _, ok := errors.AsType[*quic.HandshakeTimeoutError](err); ok {
		return ErrUnresponsive
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrUnresponsive
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}
