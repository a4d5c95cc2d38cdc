package client

import "errors"

// Why there is no session, or no more.
var (
	ErrConfig     = errors.New("configuration of the gate's client")
	ErrOtherGate  = errors.New("another gate answered")
	ErrResource   = errors.New("gate of another resource")
	ErrVersion    = errors.New("gate speaks no version that this member speaks")
	ErrProtocol   = errors.New("gate broke the protocol")
	ErrLost       = errors.New("connection with the gate lost")
	ErrClosed     = errors.New("connection with the gate closed")
	ErrNotOpen    = errors.New("session is not open")
	ErrNoSession  = errors.New("sign-in ended without a session")
	ErrTooMany    = errors.New("too many sign-ins on one connection")
	ErrTarget     = errors.New("gate does not reach the resource")
	ErrNoTarget   = errors.New("gate has no such target")
	ErrStreamCut  = errors.New("gate has cut the connection to the resource")
	ErrTooManyCon = errors.New("too many connections to the resource")
)
