package wire

import "errors"

// Why a frame or a message was not accepted.
var (
	ErrFrameSize   = errors.New("frame size out of range")
	ErrMalformed   = errors.New("malformed message")
	ErrMessageType = errors.New("unknown message type")
	ErrLimit       = errors.New("message exceeds a limit")
)
